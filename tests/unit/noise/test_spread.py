import math
from fractions import Fraction

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.noise import DiscreteLaplace
from dpframe.noise.smooth import SLACK, SmoothNoise
from dpframe.noise.spread import SpreadNoise

LOMAX = SmoothNoise.read("lomax", 1)
QUIET = SpreadNoise.read(LOMAX, 10_000)  # noise of 16/10,000 steps: none at all


def test_the_noise_is_calibrated_to_the_steps_that_beta_can_move():
    spread = SpreadNoise.read(LOMAX, "0.5")
    assert spread.step == Fraction(3, 10) * (1 + SLACK) / 16
    assert spread.law == DiscreteLaplace(32)
    # beta / step = 3, and a millionth of it takes one step more
    assert SpreadNoise.read(LOMAX, 2, step="0.1").law == DiscreteLaplace(2)
    assert SpreadNoise.read(LOMAX, 2, step=5).law == DiscreteLaplace("1/2")


def test_logarithms_are_rounded_half_up_to_the_grid():
    sizes = np.array([1e-300, 2.0**-30, 0.1, 1.0, 7.0, 1e300])
    steps = QUIET.draw(sizes)
    h = float(QUIET.step)
    assert steps.dtype == np.int64
    assert steps.tolist() == [math.floor(math.log(x) / h + 0.5) for x in sizes]


@pytest.mark.parametrize("step", [None, "0.1", "0.05", "0.3", "1/7", 2])
def test_neighbors_differ_by_no_more_steps_than_the_noise_covers(step):
    quiet = SpreadNoise.read(LOMAX, 10_000, step=step)
    covered = quiet.law.scale * 10_000
    sizes = np.exp(np.random.default_rng(2).uniform(-40, 40, 5_000))
    # a hair more than beta: sensitivities are floats
    more = sizes * math.exp(float(LOMAX.beta)) * (1 + 1e-13)
    moved = quiet.draw(more) - quiet.draw(sizes)
    assert moved.min() >= 0
    assert covered - 1 <= moved.max() <= covered


def test_steps_carry_independent_noise():
    spread = SpreadNoise.read(LOMAX, "0.5")
    noisy = spread.draw(np.ones(4_000))
    assert np.unique(noisy).size > 100
    assert abs(noisy.std() / spread.law.std - 1) < 0.15


def test_half_width_holds_both_uncertainties():
    spread = SpreadNoise.read(LOMAX, "0.5")
    half = spread.half_width([0, 16], "0.9")
    noise = LOMAX.half_width("0.95")  # half of what may be missed, both sides
    over = spread.law.interval("0.9")[1]  # the other half, on one side
    assert spread.law.cdf(-over - 1) <= 0.05 < spread.law.cdf(-over)
    size = math.exp(float(spread.step) * (over + 0.5))
    assert half[0] == pytest.approx(noise * size)
    assert half[1] / half[0] == pytest.approx(math.exp(16 * float(spread.step)))


@pytest.mark.parametrize("level", ["0.5", "0.9"])
def test_intervals_cover_the_truth(level):
    spread, n = SpreadNoise.read(LOMAX, "0.3"), 20_000
    smooth = np.exp(np.random.default_rng(4).uniform(-3, 3, n))
    grid = Fraction(1, 64)
    released = LOMAX.draw(np.zeros(n), smooth, -(10**9), 10**9, grid) / 64
    half = spread.half_width(spread.draw(smooth), level) + float(grid) / 2
    covered = (np.abs(released) <= half).mean()
    # at least the level, less six standard errors; and there is something to miss
    assert float(level) - 6 / (2 * math.sqrt(n)) <= covered < 0.995


def test_extreme_sizes_do_not_overflow():
    assert QUIET.half_width([10**9])[0] == math.inf
    assert QUIET.half_width([-(10**9)])[0] == 0


@pytest.mark.parametrize(
    ("epsilon", "options", "message"),
    [
        (0, {}, "epsilon must be positive"),
        (1, {"step": 0}, "step must be positive"),
        (1, {"step": "1e-20"}, "scale must be at most 2\\^54"),
    ],
)
def test_wrong_arguments(epsilon, options, message):
    with pytest.raises(ParameterError, match=message):
        SpreadNoise.read(LOMAX, epsilon, **options)


@pytest.mark.parametrize("level", [0, 1, "2"])
def test_wrong_level(level):
    with pytest.raises(ParameterError, match="level must lie between 0 and 1"):
        QUIET.half_width([1], level)
