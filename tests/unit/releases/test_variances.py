from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from unit.releases.made import (
    FLOAT,
    INTEGER,
    all_noise,
    lattice_of,
    measured,
    std_of,
    triple_of,
)

from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.releases.answers import Answer
from dpframe.releases.parts import Parts
from dpframe.releases.variances import variance, variance_bounds, variance_error

WIDTH = 4
GRID = lattice_of(INTEGER, 0, WIDTH, "variance")
ROWS = [0, 1, 1, 2, 3, 3, 4, 4, 4, 0, 2, 4]


def answer_of(values, law=None, statistic="variance", grid=GRID):
    return Answer(statistic, statistic, measured("triple", *values, law=law), grid)


def by_fractions(t0, t1, t2, width, step, span):
    """Units.md §5.1, word for word."""
    n = max(Fraction(t0 + t1 + t2, width**2), 1)
    k2, k1 = t2, Fraction(t1 + 2 * t2, 2 * width)
    free = max(n - 1, 1)
    raw = (k2 - k1**2 / n) / free * step**2
    return min(max(raw, 0), Fraction(span) ** 2 / 4 * n / free)


TRIPLES = [(50, 61, 70), (3, -9, 4), (0, 0, 0), (-5, 3, 40), (17, 2, 900), (40, -8, 43)]


@pytest.mark.parametrize("triple", TRIPLES)
def test_formula_in_fractions(triple):
    got = answer_of([[v] for v in triple]).values()[0]
    exact = by_fractions(*triple, WIDTH, 1, WIDTH)
    assert got == pytest.approx(float(exact), rel=1e-12, abs=1e-14)
    root = answer_of([[v] for v in triple], statistic="std").values()[0]
    assert root == pytest.approx(float(exact) ** 0.5, rel=1e-12, abs=1e-14)


def test_formula_on_a_grid_of_floats():
    grid = lattice_of(FLOAT, -3.3, 8.9, "variance")
    w2 = grid.width**2
    triple = (5 * w2, 2 * w2 + 12_345, 9 * w2)
    exact = by_fractions(*triple, grid.width, grid.step, Fraction(8.9) - Fraction(-3.3))
    got = answer_of([[v] for v in triple], grid=grid).values()[0]
    assert got == pytest.approx(float(exact), rel=1e-12)


def test_two_opposite_rows_are_cut_by_the_bounds_not_by_the_grid():
    grid = lattice_of(FLOAT, 0.0, 0.7, "variance")
    assert grid.width * grid.step > Fraction(0.7)
    w2 = grid.width**2
    got = answer_of([[50 * w2], [0], [50 * w2]], grid=grid).values()[0]
    assert got == pytest.approx(0.7**2 / 4 * 100 / 99, rel=1e-12)


def test_without_noise_it_is_the_sample_variance():
    true = [[v] for v in triple_of(ROWS, WIDTH)]
    assert answer_of(true).values()[0] == pytest.approx(np.var(ROWS, ddof=1))


def test_sums_beyond_int64_are_read():
    grid = lattice_of(FLOAT, 0.0, 1.0, "variance")
    w2 = grid.width**2
    parts = [np.array([n * w2], dtype=object) for n in (10**11, 0, 10**11)]
    assert answer_of(parts, grid=grid).values()[0] == pytest.approx(0.25)


def test_each_of_three_numbers_is_held_at_a_third_of_the_miss():
    law = DiscreteLaplace(2)
    half = law.interval(Fraction(19, 20) + Fraction(1, 30))[1]
    # Without a middle part and far from it, the least is at the corner (low, high).
    lower, _ = answer_of([[900], [0], [300]], law).intervals("0.95")
    t0, t1, t2 = ((x + s * half) / 16 for x, s in ((900, 1), (0, 1), (300, -1)))
    n = t0 + t1 + t2
    least = 16 * (t0 * t2 - t1**2 / 4) / (n * (n - 1))
    assert lower[0] == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("law", [DiscreteLaplace(2), DiscreteGaussian(4)])
