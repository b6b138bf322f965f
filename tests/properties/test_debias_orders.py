"""Order statistics: unbiasedness by summing over the exact noise law."""

import functools
from fractions import Fraction

import numpy as np
import pytest
from debias_reference import expectation
from hypothesis import given, settings
from hypothesis import strategies as st

from dpframe.estimands import (
    NoisyCounts,
    data_quantile,
    debias,
    maximum,
    median,
    minimum,
    order_statistic,
    quantile,
    quantile_range,
)

DOMAINS = ["counts", "integers", (0, 3), (1, None), (None, 3), (2, 2), (-1, 3)]


def figures(estimand, rates, domain):
    @functools.cache
    def of_clipped(y):
        e = estimand.debias(NoisyCounts(np.array(y), rates, domain))
        return [e.value, e.value**2, e.variance]

    ends = NoisyCounts(np.zeros(1), 1.0, domain)
    return lambda y: of_clipped(tuple(ends.clip(np.array(y)).tolist()))


def check(estimand, x, rates, domain, truth, tail=1e-11):
    mean, square, variance = expectation(
        figures(estimand, rates, domain), x, rates, tail
    )
    assert mean == pytest.approx(truth, abs=1e-8)
    assert variance == pytest.approx(square - mean**2, abs=1e-7)


def truths(domain):
    """Three counts, at the ends of the domain and inside, two of them equal."""
    low, high = NoisyCounts(np.array([0]), 1.0, domain).ends
    first = -1 if low is None else low
    last = first + 3 if high is None else high
    return [first, min(first + 1, last), first]


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize(
    ("estimand", "level"),
    [(minimum, 0.0), (maximum, 1.0), (median, 0.5), (quantile(0.8), 0.8)],
    ids=str,
)
def test_value_and_variance_are_unbiased_with_a_rate_per_bin(domain, estimand, level):
    x = truths(domain)
    check(estimand, x, [6.0, 7.0, 8.0], domain, np.quantile(x, level))


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_a_quantile_range_is_unbiased(domain):
    x = truths(domain)
    truth = np.quantile(x, 0.75) - np.quantile(x, 0.2)
    check(quantile_range(0.2, 0.75), x, [6.0, 7.0, 7.0], domain, truth)


@pytest.mark.parametrize(
    ("domain", "x"), [("counts", [0, 1]), ("integers", [2, 2]), ((0, 4), [4, 1])]
)
def test_much_noise(domain, x):
    for estimand, truth in ((minimum, min(x)), (median, sum(x) / 2)):
        check(estimand, x, [1.5, 1.5], domain, truth, tail=1e-13)


@pytest.mark.parametrize("domain", ["counts", (0, 3), (1, None), (2, 2)], ids=str)
@pytest.mark.parametrize("q", [0.0, 0.5, 0.7])
def test_the_quantile_of_the_data_is_unbiased(domain, q):
    x = truths(domain)
    upto = np.cumsum(x)
    truth = next(b for b, s in enumerate(upto.tolist()) if s >= q * upto[-1])
    check(data_quantile(q), x, [6.0, 7.0, 8.0], domain, truth)


@pytest.mark.parametrize("off", [0.95, 1.05])
def test_noise_five_per_cent_off_is_noticed(off):
    def value(y):
        return debias(y, minimum, epsilon=2.0).value

    got = expectation(value, [3, 3], [2.0 * off] * 2, tail=1e-11)
    assert abs(got - 3) > 0.01


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(-3, 12), min_size=1, max_size=12),
    epsilon=st.floats(0.3, 5),
    data=st.data(),
)
def test_turning_the_counts_around_turns_the_ranks_around(counts, epsilon, data):
    n = len(counts)
    rates = np.linspace(epsilon, 2 * epsilon, n)
    k = data.draw(st.integers(1, n))
    there = debias(counts, order_statistic(k), epsilon=rates, domain=(0, 9))
    back = debias(
        [-y for y in counts], order_statistic(n + 1 - k), epsilon=rates, domain=(-9, 0)
    )
    assert back.value == pytest.approx(-there.value, rel=1e-12, abs=1e-12)
    assert back.variance == pytest.approx(there.variance, rel=1e-12, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(-3, 9), min_size=1, max_size=10),
    epsilon=st.floats(0.3, 5),
    low=st.integers(0, 3),
    width=st.integers(0, 5) | st.none(),
)
def test_clipping_first_and_the_order_of_bins_change_nothing(
    counts, epsilon, low, width
):
    domain = (low, None if width is None else low + width)
    rates = np.linspace(epsilon, 2 * epsilon, len(counts))
    for estimand in (median, quantile_range(Fraction(1, 3), 1)):
        before = debias(counts, estimand, epsilon=rates, domain=domain)
        clipped = debias(
            np.clip(counts, *domain), estimand, epsilon=rates, domain=domain
        )
        assert clipped.value == before.value
        turned = debias(counts[::-1], estimand, epsilon=rates[::-1], domain=domain)
        assert turned.value == pytest.approx(before.value, rel=1e-12, abs=1e-12)
        assert turned.variance == pytest.approx(before.variance, rel=1e-9, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(-3, 9), min_size=2, max_size=10),
    epsilon=st.floats(0.3, 5),
    domain=st.sampled_from(DOMAINS),
)
def test_all_order_statistics_add_up_to_the_sum(counts, epsilon, domain):
    """T is linear: the sum of the counts is debiased bin by bin."""
    d = 1 / np.expm1(epsilon)
    noisy = NoisyCounts(np.array(counts), epsilon, domain)
    low, high = noisy.ends
    expected = 0.0
    for z in noisy.clip(noisy.values).tolist():
        expected += z + (d * (z == high) - d * (z == low) if low != high else 0)
    ranks = range(1, len(counts) + 1)
    total = sum(order_statistic(k).debias(noisy).value for k in ranks)
    scale = sum(abs(order_statistic(k).debias(noisy).value) for k in ranks)
    assert total == pytest.approx(expected, rel=1e-9, abs=1e-12 * (1 + scale))
