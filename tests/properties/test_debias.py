"""Unbiasedness by summing over the exact noise law: nothing is sampled here."""

import itertools
import math

import numpy as np
import pytest
from debias_reference import decimal_entropy, expectation, noise_law
from hypothesis import given, settings
from hypothesis import strategies as st

from dpframe.estimands import (
    NoisyCounts,
    at_least,
    debias,
    entropy,
    estimate,
    k_stars,
    power_sum,
    profile,
    separable,
)
from dpframe.estimands.plug_in_risk import plug_in_risk
from dpframe.estimands.stencil import Stencil

DOMAINS = ["counts", "integers", (0, 7), (2, 5), (1, None), (None, 6), (4, 4), (-3, 3)]
RATES = st.floats(0.2, 5.0)


def arbitrary(seed):
    """A function of the integers without any pattern, between -1 and 1."""
    table = np.random.default_rng(seed).uniform(-1, 1, 4_099)
    return lambda x: table[np.asarray(x, dtype=np.int64) % table.size]


def truths(domain):
    low, high = NoisyCounts(np.array([0]), 1.0, domain).ends
    return st.integers(-4 if low is None else low, 9 if high is None else high)


def one_bin(f, x, rate, domain, what="apply"):
    """E T f(x + noise) of one bin, and its variance or E of its variance estimate."""
    k, law = noise_law(rate)
    stencil = Stencil.of(NoisyCounts(x + k, rate, domain))
    local = stencil.evaluate(f)
    values = stencil.apply(local)
    mean = (law * values).sum()
    return (
        mean,
        (law * (values - mean) ** 2).sum(),
        (law * stencil.variance(local)).sum(),
    )


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@settings(max_examples=40, deadline=None)
@given(data=st.data(), rate=RATES, seed=st.integers(0, 2**32 - 1))
def test_any_function_of_one_count_is_estimated_without_bias(domain, data, rate, seed):
    x = data.draw(truths(domain))
    f = arbitrary(seed)
    mean, variance, estimated = one_bin(f, x, rate, domain)
    assert mean == pytest.approx(float(f(x)), abs=1e-11 * (1 + 1 / rate**2))
    assert estimated == pytest.approx(variance, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize(
    "estimand",
    [power_sum(1), power_sum(2), power_sum(3), k_stars(3), profile(2), at_least(2)],
    ids=repr,
)
def test_the_named_sums_are_unbiased_with_a_rate_per_bin(domain, estimand):
    low, high = NoisyCounts(np.array([0]), 1.0, domain).ends
    x = [high if high is not None else 6, low if low is not None else -2]
    rates = [3.0, 4.0]

    def value(y):
        return debias(y, estimand, epsilon=rates, domain=domain).value

    truth = sum(float(estimand.f(np.array([float(z)]))[0]) for z in x)
    got = expectation(value, x, rates, tail=1e-13)
    assert got == pytest.approx(truth, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("off", [0.95, 1.05])
def test_noise_five_per_cent_off_is_noticed(off):
    k, law = noise_law(1.0 * off)
    stencil = Stencil.of(NoisyCounts(4 + k, 1.0))
    got = (law * stencil.apply(stencil.evaluate(lambda x: x**2))).sum()
    assert abs(got - 16) > 0.1


@pytest.mark.parametrize(
    ("rate", "ratios"),
    [(1.0, (0.63, 0.47, 0.32)), (0.5, (0.69, 0.48, 0.23))],
)
def test_knowing_that_counts_are_not_negative_lowers_the_variance(rate, ratios):
    functions = (lambda x: x, lambda x: x**2, lambda x: x == 0)
    for f, ratio in zip(functions, ratios, strict=True):
        _, counts, _ = one_bin(f, 0, rate, "counts")
        _, integers, _ = one_bin(f, 0, rate, "integers")
        assert counts / integers == pytest.approx(ratio, abs=0.005)


@settings(max_examples=40, deadline=None)
@given(x=st.integers(0, 8), rate=RATES, seed=st.integers(0, 2**32 - 1))
def test_a_narrower_domain_never_raises_the_variance(x, rate, seed):
    f = arbitrary(seed)
    widest_first = ["integers", "counts", (0, 8)]
    variances = [one_bin(f, x, rate, domain)[1] for domain in widest_first]
    for wide, narrow in itertools.pairwise(variances):
        assert narrow <= wide * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize(
    ("x", "rates", "domain"),
    [
        ([3, 0], [3.0, 4.0], "counts"),
        ([0, 0], [3.0, 3.0], "counts"),
        ([1, 0], [2.5, 4.0], "integers"),
        ([4, 2], [3.0, 3.0], (1, 5)),
        ([0, 3], [4.0, 3.0], (0, 3)),
        ([2, -1], [3.0, 4.0], (-1, 4)),
        ([1, 0, 2], [7.0, 8.0, 9.0], "counts"),
    ],
)
def test_entropy_is_unbiased(x, rates, domain):
    def value(y):
        return estimate(NoisyCounts(np.array(y), rates, domain), entropy).value

    got = expectation(value, x, rates, tail=1e-11)
    assert got == pytest.approx(float(decimal_entropy(x)), abs=1e-8)


@pytest.mark.parametrize("domain", ["counts", "integers", (0, 4)])
@pytest.mark.parametrize("f", [lambda x: x**2, lambda x: x == 1], ids=["square", "one"])
def test_the_plug_ins_risk_is_estimated_without_bias(domain, f):
    x, rates = [1, 3], [3.0, 3.5]
    estimand = separable(f)

    def figures(y):
        noisy = NoisyCounts(np.array(y), rates, domain)
        plug_in = estimand.plug_in(noisy)
        bias = plug_in - estimand.debias(noisy).value
        risk = plug_in_risk(f, noisy, bias)
        return [plug_in, plug_in**2, risk.bias_squared, risk.variance]

    mean, square, bias_squared, variance = expectation(figures, x, rates, tail=1e-12)
    truth = sum(float(f(z)) for z in x)
    assert bias_squared == pytest.approx((mean - truth) ** 2, abs=1e-8)
    assert variance == pytest.approx(square - mean**2, abs=1e-8)


@settings(max_examples=100, deadline=None)
@given(
    counts=st.lists(st.integers(-50, 1_000), min_size=1, max_size=30),
    epsilon=st.floats(0.05, 10),
    low=st.integers(-20, 3),
    width=st.integers(0, 40) | st.none(),
)
def test_clipping_to_the_domain_before_debiasing_changes_nothing(
    counts, epsilon, low, width
):
    domain = (low, None if width is None else low + width)
    clipped = np.clip(counts, *domain)
    for estimand in (power_sum(2), profile(3)):
        before = debias(counts, estimand, epsilon=epsilon, domain=domain)
        after = debias(clipped, estimand, epsilon=epsilon, domain=domain)
        assert before == after


@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.integers(5, 60), min_size=2, max_size=25),
    epsilon=st.floats(1.0, 6.0),
)
def test_the_order_of_bins_does_not_matter_to_entropy(counts, epsilon):
    rates = np.linspace(epsilon, 2 * epsilon, len(counts))
    there = debias(counts, entropy, epsilon=rates)
    back = debias(counts[::-1], entropy, epsilon=rates[::-1])
    assert back.value == pytest.approx(there.value, rel=1e-11)
    assert math.isclose(back.variance, there.variance, rel_tol=1e-9, abs_tol=1e-15)
