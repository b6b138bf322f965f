"""Polynomials and exponentials are unbiased under every law, by exact integration.

Sums over the pmf on the integers; for continuous Laplace noise Gauss rules that are
exact for polynomials between the points where an estimate bends.
"""

import itertools
import math

import numpy as np
import pytest
from debias_reference import noise_law
from hypothesis import given, settings
from hypothesis import strategies as st

from dpframe.estimands import (
    GaussianNumbers,
    LaplaceNumbers,
    NoisyCounts,
    debias,
    k_stars,
    moment,
    partition_function,
    polynomial,
    power_sum,
    smooth,
    variance,
)
from dpframe.noise import DiscreteGaussian

DOMAINS = ["counts", "integers", (0, 7), (2, 5), (1, None), (None, 6), (4, 4), (-3, 3)]
REAL_DOMAINS = ["counts", "integers", (0.5, 6.25), (1, None), (None, 4.5), (3, 3)]
MIXED = polynomial([(2, {0: 2, 1: 1}), (-1.5, {1: 3}), (1, {0: 1}), (3, {})])
POLYNOMIALS = [moment(3), variance, MIXED]


def truth(estimand, x):
    z = np.array(x, dtype=float)
    if estimand is variance:
        return z.var(ddof=1)
    if estimand is MIXED:
        return 2 * z[0] ** 2 * z[1] - 1.5 * z[1] ** 3 + z[0] + 3
    if isinstance(estimand, type(moment(3))):
        return (z**3).mean()
    return np.exp(estimand.t * z).sum()


def ends_of(domain):
    return LaplaceNumbers([0], 1.0, domain).ends


def true_values(domain):
    """Two values of the domain, at its ends where it has them."""
    low, high = ends_of(domain)
    x = [6 if high is None else high, -2 if low is None else low]
    return x if all(isinstance(z, int) for z in x) else [float(z) for z in x]


def averages(found, laws):
    """E g, E g² and E V over the product of laws (points, weights)."""
    sums = np.zeros(3)
    for pairs in itertools.product(*(zip(*law, strict=True) for law in laws)):
        weight = math.prod(q for _, q in pairs)
        g, v = found([y for y, _ in pairs])
        sums += weight * np.array([g, g * g, v])
    return sums


def check(estimand, x, found, laws, rel):
    mean, square, estimated = averages(found, laws)
    expected = truth(estimand, x)
    assert mean == pytest.approx(expected, rel=rel, abs=rel)
    assert estimated == pytest.approx(square - expected**2, rel=rel, abs=rel * square)


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("estimand", [*POLYNOMIALS, partition_function(0.75)], ids=repr)
def test_under_discrete_laplace_noise(domain, estimand):
    x = [int(z) for z in true_values(domain)]
    rates = [4.0, 5.0]
    laws = []
    for z, rate in zip(x, rates, strict=True):
        k, mass = noise_law(rate, tail=1e-16)
        laws.append(((z + k).tolist(), mass.tolist()))

    def found(y):
        debiased = estimand.debias(NoisyCounts(y, rates, domain))
        return debiased.value, debiased.variance

    check(estimand, x, found, laws, rel=1e-8)


@pytest.mark.parametrize("domain", REAL_DOMAINS, ids=str)
@pytest.mark.parametrize("estimand", POLYNOMIALS, ids=repr)
def test_under_continuous_laplace_noise(domain, estimand):
    x, scales = true_values(domain), [0.5, 1.25]
    laws = [laplace_rule(z, b, ends_of(domain)) for z, b in zip(x, scales, strict=True)]

    def found(y):
        _, debiased = estimand.debias_numbers(LaplaceNumbers(y, scales, domain))
        return debiased.value, debiased.variance

    check(estimand, x, found, laws, rel=1e-9)


@pytest.mark.parametrize("estimand", [*POLYNOMIALS, partition_function(0.75)], ids=repr)
@pytest.mark.parametrize("sigma2", [[0.2, 0.5], [1.5, 0.1]], ids=str)
def test_under_discrete_gaussian_noise(estimand, sigma2):
    x, laws = [4, -1], []
    for z, s in zip(x, sigma2, strict=True):
        reach = math.ceil(9 * math.sqrt(s)) + 2
        k = np.arange(-reach, reach + 1)
        laws.append(((z + k).tolist(), DiscreteGaussian(s).pmf(k).tolist()))

    def found(y):
        _, debiased = estimand.debias_numbers(GaussianNumbers(y, sigma2))
        return debiased.value, debiased.variance

    check(estimand, x, found, laws, rel=1e-9)