@pytest.mark.parametrize("statistic", ["variance", "std"])
@pytest.mark.parametrize(
    "rows", [ROWS, [0, 4], [3], [], [2] * 9, [0, 0, 0, 4] * 8], ids=str
)
def test_intervals_cover(law, statistic, rows):
    noise, chance = all_noise(law, 24, 3)
    true = triple_of(np.array(rows, dtype=int), WIDTH)
    values = [t + x for t, x in zip(true, noise, strict=True)]
    truth = np.var(rows, ddof=1) if len(rows) > 1 else 0.0
    truth = truth if statistic == "variance" else truth**0.5
    for level in (0.6, 0.95):
        lower, upper = answer_of(values, law, statistic).intervals(level)
        assert chance[(lower <= truth) & (truth <= upper)].sum() >= level


def test_intervals_are_not_absurdly_loose():
    law = DiscreteLaplace(2)
    noise, chance = all_noise(law, 20, 3)
    true = triple_of(ROWS * 100, WIDTH)
    values = [t + x for t, x in zip(true, noise, strict=True)]
    lower, upper = answer_of(values, law).intervals(0.95)
    std = answer_of([[t] for t in true], law).std_errors()[0]
    # A normal interval is 3.9 std errors wide; the box of three adds √3 and its tails.
    assert (chance * (upper - lower)).sum() < 12 * std


def test_bounds_are_the_worst_case_of_the_box():
    rng = np.random.default_rng(3)
    steps = np.linspace(0, 1, 25)
    for _ in range(80):
        middle = rng.choice([0.5, 3, 12, 40], 3) * rng.uniform(0.5, 1.5, 3)
        half = rng.uniform(0.05, 0.9) * middle.max() * rng.choice([0.1, 1])
        parts = Parts(tuple(np.array([m]) for m in middle), ceiling=np.inf)
        box = parts.box(half)
        if sum(low[0] for low in box.low) < 2:
            continue
        axes = [
            lo[0] + (hi[0] - lo[0]) * steps
            for lo, hi in zip(box.low, box.high, strict=True)
        ]
        inside = Parts(tuple(g.ravel() for g in np.meshgrid(*axes)), ceiling=np.inf)
        found = variance(inside)
        low, high = variance_bounds(parts, half)
        assert low[0] <= found.min() + 1e-12
        assert high[0] >= min(found.max(), 0.5) - 1e-12
        assert low[0] == pytest.approx(found.min(), abs=1e-9)
        # The peak may fall between points of the grid, hence the slack above.
        assert high[0] <= found.max() + 0.01 * (found.max() - found.min()) + 1e-9


def test_few_rows_leave_the_general_bounds():
    low, high = variance_bounds(Parts(tuple(np.array([x]) for x in (1.0, 0.5, 1.0))), 1)
    assert (low[0], high[0]) == (0.0, 0.5)


@pytest.mark.parametrize("law", [DiscreteLaplace(2), DiscreteGaussian(5)])
@pytest.mark.parametrize("statistic", ["variance", "std"])
def test_delta_method_matches_enumeration(law, statistic):
    noise, chance = all_noise(law, 24, 3)
    true = triple_of(ROWS * 60, WIDTH)
    moved = answer_of(
        [t + x for t, x in zip(true, noise, strict=True)], law, statistic
    ).values()
    given = answer_of([[t] for t in true], law, statistic).std_errors()[0]
    assert given == pytest.approx(std_of(moved, chance), rel=0.01)


def test_delta_method_is_the_gradient():
    values = np.array([4.0, 3.0, 6.0])
    steps = 1e-6 * np.vstack([np.eye(3), -np.eye(3)])
    moved = variance(Parts(tuple((values + steps).T)))
    slopes = (moved[:3] - moved[3:]) / 2e-6
    parts = Parts(tuple(values[:, None]), std=0.01)
    expected = 0.01 * np.linalg.norm(slopes)
    assert variance_error(parts)[0] == pytest.approx(expected, rel=1e-6)


def test_errors_never_exceed_the_range():
    grids = [np.array(v) for v in zip(*product((-30, 0, 7), repeat=3), strict=True)]
    assert (answer_of(grids).std_errors() <= WIDTH**2 / 4).all()
    assert (answer_of(grids, statistic="std").std_errors() <= WIDTH).all()
