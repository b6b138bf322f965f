import math
from fractions import Fraction

import numpy as np
import pytest

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands.smooth_functions import TwiceDifferentiable, UnivariatePolynomial

CUBIC = UnivariatePolynomial((Fraction(1), Fraction(0), Fraction(-2), Fraction(1, 3)))


def test_derivatives_of_a_polynomial():
    x = np.array([-1.5, 0.0, 2.0])
    here, slope, curve = CUBIC.derivatives(x)
    assert here == pytest.approx(1 - 2 * x**2 + x**3 / 3)
    assert slope == pytest.approx(-4 * x + x**2)
    assert curve == pytest.approx(-4 + 2 * x)
    constant = UnivariatePolynomial((Fraction(5),)).derivatives(x)
    assert [part.tolist() for part in constant] == [[5.0] * 3, [0.0] * 3, [0.0] * 3]


def test_products_and_differences_of_polynomials():
    square = CUBIC * CUBIC
    x = np.array([-3.0, 0.5, 4.0])
    assert square.at(x) == pytest.approx(CUBIC.at(x) ** 2)
    assert not any((square - CUBIC * CUBIC).coefficients)
    line = UnivariatePolynomial.power(1)
    assert (line - CUBIC).at(x) == pytest.approx(x - CUBIC.at(x))


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_binomials_and_powers_at_whole_numbers(k):
    x = np.arange(-3.0, 40.0)
    stars, powers = UnivariatePolynomial.binomial(k), UnivariatePolynomial.power(k)
    for z, star, power in zip(x.astype(int), stars(x), powers(x), strict=True):
        product = math.prod(int(z) - j for j in range(k))
        assert star == Fraction(product, math.factorial(k))
        assert power == int(z) ** k


def test_large_values_are_exact_objects_and_small_ones_floats():
    large = np.array([3e6, 3e6 + 1])
    assert UnivariatePolynomial.binomial(4)(large).tolist() == [
        math.comb(3_000_000, 4),
        math.comb(3_000_001, 4),
    ]
    assert UnivariatePolynomial.power(3)(large).dtype == object
    assert UnivariatePolynomial.power(3)(large / 1e3).dtype == np.float64


def test_coefficients_that_nobody_wrote_by_hand_stay_floats():
    odd = UnivariatePolynomial((Fraction(0), Fraction(math.pi)))
    assert odd(np.array([1e6])).dtype == np.float64
    assert odd(np.array([1e6]))[0] == pytest.approx(math.pi * 1e6, rel=1e-15)


def test_coefficients_beyond_float64_are_unstable():
    with pytest.raises(UnstableEstimateError, match="beyond float64"):
        UnivariatePolynomial((Fraction(10) ** 400,)).at(np.zeros(1))


def test_a_users_functions_may_take_one_number():
    plain = TwiceDifferentiable(math.sin, math.cos, lambda x: -math.sin(x))
    x = np.array([0.25, -1.5, 0.25])
    here, slope, curve = plain.derivatives(x)
    assert here == pytest.approx(np.sin(x))
    assert slope == pytest.approx(np.cos(x))
    assert curve == pytest.approx(-np.sin(x))
    assert plain(2.0) == math.sin(2.0)


def test_a_users_function_must_be_finite():
    broken = TwiceDifferentiable(np.sqrt, lambda x: np.inf * x, lambda x: x)
    with pytest.raises(ParameterError, match="finite at every number"):
        broken.derivatives(np.array([1.0]))
