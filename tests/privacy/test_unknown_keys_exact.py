"""Keys that are found in the data: exact delta on all tiny neighbors, and broken twins.

A watcher reads what a verb is about to noise, the number of units with each key that is
there. From that, the law and the rule, the law of the output follows without sampling:
a key is missing, or it is there with its noisy number; one that is not in the data is
missing. Keys are independent, so the hockey stick of two neighbors is that of the
product over the keys in which they differ.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import polars as pl
import pytest

import dpframe as dpf
from dpframe.engines import reduce, source
from dpframe.engines.source import FrameSource
from dpframe.mechanisms.noising import watch_draws
from dpframe.mechanisms.unknown_keys import UnknownKeys
from dpframe.noise.key_threshold import KeyThreshold
from dpframe.privacy.sensitivity import Sensitivity
from dpframe.secret import Found, Secret
from dpframe.testing import replay

pytestmark = pytest.mark.filterwarnings("ignore::dpframe.PrivacyWarning")

KEYS = ("a", "b", None)
SPAN = 200  # of the noise, whose scale is 6 at most: what is beyond is below 1e-14

#: Rows of other units, as (unit, key).
OTHERS = (
    (),
    (("x", "a"), ("x", "b"), ("y", "a"), ("z", None), ("z", None)),
    tuple((f"x{i}", key) for i in range(25) for key in "ab"),  # beyond the threshold
)
UNITS = {
    "row": "row",
    "one key": dpf.Unit("who", max_rows=2, max_groups=1),
    "two keys": dpf.Unit("who", max_rows=3, max_groups=2),
    "two keys, any rows": dpf.Unit("who", max_groups=2),
    "two rows": dpf.Unit("who", max_rows=2),
}
#: Keys of one unit.
GROUPS = {"row": 1, "one key": 1, "two keys": 2, "two keys, any rows": 2, "two rows": 2}


def contents(name):
    """All that one unit may have, with a row more than its bound."""
    most = 1 if name == "row" else (UNITS[name].max_rows or 2) + 1
    for rows in range(most + 1):
        yield from combinations_with_replacement(KEYS, rows)


def alone(dp, delta):
    groups = dp.group_by("key", delta=delta)
    return groups.count(1) if "'row'" in repr(dp) else groups.n_unique("who", 1)


def beside(dp, delta):
    """The threshold takes a third, as two numbers are asked."""
    return dp.group_by("key", delta=delta).agg(
        3, n=dpf.agg.count(), x=dpf.agg.mean("x", bounds=(0, 9))
    )


def found_by(rows, ask, unit, delta="1e-3", relation="add_remove"):
    """The units of each key, and the rule, of a frame of (unit, key) rows."""
    frame = pl.DataFrame(
        [(*row, 3) for row in rows],
        schema={"who": pl.String, "key": pl.String, "x": pl.Int64},
        orient="row",
    )
    seen = []

    def watcher(what, perform):
        seen.append(what)
        return tuple(part[:0] for part in what.exact)

    session = dpf.Session(100, delta="0.9", unit=unit, neighboring=relation)
    with watch_draws(watcher), pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "draw_key", lambda: b"the same key all")
        ask(dpf.private(frame, session), delta)
    (draw,) = seen
    units, keys = (part.tolist() for part in draw.exact)
    return dict(zip(keys, units, strict=True)), draw.law


def outcomes(n, m, rule):
    """Pairs of chances of one key with n units and with m; alike ones added up."""
    values = np.arange(-SPAN, SPAN)
    passed = rule.shows(values)

    def chances(units):
        if not units:  # no noise is drawn for a key that is not there
            return 1.0, np.zeros(passed.sum())
        law = rule.law.pmf(values - units)
        return law[~passed].sum(), law[passed]

    (missing, shown), (other_missing, other_shown) = chances(n), chances(m)
    apart = values[passed]
    # The ratio of the chances is the same below both counts, and above both.
    runs = np.searchsorted([min(n, m), max(n, m)], apart, side="right")
    found = [(missing, other_missing)]
    found += [(shown[runs == r].sum(), other_shown[runs == r].sum()) for r in range(3)]
    return found


def hockey_stick(first, second, rule, epsilon):
    """How far the chances of outcomes are beyond exp(epsilon) times the others."""
    changed = [k for k in KEYS if first.get(k, 0) != second.get(k, 0)]
    if not changed:
        return 0.0
    assert all(abs(first.get(k, 0) - second.get(k, 0)) == 1 for k in changed)
    pairs = [outcomes(first.get(k, 0), second.get(k, 0), rule) for k in changed]
    total = 0.0
    for outcome in product(*pairs):
        p, q = (math.prod(chances) for chances in zip(*outcome, strict=True))
        total += max(p - math.exp(epsilon) * q, 0.0)
    return total


@cache
def possible(name, ask, others):
    """What the units of each key may be beside other units' rows, and without more."""
    every = {
        tuple(sorted(found_by(rows, ask, UNITS[name])[0].items(), key=str))
        for mine in contents(name)
        for rows in [(*others, *(("me", key) for key in mine))]
    }
    without = found_by(others, ask, UNITS[name])[0]
    return [dict(units) for units in every], without


