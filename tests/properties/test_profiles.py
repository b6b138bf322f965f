"""Profiles against the definition of sensitivity, on every data set of small grids."""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sensitivity_reference import (
    BOUNDS,
    Enumerated,
    data_sets,
    neighbors,
    within,
)

from dpframe import sensitivity
from dpframe.sensitivity.catalog import as_statistic
from dpframe.sensitivity.plain import profile_of

EXACT = [
    ("median", "add_remove"),
    ("median", "replace"),
    (("quantile", 0), "replace"),
    (("quantile", 0.3), "replace"),
    (("quantile", 1), "replace"),
    (("trimmed_mean", 0), "replace"),
    (("trimmed_mean", 1), "replace"),
    (("trimmed_mean", 2), "replace"),
    (("trimmed_mean", 0.2), "replace"),
    ("mean", "replace"),
    ("sum", "add_remove"),
    ("sum", "replace"),
]
UPPER = [
    (("quantile", 0), "add_remove"),
    (("quantile", "0.3"), "add_remove"),
    (("quantile", "2/3"), "add_remove"),
    (("quantile", 1), "add_remove"),
    (("order", 1), "add_remove"),
    (("order", 3), "add_remove"),
    ("iqr", "add_remove"),
    ("iqr", "replace"),
    (("trimmed_mean", 0), "add_remove"),
    (("trimmed_mean", 1), "add_remove"),
    (("trimmed_mean", 2), "add_remove"),
    (("trimmed_mean", 0.2), "add_remove"),
    (("trimmed_mean", "0.45"), "add_remove"),
    ("variance", "add_remove"),
    ("variance", "replace"),
    ("mean", "add_remove"),
    ("closest_pair", "add_remove"),
]
ROWS = EXACT + UPPER
ROW_NAMES = [f"{statistic}-{relation}" for statistic, relation in ROWS]
every_row = pytest.mark.parametrize(("statistic", "relation"), ROWS, ids=ROW_NAMES)
dtypes = pytest.mark.parametrize("dtype", [np.float64, np.int64])

SIZES, MOST = range(6), 3
KS = np.arange(MOST + 1)


@dtypes
@every_row
def test_no_profile_is_below_the_truth_and_exact_ones_are_equal(
    statistic, relation, dtype
):
    seen = Enumerated(statistic, relation, dtype)
    for x in data_sets(SIZES):
        profile, truth = seen.profile(x), [seen.exact(x, k) for k in KS]
        heights = profile.at(KS)
        assert (heights >= np.array(truth) - 1e-12).all(), x
        if (statistic, relation) in EXACT:
            assert profile.exact
            assert heights == pytest.approx(truth, abs=1e-12), x
        else:
            assert not profile.exact or len(x) < 2  # where nothing can change


@every_row
def test_one_change_costs_one_step(statistic, relation):
    """A_X(k) <= A_Y(k + 1) of the very floats, so that D moves by 1 at most."""
    seen = Enumerated(statistic, relation)
    ks = np.arange(8)
    for x in data_sets(SIZES):
        profile, heights = seen.profile(x), seen.profile(x).at(ks)
        assert (np.diff(heights) >= 0).all()
        assert profile.at(profile.last + 5) == profile.limit == heights[-1]
        for y in seen.near(x):
            assert (heights <= seen.profile(y).at(ks + 1)).all(), (x, y)


@every_row
def test_smooth_sensitivity_and_distance_at_neighbors(statistic, relation):
    seen = Enumerated(statistic, relation)
    betas, bounds = np.array([0.05, 0.4]), np.array([0.3, 1, 2, 3.5, 6, 6.9])
    smooth = functools.cache(
        lambda x: np.array([seen.profile(x).smooth(beta) for beta in betas])
    )
    distance = functools.cache(
        lambda x: np.array([seen.profile(x).distance(bound) for bound in bounds])
    )
    sets = data_sets(range(5))
    for x, y in [(z, near) for z in sets for near in seen.near(z)]:
        assert (smooth(x) <= np.exp(betas) * smooth(y) * (1 + 1e-12)).all()
        d, e = (np.minimum(distance(z), 99) for z in (x, y))  # 99 for never
        assert (np.abs(d - e) <= 1).all(), (x, y)
        moved = abs(seen.value(x) - seen.value(y)) > bounds + 1e-9
        assert (d[moved] == 0).all()


