import json
import math
from dataclasses import FrozenInstanceError
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from smooth_reference import worst_loss

from dpframe.errors import ParameterError
from dpframe.noise import Laplace, Lomax

CASES = [
    case
    for case in json.loads(
        (Path(__file__).parents[2] / "data/sensitivity.json").read_text("utf-8")
    )["cases"]
    if case["type"] == "noise"
]
EPSILONS = ["0.1", "0.5", 1, 2, 5]
SHARES = ["0.05", "0.1", "0.2", "0.3", "0.45", "0.6"]


def log_density(law):
    power = float(law.gamma)
    return lambda z: -power * np.log1p(np.abs(z))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_published_figures(case):
    law = Lomax(case["eps"], case["beta"])
    assert float(law.gamma) == pytest.approx(case["lomax_gamma"], rel=1e-12)
    assert float(law.s) == pytest.approx(case["lomax_s"], rel=1e-11)
    spread = law.std / float(law.s)
    assert spread == pytest.approx(case["lomax_std_over_smooth"], rel=1e-11)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_worst_loss_is_epsilon(epsilon, share):
    law = Lomax(epsilon, Fraction(epsilon) * Fraction(share))
    epsilon, beta, s = float(law.epsilon), float(law.beta), float(law.s)
    worst = worst_loss(log_density(law), beta, s)
    assert 0.999 * epsilon <= worst <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_search_sees_noise_that_is_too_narrow(epsilon, share):
    law = Lomax(epsilon, Fraction(epsilon) * Fraction(share))
    epsilon, beta, s = float(law.epsilon), float(law.beta), float(law.s)
    assert worst_loss(log_density(law), beta, 1.05 * s) > epsilon * (1 + 1e-6)
    assert worst_loss(log_density(law), 1.05 * beta, s) > epsilon * (1 + 1e-6)


@pytest.mark.parametrize("ratio", [1, 2, 3, 7])
def test_density_and_tails(ratio):
    law = Lomax(Fraction(ratio, 1) + Fraction(1, 2), 1)
    power = ratio + 0.5
    x = np.concatenate([[0, 1e-12, 0.3, 1.0, 7.5, 1e8], np.linspace(0.01, 3, 50)])
    assert law.pdf(x) == pytest.approx(power / 2 * (1 + x) ** -(power + 1), rel=1e-12)
    assert law.pdf(-x) == pytest.approx(law.pdf(x), rel=0)
    assert law.cdf(-x) == pytest.approx((1 + x) ** -power / 2, rel=1e-12)
    assert law.cdf(x) + law.cdf(-x) == pytest.approx(1, rel=1e-15)
    assert law.tail(x) == pytest.approx(2 * law.cdf(-x), rel=1e-15)
    h = 1e-5
    slope = (law.cdf(x[6:] + h) - law.cdf(x[6:] - h)) / (2 * h)
    assert slope == pytest.approx(law.pdf(x[6:]), rel=1e-6)


@pytest.mark.parametrize("gamma", ["3.5", "13/3", 6, 11])
def test_variance(gamma):
    # E Z² = ∫ 2 x P(|Z| > x) dx, here with x = v/(1 - v)
    law = Lomax(Fraction(gamma) - 1, 1)
    v = (np.arange(400_000) + 0.5) / 400_000
    x = v / (1 - v)
    moment = (2 * x * law.tail(x) / (1 - v) ** 2).mean()
    assert law.variance == pytest.approx(moment, rel=5e-3 if law.gamma < 4 else 1e-6)
    assert law.std == math.sqrt(law.variance)


def test_variance_is_infinite_from_half_of_epsilon_on():
    assert Lomax(1, "0.5").std == math.inf
    assert Lomax(1, "0.9").variance == math.inf
    assert Lomax(1, "0.4999").std < math.inf


def test_small_beta_is_laplace_noise():
    law, limit = Lomax(2, "1e-7"), Laplace("1/2")
    assert law.std / float(law.s) == pytest.approx(limit.std, rel=1e-6)
    x = np.linspace(-4, 4, 33)
    assert law.cdf(x * float(law.s)) == pytest.approx(limit.cdf(x), rel=1e-5)


@pytest.mark.parametrize("level", ["0.001", "1/2", "0.95", "0.999999"])
def test_interval(level):
    law = Lomax(1, "0.3")
    low, high = law.interval(level)
    assert low == -high
    assert law.cdf(high) - law.cdf(low) == pytest.approx(float(Fraction(level)))


def test_sizes_invert_the_tail():
    law = Lomax(1, "0.3")
    share = np.array([1e-19, 1e-6, 0.2, 0.5, 0.999, 1 - 2.0**-53])
    assert law.tail(law.sizes(share)) == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize("x", ["1e-30", "1/3", 1, "29/7", 10**6, "1e25"])
def test_tails_are_enclosed(x):
    x, width = Fraction(x), 200
    low, high = Lomax(3, 1).tail_interval(x, width)
    true = (1 + x) ** -3 * 2**width
    assert low <= true <= high
    assert high - low <= 3
    # (1 + x)^(-5/2), squared to stay rational
    low, high = Lomax("5/2", 1).tail_interval(x, width)
    assert low**2 <= (1 + x) ** -5 * 4**width <= high**2
    assert high - low <= 3


def test_s_is_rounded_down_at_any_size():
    for epsilon, beta in [("1e-40", "3e-41"), (1, "1e-30"), (1, "0.999999999999")]:
        law = Lomax(epsilon, beta)
        assert 0 < law.s <= law.epsilon
    assert 0 < float(Lomax(100_000, 30_000).s) < math.inf
    law, exact = (
        Lomax(1, "1/5"),
        Fraction("0.17420966692591969470705332496291"),
    )  # e^(1/5) (e^(2/15) - 1)
    assert exact * (1 - Fraction(1, 10**16)) <= law.s <= exact


@pytest.mark.parametrize(
    ("epsilon", "beta", "message"),
    [
        (0, "0.1", "epsilon must be positive; got 0."),
        (1, 0, "beta must be positive; got 0."),
        (1, "-0.1", "beta must be positive; got -0.1."),
        (1, 1, "beta must be below epsilon for Lomax noise; got 1 and 1."),
        ("0.5", 2, "below epsilon for Lomax noise; got 2 and 0.5. Usual is 0.3 times"),
        (math.inf, "0.1", "epsilon must be a number"),
        (1, math.nan, "beta must be a number"),
        (True, "0.1", "epsilon must be a number, not bool"),
    ],
)
def test_wrong_arguments(epsilon, beta, message):
    with pytest.raises(ParameterError, match=message):
        Lomax(epsilon, beta)


def test_a_frozen_value():
    law = Lomax(0.5, "1/10")
    assert law == Lomax(Fraction(1, 2), 0.1)
    assert hash(law) == hash(Lomax("0.5", 0.1))
    with pytest.raises(FrozenInstanceError):
        law.beta = Fraction(1)
