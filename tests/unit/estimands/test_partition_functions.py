import math
from decimal import Decimal

import numpy as np
import pytest
from debias_reference import enumerate_inverse

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands import NoisyCounts, debias, estimate, partition_function

COUNTS = [3, 5, -2, 8, 0, 1]
DOMAINS = ["counts", "integers", (0, 6), (None, 5), (2, None), (2, 2)]


def by_neighbors(counts, rates, domain, t):
    """Value and variance of the estimate from every bin's neighbors, in decimals."""
    value = variance = 0.0
    for y, rate in zip(counts, rates, strict=True):
        noisy = NoisyCounts([y], rate, domain)
        one = enumerate_inverse(noisy, lambda z: (Decimal(t) * z[0]).exp())
        square = enumerate_inverse(noisy, lambda z: (2 * Decimal(t) * z[0]).exp())
        value += one
        variance += one**2 - square
    return value, variance


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("t", [0.2, -0.4, 0.0])
def test_value_and_variance_are_those_of_the_neighbors(domain, t):
    rates = np.linspace(1.0, 2.0, 6)
    found = estimate(NoisyCounts(COUNTS, rates, domain), partition_function(t))
    value, variance = by_neighbors(COUNTS, rates, domain, t)
    assert found.value == pytest.approx(value, rel=1e-13)
    assert found.variance == pytest.approx(variance, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("t", [3.0, -3.0])
def test_a_closed_domain_allows_every_t(t):
    rates = [0.5, 1.0, 1.5]
    found = estimate(NoisyCounts([0, 3, 6], rates, (0, 6)), partition_function(t))
    value, variance = by_neighbors([0, 3, 6], rates, (0, 6), t)
    assert found.value == pytest.approx(value, rel=1e-13)
    assert found.variance == pytest.approx(variance, rel=1e-12)
    assert math.isfinite(found.variance)


def test_near_the_limit_the_factors_do_not_cancel():
    t = 1 - 1e-9
    found = debias([40], partition_function(t), epsilon=1, domain="integers")
    value, _ = by_neighbors([40], [1.0], "integers", t)
    assert found.value == pytest.approx(value, rel=1e-6)
    assert found.value > 0


@pytest.mark.parametrize(
    ("domain", "refused", "limit"),
    [
        ("counts", [0.5, 0.6], r"needs t < 0\.5,"),
        ("integers", [0.5, -0.5, 3], r"needs t > -0\.5 and t < 0\.5,"),
        ((None, 4), [-0.5, -2], r"needs t > -0\.5,"),
    ],
)
@pytest.mark.parametrize("noise", ["laplace", "continuous_laplace"])
def test_beyond_the_limit_it_is_refused_and_the_limit_named(
    domain, refused, limit, noise
):
    law = {"epsilon": [1.0, 0.5], "domain": domain, "noise": noise}
    for t in refused:
        with pytest.raises(ParameterError, match=limit):
            debias([3, 2], partition_function(t), **law)


@pytest.mark.parametrize(
    ("domain", "heavy", "light"),
    [
        ("counts", [0.25, 0.4], [0.2, -0.25, -9.0]),
        ("integers", [0.25, -0.25, -0.4], [0.2, -0.2]),
        ((None, 9), [-0.25, -0.4], [0.25, -0.2, 9.0]),
        ((0, 9), [], [0.25, -0.25, 9.0, -9.0]),
    ],
)
@pytest.mark.parametrize("noise", ["laplace", "continuous_laplace"])
def test_an_infinite_variance_is_said(domain, heavy, light, noise):
    law = {"epsilon": [1.0, 0.5], "domain": domain, "noise": noise}
    for t in heavy:
        found = debias([3, 2], partition_function(t), **law)
        assert found.variance == found.std_error == math.inf
        assert any("variance is infinite" in text for text in found.warnings)
    for t in light:
        found = debias([3, 2], partition_function(t), **law)
        assert 0 < found.variance < math.inf
        assert not any("infinite" in text for text in found.warnings)


def test_gaussian_noise_sets_no_limit():
    law = {"noise": "continuous_gaussian", "sigma2": [0.5, 2.0]}
    found = debias([3, 2], partition_function(3), **law)
    expected = [(math.exp(9 - 9 * 0.25), 0.5), (math.exp(6 - 9), 2.0)]
    assert found.value == pytest.approx(sum(value for value, _ in expected))
    assert found.variance == pytest.approx(
        sum(value**2 * -math.expm1(-9 * s) for value, s in expected)
    )


def test_the_plug_ins_bias_does_not_depend_on_the_data():
    for counts in ([4, 9, 2], [50, 1, 30]):
        e = debias(counts, partition_function(0.25), epsilon=1, domain="integers")
        c = 1 / (4 * math.sinh(0.5) ** 2)
        expected = 1 / (1 - 4 * c * math.sinh(0.125) ** 2)
        assert e.plug_in / e.value == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    "law",
    [
        {"epsilon": 2, "noise": "laplace"},
        {"epsilon": 2, "noise": "continuous_laplace"},
        {"sigma2": 2, "noise": "gaussian"},
    ],
)
def test_beyond_1e300_it_is_unstable_and_never_infinite(law):
    for y in (700, 10_000, 10**12):
        with pytest.raises(UnstableEstimateError, match="beyond 1e300"):
            debias([y, 3], partition_function(1.0), **law)
    large = debias([680, 3], partition_function(0.9), **law)
    assert 1e200 < large.value < 1e300
    assert math.isnan(large.variance)
    assert any("std_error is not given" in text for text in large.warnings)
    assert debias([-(10**12)], partition_function(0.9), **law, domain="integers")


def test_single_terms_may_leave_float64_where_the_factor_makes_up_for_it():
    t = 3 - 1e-12  # the factor is near 1e-12
    with pytest.raises(UnstableEstimateError):
        debias([300], partition_function(t), epsilon=3)
    e = debias([229], partition_function(t), epsilon=3)
    plain = math.exp(3.0 * 229)
    assert 1e-13 * plain < e.value < 1e-11 * plain


def test_auto_may_take_the_plug_in():
    found = debias([5, 1, 3], partition_function(-0.05), epsilon=1, method="auto")
    assert not any("could not be estimated" in text for text in found.warnings)
    plug_in = debias([5, 1, 3], partition_function(-0.05), epsilon=1, method="plugin")
    assert plug_in.variance > 0


def test_the_risk_is_not_told_where_neighbors_leave_float64():
    found = debias([30], partition_function(23.0), epsilon=50, method="auto")
    assert found.method == "unbiased"
    assert any("could not be estimated" in text for text in found.warnings)


@pytest.mark.parametrize("law", [{"epsilon": 1}, {"sigma2": 2, "noise": "gaussian"}])
def test_no_bins_sum_to_0(law):
    e = debias([], partition_function(5.0), **law)
    assert (e.value, e.plug_in, e.variance) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("t", ["1", None, True, 1j, [1]])
def test_t_must_be_a_number(t):
    with pytest.raises(ParameterError, match="needs a number t"):
        partition_function(t)


@pytest.mark.parametrize(
    "t",
    [
        math.inf,
        -math.inf,
        math.nan,
        pytest.param(10**400, id="huge"),
        pytest.param(-(10**400), id="-huge"),
    ],
)
def test_t_must_be_finite(t):
    with pytest.raises(ParameterError, match="needs a finite t"):
        partition_function(t)


def test_its_name_tells_t():
    assert repr(partition_function(np.float64(0.25))) == "partition_function(0.25)"
