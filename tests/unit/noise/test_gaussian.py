from fractions import Fraction

import numpy as np
import pytest
from noise_reference import exp_minus

from dpframe.noise import DiscreteGaussian, gaussian
from dpframe.noise.gaussian_sums import _tail_table, normalizer, upper_tail

VARIANCES = [Fraction(1, 2), Fraction(1), Fraction(10, 3), Fraction(400)]


def captured(monkeypatch, sigma2, n=300):
    """The proposals, exponents and exact exponents of one call of the sampler."""
    seen = {}

    def accept_all(x, exact):
        seen["x"] = x.copy()
        seen["exact"] = [exact(i) for i in range(x.size)]
        return np.ones(x.size, dtype=bool)

    monkeypatch.setattr(gaussian, "bernoulli_exp", accept_all)
    gaussian.gaussian_sampler.cache_clear()
    seen["proposals"] = gaussian.gaussian_sampler(Fraction(sigma2))(n)
    gaussian.gaussian_sampler.cache_clear()
    return seen


@pytest.mark.parametrize("sigma2", [*VARIANCES, 10**12, 2**60 + 1, 2**108], ids=str)
def test_floats_are_far_nearer_than_they_are_trusted(monkeypatch, sigma2):
    """The coin trusts exp(-x) to 2^-31; it is good to 2^-48 at least."""
    seen = captured(monkeypatch, sigma2)
    for x, exact in zip(seen["x"].tolist(), seen["exact"], strict=True):
        error = Fraction(float(np.exp(-x))) - exp_minus(exact, 120)
        assert abs(error) < Fraction(1, 2**48)


@pytest.mark.parametrize("sigma2", [*VARIANCES, 2**60 + 1], ids=str)
def test_proposal_times_acceptance_is_the_gaussian(monkeypatch, sigma2):
    """|y| / t + (|y| - c)² / (2 sigma2) = y² / (2 sigma2) + a constant."""
    seen = captured(monkeypatch, sigma2)
    sigma2 = Fraction(sigma2)
    # The proposal's scale is the nearest integer to sigma, 1 at least.
    t = max(1, round(float(sigma2) ** 0.5))
    constants = {
        abs(y) / Fraction(t) + exact - y * y / (2 * sigma2)
        for y, exact in zip(seen["proposals"].tolist(), seen["exact"], strict=False)
    }
    assert constants == {sigma2 / (2 * t * t)}


@pytest.mark.parametrize("sigma2", [*VARIANCES, Fraction(1, 100)], ids=str)
def test_share_of_accepted_proposals(sigma2):
    t = max(1, round(float(sigma2) ** 0.5))
    share = gaussian._acceptance(sigma2, t)
    r, y = exp_minus(Fraction(1, t), 100), np.arange(-200 * t, 200 * t + 1)
    proposal = float((1 - r) / (1 + r)) * np.exp(-np.abs(y) / t)
    kept = np.exp(-((np.abs(y) - float(sigma2) / t) ** 2) / (2 * float(sigma2)))
    assert share == pytest.approx((proposal * kept).sum(), rel=1e-12)
    assert share > 0.45


def test_drawing_goes_on_until_enough_are_accepted(monkeypatch):
    calls = []

    def accept_few(x, exact):
        calls.append(x.size)
        return np.arange(x.size) % 5 == 0

    monkeypatch.setattr(gaussian, "bernoulli_exp", accept_few)
    assert DiscreteGaussian(7).sample(1000).shape == (1000,)
    assert len(calls) > 2


@pytest.mark.parametrize("sigma2", [Fraction(1, 4), Fraction(4), Fraction(900)])
def test_sums_against_high_precision(sigma2):
    reach = 45 * max(1, round(float(sigma2) ** 0.5))
    terms = [exp_minus(Fraction(k * k) / (2 * sigma2), 2200) for k in range(reach)]
    total = 2 * sum(terms) - 1
    assert normalizer(float(sigma2)) == pytest.approx(float(total), rel=1e-14)
    for m in (1, 2, reach // 9, reach // 2):
        tail = float(sum(terms[m:]) / total)
        assert upper_tail(np.array(float(m)), float(sigma2)) == pytest.approx(
            tail, rel=1e-12, abs=0
        )


def test_the_formula_for_wide_laws_continues_the_table():
    sigma2 = 1.0001e6
    m = np.array([1, 2, 500, 1960, 5_000, 20_000, 36_000])
    assert upper_tail(m.astype(float), sigma2) == pytest.approx(
        _tail_table(sigma2)[m], rel=1e-11, abs=0
    )
