import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from debias_reference import enumerate_inverse

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands import NoisyCounts, debias, estimate, polynomial, power_sum

TERMS = [(2, {0: 2, 1: 1}), ("-3/2", {2: 3}), (0.5, {1: 1, 2: 2}), (7, {})]
LAWS = [
    {"epsilon": 0.5},
    {"epsilon": 0.5, "domain": (1, 8)},
    {"epsilon": [1, 2, 0.5, 0.7], "noise": "continuous_laplace"},
    {"sigma2": [0.3, 2, 5, 1], "noise": "gaussian"},
]


def test_the_plug_in_is_the_polynomial_of_the_counts_cut_to_the_domain():
    e = debias([3, 2, -4], polynomial(TERMS), epsilon=1)
    assert e.plug_in == 2 * 9 * 2 + 7
    everywhere = debias([3, 2, -4], polynomial(TERMS), epsilon=1, domain="integers")
    assert everywhere.plug_in == 2 * 18 + 1.5 * 64 + 0.5 * 2 * 16 + 7


@pytest.mark.parametrize("domain", ["counts", "integers", (0, 3), (2, 2), (None, 3)])
def test_it_is_the_sum_over_all_neighbors(domain):
    def f(z):
        a, b, c = map(Decimal, z)
        return 2 * a**2 * b - c**3 * 3 / 2 + b * c**2 / 2 + 7

    noisy = NoisyCounts([4, 0, 3], [1.0, 0.5, 2.0], domain)
    found = estimate(noisy, polynomial(TERMS))
    value, square = (enumerate_inverse(noisy, g) for g in (f, lambda z: f(z) ** 2))
    assert found.value == pytest.approx(value, rel=1e-13)
    assert found.variance == pytest.approx(value**2 - square, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_random_polynomials_of_eight_bins(seed):
    rng = np.random.default_rng(seed)
    terms = [
        (
            int(rng.integers(-5, 6)),
            {int(i): int(k) for i, k in zip(bins, rng.integers(1, 4, 3), strict=True)},
        )
        for bins in (rng.choice(8, 3, replace=False) for _ in range(5))
    ]

    def f(z):
        return sum(
            (a * math.prod(Decimal(z[i]) ** k for i, k in m.items()) for a, m in terms),
            Decimal(0),
        )

    counts, rates = rng.integers(-2, 9, 8), rng.uniform(0.4, 3, 8)
    domain = ["counts", "integers", (0, 6)][seed % 3]
    noisy = NoisyCounts(counts, rates, domain)
    found = estimate(noisy, polynomial(terms))
    value, square = (enumerate_inverse(noisy, g) for g in (f, lambda z: f(z) ** 2))
    assert found.value == pytest.approx(value, rel=1e-12, abs=1e-9)
    assert found.variance == pytest.approx(value**2 - square, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("law", LAWS)
def test_a_power_sum_written_out_is_the_power_sum(law):
    counts = [4, -1, 0, 9]
    written = polynomial([(1, {i: 3}) for i in range(4)])
    one, other = (debias(counts, e, **law) for e in (written, power_sum(3)))
    assert one.value == pytest.approx(other.value, rel=1e-13)
    assert one.plug_in == pytest.approx(other.plug_in, rel=1e-13)
    assert one.variance == pytest.approx(other.variance, rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_products_of_bins_are_products_of_estimates(law):
    counts = [4, -1, 2, 9]
    factors = [debias(counts, polynomial([(1, {i: 2})]), **law).value for i in range(4)]
    joint = debias(counts, polynomial([(1, dict.fromkeys(range(4), 2))]), **law)
    assert joint.value == pytest.approx(math.prod(factors), rel=1e-13)


def test_large_terms_that_cancel_lose_no_digits():
    difference = polynomial([(1, {0: 2}), (-2, {0: 1, 1: 1}), (1, {1: 2})])
    near = debias([0, 3], difference, epsilon=1, domain="integers")
    far = debias([10**15, 10**15 + 3], difference, epsilon=1, domain="integers")
    assert far.value == pytest.approx(near.value, rel=1e-14)
    assert far.variance == pytest.approx(near.variance, rel=1e-14)


def test_like_terms_are_added_and_zeros_dropped():
    one = polynomial([(1, {0: 2, 1: 1}), (2, {1: 1, 0: 2}), (5, {3: 0}), (0, {9: 1})])
    other = polynomial([(3, {0: 2, 1: 1}), (5, {})])
    assert one.terms == other.terms == {((0, 2), (1, 1)): 3, (): 5}
    assert debias([4, 2], one, epsilon=1) == debias([4, 2], other, epsilon=1)
    assert repr(other) == "polynomial(2 terms)"


def test_constants_need_no_bins():
    e = debias([], polynomial([(0.1, {})]), epsilon=1)
    assert (e.value, e.plug_in, e.variance) == (0.1, 0.1, 0.0)
    assert debias([], polynomial([]), epsilon=1).value == 0.0


def test_only_the_bins_of_a_common_term_are_looked_at():
    terms = [(1, {i: 1, i + 1: 1}) for i in range(0, 4_000, 2)]
    counts = np.arange(4_000)
    found = debias(counts, polynomial(terms), epsilon=1, domain="integers")
    y, c = counts.astype(float), 1 / (4 * math.sinh(0.5) ** 2)
    one, other = y[::2], y[1::2]
    assert found.value == pytest.approx((one * other).sum(), rel=1e-14)
    variances = 2 * c * (one**2 + other**2) - 4 * c**2
    assert found.variance == pytest.approx(variances.sum(), rel=1e-13)


def test_tables_are_numbered_row_by_row():
    table, corner = np.arange(6).reshape(2, 3), polynomial([(1, {5: 1})])
    assert debias(table, corner, epsilon=40).value == pytest.approx(5)


@pytest.mark.parametrize("law", LAWS)
def test_a_bin_that_is_not_there_is_refused(law):
    law = {name: given for name, given in law.items() if not isinstance(given, list)}
    law.setdefault("sigma2" if law.get("noise") == "gaussian" else "epsilon", 1)
    with pytest.raises(ParameterError, match="uses bin 4, and there are 4 counts"):
        debias([1, 2, 3, 4], polynomial([(1, {4: 1})]), **law)


@pytest.mark.parametrize("terms", [None, 3, "x", {0: 1}])
def test_terms_are_a_list(terms):
    with pytest.raises(ParameterError, match="needs a list of terms"):
        polynomial(terms)


@pytest.mark.parametrize("term", [3, "12", (1,), (1, 2), (1, {0: 1}, 3), ({0: 1}, 2)])
def test_a_term_is_a_pair(term):
    with pytest.raises(ParameterError, match="a term is a pair"):
        polynomial([term])


@pytest.mark.parametrize("place", [-1, "0", 1.0, True, None])
def test_a_bin_is_a_number_from_0_on(place):
    with pytest.raises(ParameterError, match="a bin is its number"):
        polynomial([(1, {place: 1})])


@pytest.mark.parametrize("power", [-1, 1.5, "2", True, 1_001])
def test_a_power_is_a_whole_number(power):
    with pytest.raises(ParameterError, match="whole number from 0 to 1,000"):
        polynomial([(1, {0: power})])


@pytest.mark.parametrize("coefficient", [None, True, float("nan"), "x", 1j])
def test_a_coefficient_is_a_number(coefficient):
    with pytest.raises(ParameterError, match="a coefficient"):
        polynomial([(coefficient, {0: 1})])


def test_beyond_1e300_it_is_unstable():
    with pytest.raises(UnstableEstimateError, match="beyond 1e300"):
        debias([10**6], polynomial([(1, {0: 60})]), epsilon=1)


def test_coefficients_keep_the_digits_they_were_written_with():
    assert polynomial([(0.1, {0: 1})]).terms == {((0, 1),): Fraction(1, 10)}


def test_auto_is_unbiased_and_drowned_estimates_are_flagged():
    found = debias([1, 0], polynomial([(1, {0: 2, 1: 2})]), epsilon=0.1, method="auto")
    assert found.method == "unbiased"
    assert any("10 times the plug-in" in text for text in found.warnings)
    assert any("could not be estimated" in text for text in found.warnings)
