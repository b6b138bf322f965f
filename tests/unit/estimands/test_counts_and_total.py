import math
from decimal import Decimal

import numpy as np
import pytest
from debias_reference import enumerate_inverse

from dpframe.errors import ParameterError
from dpframe.estimands import NoisyCounts
from dpframe.estimands.counts_and_total import (
    CountsAndTotal,
    EstimatedTotal,
    Term,
    divisor,
    linear_term,
)
from dpframe.estimands.stencil import Stencil
from dpframe.estimands.total_kernels import kernel_inverse, kernel_one

WEIGHTS = np.array([0.5, 2.0, -1.0, 1.0])


def squares(z):
    return z * z


def exact_squares(z):
    return Decimal(z * z)


@pytest.mark.parametrize(
    ("counts", "domain", "integral"),
    [
        ([6, 0, 4, 3], "counts", True),
        ([0, 0, 1, -2], "counts", True),
        ([6, 1, 4, 3], "integers", True),
        ([3, -2, 0, 1], "integers", False),
        ([3, -2, 0, 4], (-2, 4), True),
    ],
)
@pytest.mark.parametrize("weights", [1.0, WEIGHTS], ids=["equal", "weighted"])
def test_both_roads_lead_to_the_sum_over_all_neighbors(
    counts, domain, integral, weights
):
    noisy = NoisyCounts(np.array(counts), [0.5, 1.0, 1.0, 2.0], domain)
    bins = CountsAndTotal.of(noisy)
    assert (bins.expectation is not None) == integral
    got = bins.add_up(
        Term(squares, kernel_inverse, exact_squares, weights),
        linear_term(kernel_one, -1.0),
    )
    each = np.broadcast_to(weights, 4).tolist()

    def written_out(x):
        total = sum(x)
        if total <= 0:
            return Decimal(0)
        weighted = sum(Decimal(w) * z * z for w, z in zip(each, x, strict=True))
        return weighted / total - total

    expected = enumerate_inverse(noisy, written_out)
    assert got == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("domain", ["counts", "integers", (0, 4)])
@pytest.mark.parametrize(
    "counts", [[3, 0, 3, 1, 9, -1, 1, 0], [1, 0, -3, 1, 1, 1], [1, 1, 1, 1, 1, 1]]
)
def test_equal_counts_are_one_bin_and_count_as_many(domain, counts):
    noisy = NoisyCounts(np.array(counts), 0.8, domain)
    apart, together = CountsAndTotal.of(noisy), CountsAndTotal.of(noisy, alike=True)
    terms = Term(squares, kernel_inverse, exact_squares), linear_term(kernel_one)
    assert together.add_up(*terms) == pytest.approx(apart.add_up(*terms), rel=1e-12)
    assert together.total == pytest.approx(apart.total, rel=1e-13)
    assert EstimatedTotal.behind(noisy) == pytest.approx(apart.total, rel=1e-13)
    assert together.variance(squares) == pytest.approx(apart.variance(squares))
    roads = [bins.expectation for bins in (apart, together)]
    assert (roads[0] is None) == (roads[1] is None)
    if roads[0] and roads[1]:
        assert roads[1].log_total() == pytest.approx(roads[0].log_total(), rel=1e-12)
        assert together.stencil.center.size < len(counts)


def test_a_count_over_the_total_adds_up_to_one_unless_all_are_empty():
    noisy = NoisyCounts(np.array([1, 0, -1, 0]), 1.0)
    got = CountsAndTotal.of(noisy).add_up(linear_term(kernel_inverse))
    c, d = 1 / (4 * math.sinh(0.5) ** 2), 1 / math.expm1(1)
    assert got == pytest.approx(1 + c * (1 + d) ** 3, rel=1e-12)


def test_the_total_is_estimated_and_flagged_where_it_may_be_0():
    d = 1 / math.expm1(1)
    sure = EstimatedTotal.of(Stencil.of(NoisyCounts(np.array([50, 0, 9]), 1.0)))
    assert sure == (pytest.approx(59 - d), False)
    unsure = EstimatedTotal.of(Stencil.of(NoisyCounts(np.array([1, 0, -1]), 1.0)))
    assert unsure == (1.0, True)


def test_warnings_name_the_road_the_lobe_and_the_total():
    def said(counts, domain="counts", rate=1.0):
        bins = CountsAndTotal.of(NoisyCounts(np.array(counts), rate, domain))
        found = bins.judge(1.0, 0.01, 1.0)
        return found.stable, " ".join(found.warnings)

    assert said([50, 0, 9]) == (True, "")
    stable, text = said([1, 0, 2, 1], rate=0.5)
    assert not stable
    assert "astronomically large" in text
    assert "within 3 standard errors of 0" in text
    stable, text = said([3, -2, 0, 1], "integers")
    assert stable
    assert "summed exactly in decimals" in text


def test_much_noise_is_said():
    bins = CountsAndTotal.of(NoisyCounts(np.array([50, 0, 9]), 1.0))
    assert "10 times the plug-in" in bins.judge(1.0, 101.0, 1.0).warnings[0]


def test_a_divisor_is_at_least_one():
    assert divisor(1, "entropy") == 1
    with pytest.raises(ParameterError, match=r"entropy divides.*at least 1, not 0"):
        divisor(0, "entropy")