@pytest.mark.parametrize("estimand", POLYNOMIALS, ids=repr)
def test_under_continuous_gaussian_noise(estimand):
    x, sigma2 = [4.5, -1.25], [0.7, 2.0]
    nodes, weights = np.polynomial.hermite_e.hermegauss(12)
    weights = weights / math.sqrt(2 * math.pi)
    laws = [
        ((z + math.sqrt(s) * nodes).tolist(), weights.tolist())
        for z, s in zip(x, sigma2, strict=True)
    ]

    def found(y):
        noisy = GaussianNumbers(y, sigma2, "integers", discrete=False)
        _, debiased = estimand.debias_numbers(noisy)
        return debiased.value, debiased.variance

    check(estimand, x, found, laws, rel=1e-9)


@pytest.mark.parametrize("domain", REAL_DOMAINS, ids=str)
@pytest.mark.parametrize(
    ("estimand", "f"),
    [
        (partition_function(0.3), lambda x: math.exp(0.3 * x)),
        (partition_function(-0.3), lambda x: math.exp(-0.3 * x)),
        (smooth(np.sin, np.cos, lambda x: -np.sin(x)), math.sin),
        (k_stars(3), lambda x: x * (x - 1) * (x - 2) / 6),
    ],
)
def test_functions_of_one_number_under_continuous_laplace_noise(domain, estimand, f):
    for x, b in zip(true_values(domain), (0.5, 1.3), strict=True):
        points, weights = laplace_rule(x, b, ends_of(domain), tail=40)
        sums = np.zeros(3)
        for y, weight in zip(points, weights, strict=True):
            _, found = estimand.debias_numbers(LaplaceNumbers([y], b, domain))
            sums += weight * np.array([found.value, found.value**2, found.variance])
        mean, square, estimated = sums
        assert mean == pytest.approx(f(x), rel=1e-8, abs=1e-8)
        assert estimated == pytest.approx(square - f(x) ** 2, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("off", [0.95, 1.05])
def test_noise_five_per_cent_off_is_noticed(off):
    points, weights = laplace_rule(4.0, off, (0, None))
    squares = (
        debias([y], power_sum(2), epsilon=1, noise="continuous_laplace").value
        for y in points
    )
    assert abs(np.dot(list(squares), weights) - 16) > 0.1
    k = np.arange(-20, 21)
    mass = DiscreteGaussian(off * off).pmf(k)
    squares = [
        debias([4 + j], power_sum(2), sigma2=1, noise="gaussian").value for j in k
    ]
    assert abs(np.dot(squares, mass) - 16) > 0.09


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(-30, 300), min_size=2, max_size=20),
    epsilon=st.floats(0.05, 5),
    shift=st.integers(-50, 50),
    low=st.integers(-20, 3),
    width=st.integers(0, 40) | st.none(),
)
def test_the_variance_does_not_see_a_shift(counts, epsilon, shift, low, width):
    high = None if width is None else low + width
    here = debias(counts, variance, epsilon=epsilon, domain=(low, high))
    there = debias(
        np.array(counts) + shift,
        variance,
        epsilon=epsilon,
        domain=(low + shift, None if high is None else high + shift),
    )
    scale = 1 + abs(here.value)
    assert there.value == pytest.approx(here.value, rel=1e-11, abs=1e-11 * scale)
    assert there.variance == pytest.approx(here.variance, rel=1e-9, abs=1e-9 * scale)


def laplace_rule(x, b, ends, tail=6):
    """Points and weights for E g(x + noise), g smooth between the ends.

    Gauss-Laguerre on the tails, Gauss-Legendre between x and the ends.
    """
    cuts = sorted({float(x), *(float(end) for end in ends if end is not None)})
    far, far_weights = np.polynomial.laguerre.laggauss(tail)
    unit, unit_weights = np.polynomial.legendre.leggauss(24)
    points, weights = [], []
    for start, sign in ((cuts[0], -1), (cuts[-1], 1)):
        points.append(start + sign * b * far)
        weights.append(far_weights / 2 * math.exp(-abs(start - x) / b))
    for start, stop in itertools.pairwise(cuts):
        half = (stop - start) / 2
        y = start + half * (1 + unit)
        points.append(y)
        weights.append(unit_weights * half * np.exp(-np.abs(y - x) / b) / (2 * b))
    return np.concatenate(points).tolist(), np.concatenate(weights).tolist()
