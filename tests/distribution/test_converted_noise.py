"""Real draws of converted noise against the laws that it is said to have."""

from fractions import Fraction

import numpy as np
import pytest
from helpers import assert_law, assert_not_law

from dpframe.noise import DiscreteLaplace, Laplace, Staircase
from dpframe.noise.residuals import to_laplace, to_noisier, to_staircase

N = 100_000
SCALES = [Fraction(1, 2), Fraction(1), Fraction(10, 3), Fraction(25)]
FIVE_PER_CENT = [Fraction(95, 100), Fraction(105, 100)]


def in_steps(law, width):
    """The probabilities of steps of the given width, as a pmf of their numbers."""
    return lambda k: law.cdf((k + 1) * width) - law.cdf(k * width)


def steps_of(samples, width):
    return np.floor(samples / width).astype(np.int64)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_laplace(scale):
    samples = DiscreteLaplace(scale).sample(N) + to_laplace(scale, N)
    width = float(scale) / 7
    assert_law(steps_of(samples, width), in_steps(Laplace(scale), width))
    for factor in FIVE_PER_CENT:
        off = in_steps(Laplace(scale * factor), width)
        assert_not_law(steps_of(samples, width), off)


@pytest.mark.parametrize("gamma", [None, "0.1", "0.7"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(1), Fraction(2)], ids=str)
def test_staircase(epsilon, gamma):
    law = Staircase(epsilon, gamma)
    samples = DiscreteLaplace(1 / epsilon).sample(N) + to_staircase(law, N)
    width = 0.13
    assert_law(steps_of(samples, width), in_steps(law, width))
    for factor in FIVE_PER_CENT:
        off = in_steps(Staircase(epsilon * factor, gamma), width)
        assert_not_law(steps_of(samples, width), off)


@pytest.mark.parametrize("factor", [Fraction(21, 20), Fraction(2), Fraction(30)])
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_noisier(scale, factor):
    larger = scale * factor
    samples = DiscreteLaplace(scale).sample(N) + to_noisier(scale, larger, N)
    assert_law(samples, DiscreteLaplace(larger))
    for off in FIVE_PER_CENT:
        assert_not_law(samples, DiscreteLaplace(larger * off))
