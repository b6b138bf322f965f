import math
from decimal import Decimal

import numpy as np
import pytest
from debias_reference import decimal_entropy, enumerate_inverse

from dpframe.errors import ParameterError
from dpframe.estimands import (
    HasNoisyCounts,
    NoisyCounts,
    debias,
    entropy,
    estimate,
    kl_divergence,
)


class Published:
    """A release of somebody else's making."""

    def __init__(self, counts, rate):
        self.counts, self.rate = counts, rate

    def noisy_counts(self):
        return NoisyCounts(np.array(self.counts), self.rate)


def decimal_divergence(n, pseudo_count):
    added = Decimal(pseudo_count)

    def f(z):
        x, w = z[:n], z[n:]
        total = sum(x)
        if total <= 0:
            return Decimal(0)
        smoothed = sum(w) + n * added
        logs = [((v + added) / smoothed).ln() for v in w]
        cross = sum(u * log for u, log in zip(x, logs, strict=True))
        return -decimal_entropy(x) - cross / total

    return f


def divergence(x, w, a):
    p, q = x / x.sum(), (w + a) / (w + a).sum()
    return (p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum()


@pytest.mark.parametrize("pseudo_count", [2.0**-10, 0.5, 8.0, 1e5])
@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_sum_over_all_neighbors_of_both_releases(seed, pseudo_count):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    x = rng.integers(-3, 11 if seed % 2 else 3, n)
    w = rng.integers(-3, 11 if seed % 3 else 2, n)
    rates = rng.choice([0.2, 0.5, 1.0, 2.7], (2, n))
    both = NoisyCounts(np.append(x, w), rates.ravel())
    expected = enumerate_inverse(both, decimal_divergence(n, pseudo_count))
    other = kl_divergence(w, pseudo_count=pseudo_count, epsilon=rates[1])
    got = estimate(NoisyCounts(x, rates[0]), other).value
    assert got == pytest.approx(expected, rel=1e-10, abs=1e-9)


def test_without_noise_to_speak_of_it_is_the_divergence():
    x, w = np.array([10, 20, 0, 5]), np.array([3, 9, 4, 0])
    e = debias(x, kl_divergence(w, pseudo_count=0.5, epsilon=40), epsilon=40)
    assert e.value == pytest.approx(divergence(x, w, 0.5), rel=1e-12)
    assert e.plug_in == pytest.approx(e.value, rel=1e-12)
    assert e.std_error < 1e-7
    assert (e.unit, e.warnings) == ("nats", ())


def test_a_huge_pseudo_count_leaves_the_entropy():
    x = [310, 95, 41, 7, 0, -2]
    shannon = debias(x, entropy, epsilon=0.5)
    flat = kl_divergence([0] * 6, pseudo_count=10**9, epsilon=0.5)
    e = debias(x, flat, epsilon=0.5)
    assert e.value == pytest.approx(math.log(6) - shannon.value, abs=1e-6)
    assert e.variance == pytest.approx(shannon.variance, rel=1e-5)


@pytest.mark.parametrize("x", [[0, 0], [7, 0]])
def test_an_empty_histogram_diverges_from_nothing(x):
    e = debias(x, kl_divergence([7, 0], pseudo_count=1, epsilon=60), epsilon=60)
    expected = divergence(np.array(x), np.array([7, 0]), 1) if sum(x) else 0
    assert e.value == pytest.approx(expected, abs=1e-12)
    assert e.plug_in == pytest.approx(expected, abs=1e-12)
    assert debias([], kl_divergence([], pseudo_count=1, epsilon=1), epsilon=1) == (
        debias([], kl_divergence([], pseudo_count=2, epsilon=1), epsilon=1)
    )


def test_the_variance_is_that_of_the_tangent_sums():
    x, w, a = np.array([30, 12, 0, -1]), np.array([25, 0, 3, 9]), 0.5
    rate, other_rate = 1.0, 2.0
    estimand = kl_divergence(w, pseudo_count=a, epsilon=other_rate)
    e = debias(x, estimand, epsilon=rate)

    def spread(y, rate, f):
        c, d = 1 / (4 * math.sinh(rate / 2) ** 2), 1 / math.expm1(rate)
        row = {0: 1 + d, 1: -d} if y <= 0 else {y - 1: -c, y: 1 + 2 * c, y + 1: -c}
        mean = sum(v * f(z) for z, v in row.items())
        return mean**2 - sum(v * f(z) ** 2 for z, v in row.items())

    total = np.where(x >= 1, x, -1 / math.expm1(rate)).sum()
    smoothed = np.where(w >= 1, w, -1 / math.expm1(other_rate)).sum() + 4 * a
    expected = 0.0
    for y, v in zip(x.tolist(), w.tolist(), strict=True):
        q = (max(v, 0) + a) / smoothed

        def psi(z, q=q):
            log = math.log(z / (total * q)) if z > 0 else 0.0
            return z / total * (log - e.value - 1) if z > 0 else 0.0

        def chi(z, y=y):
            return z / smoothed - max(y, 0) / total * math.log(z + a)

        expected += spread(y, rate, psi) + spread(v, other_rate, chi)
    assert e.variance == pytest.approx(expected, rel=1e-9)


def test_of_large_counts_the_variance_is_that_of_the_gradient():
    x, w = np.array([9_000.0, 2_000.0, 4_500.0]), np.array([5_000.0, 7_000.0, 300.0])
    e = debias(x, kl_divergence(w, pseudo_count=2, epsilon=2), epsilon=1)
    variance = 0.0
    for step in np.eye(3):
        own = (divergence(x + step, w, 2) - divergence(x - step, w, 2)) / 2
        cross = (divergence(x, w + step, 2) - divergence(x, w - step, 2)) / 2
        variance += own**2 / (2 * math.sinh(0.5) ** 2)
        variance += cross**2 / (2 * math.sinh(1.0) ** 2)
    assert e.variance == pytest.approx(variance, rel=1e-3)


@pytest.mark.parametrize(
    ("x", "rate", "pseudo_count"),
    [
        (np.full(40, 30), 1.0, 0.5),
        (np.round(9_000 / np.arange(1, 301)).astype(int), 0.5, 5),
    ],
    ids=["equal", "zipf"],
)
def test_the_variance_is_the_right_one_and_intervals_cover(x, rate, pseudo_count):
    rng = np.random.default_rng(11)
    runs = 200
    w = np.roll(x, 1) + 3
    noise = rng.geometric(-math.expm1(-rate), (4, runs, x.size))
    found = [
        debias(
            y, kl_divergence(v, pseudo_count=pseudo_count, epsilon=rate), epsilon=rate
        )
        for y, v in zip(x + noise[0] - noise[1], w + noise[2] - noise[3], strict=True)
    ]
    truth = divergence(x, w, pseudo_count)
    errors = np.array([float(e) - truth for e in found])
    assert 0.65 < np.mean([e.variance for e in found]) / np.mean(errors**2) < 1.5
    intervals = [e.interval() for e in found]
    assert np.mean([low < truth < high for low, high in intervals]) > 0.9
    assert abs(errors.mean()) < 5 * errors.std() / math.sqrt(runs)


def test_a_release_brings_its_own_rate():
    release = Published([3, 9, -1], 0.5)
    assert isinstance(release, HasNoisyCounts)
    there = kl_divergence(release, pseudo_count="1/2")
    here = kl_divergence([3, 9, -1], pseudo_count=0.5, epsilon=1, sensitivity=2)
    x = [6, 1, 4]
    assert debias(x, there, epsilon=1) == debias(x, here, epsilon=1)
    with pytest.raises(ParameterError, match="leave epsilon= out"):
        kl_divergence(release, pseudo_count=1, epsilon=1)


def test_an_array_needs_its_epsilon():
    with pytest.raises(ParameterError, match="with the epsilon of its noise"):
        kl_divergence([3, 9, -1], pseudo_count=1)


@pytest.mark.parametrize("bad", [0, -1, "1e-200", "1e200"])
def test_without_a_pseudo_count_there_is_no_estimate(bad):
    with pytest.raises(ParameterError, match="pseudo_count must be positive"):
        kl_divergence([3, 9], pseudo_count=bad, epsilon=1)
    with pytest.raises(TypeError, match="pseudo_count"):
        kl_divergence([3, 9], epsilon=1)


@pytest.mark.parametrize("domain", ["integers", (0, 50), (1, None), (None, 9)])
@pytest.mark.parametrize("method", ["unbiased", "plugin"])
def test_it_is_for_counts_only(domain, method):
    other = kl_divergence([3, 9], pseudo_count=1, epsilon=1)
    with pytest.raises(ParameterError, match="use domain='counts'"):
        debias([4, 4], other, epsilon=1, domain=domain, method=method)


def test_the_bins_must_be_the_same():
    other = kl_divergence([3, 9], pseudo_count=1, epsilon=1)
    with pytest.raises(ParameterError, match="3 bins here, and 2 in other"):
        debias([4, 4, 1], other, epsilon=1)


def test_either_release_may_be_too_noisy():
    clear, faint = [300, 200, 400], [1, 0, 2]
    for x, w in ((clear, faint), (faint, clear)):
        other = kl_divergence(w, pseudo_count=0.01, epsilon=0.3)
        e = debias(x, other, epsilon=0.3)
        assert any("astronomically large" in text for text in e.warnings)
        auto = debias(x, other, epsilon=0.3, method="auto")
        assert auto.method == "plugin"
