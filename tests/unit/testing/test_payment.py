from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpframe.mechanisms.noising import Draw
from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.noise.key_threshold import KeyThreshold
from dpframe.noise.ordered_choice import OrderedChoice
from dpframe.noise.selection import PermuteAndFlip
from dpframe.noise.threshold import ThresholdNoise
from dpframe.privacy.conversion import discrete_gaussian_variance
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Sensitivity
from dpframe.testing.payment import unpaid

ONE = Sensitivity(1, 1, 1, 1)
WIDE = Sensitivity(4, 8, 3, 2)


def entries(n):
    return (np.zeros(n, dtype=np.int64),)


def laplace(scale, sensitivity=ONE, n=5):
    return Draw(entries(n), DiscreteLaplace(scale), sensitivity)


def gaussian(sigma2, sensitivity=ONE):
    return Draw(entries(5), DiscreteGaussian(sigma2), sensitivity)


def search(noise, moved=1):
    return Draw(entries(9), noise, Sensitivity(9 * moved, 9 * moved**2, 9, moved))


def choice(*arguments, moved=1, **options):
    declared = Sensitivity(2 * moved, 2 * moved**2, 2, moved)
    return Draw(entries(9), PermuteAndFlip(*arguments, **options), declared)


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


def test_few_entries_cost_no_more_than_all_of_them_can_move():
    assert unpaid([laplace(4, WIDE, n=1)], pure("1/2")) is None
    assert "epsilon 1" in unpaid([laplace(4, WIDE, n=2)], pure("1/2"))
    assert "epsilon 1" in unpaid([laplace(4, WIDE, n=9)], pure("1/2"))


def test_laplace_vector_costs_its_squares_in_rho():
    loss = PrivacyLoss(rho=Fraction(1, 2))
    squares = Fraction(8, 64)  # L2² / scale² at scale 8
    assert unpaid([laplace(8, WIDE)], PrivacyLoss(rho=squares / 2)) is None
    assert "rho" in unpaid([laplace(8, WIDE)], PrivacyLoss(rho=squares * 49 / 100))
    assert unpaid([laplace(2, WIDE, n=1)], loss) is None
    assert "rho 0.510" in unpaid([laplace(Fraction(198, 100), WIDE, n=1)], loss)


def test_selection_costs_its_rate_times_what_scores_move():
    assert unpaid([choice(1, 1)], pure(1)) is None
    assert unpaid([choice(1, 1, monotonic=True)], pure(1)) is None
    assert unpaid([choice(1, 3, moved=3)] * 2, pure(2)) is None
    assert "epsilon 2" in unpaid([choice(1, 1)] * 2, pure(1))
    assert "epsilon 3" in unpaid([choice(1, 1, moved=3)], pure(1))
    assert unpaid([choice(1, 1)] * 2, PrivacyLoss(rho=Fraction(1))) is None
    assert "rho 1" in unpaid([choice(1, 1)] * 2, PrivacyLoss(rho=Fraction(99, 100)))


def ranked(epsilon, sensitivity, rule, moved):
    """Three keys with four candidates each, whose scores move by ``moved`` in all."""
    declared = Sensitivity(4 * moved, 4 * moved**2, 8, moved)
    scores = (np.zeros((3, 4), dtype=np.int64),)
    return Draw(scores, OrderedChoice(epsilon, sensitivity, rule), declared)


@pytest.mark.parametrize(
    ("rule", "part"), [("permute_and_flip", 2), ("exponential", 8)]
)
def test_choice_among_ordered_candidates_costs_what_all_keys_move(rule, part):
    draw = ranked(1, 3, rule, 3)
    assert unpaid([draw], pure(1)) is None
    assert unpaid([draw] * 2, PrivacyLoss(rho=Fraction(2, part))) is None
    assert "epsilon 1.33" in unpaid([ranked(1, 3, rule, 4)], pure(1))
    assert "rho" in unpaid([draw], PrivacyLoss(rho=Fraction(99, 100 * part)))


