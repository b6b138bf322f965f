import math

import numpy as np
import pytest
from debias_reference import noise_law

from dpframe.estimands import NoisyCounts
from dpframe.estimands.plug_in_risk import _bias_near, plug_in_risk
from dpframe.estimands.stencil import Stencil


@pytest.mark.parametrize("domain", ["counts", "integers", (1, 6), (0, None)])
@pytest.mark.parametrize(
    "f",
    [lambda x: x**2, lambda x: x == 1, lambda x: np.log1p(np.abs(x)), lambda x: 3.0],
    ids=["square", "indicator", "log", "constant"],
)
def test_the_bias_of_each_bin_is_the_expectation_less_the_function(domain, f):
    rates = np.array([0.4, 0.4, 0.4, 1.3, 1.3])
    noisy = NoisyCounts(np.array([-1, 5, 400, 2, 9]), rates, domain)
    stencil = Stencil.of(noisy)
    beta = _bias_near(f, noisy, stencil)
    for points, biases in zip(stencil.points, beta, strict=True):
        for x, rate, bias in zip(points, rates, biases, strict=True):
            k, law = noise_law(rate, 1e-20)
            mean = (law * f(noisy.clip(x + k).astype(float))).sum()
            expected = mean - float(f(np.float64(x)))
            assert bias == pytest.approx(expected, rel=1e-7, abs=1e-10)


def test_a_plug_in_of_infinite_variance_has_no_risk():
    noisy = NoisyCounts(np.array([3, 5, 8]), 1.0)
    assert plug_in_risk(lambda x: np.exp(0.25 * x), noisy, 0.0) is not None
    assert plug_in_risk(lambda x: np.exp(0.6 * x), noisy, 0.0) is None
    assert plug_in_risk(lambda x: np.exp(1.5 * x), noisy, 0.0) is None


def test_a_function_that_is_infinite_far_out_has_no_risk():
    noisy = NoisyCounts(np.array([3, 5, 8]), 1.0)
    assert plug_in_risk(lambda x: np.where(x > 60, np.inf, x), noisy, 0.0) is None


def test_a_risk_beyond_float64_is_none():
    noisy = NoisyCounts(np.array([2**53 - 2, 2 - 2**53, 5]), 1.0, "integers")
    assert plug_in_risk(lambda x: x**12, noisy, 0.0) is None


def test_hopelessly_wide_noise_is_not_computed():
    noisy = NoisyCounts(np.array([3, 5, 8]), 1e-6)
    assert plug_in_risk(lambda x: x, noisy, 0.0) is None


def test_a_linear_function_of_integers_has_no_bias_and_the_noise_as_variance():
    noisy = NoisyCounts(np.array([3, -5, 8]), 0.7, "integers")
    risk = plug_in_risk(lambda x: x, noisy, 0.0)
    assert risk.bias_squared == pytest.approx(0.0, abs=1e-12)
    c = 1 / (4 * math.sinh(0.35) ** 2)
    assert risk.variance == pytest.approx(3 * 2 * c, rel=1e-10)


@pytest.mark.parametrize("domain", ["counts", "integers"])
def test_equal_counts_are_worked_out_once_and_counted_often(domain):
    y = np.array([2, 0, 1, 2, -1, 7, 1, 1])
    rates = np.full(8, 0.8)
    together = plug_in_risk(np.square, NoisyCounts(y, 0.8, domain), 3.0)
    rates[0] = 0.8 + 1e-12  # bins of different rates are not counted together
    apart = plug_in_risk(np.square, NoisyCounts(y, rates, domain), 3.0)
    assert together == pytest.approx(apart, rel=1e-8)
    assert NoisyCounts(y, 0.8, domain).tally[0].values.size < 8
