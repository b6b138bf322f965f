from fractions import Fraction

import numpy as np
import pytest

from dpframe.estimands import LaplaceNumbers, debias, k_stars, power_sum, separable
from dpframe.estimands.smooth_functions import UnivariatePolynomial

B = np.array([0.5, 2.0, 1.0, 3.0])
VALUES = [4.25, -1.0, 0.5, 9.0]
DOMAINS = ["counts", "integers", (0.5, 6), (1, None), (None, 3.5), (2, 2)]
FUNCTIONS = [UnivariatePolynomial.power(k) for k in (1, 2, 3)]


def test_inside_the_estimate_is_f_less_its_second_derivative():
    noisy = LaplaceNumbers(VALUES, B, "integers")
    y = np.array(VALUES)
    cube, square = FUNCTIONS[2], FUNCTIONS[1]
    assert noisy.apply(cube) == pytest.approx(y**3 - B**2 * 6 * y)
    assert noisy.covariance(square, square) == pytest.approx(
        (y**2 - 2 * B**2) ** 2 - (y**4 - 12 * B**2 * y**2)
    )


def test_at_an_end_the_estimate_is_f_less_its_slope_outwards():
    noisy = LaplaceNumbers(VALUES, B, (0.5, 6))
    inside, below, at_end, above = noisy.apply(FUNCTIONS[1])
    assert inside == 4.25**2 - 2 * 0.25
    assert below == 0.25 - 2 * 2 * 0.5
    assert at_end == 0.25 - 1 * 2 * 0.5
    assert above == 36 + 3 * 2 * 6
    assert LaplaceNumbers(VALUES, B, (2, 2)).apply(FUNCTIONS[1]).tolist() == [4.0] * 4


@pytest.mark.parametrize("domain", DOMAINS)
def test_covariances_are_the_differences_of_the_definition(domain):
    noisy = LaplaceNumbers(VALUES, B, domain)
    for f in FUNCTIONS:
        for g in FUNCTIONS:
            plain = noisy.apply(f) * noisy.apply(g) - noisy.apply(f * g)
            assert noisy.covariance(f, g) == pytest.approx(plain, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("domain", DOMAINS)
def test_exact_powers_are_those_of_the_arrays(domain):
    noisy = LaplaceNumbers(VALUES, B, domain)
    for k in range(6):
        exact = [noisy.power(i, k) for i in range(len(VALUES))]
        assert all(isinstance(value, Fraction) for value in exact)
        power = UnivariatePolynomial.power(k)
        assert [float(v) for v in exact] == pytest.approx(noisy.apply(power).tolist())


def test_scale_and_reach_come_from_epsilon_and_sensitivity():
    found = debias(
        [5.5], power_sum(2), epsilon="1/2", sensitivity=3, noise="continuous_laplace"
    )
    assert found.value == 5.5**2 - 2 * 6**2
    assert LaplaceNumbers(VALUES, B).reach == pytest.approx(1 / 3)


def test_a_numpy_polynomial_in_its_own_window_is_taken_by_its_coefficients():
    window = np.polynomial.Polynomial([1, 2, 0.5], domain=[0, 10], window=[-1, 1])
    plain = window.convert(domain=[-1, 1], window=[-1, 1])
    for noise in ("laplace", "continuous_laplace"):
        law = {"epsilon": 1, "noise": noise}
        one, other = (debias([7, 0, 4], separable(p), **law) for p in (window, plain))
        assert one.value == pytest.approx(other.value, rel=1e-13)
    curve = plain.deriv(2)(0.0)
    law = {"epsilon": 2, "noise": "continuous_laplace"}
    assert debias([7.5], separable(window), **law).value == pytest.approx(
        window(7.5) - curve / 4
    )


def test_star_counts_of_numbers():
    found = debias([6.5], k_stars(2), epsilon=1, noise="continuous_laplace")
    assert found.value == 6.5 * 5.5 / 2 - 1
