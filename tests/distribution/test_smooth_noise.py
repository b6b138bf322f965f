"""Real draws on a grid against the exact law of their cells."""

from fractions import Fraction

import numpy as np
import pytest
from helpers import assert_law, assert_not_law

from dpframe.noise.smooth import SmoothNoise
from dpframe.noise.spread import SpreadNoise

N = 400_000  # five per cent in the scale of heavy tails show half as much as usual
NOISES = [
    SmoothNoise.read("lomax", 1),
    SmoothNoise.read("lomax", "0.2", beta="0.1"),
    SmoothNoise.read("student_t", 1, degrees=1),
    SmoothNoise.read("student_t", 1, degrees=2),
    SmoothNoise.read("student_t", 1, degrees=3),
    SmoothNoise.read("laplace", "0.5", delta="1e-6"),
]
LOW, HIGH = -9, 12
SETTINGS = [  # value, spread of the noise in steps, grid
    (Fraction("1.3"), 2, Fraction(1, 4)),
    (Fraction(-8), 3, Fraction(1, 4)),
    (Fraction("0.49"), 1, Fraction(1)),
]


def on_grid(noise, value, smooth, grid, factor=1.0):
    """The exact pmf of the output, its noise off by a factor."""
    first, last = int(LOW / grid), int(HIGH / grid)
    scale = smooth / float(noise.s) * factor

    def below(k):
        inside = noise.law.cdf(((k - 0.5) * float(grid) - value) / scale)
        return np.where(k <= first, 0.0, np.where(k > last, 1.0, inside))

    return lambda k: below(k + 1) - below(k)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.family)
def test_outputs(noise, setting):
    value, spread, grid = setting
    middle = float(noise.law.interval("0.5")[1])
    smooth = spread * float(grid) * float(noise.s) / middle
    steps = noise.draw(np.full(N, float(value)), smooth, LOW, HIGH, grid)
    assert_law(steps, on_grid(noise, float(value), smooth, grid))
    for factor in (0.95, 1.05):
        assert_not_law(steps, on_grid(noise, float(value), smooth, grid, factor))


def test_keys_of_many_sizes():
    # Counted in their own scale, all keys together have one law.
    noise, rng = NOISES[0], np.random.default_rng(3)
    smooth = np.exp(rng.uniform(-5, 5, N))
    values = rng.uniform(-100, 100, N)
    bound, grid = 10**7, Fraction(1, 2**20)
    noisy = noise.draw(values, smooth, -bound, bound, grid) * float(grid)
    sizes = (noisy - values) * float(noise.s) / smooth
    steps = np.floor(sizes.clip(-10, 10) * 8).astype(np.int64)

    def law(factor):
        def below(k):
            inside = noise.law.cdf(k / 8 / factor)
            return np.where(k <= -80, 0.0, np.where(k > 80, 1.0, inside))

        return lambda k: below(k + 1) - below(k)

    assert_law(steps, law(1.0))
    for factor in (0.95, 1.05):
        assert_not_law(steps, law(factor))


def test_spreads():
    spread = SpreadNoise.read(NOISES[0], "0.5", step="0.02")
    moved = spread.draw(np.full(N, 1.0))
    assert_law(moved, spread.law)
    for factor in (Fraction(95, 100), Fraction(105, 100)):
        assert_not_law(moved, type(spread.law)(spread.law.scale * factor))