@pytest.mark.parametrize(
    ("statistic", "rows"),
    [
        ("median", 2),
        pytest.param("median", 3, marks=pytest.mark.slow),
        pytest.param("iqr", 2, marks=pytest.mark.slow),
        (("quantile", 0.9), 2),
        (("trimmed_mean", 1), 2),
        ("variance", 2),
    ],
)
def test_units_of_several_rows(statistic, rows):
    """A unit's rows come and go together, some of them or all; m = rows, or m = 1."""
    seen, ks = Enumerated(statistic, "add_remove"), np.arange(4)
    unit = functools.cache(lambda x: seen.profile(x).of_unit(rows))
    heights = functools.cache(lambda x: unit(x).at(np.arange(5)))
    smooth = functools.cache(lambda x: unit(x).smooth(0.3))
    attained = 0
    for x in data_sets(range(5)):
        near = within(x, "add_remove", rows)
        moved = max(abs(seen.value(x) - seen.value(y)) for y in near)
        assert unit(x).local >= moved - 1e-12
        attained += unit(x).local == moved
        ends = [seen.profile(x).at(rows * k + np.arange(rows)).sum() for k in ks]
        assert heights(x)[:4] == pytest.approx(ends, abs=1e-12)
        assert unit(x).at(unit(x).last + 3) == unit(x).limit
        for y in near:
            assert (heights(x)[:-1] <= heights(y)[1:]).all()
            assert smooth(x) <= math.exp(0.3) * smooth(y) * (1 + 1e-12)
    if statistic == "median":
        assert attained > 10


def test_units_of_the_closest_pair():
    """m rows leave, or come, or are exchanged for others: one and the same profile."""
    seen, m = Enumerated("closest_pair", "add_remove"), 2
    ks = np.arange(4)
    for x in data_sets(range(5)):
        unit = seen.profile(x).of_unit(m)
        assert unit.at(ks) == pytest.approx(
            [seen.profile(x).removal(m * (k + 1)) for k in ks]
        )
        left = {
            rest
            for size in range(max(len(x) - m, 0), len(x) + 1)
            for rest in itertools.combinations(x, size)
        }
        for rest, come in itertools.product(left, data_sets(range(m + 1))):
            y = tuple(sorted(rest + come))
            assert unit.local >= abs(seen.value(x) - seen.value(y)) - 1e-12
            other = seen.profile(y).of_unit(m)
            assert (unit.at(ks) <= other.at(ks + 1)).all(), (x, y)


@every_row
def test_smooth_is_the_damped_maximum(statistic, relation):
    rng = np.random.default_rng(4)
    for n in (1, 2, 3, 10, 41):
        values = rng.choice([0, 1, 2, 2.5, 7], n) if n < 10 else rng.gamma(2, 1, n)
        found = profile_of(values, statistic, bounds=BOUNDS, neighboring=relation)
        ks = np.arange(found.last + 2)
        for beta in (1e-6, 0.02, 0.3, 2):
            slow = (np.exp(-beta * ks) * found.at(ks)).max()
            assert found.smooth(beta) == pytest.approx(slow, rel=1e-12)
        for bound in (0.01, 0.5, 1.7, 3, 6.99, 7):
            past = (found.at(ks) > bound).nonzero()[0]
            exact = past[0] if past.size else math.inf
            assert found.distance(bound) == exact
            for cap in (0, 1, n + 1):
                assert found.distance(bound, cap=cap) == min(exact, cap)


numbers = st.lists(st.floats(-5, 15), min_size=1, max_size=30)


@settings(max_examples=150, deadline=None)
@given(numbers, st.integers(0, 29), st.floats(-5, 15), st.sampled_from(ROWS))
def test_neighbors_among_floats(values, place, other, row):
    """Random numbers beyond the bounds too: clamped first."""
    statistic, relation = row
    place %= len(values)
    changed = values[:place] + values[place + 1 :]
    changed += [other] * (relation == "replace")
    x, y = (
        profile_of(v, statistic, bounds=(0, 10), neighboring=relation)
        for v in (values, changed)
    )
    ks = np.arange(33)
    assert (x.at(ks) <= y.at(ks + 1)).all()
    assert (y.at(ks) <= x.at(ks + 1)).all()
    a, b = (
        sensitivity.evaluate(v, statistic, bounds=(0, 10)) for v in (values, changed)
    )
    assert abs(a - b) <= min(x.local, y.local) * (1 + 1e-12) + 1e-12


