"""Exact losses of smooth and propose-test-release verbs on all tiny neighbors.

A watcher reads what a verb is about to noise: value and smooth sensitivity, or distance
and exact answer. From these and the public laws the law of the output follows without
any sampling, and so does what neighbors cost.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from reference_engine import install
from tiny_source import TinySource

import dpframe as dpf
from dpframe.accessor import PrivateFrame
from dpframe.mechanisms.noising import watch_draws
from dpframe.mechanisms.smooth import SmoothOptions
from dpframe.noise import DiscreteLaplace
from dpframe.noise.smooth import SmoothNoise

pytestmark = pytest.mark.filterwarnings("ignore::dpframe.PrivacyWarning")

TOP = 4  # values are 0 to TOP
SIZE = 4  # rows at most


def data_sets():
    for rows in range(SIZE + 1):
        yield from combinations_with_replacement(range(TOP + 1), rows)


@cache
def neighbors(relation, rows=1):
    """Unordered pairs that differ by one unit of up to so many rows."""
    found = set()
    for x in data_sets():
        lefts = {x}
        for _ in range(rows):
            lefts |= {z[:i] + z[i + 1 :] for z in lefts for i in range(len(z))}
        if relation == "replace":
            news = [
                new
                for come in range(rows + 1)
                for new in combinations_with_replacement(range(TOP + 1), come)
            ]
            lefts = {tuple(sorted(left + new)) for left in lefts for new in news}
        found |= {(min(x, y), max(x, y)) for y in lefts if x != y}
    return sorted(found)


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    install(monkeypatch, TinySource)


def watched(x, ask, relation, unit):
    """What a verb is about to noise, with the noise left out and every test passed."""
    draws = []

    def watcher(what, perform):
        draws.append(what)
        if isinstance(what.law, SmoothNoise):
            return (np.zeros(1, dtype=np.int64),)
        passes = 10**6 if len(draws) == 1 else 0
        return (np.array(what.exact[0]) + passes,)

    session = dpf.Session(100, delta=0.4, unit=unit, neighboring=relation)
    with watch_draws(watcher):
        found = ask(PrivateFrame(x, session))
    return draws, found


UNITS = {1: "row", 2: dpf.Unit("who", max_rows=2)}
BOUNDS = {"bounds": (0, TOP)}


# -- smooth --------------------------------------------------------------------

SMOOTH = {
    "trimmed_mean of rows": lambda d, c: d.trimmed_mean("x", trim=1, **BOUNDS, **c),
    "trimmed_mean": lambda d, c: d.trimmed_mean("x", trim=0.3, **BOUNDS, **c),
    "closest_pair": lambda d, c: d.closest_pair("x", **BOUNDS, **c),
    "median": lambda d, c: smoothly(d, "median", c),
    "quantile": lambda d, c: smoothly(d, ("quantile", 0.8), c),
    "iqr": lambda d, c: smoothly(d, "iqr", c),
}


def smoothly(private, statistic, price):
    price = dict(price)
    epsilon = price.pop("epsilon")
    options = SmoothOptions(**price)
    return private._smooth(
        "verb", statistic, "x", epsilon, options, (0, TOP), "row", None
    )


def output_law(noise, value, smooth, grid):
    """Chances of every output: clamped, rounded to the grid."""
    steps = np.arange(0, int(TOP / grid) + 1)
    ends = ((steps[:-1] + 0.5) * float(grid) - float(value)) * float(noise.s) / smooth
    below = np.concatenate([[0.0], noise.law.cdf(ends), [1.0]])
    above = np.concatenate([[1.0], noise.law.cdf(-ends), [0.0]])
    # Each chance from the side on which it has all its digits.
    return np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))


def hockey_stick(p, q, epsilon):
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize("verb", SMOOTH)
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_smooth_verbs_cost_no_more_than_epsilon(verb, relation):
    price = {"epsilon": 1}

    @cache
    def seen(x):
        (draw,), _ = watched(x, lambda d: SMOOTH[verb](d, price), relation, "row")
        (value,), (smooth,) = (part.tolist() for part in draw.exact)
        return draw.law, value, smooth

    grid = 2.0**-4
    worst = 0.0
    for x, y in neighbors(relation):
        (law, f, s), (_, g, t) = seen(x), seen(y)
        assert abs(f - g) <= min(s, t)
        assert abs(math.log(s / t)) <= float(law.beta) + 1e-12
        p, q = output_law(law, f, s, grid), output_law(law, g, t, grid)
        worst = max(worst, float(np.abs(np.log(p / q)).max()))
    assert 0.3 < worst <= 1 + 1e-9


@pytest.mark.parametrize(
    "options",
    [
        {"noise": "lomax", "beta": "0.6"},
        {"noise": "student_t"},
        {"noise": "lomax", "epsilon": 3},
    ],
)
def test_every_noise_costs_no_more_than_epsilon(options):
    price = {"epsilon": 1, **options}

    @cache
    def seen(x):
        (draw,), _ = watched(
            x, lambda d: SMOOTH["median"](d, price), "add_remove", UNITS[1]
        )
        return draw.law, *(part.item() for part in draw.exact)

    losses = []
    for x, y in neighbors("add_remove"):
        (law, f, s), (_, g, t) = seen(x), seen(y)
        p, q = (output_law(law, *at, 0.125) for at in ((f, s), (g, t)))
        losses.append(float(np.abs(np.log(p / q)).max()))
    assert max(losses) <= price["epsilon"] + 1e-9


def test_laplace_noise_has_a_delta_and_needs_it():
    price = {"epsilon": 1, "noise": "laplace", "delta": "1e-3"}

    @cache
    def law_of(x):
        (draw,), _ = watched(
            x, lambda d: SMOOTH["median"](d, price), "add_remove", "row"
        )
        return output_law(draw.law, *(part.item() for part in draw.exact), 0.125)

    pairs = [(law_of(x), law_of(y)) for x, y in neighbors("add_remove")]
    delta = max(hockey_stick(*ends, 1) for p, q in pairs for ends in ((p, q), (q, p)))
    assert delta <= 1e-3


@pytest.mark.parametrize("verb", SMOOTH)
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_smooth_sensitivities_hold_for_units_of_two_rows(verb, relation):
    @cache
    def seen(x):
        ask = lambda d: SMOOTH[verb](d, {"epsilon": 1})  # noqa: E731
        (draw,), _ = watched(x, ask, relation, UNITS[2])
        return draw.law, *(part.item() for part in draw.exact)

    attained = Counter()
    for x, y in neighbors(relation, 2):
        (law, f, s), (_, g, t) = seen(x), seen(y)
        assert abs(f - g) <= min(s, t)
        assert abs(math.log(s / t)) <= float(law.beta) + 1e-12
        attained["moved"] += f != g
    assert attained["moved"]


# -- propose, test, release ----------------------------------------------------

EPSILON, DELTA = 2, 0.02

PTR = {
    "median": lambda d: propose(d, "median", 1),
    "median, moved by more": lambda d: propose(d, "median", 2),
    "quantile": lambda d: propose(d, ("quantile", 0.8), 1),
    "trimmed_mean": lambda d: propose(d, ("trimmed_mean", 0.3), 2),
    "trimmed_mean of rows": lambda d: propose(d, ("trimmed_mean", 1), 1.5),
    "iqr": lambda d: propose(d, "iqr", 1),
    "variance": lambda d: propose(d, "variance", 3),
    "closest_pair": lambda d: d.closest_pair(
        "x", EPSILON, method="ptr", bound=2, delta=DELTA, **BOUNDS
    ),
    "own function": lambda d: d.propose_test_release(
        largest,
        "x",
        bound=1,
        epsilon=EPSILON,
        delta=DELTA,
        distance=until_the_largest_may_move,
        trusted=True,
        **BOUNDS,
    ),
}


def propose(private, statistic, bound):
    return private.propose_test_release(
        statistic, "x", bound=bound, epsilon=EPSILON, delta=DELTA, **BOUNDS
    )


def largest(values):
    return max(values, default=0)


def until_the_largest_may_move(values):
    """Rows at the upper bound that must go, while the next lower value is in reach."""
    return max(0, int((values >= TOP - 1).sum()) - 1)


def law_of_test(x, verb, relation, unit):
    """The exact law of a PTR verb: chance of a refusal, and of each output."""
    (test, answer), _ = watched(x, PTR[verb], relation, unit)
    threshold = DiscreteLaplace(test.law.scale).interval(1 - 2 * DELTA)[1]
    passed = test.law.cdf(test.exact[0].item() - threshold - 1)
    centre = answer.exact[0].item()
    return passed, centre, answer.law


def delta_of(one, other, epsilon):
    """max over events of P - e^epsilon Q, both ways, of two PTR laws."""
    (p, f, law), (q, g, _) = one, other
    reach = int(60 * law.scale) + abs(f - g)
    outputs = np.arange(min(f, g) - reach, max(f, g) + reach + 1)
    laws = [
        np.append(chance * law.pmf(outputs - at), 1 - chance)
        for chance, at in ((p, f), (q, g))
    ]
    return max(hockey_stick(*laws, epsilon), hockey_stick(*laws[::-1], epsilon))


def worst_delta(seen, pairs):
    """The greatest delta of all pairs: it grows with the distance of the answers."""
    farthest = {}
    for x, y in pairs:
        (p, f, _), (q, g, _) = ends = seen(x), seen(y)
        known = farthest.get((p, q))
        if known is None or abs(known[0][1] - known[1][1]) < abs(f - g):
            farthest[p, q] = ends
    return max(delta_of(*ends, EPSILON) for ends in farthest.values())


@pytest.mark.parametrize("verb", PTR)
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_ptr_costs_no_more_than_epsilon_and_delta(verb, relation):
    @cache
    def seen(x):
        return law_of_test(x, verb, relation, "row")

    assert worst_delta(seen, neighbors(relation)) <= DELTA


@pytest.mark.parametrize("verb", ["median", "trimmed_mean", "own function"])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_ptr_holds_for_units_of_two_rows(verb, relation):
    @cache
    def seen(x):
        return law_of_test(x, verb, relation, UNITS[2])

    assert worst_delta(seen, neighbors(relation, 2)) <= DELTA


@pytest.mark.parametrize("verb", PTR)
def test_verbs_pass_above_the_threshold_and_not_at_it(verb):
    """What the exact laws of this file take for granted."""
    threshold = DiscreteLaplace(1).interval(1 - 2 * Fraction(str(DELTA)))[1]
    for noisy, passed in (threshold, False), (threshold + 1, True):

        def watcher(what, perform, noisy=noisy):
            return (np.full(1, noisy),)

        session = dpf.Session(100, delta=0.4, unit="row")
        with watch_draws(watcher):
            found = PTR[verb](PrivateFrame((1, 2, 4), session))
        assert found.released is passed
        assert found.test.threshold == threshold
        assert math.exp(-threshold - 1) / (1 + math.exp(-1)) <= DELTA
        assert math.exp(-threshold) / (1 + math.exp(-1)) > DELTA


def test_delta_is_used_and_a_lower_threshold_would_break_it():
    """Ten rows each at both ends: one more moves the median from end to end."""
    x, y = (0,) * 2 + (TOP,) * 2, (0,) + (TOP,) * 2
    one, other = (law_of_test(z, "median", "add_remove", "row") for z in (x, y))
    assert DELTA / 3 < delta_of(one, other, EPSILON) <= DELTA
    law = DiscreteLaplace(1)  # of the test, at half of epsilon
    threshold = law.interval(1 - 2 * DELTA)[1]
    eager = [(law.cdf(-threshold), centre, noise) for _, centre, noise in (one, other)]
    assert delta_of(*eager, EPSILON) > DELTA


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("rows", [1, 2])
def test_modes_and_scales_are_stable_where_tests_may_pass(relation, rows):
    """D moves by 1 at most; where it is not 0 every neighbor has the same answer."""

    def scale(d):
        return d.propose_test_release(
            ("iqr_scale", 2), "x", epsilon=2, delta="0.02", **BOUNDS
        )

    def mode(d):
        return d.mode("x", 2, keys=list(range(TOP + 1)), method="ptr", delta="0.02")

    for ask in (scale, mode):

        @cache
        def seen(x, ask=ask):
            (draw,), found = watched(x, ask, relation, UNITS[rows])
            shown = found.value if ask is scale else tuple(found.keys)
            return draw.exact[0].item(), shown

        moved = 0
        for x, y in neighbors(relation, rows):
            (d, f), (e, g) = seen(x), seen(y)
            assert abs(d - e) <= 1
            assert f == g or d == e == 0
            moved += d != e
        if ask is mode and rows == 1:
            assert moved