def worst(name, ask, relation, delta="1e-3", epsilon=1.0):
    """The greatest hockey stick over all neighbors, both ways."""
    _, rule = found_by((), ask, UNITS[name], delta, relation)
    found = []
    for others in OTHERS:
        every, without = possible(name, ask, others)
        for one, other in product(every, every if relation == "replace" else [without]):
            found.append(hockey_stick(one, other, rule, epsilon))
            found.append(hockey_stick(other, one, rule, epsilon))
    return max(found)


def first_of_all(rule):
    """The chance that any of the keys of one unit, new ones all, is shown."""
    return 1 - (1 - rule.chance(1)) ** rule.groups


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("name", UNITS)
def test_units_alone_cost_epsilon_and_no_more_than_delta(name, relation):
    _, rule = found_by((), alone, UNITS[name], relation=relation)
    assert rule.groups == GROUPS[name]
    times = 2 if relation == "replace" else 1
    assert rule.law.scale == times * GROUPS[name]
    delta = worst(name, alone, relation)
    assert first_of_all(rule) - 1e-12 <= delta <= 1e-3


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("name", ["row", "two keys"])
def test_a_share_for_the_threshold_and_the_whole_delta(name, relation):
    """Beside two numbers the threshold costs epsilon/3, here 1."""
    _, rule = found_by((), beside, UNITS[name], relation=relation)
    assert first_of_all(rule) - 1e-12 <= worst(name, beside, relation) <= 1e-3


def test_epsilon_is_all_that_it_says():
    """Just below it the stick of two common keys stands out."""
    assert worst("two keys", alone, "add_remove", epsilon=0.99) > 1.5e-3


# -- broken twins --------------------------------------------------------------


def test_a_threshold_reached_and_not_passed_is_caught(monkeypatch):
    """1.65 times delta at epsilon 1."""
    assert worst("row", alone, "add_remove", delta="1e-6") <= 1e-6
    monkeypatch.setattr(
        KeyThreshold, "shows", lambda rule, noisy: noisy >= rule.threshold
    )
    broken = worst("row", alone, "add_remove", delta="1e-6")
    assert broken == pytest.approx(1.652e-6, rel=1e-3)


def rows_for_units(monkeypatch):
    """Let the engine hand over rows where units are asked for."""
    census = FrameSource.census

    def counted(source, asked):
        found = census(source, asked).reveal()
        wrong = replace(found.aggregates, units=found.aggregates.rows)
        return Secret(Found(found.keys, wrong))

    monkeypatch.setattr(FrameSource, "census", counted)


def test_a_threshold_of_rows_is_caught(monkeypatch):
    """1.84 times delta at three rows a unit, even with the noise that rows need."""
    unit, mine = dpf.Unit("who", max_rows=3, max_groups=1), [("me", "a")] * 3
    units, rule = found_by(mine, beside, unit, "1e-6")
    assert rule.chance(units["a"]) <= 1e-6
    rows_for_units(monkeypatch)
    of_rows = Sensitivity(3, 9, 1, 3)
    monkeypatch.setattr(UnknownKeys, "sensitivity", property(lambda request: of_rows))
    units, rule = found_by(mine, beside, unit, "1e-6")
    assert rule.chance(1) <= 1e-6
    assert rule.chance(units["a"]) == pytest.approx(1.838e-6, rel=1e-3)


def test_replay_sees_rows_in_place_of_units(monkeypatch):
    rows_for_units(monkeypatch)
    found = replayed([("x", "b"), ("me", "a"), ("me", "a")], [("x", "b")])
    assert any("keys of 2 units in one frame only" in v for v in found.violations)


def test_replay_sees_groups_without_a_bound(monkeypatch):
    monkeypatch.setattr(reduce, "keep_groups", lambda rows, *_: rows)
    found = replayed([("me", "a"), ("me", "b"), ("me", None)], [])
    assert any("3 keys in one frame only, declared 2" in v for v in found.violations)


def test_replay_sees_groups_chosen_by_their_place_among_all(monkeypatch):
    """A code that depends on which keys there are changes what other units keep."""
    keep = reduce.keep_groups

    def by_place(rows, groups, key, bound):
        places = rows[groups[0]].rank("dense", descending=True).alias("place")
        kept = keep(rows.with_columns(places), ["place"], key, bound)
        return kept.select(rows.columns)

    others = [(f"x{i}", f"{k}") for i in range(30) for k in "bcd"]
    more, fewer = [*others, ("me", "a"), ("me", "e")], others
    assert replayed(more, fewer).ok
    monkeypatch.setattr(reduce, "keep_groups", by_place)
    found = replayed(more, fewer)
    assert any("l1 distance" in v for v in found.violations)


def replayed(rows, others):
    frames = [
        pl.DataFrame(some, schema={"who": pl.String, "key": pl.String}, orient="row")
        for some in (rows, others)
    ]
    return replay(
        lambda frame: frame.dp.group_by("key", delta="0.4").agg(3, n=dpf.agg.count()),
        *frames,
        session=lambda: dpf.Session(3, delta="0.4", unit=UNITS["two keys"]),
    )


def test_noise_for_keys_that_are_not_there_is_no_help():
    """What is thresholded is at least one unit: a listed key would pass more rarely."""
    _, rule = found_by((), alone, "row", "1e-6")
    assert rule.chance(1) > 2.5 * rule.chance(0)
