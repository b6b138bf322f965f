"""The integral engine against sums that know nothing of integrals."""

import math
from decimal import Decimal

import numpy as np
import pytest
from debias_reference import enumerate_inverse

from dpframe.errors import UnstableEstimateError
from dpframe.estimands import NoisyCounts
from dpframe.estimands.exact_total import ExactTerm, exact_sum_over_bins
from dpframe.estimands.stencil import Stencil
from dpframe.estimands.total_expectation import TotalExpectation
from dpframe.estimands.total_kernels import (
    kernel_inverse,
    kernel_inverse_power,
    kernel_log_over_total,
)
from dpframe.estimands.total_transform import TotalTransform


def engine(noisy):
    stencil = Stencil.of(noisy)
    return stencil, TotalExpectation(TotalTransform(stencil))


def decimal_log_total(x):
    return Decimal(sum(x)).ln() if sum(x) > 0 else Decimal(0)


@pytest.mark.parametrize(
    ("counts", "rates", "domain"),
    [
        ([3, 0, 7, -2], 1.0, "counts"),
        ([3, 0, 7, -2], [0.1, 0.5, 1.0, 3.0], "counts"),
        ([1, 1, 1], 0.5, "counts"),
        ([0, 0, -1, 1], [0.5, 1.0, 2.0, 0.5], "counts"),
        ([0], 0.3, "counts"),
        ([3, 0, 7, -2], 0.7, (0, 4)),
        ([5, 9, 1], [0.4, 1.0, 1.0], (2, 6)),
        ([1, 0, 2], 1.0, (0, 1)),
        ([4, 4], 1.0, (0, 0)),
        ([40, 2, 1], 0.02, (1, None)),
    ],
)
def test_log_of_the_total(counts, rates, domain):
    noisy = NoisyCounts(np.array(counts), rates, domain)
    _, expectation = engine(noisy)
    expected = enumerate_inverse(noisy, decimal_log_total)
    assert expectation.log_total() == pytest.approx(expected, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("domain", ["counts", (0, 5), (1, None), "integers", (-1, 6)])
@pytest.mark.parametrize("rates", [0.8, [0.3, 2.0, 0.3, 1.1]])
def test_sums_over_bins_divided_by_the_total(domain, rates):
    noisy = NoisyCounts(np.array([6, 0, 4, 3]), rates, domain)
    stencil, expectation = engine(noisy)
    squares = stencil.evaluate(lambda z: np.maximum(z, 0) * z)

    def over_total(x):
        return sum(Decimal(max(z, 0) * z) for z in x) / max(sum(x), 1)

    got = expectation.sum_over_bins(squares, kernel_inverse)
    assert got == pytest.approx(enumerate_inverse(noisy, over_total), rel=1e-12)

    def log_over_total(x):
        return over_total(x) * Decimal(max(sum(x), 1)).ln()

    got = expectation.sum_over_bins(squares, kernel_log_over_total)
    assert got == pytest.approx(enumerate_inverse(noisy, log_over_total), rel=1e-12)


@pytest.mark.parametrize("rate", [0.3, 1.0])
@pytest.mark.parametrize("mean", [0.3, 3.0])
def test_many_bins_against_the_exact_law(rate, mean):
    # Norms of 1e80 and above: a sum over totals in float64 has no digit left.
    rng = np.random.default_rng(5)
    n = 120
    noise = rng.geometric(-math.expm1(-rate), (2, n))
    noisy = NoisyCounts(rng.poisson(mean, n) + noise[0] - noise[1], rate)
    stencil, expectation = engine(noisy)
    assert np.log10(1 + 2 * (stencil.up + stencil.down)).sum() > 50
    exact = exact_sum_over_bins(
        stencil,
        [
            ExactTerm(
                lambda z: Decimal(max(z, 0)),
                lambda total: Decimal(total).ln() / total if total > 0 else Decimal(0),
            )
        ],
    )
    assert expectation.log_total() == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("shift", [1e-3, 0.5, 4.0, 3e4])
@pytest.mark.parametrize("rates", [0.8, [0.3, 2.0, 0.3, 1.1]])
@pytest.mark.parametrize("counts", [[6, 0, 4, 3], [1, 0, 1, -2], [0, 0, 0, 0]])
def test_log_of_the_total_and_a_shift(counts, rates, shift):
    noisy = NoisyCounts(np.array(counts), rates)
    transform = TotalTransform(Stencil.of(noisy))
    got = TotalExpectation(transform, shift=shift).log_total()
    expected = enumerate_inverse(noisy, lambda x: (sum(x) + Decimal(shift)).ln())
    assert got == pytest.approx(expected, rel=1e-11, abs=1e-12)


def test_a_shift_that_outweighs_a_huge_weight_of_zero():
    # The weight of N = 0 is e^466; with 5,000 added the logarithm hardly sees it.
    noisy = NoisyCounts(np.zeros(500, int), 0.5)
    transform = TotalTransform(Stencil.of(noisy))
    assert transform.log_zero_weight()[0] > 400
    got = TotalExpectation(transform, shift=5_000.0).log_total()
    mean = 5_000 - 500 / math.expm1(0.5)
    assert got == pytest.approx(math.log(mean), abs=1e-3)


@pytest.mark.parametrize("q", [0.05, 0.5, 2.0, 3.5, 10.0])
@pytest.mark.parametrize("rates", [0.8, [0.3, 2.0, 0.3, 1.1]])
@pytest.mark.parametrize("counts", [[6, 0, 4, 3], [1, 0, 1, -2]])
def test_sums_over_bins_divided_by_powers_of_the_total(counts, rates, q):
    noisy = NoisyCounts(np.array(counts), rates)
    stencil = Stencil.of(noisy)
    expectation = TotalExpectation(TotalTransform(stencil), power=q)
    got = expectation.sum_over_bins(
        stencil.evaluate(lambda z: z**2), kernel_inverse_power(q)
    )

    def over_power(x):
        return sum(z * z for z in x) / Decimal(max(sum(x), 1)) ** Decimal(q)

    expected = enumerate_inverse(noisy, over_power)
    assert got == pytest.approx(expected, rel=1e-10, abs=0)


def test_high_powers_put_the_end_of_the_integral_off():
    # Of t^9 e^-t 7e-11 lie beyond 45, where |G| has fallen to e^-45.
    noisy = NoisyCounts(np.array([600, 400]), 2.0)
    stencil = Stencil.of(noisy)
    expectation = TotalExpectation(TotalTransform(stencil), power=10.0)
    got = expectation.sum_over_bins(
        stencil.evaluate(lambda z: z), kernel_inverse_power(10.0)
    )
    expected = enumerate_inverse(noisy, lambda x: sum(x) / Decimal(sum(x)) ** 10)
    assert got == pytest.approx(expected, rel=1e-12, abs=0)


def test_equal_bins_are_counted_once_and_distinct_rates_cost_no_accuracy():
    counts = np.arange(40) % 7
    _, grouped = engine(NoisyCounts(counts, 0.9))
    nearly = 0.9 + 1e-13 * np.arange(40)
    stencil, apart = engine(NoisyCounts(counts, nearly))
    assert TotalTransform(stencil).sizes.size == 40
    assert apart.log_total() == pytest.approx(grouped.log_total(), rel=1e-11)


def test_the_second_lobe_is_seen():
    small, large = np.zeros(40, int) + 2, np.zeros(40, int) + 200
    for domain in ("counts", "integers"):
        _, near = engine(NoisyCounts(small, 0.1, domain))
        _, far = engine(NoisyCounts(large, 0.1, domain))
        assert near.second_lobe_alive(3.0)
        assert not far.second_lobe_alive(3.0)


def test_bins_at_the_lower_end_have_no_second_lobe():
    _, expectation = engine(NoisyCounts(np.array([50, 0, 0, 0]), 1.0))
    assert not expectation.second_lobe_alive(1.0)


def test_beyond_1e300_is_an_error_and_no_infinity():
    stencil, expectation = engine(NoisyCounts(np.full(4_000, 2), 0.1, "integers"))
    z_log_z = stencil.evaluate(lambda z: np.maximum(z, 1) * np.log(np.maximum(z, 1)))
    with pytest.raises(UnstableEstimateError, match=r"about -?1e\d+ in size"):
        expectation.sum_over_bins(z_log_z, kernel_inverse)
