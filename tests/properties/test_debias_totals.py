"""Statistics that need the total are unbiased: summed over the exact noise law."""

import math
from functools import cache

import numpy as np
import pytest
from debias_reference import expectation, noise_law
from hypothesis import given, settings
from hypothesis import strategies as st

from dpframe.estimands import (
    NoisyCounts,
    chi_square,
    debias,
    entropy,
    estimate,
    gini_simpson,
    kl_divergence,
    mutual_information,
    power_sum,
    tsallis,
)


def index(x, q):
    share = np.array([z for z in x if z > 0]) / sum(x) if sum(x) else np.ones(1)
    return (1 - (share**q).sum()) / (q - 1)


def pearson(x, shares):
    total = sum(x)
    pairs = zip(x, shares, strict=True)
    return sum(z * z / (total * p) for z, p in pairs) - total if total else 0.0


def information(table):
    share = np.asarray(table) / np.sum(table)

    def h(p):
        return -sum(v * math.log(v) for v in p.ravel() if v)

    return h(share.sum(axis=0)) + h(share.sum(axis=1)) - h(share)


@pytest.mark.parametrize("q", [0.25, 2.0, 3.0])
@pytest.mark.parametrize(
    ("x", "rates", "domain"),
    [
        ([3, 0], [3.0, 4.0], "counts"),
        ([0, 0], [3.0, 3.0], "counts"),
        ([1, 0], [3.5, 4.0], "integers"),
        ([4, 2], [3.0, 3.0], (1, 5)),
        ([2, -1], [3.0, 4.0], (-1, 4)),
        ([1, 0, 2], [7.0, 8.0, 9.0], "counts"),
    ],
)
def test_tsallis_is_unbiased(x, rates, domain, q):
    @cache
    def of_clipped(*y):
        return estimate(NoisyCounts(np.array(y), rates, domain), tsallis(q)).value

    clip = NoisyCounts(np.array(x), rates, domain).clip
    got = expectation(lambda y: of_clipped(*clip(np.array(y))), x, rates, tail=1e-11)
    assert got == pytest.approx(index(x, q), abs=1e-7)


@pytest.mark.parametrize(
    ("x", "rates", "domain"),
    [
        ([3, 0], [3.0, 4.0], "counts"),
        ([0, 0], [3.0, 3.0], "counts"),
        ([1, 0], [3.5, 4.0], "integers"),
        ([2, 1], [3.0, 4.0], (0, 3)),
        ([1, 0, 2], [7.0, 8.0, 9.0], "counts"),
    ],
)
def test_chi_square_is_unbiased(x, rates, domain):
    shares = [0.25, 0.75] if len(x) == 2 else [0.5, 0.125, 0.375]

    def value(y):
        noisy = NoisyCounts(np.array(y), rates, domain)
        return estimate(noisy, chi_square(shares)).value

    got = expectation(value, x, rates, tail=1e-11)
    assert got == pytest.approx(pearson(x, shares), abs=1e-6)


@pytest.mark.parametrize(
    ("x", "w", "pseudo_count"),
    [
        ([2, 0], [1, 0], 0.5),
        pytest.param([1, 1], [0, 3], 0.0625, marks=pytest.mark.slow),
    ],
)
def test_the_divergence_is_unbiased_over_both_releases(x, w, pseudo_count):
    rates = [7.0, 8.0, 9.0, 8.0]

    @cache
    def of_clipped(*y):
        other = kl_divergence(y[2:], pseudo_count=pseudo_count, epsilon=rates[2:])
        return debias(y[:2], other, epsilon=rates[:2]).value

    got = expectation(
        lambda y: of_clipped(*(max(z, 0) for z in y)), x + w, rates, tail=1e-9
    )
    p = np.array(x) / sum(x)
    q = (np.array(w) + pseudo_count) / (sum(w) + 2 * pseudo_count)
    truth = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a)
    assert got == pytest.approx(truth, abs=1e-6)


@pytest.mark.parametrize(
    ("x", "shape"),
    [
        ([2, 0], (1, 2)),
        ([1, 3], (2, 1)),
        pytest.param([2, 0, 0, 1], (2, 2), marks=pytest.mark.slow),
    ],
)
def test_mutual_information_is_unbiased(x, shape):
    rates = [7.0, 8.0, 9.0, 8.0][: len(x)]

    @cache
    def of_clipped(*y):
        table, each = np.array(y).reshape(shape), np.reshape(rates, shape)
        return debias(table, mutual_information, epsilon=each).value

    got = expectation(
        lambda y: of_clipped(*(max(z, 0) for z in y)),
        x,
        rates,
        tail=1e-9 if len(x) == 2 else 1e-7,
    )
    truth = information(np.reshape(x, shape))
    assert got == pytest.approx(truth, abs=1e-6 if len(x) == 2 else 1e-5)


