"""The integral engine against sums that know nothing of integrals."""

import math
from decimal import Decimal

import numpy as np
import pytest
from debias_reference import enumerate_inverse

from dpframe.errors import UnstableEstimateError
from dpframe.estimands import NoisyCounts
from dpframe.estimands.exact_total import exact_sum_over_bins
from dpframe.estimands.stencil import Stencil
from dpframe.estimands.total_expectation import (
    TotalExpectation,
    kernel_inverse,
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
            (
                lambda z: Decimal(max(z, 0)),
                lambda total: Decimal(total).ln() / total if total > 0 else Decimal(0),
            )
        ],
    )
    assert expectation.log_total() == pytest.approx(exact, rel=1e-12)


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