def test_local_sensitivity_of_the_variance_is_exact():
    """The best replacement is a bound, or the mean of the others: off the grid."""
    chosen = as_statistic("variance")
    for x in data_sets(range(2, 5)):
        found = profile_of(x, "variance", bounds=BOUNDS, neighboring="replace")
        places = [*BOUNDS, *np.linspace(0, 7, 15)]
        places += [(sum(x) - v) / (len(x) - 1) for v in x]
        here = chosen.value(chosen.read(x, BOUNDS))
        moves = [
            abs(chosen.value(chosen.read([*x[:i], *x[i + 1 :], y], BOUNDS)) - here)
            for i in range(len(x))
            for y in places
        ]
        assert found.exact_local == pytest.approx(max(moves), abs=1e-12)
        assert found.exact_local <= found.local + 1e-12


@pytest.mark.parametrize("nodes", [0, 1, 2, 3, 4])
def test_triangles_on_every_graph(nodes):
    pairs = list(itertools.combinations(range(nodes), 2))
    graphs = list(itertools.product([0, 1], repeat=len(pairs)))

    def matrix(edges):
        found = np.zeros((nodes, nodes), dtype=int)
        for (i, j), edge in zip(pairs, edges, strict=True):
            found[i, j] = found[j, i] = edge
        return found

    def near(edges):
        return [(*edges[:i], 1 - edges[i], *edges[i + 1 :]) for i in range(len(edges))]

    value = {g: sensitivity.evaluate(matrix(g), "triangles") for g in graphs}
    truth = {
        g: max((abs(value[g] - value[h]) for h in near(g)), default=0) for g in graphs
    }
    for k in range(2 * nodes):
        for g in graphs:
            found = profile_of(matrix(g), "triangles", bounds=None, neighboring="edge")
            assert found.exact
            assert found.at(k) == truth[g], (g, k)
        truth = {g: max([truth[g], *(truth[h] for h in near(g))]) for g in graphs}


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_distance_of_the_mode_on_all_counts(relation):
    """The label that wins is public where D > 0 holds: no neighbor has another."""
    labels, most = 3, 4
    tables = list(itertools.product(range(most + 1), repeat=labels))

    def near(c):
        for i, j in itertools.product(range(labels), repeat=2):
            down = [n - (a == i) for a, n in enumerate(c)]
            up = [n + (a == i) for a, n in enumerate(c)]
            moved = [n + (a == j) for a, n in enumerate(down)]
            found = [moved] if relation == "replace" else [down, up]
            yield from (tuple(d) for d in found if min(d) >= 0)

    def far(c):
        return sensitivity.distance(c, "mode", neighboring=relation)

    for c in tables:
        seen, steps = {c}, 0
        while all(np.argmax(d) == np.argmax(c) for d in seen) and steps < 12:
            seen |= {e for d in seen for e in near(d)}
            steps += 1
        if steps < 12:
            assert far(c) == max(0, steps - 1), c
        for d in near(c):
            assert abs(far(c) - far(d)) <= 1
            if np.argmax(c) != np.argmax(d):
                assert far(c) == far(d) == 0


def test_relations_are_not_mixed_up():
    """A replace row under add_remove would be below the truth for these data."""
    x = (0, 0, 7)
    replace = profile_of(x, ("trimmed_mean", 1), bounds=BOUNDS, neighboring="replace")
    truth = Enumerated(("trimmed_mean", 1), "add_remove").exact(x, 1)
    added = profile_of(x, ("trimmed_mean", 1), bounds=BOUNDS, neighboring="add_remove")
    assert added.at(1) >= truth
    assert replace.local <= added.local
    assert set(neighbors(x, "replace")).isdisjoint(neighbors(x, "add_remove"))