@pytest.mark.parametrize("off", [0.95, 1.05])
def test_noise_five_per_cent_off_is_noticed(off):
    k, law = noise_law(1.0 * off)
    values = [debias([4 + j, 40], gini_simpson, epsilon=[1, 700]).value for j in k]
    truth = index([4, 40], 2)
    right, proper = noise_law(1.0)
    fair = [debias([4 + j, 40], gini_simpson, epsilon=[1, 700]).value for j in right]
    assert (proper * fair).sum() == pytest.approx(truth, abs=1e-12)
    assert abs((law * values).sum() - truth) > 2e-5


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(-9, 60), min_size=1, max_size=12),
    rate=st.floats(0.3, 5.0),
    slope=st.floats(-3, 3),
    total=st.integers(0, 300),
)
def test_with_a_known_total_multiples_of_the_counts_are_constants(
    counts, rate, slope, total
):
    """f + slope x has the estimate of f, plus slope N, and its variance."""
    noisy = NoisyCounts(np.array(counts), rate)
    one = estimate(noisy, power_sum(2), total=total)
    square = power_sum(2).f
    tilted = type(power_sum(2))(lambda z: square(z) + slope * z, "tilted")
    other = estimate(noisy, tilted, total=total)
    size = 1 + abs(one.value) + abs(slope) * (total + sum(map(abs, counts)))
    assert other.value == pytest.approx(one.value + slope * total, abs=1e-10 * size)
    assert other.variance == pytest.approx(one.variance, rel=1e-7, abs=1e-8 * size**2)


@pytest.mark.parametrize("estimand", [entropy, gini_simpson], ids=repr)
def test_the_estimated_slope_leaves_little_bias(estimand):
    x, rates = [9, 4, 6], [2.5, 3.0, 2.0]
    total = sum(x)

    def moments(y):
        e = estimate(NoisyCounts(np.array(y), rates), estimand, total=total)
        return [e.value, e.value**2, e.variance]

    mean, square, variance = expectation(moments, x, rates, tail=1e-4)
    truth = debias(x, estimand, epsilon=700).value
    spread = square - mean**2
    assert abs(mean - truth) < 0.3 * math.sqrt(spread)
    assert 0.5 < variance / spread < 2


@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.integers(5, 60), min_size=2, max_size=25),
    epsilon=st.floats(1.0, 6.0),
    q=st.floats(0.1, 9.0).filter(lambda q: abs(q - 1) > 0.05),
)
def test_the_order_of_bins_does_not_matter(counts, epsilon, q):
    rates = np.linspace(epsilon, 2 * epsilon, len(counts))
    there = debias(counts, tsallis(q), epsilon=rates)
    back = debias(counts[::-1], tsallis(q), epsilon=rates[::-1])
    assert back.value == pytest.approx(there.value, rel=1e-9, abs=1e-12)
    assert math.isclose(back.variance, there.variance, rel_tol=1e-8, abs_tol=1e-15)


@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.integers(-20, 60), min_size=1, max_size=12),
    rate=st.floats(0.5, 5.0),
)
def test_clipping_to_the_domain_before_debiasing_changes_nothing(counts, rate):
    shares = np.ones(len(counts)) / len(counts)
    clipped = np.maximum(counts, 0)
    for estimand in (gini_simpson, tsallis(0.5), chi_square(shares)):
        before = debias(counts, estimand, epsilon=rate)
        after = debias(clipped, estimand, epsilon=rate)
        assert before == after


def test_the_domain_bounded_below_has_the_smaller_variance():
    x, rates = [3, 0], [2.0, 2.0]
    spread = {}
    for domain in ("integers", "counts"):

        def moments(y, domain=domain):
            e = estimate(NoisyCounts(np.array(y), rates, domain), gini_simpson)
            return [e.value, e.value**2]

        mean, square = expectation(moments, x, rates, tail=1e-6)
        spread[domain] = square - mean**2
    assert spread["counts"] < spread["integers"]
