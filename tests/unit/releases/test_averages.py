from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from unit.releases.made import (
    FLOAT,
    INTEGER,
    all_noise,
    averaged,
    lattice_of,
    measured,
    pair_of,
    std_of,
    triple_of,
)

from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.releases.answers import Answer
from dpframe.releases.averages import mean, mean_bounds
from dpframe.releases.parts import Parts

ROWS = [0, 1, 1, 2, 3, 3, 4, 4, 4, 0, 2, 4]
GRID = lattice_of(INTEGER, 10, 14, "mean")


def mean_of_triple(values, law=None):
    grid = lattice_of(INTEGER, 10, 14, "variance")
    return Answer("mean", "mean", measured("triple", *values, law=law), grid)


def test_pair_formula_in_fractions():
    a, c = [30, 7, 1, -3, 5], [11, 0, 999_983, 50, -1]
    answer = averaged(a, c, GRID)
    for got, x, y in zip(answer.values(), a, c, strict=True):
        ratio = min(max(Fraction(x, x + y), 0), 1)
        assert got == pytest.approx(float(10 + 4 * ratio), rel=1e-15)


@pytest.mark.parametrize(("a", "c"), [(0, 0), (3, -3), (2, -7), (-1, -1)])
def test_no_rows_left_is_the_midpoint(a, c):
    assert averaged([a], [c], GRID).values().tolist() == [12.0]
    assert averaged([a], [c], GRID).std_errors().tolist() == [2.0]


def test_pair_without_noise_is_the_mean():
    a, c = pair_of(ROWS, GRID.width)
    assert averaged([a], [c], GRID).values()[0] == pytest.approx(10 + np.mean(ROWS))


def test_triple_without_noise_is_the_mean():
    values = [[v] for v in triple_of(ROWS, GRID.width)]
    assert mean_of_triple(values).values()[0] == pytest.approx(10 + np.mean(ROWS))


def test_mean_of_floats_keeps_its_bounds():
    grid = lattice_of(FLOAT, 0.1, 0.7, "mean")
    answer = averaged([0, grid.width], [grid.width, 0], grid)
    assert answer.values().tolist() == [0.1, 0.7]


def test_narrow_bounds_far_from_zero_keep_their_resolution():
    grid = lattice_of(FLOAT, 1e9 + 0.25, 1e9 + 0.75, "mean")
    answer = averaged([grid.width], [3 * grid.width], grid)
    assert answer.values()[0] == 1e9 + 0.375


@pytest.mark.parametrize("law", [DiscreteLaplace(4), DiscreteGaussian(16)])
@pytest.mark.parametrize("level", ["0.5", "0.9", "0.99"])
@pytest.mark.parametrize("rows", [ROWS, [4, 4], [0] * 9, [2] * 30, []])
def test_pair_intervals_cover(law, level, rows):
    noise, chance = all_noise(law, 80, 2)
    a, c = pair_of(rows, 4) if rows else (0, 0)
    lower, upper = averaged(a + noise[0], c + noise[1], GRID, law).intervals(level)
    truth = 10 + np.mean(rows) if rows else 12.0
    held = chance[(lower <= truth) & (truth <= upper)].sum()
    assert held >= float(level)


def test_each_of_two_numbers_is_held_at_half_the_miss():
    law = DiscreteLaplace(4)
    half = law.interval(Fraction(39, 40))[1]
    assert half > law.interval("0.95")[1]
    lower, upper = averaged([200], [300], GRID, law).intervals("0.95")
    assert lower[0] == pytest.approx(10 + 4 * (200 - half) / 500, rel=1e-12)
    assert upper[0] == pytest.approx(10 + 4 * (200 + half) / 500, rel=1e-12)


@pytest.mark.parametrize("rows", [ROWS, [2] * 30, [4, 4, 4, 0]])
def test_triple_intervals_cover(rows):
    law = DiscreteLaplace(4)
    noise, chance = all_noise(law, 36, 3)
    true = triple_of(rows, 4)
    answer = mean_of_triple([t + x for t, x in zip(true, noise, strict=True)], law)
    lower, upper = answer.intervals(0.9)
    truth = 10 + np.mean(rows)
    assert chance[(lower <= truth) & (truth <= upper)].sum() >= 0.9


def test_intervals_are_not_absurdly_loose():
    law = DiscreteLaplace(4)
    noise, chance = all_noise(law, 60, 2)
    a, c = pair_of(ROWS * 100, 4)
    answer = averaged(a + noise[0], c + noise[1], GRID, law)
    lower, upper = answer.intervals(0.95)
    std = averaged([a], [c], GRID, law).std_errors()[0]
    # A normal interval is 3.9 std errors wide; the box of two adds √2 and its tails.
    assert (chance * (upper - lower)).sum() < 8 * std


@pytest.mark.parametrize("parts", [2, 3])
def test_bounds_are_the_worst_case_of_the_box(parts):
    rng = np.random.default_rng(parts)
    steps = np.linspace(0, 1, 9)
    for _ in range(50):
        values = tuple(np.array([x]) for x in rng.uniform(-2, 12, parts))
        half = rng.uniform(0.1, 5)
        low, high = mean_bounds(Parts(values), half)
        box = Parts(values).box(half)
        axes = [
            lo[0] + (hi[0] - lo[0]) * steps
            for lo, hi in zip(box.low, box.high, strict=True)
        ]
        inside = Parts(tuple(g.ravel() for g in np.meshgrid(*axes)))
        found = mean(inside)[inside.rows > 0]
        point = mean(Parts(values))[0]
        if found.size and point >= found.min():
            assert low[0] == pytest.approx(found.min(), abs=1e-12)
        if found.size and point <= found.max():
            assert high[0] == pytest.approx(found.max(), abs=1e-12)


@pytest.mark.parametrize("law", [DiscreteLaplace(4), DiscreteGaussian(16)])
def test_delta_method_matches_enumeration(law):
    noise, chance = all_noise(law, 70, 2)
    a, c = pair_of(ROWS * 50, 4)
    values = averaged(a + noise[0], c + noise[1], GRID, law).values()
    given = averaged([a], [c], GRID, law).std_errors()[0]
    assert given == pytest.approx(std_of(values, chance), rel=0.01)


def test_delta_method_of_the_triple_matches_enumeration():
    law = DiscreteLaplace(3)
    noise, chance = all_noise(law, 30, 3)
    true = triple_of(ROWS * 50, 4)
    moved = mean_of_triple([t + x for t, x in zip(true, noise, strict=True)], law)
    given = mean_of_triple([[t] for t in true], law).std_errors()[0]
    assert given == pytest.approx(std_of(moved.values(), chance), rel=0.01)
