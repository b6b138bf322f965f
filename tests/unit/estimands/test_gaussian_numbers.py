import math
from fractions import Fraction

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.estimands import GaussianNumbers, debias, power_sum, separable, smooth
from dpframe.estimands.smooth_functions import UnivariatePolynomial
from dpframe.noise import DiscreteGaussian

VALUES = [4, -1, 0, 9]
SIGMA2 = np.array([0.3, 2.0, 0.3, 150.0])


@pytest.mark.parametrize("discrete", [True, False])
def test_covariances_are_the_differences_of_the_definition(discrete):
    noisy = GaussianNumbers(VALUES, SIGMA2, "counts", discrete)
    functions = [UnivariatePolynomial.power(k) for k in (0, 1, 2, 3)]
    for f in functions:
        for g in functions:
            plain = noisy.apply(f) * noisy.apply(g) - noisy.apply(f * g)
            assert noisy.covariance(f, g) == pytest.approx(plain, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("discrete", [True, False])
def test_exact_powers_are_those_of_the_arrays(discrete):
    noisy = GaussianNumbers(VALUES, SIGMA2, "counts", discrete)
    for k in range(6):
        exact = [noisy.power(i, k) for i in range(len(VALUES))]
        assert all(isinstance(value, Fraction) for value in exact)
        arrays = noisy.apply(UnivariatePolynomial.power(k)).tolist()
        assert [float(v) for v in exact] == pytest.approx(arrays, rel=1e-12, abs=1e-12)


def test_the_discrete_law_has_a_variance_of_its_own():
    law = {"sigma2": "0.2", "domain": "integers"}
    discrete = debias([7], power_sum(2), noise="gaussian", **law)
    continuous = debias([7], power_sum(2), noise="continuous_gaussian", **law)
    assert discrete.value == pytest.approx(49 - DiscreteGaussian("0.2").variance)
    assert continuous.value == pytest.approx(48.8, rel=1e-15)
    assert discrete.value - continuous.value > 0.01


def test_the_domain_cuts_the_plug_in_only():
    law = {"noise": "gaussian", "sigma2": 4}
    everywhere = debias([3, -2], power_sum(2), domain="integers", **law)
    counts = debias([3, -2], power_sum(2), domain="counts", **law)
    assert counts.value == everywhere.value
    assert (everywhere.plug_in, counts.plug_in) == (13.0, 9.0)


def test_large_counts_keep_all_digits_of_the_variance():
    found = debias([10**8], power_sum(2), noise="continuous_gaussian", sigma2=4)
    assert found.variance == pytest.approx(4 * 4 * 1e16 - 2 * 16, rel=1e-15)


def test_smooth_functions_that_are_no_polynomials_are_refused():
    waves = smooth(np.sin, np.cos, lambda x: -np.sin(x))
    with pytest.raises(ParameterError, match="sin has no exact inverse under Gaussian"):
        debias([1, 2], waves, noise="gaussian", sigma2=1)
    line = separable(np.polynomial.Polynomial([3, 2]))
    assert debias([1, 2], line, noise="gaussian", sigma2=1).value == 12.0


def test_discrete_noise_leaves_whole_numbers():
    with pytest.raises(ParameterError, match="'continuous_gaussian'"):
        debias([1.5], power_sum(2), noise="gaussian", sigma2=1)
    found = debias([1.5], power_sum(2), noise="continuous_gaussian", sigma2=1)
    assert found.value == 1.25


def test_every_exponential_has_an_inverse():
    assert GaussianNumbers(VALUES, SIGMA2).reach == math.inf
