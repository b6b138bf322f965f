import math
from fractions import Fraction

import numpy as np
import pytest

from dpframe.estimands.gaussian_moments import inverse_moments, log_transform
from dpframe.noise import DiscreteGaussian

SIGMAS = [Fraction(1, 20), Fraction(1, 4), Fraction(1), Fraction(7, 2), Fraction(90)]


def law(sigma2, reach=400):
    k = np.arange(-reach, reach + 1)
    return k, DiscreteGaussian(sigma2).pmf(k)


@pytest.mark.parametrize("sigma2", SIGMAS)
def test_the_inverse_undoes_the_moments_of_the_discrete_law(sigma2):
    k, mass = law(sigma2)
    moments = [math.fsum(mass * k.astype(float) ** n) for n in range(9)]
    q = [float(each) for each in inverse_moments(sigma2, 8, discrete=True)]
    for n in range(1, 9):
        terms = [math.comb(n, j) * q[j] * moments[n - j] for j in range(n + 1)]
        assert math.fsum(terms) == pytest.approx(0, abs=1e-12 * max(map(abs, terms)))
    assert q[2] == pytest.approx(-DiscreteGaussian(sigma2).variance, rel=1e-13)


def test_the_inverse_of_the_continuous_law_has_hermites_coefficients():
    q = inverse_moments(Fraction(3), 8, discrete=False)
    assert q == [1, 0, -3, 0, 3 * 9, 0, -15 * 27, 0, 105 * 81]


@pytest.mark.parametrize("order", [0, 1])
def test_the_lowest_orders(order):
    assert inverse_moments(Fraction(2), order, discrete=True) == [1, 0][: order + 1]


@pytest.mark.parametrize("sigma2", SIGMAS)
@pytest.mark.parametrize("t", [Fraction(1, 1000), Fraction(1, 3), Fraction(-2)])
def test_the_transform_of_the_discrete_law(sigma2, t):
    k, mass = law(sigma2, reach=340)
    expected = math.log(math.fsum(mass * np.exp(float(t) * k)))
    found = float(log_transform(sigma2, t, discrete=True))
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_wide_and_continuous_laws_have_the_parabola():
    for sigma2, discrete in ((Fraction(101), True), (Fraction(1, 7), False)):
        found = log_transform(sigma2, Fraction(3), discrete=discrete)
        assert float(found) == pytest.approx(4.5 * float(sigma2), rel=1e-15)


def test_the_two_laws_meet_where_the_sum_is_left_off():
    near, far = Fraction(100), Fraction(100) + Fraction(1, 10**30)
    for order in (2, 6, 40):
        one, other = (
            inverse_moments(s, order, discrete=True)[order] for s in (near, far)
        )
        assert float(one / other) == pytest.approx(1, rel=1e-15)


def test_noise_that_is_hardly_there():
    assert float(inverse_moments(Fraction(1, 10**90), 2, discrete=True)[2]) == 0
    assert float(log_transform(Fraction(1, 10**90), Fraction(5), discrete=True)) == 0
