"""Plans: the charge and the noise of the verb itself, without a row."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import polars as pl
import pytest
from helpers_frames import CONVERTERS

import dpframe as dpf
from dpframe.engines.source import FrameSource
from dpframe.plan import ThresholdPlan

FRAME = pl.DataFrame(
    {"topic": ["ai", "tea", "ai"], "pay": [1.5, 2.0, -1.0], "who": [1, 1, 2]}
)
DOMAIN = {"topic": ["tea", "ai", "go"], "pay": dpf.bounds(-1, 2)}
#: Each verb with its own options.
VERBS = {
    "above_threshold": [{}],
    "sparse_vector": [
        {"max_above": 2},
        {"max_above": 3, "values": True},
        {"max_above": 2, "refresh": True},
    ],
    "adaptive_sparse_vector": [{"max_above": 2}, {"max_above": 2, "margin": 5}],
}
CASES = [(verb, options) for verb, several in VERBS.items() for options in several]
each = pytest.mark.parametrize(("verb", "options"), CASES, ids=str)
SESSIONS = [
    {"epsilon": 9},
    {"epsilon": 9, "delta": 1e-6},
    {"rho": 9},
    {"epsilon": 9, "neighboring": "replace"},
    {"epsilon": 9, "unit": dpf.Unit("who", max_rows=4)},
]


def opened(**settings):
    session = dpf.Session(**{"unit": "row", "domain": DOMAIN, **settings})
    return dpf.private(FRAME, session), session


@lru_cache
def frame_of(engine):
    return CONVERTERS[engine](FRAME)


@pytest.fixture
def unread(monkeypatch):
    """Any reading of a frame fails the test."""

    def read(self, *args):
        pytest.fail("the frame was read")

    for name in ("aggregate", "crosstab"):
        monkeypatch.setattr(FrameSource, name, read)


@each
@pytest.mark.parametrize("engine", CONVERTERS)
def test_nothing_is_read_and_nothing_charged(verb, options, engine, unread):
    session = dpf.Session(epsilon=1, unit="row", domain=DOMAIN)
    plan = dpf.private(frame_of(engine), session).plan
    for queries in ("topic", [dpf.col("topic") == "ai", dpf.sum_by([], "pay")], 99):
        planned = getattr(plan, verb)(queries, 1, **options)
        assert isinstance(planned, ThresholdPlan)
        assert planned.loss.epsilon == 1
    assert getattr(plan, verb)("topic", 5, **options).loss.epsilon == 5  # more than 1
    assert session.charges == ()


@each
@pytest.mark.parametrize("settings", SESSIONS, ids=str)
def test_a_plan_says_what_the_verb_then_does(verb, options, settings):
    people, session = opened(**settings)
    given = {"keys": ["ai", "go"], "direction": "below", "ratio": 2, **options}
    plan = getattr(people.plan, verb)("topic", "1/2", threshold=7, **given)
    release = getattr(people, verb)("topic", 7, "1/2", **given)
    assert plan.loss == release.loss == session.spent
    assert plan.noise == release.crossings.noise
    assert plan.threshold == release.crossings.threshold
    assert plan.mechanism == release.mechanism
    assert plan.queries == 2
    assert plan.accuracy("0.9") == release.accuracy("0.9")
    assert plan.scales == release.scales


def test_values_are_planned_as_numeric_sparse_draws_them():
    people, _ = opened(epsilon=9)
    plan = people.plan.sparse_vector("topic", 1, max_above=2, values=True)
    release = people.numeric_sparse("topic", 7, 1, max_above=2)
    assert plan.noise == release.crossings.noise
    assert plan.scales["values"] == release.scale


@pytest.mark.parametrize(
    ("settings", "sensitivity", "monotonic"),
    [
        ({"epsilon": 1}, 1, True),
        ({"epsilon": 1, "neighboring": "replace"}, 1, False),
        ({"epsilon": 1, "unit": dpf.Unit("who", max_rows=4)}, 4, True),
    ],
    ids=str,
)
def test_a_number_of_queries_is_planned_as_counts(settings, sensitivity, monotonic):
    people, _ = opened(**settings)
    noise = people.plan.above_threshold(10_000, 1).noise
    assert (noise.sensitivity, noise.monotonic) == (sensitivity, monotonic)
    counted = people.plan.above_threshold("topic", 1).noise
    assert noise == counted


def test_other_answers_are_planned_by_their_sensitivity_and_grid():
    people, _ = opened(epsilon=1)
    plan = people.plan.above_threshold(
        5, 1, sensitivity=3, grid="1/4", monotonic=False, threshold="1/2"
    )
    assert (plan.noise.sensitivity, plan.noise.monotonic) == (12, False)
    assert plan.threshold.steps == 2
    assert plan.scales["threshold"] == pytest.approx(
        3 * (1 + 2 ** (2 / 3)), rel=1e-9
    )  # in the unit of the answers, whatever the grid


def test_errors_grow_with_the_logarithm_of_the_queries_and_the_cost_does_not():
    people, _ = opened(epsilon=1)
    plans = [people.plan.above_threshold(10**power, 1) for power in (1, 3, 5)]
    assert len({plan.loss for plan in plans}) == 1
    lows = [plan.accuracy().low for plan in plans]
    assert lows[0] > lows[1] > lows[2]
    assert lows[0] - lows[1] == pytest.approx(lows[1] - lows[2], abs=2)


def test_a_plan_in_words():
    people, _ = opened(epsilon=1)
    plan = people.plan.sparse_vector(10_000, 1, max_above=5, values=True, threshold=500)
    said = repr(plan)
    for part in (
        "Plan of sparse_vector: 10,000 answers, epsilon=1",
        "threshold",
        "values",
        "sparse vector, geometric noise",
        str(plan.accuracy()),
        "no data read, nothing charged",
    ):
        assert part in said
        assert part in plan._repr_html_()
    assert repr(people.plan) == (
        "<plans of the verbs of .dp: no data read, nothing charged>"
    )
    one = people.plan.above_threshold(1, 1)
    assert "above_threshold: 1 answer, epsilon=1" in repr(one)


def test_default_epsilon_and_children():
    _, session = opened(epsilon=1, default_epsilon="1/4")
    people = dpf.private(FRAME, session.child(epsilon="1/2"))
    assert people.plan.above_threshold(9).loss.epsilon == Fraction(1, 4)


WRONG = [
    ({"queries": 0}, "the number of queries must be at least 1; got 0."),
    ({"queries": -2}, "the number of queries must be at least 1; got -2."),
    ({"queries": True}, "the number of queries must be at least 1; got True."),
    ({"queries": 1.5}, "queries are a column name"),
    ({"queries": None}, "queries are a column name"),
    ({"queries": []}, "the list of queries is empty"),
    ({"queries": "topic", "keys": []}, "the list of keys is empty"),
    ({"queries": "topics"}, "Did you mean 'topic'?"),
    ({"queries": "who"}, "keys of column 'who' are not declared"),
    ({"epsilon": 0}, "epsilon must be positive"),
    ({"epsilon": float("nan")}, "It must be finite."),
    ({"epsilon": None}, "default_epsilon"),
    ({"threshold": None}, "threshold must be one finite, public number"),
    ({"sensitivity": 0}, "sensitivity must be positive"),
    ({"grid": float("inf")}, "grid must be a number"),
    ({"direction": "up"}, "direction must be 'above' or 'below'"),
    ({"noise": None}, "noise must be 'geometric'"),
    ({"ratio": 0}, "ratio must be positive"),
    ({"monotonic": None}, "monotonic must be 'auto', True or False"),
]


@each
@pytest.mark.parametrize(("arguments", "said"), WRONG, ids=str)
def test_wrong_arguments_are_told_as_by_the_verb(verb, options, arguments, said):
    people, session = opened(epsilon=1)
    given = {"queries": 5, "epsilon": 1, **options, **arguments}
    with pytest.raises(dpf.DPFrameError) as caught:
        getattr(people.plan, verb)(**given)
    assert said in str(caught.value)
    assert session.charges == ()


@pytest.mark.parametrize("level", [0, 1, -1, 2])
def test_levels_that_are_none(level):
    people, _ = opened(epsilon=1)
    with pytest.raises(dpf.ParameterError, match="level must lie between 0 and 1"):
        people.plan.above_threshold(5, 1).accuracy(level)


def test_there_are_no_values_to_plan_for_the_adaptive_form():
    people, _ = opened(epsilon=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'values'"):
        people.plan.adaptive_sparse_vector(5, 1, max_above=2, values=True)


def test_a_session_is_needed():
    with pytest.raises(dpf.NoSessionError, match="plan needs a session"):
        _ = FRAME.dp.plan
