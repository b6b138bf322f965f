import math
from fractions import Fraction

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.noise import DiscreteLaplace
from dpframe.sensitivity import ptr_pass_probability
from dpframe.sensitivity.stability import stability_threshold

TESTS = [("1/10", "1e-6"), ("1/2", "1e-4"), (1, "1e-9"), (3, "0.01"), (2, "0.49")]


@pytest.mark.parametrize(("epsilon", "delta"), TESTS)
def test_threshold_is_the_least_with_delta(epsilon, delta):
    epsilon, delta = Fraction(epsilon), Fraction(delta)
    t = stability_threshold(epsilon, delta)
    p = math.exp(-epsilon)

    def passes(t):
        return p ** (t + 1) / (1 + p)

    assert passes(t) <= delta
    assert t == 0 or passes(t - 1) > delta


@pytest.mark.parametrize(("epsilon", "delta"), TESTS)
def test_guarantee_of_the_test(epsilon, delta):
    """Neighbors' distances differ by 1: pass and fail change by exp(epsilon)."""
    passes = np.array([ptr_pass_probability(d, epsilon, delta) for d in range(60)])
    factor = math.exp(Fraction(epsilon)) * (1 + 1e-12)
    assert passes[0] <= float(Fraction(delta))
    assert (passes[1:] <= factor * passes[:-1]).all()
    assert (np.diff(passes) >= 0).all()
    fails = 1 - passes
    big = fails[:-1] > 1e-9
    assert (fails[:-1][big] <= factor * fails[1:][big] + 1e-12).all()


def test_it_is_the_probability_of_the_drawn_noise():
    epsilon, delta, far = Fraction(1, 2), Fraction(1, 1000), 12
    noise = DiscreteLaplace(1 / epsilon).sample(100_000)
    drawn = (far + noise > stability_threshold(epsilon, delta)).mean()
    expected = ptr_pass_probability(far, epsilon, delta)
    assert abs(drawn - expected) < 6.2 * math.sqrt(expected * (1 - expected) / 1e5)


def test_the_continuous_form_does_not_fit_discrete_noise():
    """With the textbook's threshold discrete noise would pass 1.9 delta of the time."""
    epsilon = 1
    p = math.exp(-epsilon)
    t = 10
    delta = math.exp(-epsilon * (t + 1e-9)) / 2  # ln(1/(2 delta)) is just above t
    assert p ** (t + 1) / (1 + p) < delta < p**t / (1 + p)
    assert ptr_pass_probability(0, epsilon, delta, noise="laplace") == pytest.approx(
        delta
    )
    assert ptr_pass_probability(0, epsilon, delta) <= delta


def test_infinite_and_continuous_distances():
    assert ptr_pass_probability(math.inf, 1, 1e-6) == 1
    assert ptr_pass_probability(2.5, 1, 0.1, noise="laplace") == pytest.approx(
        1 - math.exp(-2.5) / (4 * 0.1)
    )


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((-1, 1, 1e-6), "distance must be a whole number"),
        ((2.5, 1, 1e-6), "distance must be a whole number"),
        ((float("nan"), 1, 1e-6), "distance"),
        ((3, 0, 1e-6), "epsilon must be positive"),
        ((3, 1, 0), "delta must be above 0"),
        ((3, 1, 0.5), "delta must be above 0"),
        ((3, 1, None), "delta must be a number"),
    ],
)
def test_arguments(arguments, match):
    with pytest.raises(ParameterError, match=match):
        ptr_pass_probability(*arguments)


def test_noise_is_named():
    with pytest.raises(ParameterError, match="noise must be 'discrete' or 'laplace'"):
        ptr_pass_probability(3, 1, 1e-6, noise="gaussian")
    with pytest.raises(ParameterError, match="not negative or"):
        ptr_pass_probability(-0.5, 1, 1e-6, noise="laplace")
