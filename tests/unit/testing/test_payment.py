from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpframe.mechanisms.noising import Draw
from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.privacy.conversion import discrete_gaussian_variance
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Sensitivity
from dpframe.testing.payment import unpaid

ONE = Sensitivity(1, 1, 1, 1)
WIDE = Sensitivity(4, 8, 3, 2)
INPUT = (np.zeros(1, dtype=np.int64),)


def laplace(scale, sensitivity=ONE):
    return Draw(INPUT, DiscreteLaplace(scale), sensitivity)


def gaussian(sigma2, sensitivity=ONE):
    return Draw(INPUT, DiscreteGaussian(sigma2), sensitivity)


def pure(epsilon):
    return PrivacyLoss(Fraction(epsilon))


def test_laplace_noise_costs_sensitivity_by_scale():
    assert unpaid([laplace(2)], pure("1/2")) is None
    assert unpaid([laplace(8, WIDE)], pure("1/2")) is None
    assert unpaid([laplace(Fraction(199, 100))], pure("1/2")) == (
        "the noise drawn costs epsilon 0.502513, and 0.5 was charged"
    )


def test_draws_of_one_charge_add_up():
    assert unpaid([laplace(3), laplace(3), laplace(3)], pure(1)) is None
    assert "epsilon 1.5" in unpaid([laplace(2)] * 3, pure(1))


def test_no_draw_costs_nothing():
    assert unpaid([], pure(1)) is None
    assert unpaid([], PrivacyLoss(rho=Fraction(1))) is None


def test_gaussian_noise_costs_rho():
    loss = PrivacyLoss(rho=Fraction(1, 2))
    assert unpaid([gaussian(1)], loss) is None
    assert unpaid([gaussian(8, WIDE)], loss) is None
    assert unpaid([gaussian(16, WIDE), gaussian(2)], loss) is None
    assert "rho 0.505" in unpaid([gaussian(Fraction(99, 100))], loss)


def test_laplace_noise_costs_half_a_square_of_rho():
    assert unpaid([laplace(1)], PrivacyLoss(rho=Fraction(1, 2))) is None
    assert "rho 0.5" in unpaid([laplace(1)], PrivacyLoss(rho=Fraction(49, 100)))


@pytest.mark.parametrize("sensitivity", [ONE, Sensitivity(3, 9, 1, 3), WIDE])
def test_gaussian_noise_of_epsilon_and_delta(sensitivity):
    delta = Fraction(1, 10**6)
    loss = PrivacyLoss(Fraction(1), delta)
    variance = discrete_gaussian_variance(1, delta, sensitivity)
    assert unpaid([gaussian(variance, sensitivity)], loss) is None
    assert "delta" in unpaid([gaussian(variance / 2, sensitivity)], loss)
    half = discrete_gaussian_variance(Fraction(1, 2), delta / 2, sensitivity)
    assert unpaid([gaussian(half, sensitivity)] * 2, loss) is None
    assert "delta" in unpaid([gaussian(half / 4, sensitivity)] * 2, loss)


def test_exact_curve_decides_for_one_integer():
    loss = PrivacyLoss(Fraction(1), Fraction(1, 10**6))
    variance = discrete_gaussian_variance(1, loss.delta, ONE)
    assert "delta" in unpaid([gaussian(variance * Fraction(999, 1000))], loss)


def test_gaussian_noise_has_no_pure_epsilon():
    assert "delta" in unpaid([gaussian(10**6)], pure(1))


def test_laplace_noise_cannot_be_paid_by_nothing():
    assert "epsilon 1" in unpaid([laplace(1)], PrivacyLoss())