NOISES = {
    "stop": {},
    "sparse": {"max_above": 3},
    "monotone": {"max_above": 3, "monotonic": True},
    "refresh": {"max_above": 3, "refresh": True},
    "monotone refresh": {"max_above": 3, "refresh": True, "monotonic": True},
    "adaptive": {"max_above": 3, "adaptive": True},
    "Laplace": {"max_above": 2, "family": "laplace"},
}


@pytest.mark.parametrize("name", NOISES)
def test_search_costs_its_threshold_and_all_positive_answers(name):
    noise = ThresholdNoise(Fraction(2), 5, ratio=Fraction(3, 2), **NOISES[name])
    assert noise.epsilon_run * noise.runs == 2
    assert unpaid([search(noise, 5)], pure(2)) is None
    assert "epsilon 2," in unpaid([search(noise, 5)], pure("199/100"))
    assert "epsilon 2.4," in unpaid([search(noise, 6)], pure(2))


@pytest.mark.parametrize("name", NOISES)
def test_search_costs_rho(name):
    noise = ThresholdNoise(
        Fraction(2), 5, ratio=Fraction(3, 2), concentrated=True, **NOISES[name]
    )
    one, two = noise.epsilon_threshold, noise.epsilon_query
    bounded = noise.monotonic
    rho = (one + 2 * two) ** 2 / 8 if bounded else (one + two) ** 2 / 2
    paid = PrivacyLoss(rho=noise.runs * rho)
    less = PrivacyLoss(rho=noise.runs * rho * Fraction(999, 1000))
    assert unpaid([search(noise, 5)], paid) is None
    assert "rho" in unpaid([search(noise, 5)], less)


def test_adaptive_monotone_search_gets_no_bonus_in_rho():
    noise = ThresholdNoise(
        Fraction(2), 1, monotonic=True, adaptive=True, concentrated=True
    )
    assert unpaid([search(noise)], PrivacyLoss(rho=Fraction(2))) is None
    assert "rho 2," in unpaid([search(noise)], PrivacyLoss(rho=Fraction(199, 100)))


def test_searches_that_share_a_threshold_cost_once():
    noise, equal, other = (ThresholdNoise(Fraction(e), 1) for e in (2, 2, 1))
    assert unpaid([search(noise), search(equal)], pure(2)) is None
    assert "epsilon 3," in unpaid([search(noise), search(other)], pure(2))
    assert "epsilon 4," in unpaid([search(noise, 2), search(equal)], pure(2))


def test_fresh_values_cost_one_by_one_what_they_cost_together():
    noise = ThresholdNoise(Fraction(2), 5, 3, values=15)
    declared = Sensitivity(15, 75, 3, 5)
    together = Draw(entries(3), noise.fresh, declared)
    single = Draw(entries(1), noise.fresh, declared)
    for values in [together], [single] * 3:
        assert unpaid([search(noise, 5), *values], pure(2)) is None
        assert "epsilon 2," in unpaid([search(noise, 5), *values], pure("199/100"))
    assert "epsilon 2.33333," in unpaid([search(noise, 5)] + [single] * 4, pure(2))


def keys(scale, delta, groups=1, sensitivity=ONE):
    rule = KeyThreshold(DiscreteLaplace(scale), Fraction(delta), groups)
    return Draw(entries(5), rule, sensitivity)


def test_a_threshold_of_keys_costs_its_noise_and_the_chance_of_one_unit():
    paid = PrivacyLoss(Fraction(1), Fraction("1e-6"))
    assert unpaid([keys(1, "1e-6")], paid) is None
    assert unpaid([keys(1, "1e-6"), laplace(1)], paid) is not None
    assert "epsilon 2" in unpaid([keys("1/2", "1e-6")], paid)
    assert "delta" in unpaid([keys(1, "1e-5")], paid)
    assert "delta" in unpaid([keys(1, "1e-6")], pure(1))
    wide = keys(2, "1e-6", 2, Sensitivity(2, 2, 2, 1))
    assert unpaid([wide], paid) is None
    assert "delta" in unpaid(
        [wide, keys(100, "1e-6")], PrivacyLoss(Fraction(2), paid.delta)
    )
