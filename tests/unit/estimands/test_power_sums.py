import math
from fractions import Fraction

import pytest

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands import debias, k_stars, power_sum

RATE = math.log(2)  # p = 1/2, so c = 2 and d = 1 up to rounding


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("domain", ["counts", "integers"])
def test_power_sum_is_the_polynomial_of_the_specification(k, domain):
    counts = [7, 3, -2, 0, 12]
    expected = 0
    for y in counts:
        if domain == "counts" and y <= 0:
            expected += -1
        else:
            expected += y**k - 4 * sum(
                math.comb(k, j) * y ** (k - j) for j in range(2, k + 1, 2)
            )
    got = debias(counts, power_sum(k), epsilon=RATE, domain=domain).value
    assert got == pytest.approx(expected, rel=1e-12)


def test_powers_beyond_float64s_integers_stay_exact():
    y, k = 10**7 + 1, 5
    exact = y**k - 2 * sum(2 * math.comb(k, j) * Fraction(y) ** (k - j) for j in (2, 4))
    got = debias([y], power_sum(k), epsilon=RATE).value
    assert got == pytest.approx(float(exact), rel=1e-15)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("domain", ["counts", "integers"])
def test_k_stars_lose_c_stars_of_the_node_below(k, domain):
    def binomial(y, k):
        return math.prod(y - j for j in range(k)) / math.factorial(k)

    counts = [9, 4, 1, -3, 2]
    expected = sum(
        0.0
        if domain == "counts" and y <= 0
        else binomial(y, k) - 2 * binomial(y - 1, k - 2)
        for y in counts
    )
    got = debias(counts, k_stars(k), epsilon=RATE, domain=domain).value
    assert got == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_large_star_counts_are_exact():
    y = 3_000_000
    got = debias([y], k_stars(4), epsilon=RATE).value
    assert got == pytest.approx(math.comb(y, 4) - 2 * math.comb(y - 1, 2), rel=1e-15)


def test_a_range_uses_its_upper_edge():
    got = debias([9], power_sum(2), epsilon=RATE, domain=(0, 5)).value
    assert got == pytest.approx(2 * 25 - 16)


@pytest.mark.parametrize("make", [power_sum, k_stars])
@pytest.mark.parametrize("k", [0, -1, 1.5, True, "2", None])
def test_a_bad_power_is_refused(make, k):
    with pytest.raises(ParameterError, match="integer k >= 1"):
        make(k)


def test_a_power_beyond_float64_is_unstable():
    with pytest.raises(UnstableEstimateError):
        debias([10**6], power_sum(60), epsilon=1.0)


@pytest.mark.parametrize("make", [power_sum, k_stars])
def test_a_power_that_no_count_above_1_survives_is_refused(make):
    with pytest.raises(ParameterError, match="needs k <= 1,000"):
        make(1_001)
