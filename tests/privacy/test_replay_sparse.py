"""Replays of sparse vector verbs, with faults planted in them.

A draw is the whole search: on the neighbor the first frame's positive answers are
handed back, so nothing but the exact answers may differ, by the sensitivity at most.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import polars as pl
import pytest

import dpframe as dpf
from dpframe.mechanisms import above_threshold
from dpframe.mechanisms.above_threshold import Run
from dpframe.mechanisms.noising import Draw, add_noise, draw
from dpframe.mechanisms.questions import Questions
from dpframe.noise import DiscreteLaplace
from dpframe.noise.threshold import ThresholdNoise
from dpframe.privacy.sensitivity import Sensitivity
from dpframe.testing import replay

DOMAIN = {"job": ["a", "b", "c", "d"], "pay": dpf.integers(0, 5)}
FRAME = pl.DataFrame({"job": list("aaabbc"), "pay": [1, 2, 3, 4, 5, 5]})
REMOVED = FRAME.head(5)
EXCHANGED = FRAME.with_columns(
    job=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("d")).otherwise("job")
)
SEEDS = range(6)


def opened(relation="add_remove", **total):
    def opener():
        return dpf.Session(
            **(total or {"epsilon": 10}),
            unit="row",
            neighboring=relation,
            domain=DOMAIN,
        )

    return opener


def listed(frame, **options):
    return frame.dp.sparse_vector("job", 1, 2, max_above=2, **options)


def valued(frame):
    return listed(frame, values=True, gap=True)


def asked(frame):
    queries = [dpf.col("job") == "a", dpf.col("pay") >= 2, dpf.col("pay") >= 4]
    return frame.dp.sparse_vector(queries, 1, 2, max_above=2, values=True)


def streamed(frame):
    stream = frame.dp.open_sparse_vector(1, 2, max_above=2, values=True)
    found = []
    for pay in 1, 2, 3, 4, 5:
        if not stream.closed:
            found.append(stream.ask(dpf.col("pay") >= pay))
    return found, stream.remaining


VERBS = {
    "above": lambda f: f.dp.above_threshold("job", 2, 1, gap=True),
    "below": lambda f: f.dp.above_threshold("job", 2, 1, direction="below"),
    "listed": listed,
    "valued": valued,
    "asked": asked,
    "numeric": lambda f: f.dp.numeric_sparse("job", 1, 2, max_above=2),
    "adaptive": lambda f: f.dp.adaptive_sparse_vector("job", 1, 2, max_above=2),
    "refreshed": lambda f: listed(f, refresh=True, noise="laplace"),
    "streamed": streamed,
}


def replays(verb, **session):
    """Replays of a verb, on frames that differ by one row."""
    for opener, neighbour in (
        (opened(**session), REMOVED),
        (opened("replace", **session), EXCHANGED),
    ):
        for seed in SEEDS:
            yield replay(verb, FRAME, neighbour, session=opener, seed=seed)


def said(verb, **session):
    return [text for found in replays(verb, **session) for text in found.violations]


@pytest.mark.parametrize("session", [{"epsilon": 10}, {"rho": 10}], ids=str)
@pytest.mark.parametrize("name", VERBS)
def test_honest_verb_passes(name, session):
    moved = 0
    for found in replays(VERBS[name], **session):
        found.check()
        moved += any(distance.l0 for distance in found.distances)
    assert moved >= len(SEEDS)


def test_fresh_values_are_replayed_too():
    assert any(len(found.distances) > 1 for found in replays(valued))
    assert any(len(found.distances) > 5 for found in replays(streamed))


# -- planted faults ------------------------------------------------------------


def plant(monkeypatch, name, planted):
    monkeypatch.setattr(above_threshold.Run, name, planted)


def half_the_noise(monkeypatch):
    usual = ThresholdNoise.branches.func

    def narrower(self):
        return tuple(
            way._replace(law=type(way.law)(way.law.scale / 2)) for way in usual(self)
        )

    branches = cached_property(narrower)
    branches.__set_name__(ThresholdNoise, "branches")
    monkeypatch.setattr(ThresholdNoise, "branches", branches)


def half_the_noise_of_the_threshold(monkeypatch):
    usual = ThresholdNoise.threshold.func

    def narrower(self):
        law = usual(self)
        return type(law)(law.scale / 2)

    threshold = cached_property(narrower)
    threshold.__set_name__(ThresholdNoise, "threshold")
    monkeypatch.setattr(ThresholdNoise, "threshold", threshold)


def always_monotone(monkeypatch):
    monkeypatch.setattr(Questions, "monotone", property(lambda self: True))


def charged_half(monkeypatch):
    usual = ThresholdNoise.loss.fget
    half = Fraction(1, 2)
    halved = property(lambda self: usual(self).scaled(half))
    monkeypatch.setattr(ThresholdNoise, "loss", halved)


def no_limit(monkeypatch):
    def everything(self, answers):
        places = np.arange(len(answers))
        return places, places * 0, places

    plant(monkeypatch, "_search", everything)


def searched_twice_if_large(monkeypatch):
    usual = Run.examine

    def examine(self, answers, **options):
        if answers.sum() > 5:
            usual(self, answers, **options)
        return usual(self, answers, **options)

    plant(monkeypatch, "examine", examine)


def true_values(monkeypatch):
    monkeypatch.setattr(
        above_threshold, "_fresh_values", lambda answers, noise: answers
    )


def values_without_c(monkeypatch):
    def narrow(answers, noise):
        law = DiscreteLaplace(noise.fresh.scale / noise.max_above)
        moved = noise.sensitivity
        declared = Sensitivity(noise.values, moved**2, noise.max_above, moved)
        return add_noise((answers,), law, declared)[0]

    monkeypatch.setattr(above_threshold, "_fresh_values", narrow)


def noise_from_data(monkeypatch):
    usual = Run.examine

    def examine(self, answers, **options):
        self._noise = replace(self._noise, sensitivity=int(answers.max()) + 1)
        return usual(self, answers, **options)

    plant(monkeypatch, "examine", examine)


def examined_from_data(monkeypatch):
    usual = Run.examine

    def examine(self, answers, **options):
        found = usual(self, answers, **options)
        return replace(found, n_examined=int(answers.sum()))

    plant(monkeypatch, "examine", examine)


def shorter_input(monkeypatch):
    def only_some(what, perform):
        (answers,) = what.exact
        kept = (answers[answers > 0],)
        return draw(Draw(kept, what.law, what.sensitivity), perform)

    monkeypatch.setattr(above_threshold, "draw", only_some)


def farther_than_declared(monkeypatch):
    usual = Run.examine
    plant(monkeypatch, "examine", lambda self, q, **more: usual(self, 3 * q, **more))


#: A fault, a verb that meets it, and what the replay says.
FAULTS = {
    half_the_noise: (listed, "costs epsilon"),
    half_the_noise_of_the_threshold: (listed, "costs epsilon"),
    always_monotone: (listed, "moved both ways"),
    charged_half: (listed, "costs epsilon"),
    no_limit: (listed, "credits"),
    searched_twice_if_large: (listed, "draws: "),
    true_values: (asked, "results"),
    values_without_c: (asked, "costs epsilon"),
    noise_from_data: (listed, "laws"),
    examined_from_data: (listed, "results"),
    shorter_input: (listed, "inputs"),
    farther_than_declared: (listed, "linf distance 3, declared 1"),
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_fault_is_seen(monkeypatch, fault):
    verb, text = FAULTS[fault]
    fault(monkeypatch)
    found = said(verb)
    assert any(text in violation for violation in found), found[:3]


@pytest.mark.parametrize("fault", [half_the_noise, charged_half, values_without_c])
def test_fault_is_seen_in_streams_and_in_zcdp(monkeypatch, fault):
    fault(monkeypatch)
    assert any("costs epsilon" in text for text in said(streamed))
    assert any("costs rho" in text for text in said(asked, rho=10))


def both_ways(frame):
    """Two questions to one stream; between the frames one rises and one falls."""
    queries = [dpf.col("job") == "a", dpf.col("job") == "d"]
    stream = frame.dp.open_sparse_vector(9, 2, max_above=2)
    return [stream.ask(query) for query in queries]


def test_directions_are_compared_over_all_draws_of_a_stream(monkeypatch):
    session = opened("replace")
    replay(both_ways, FRAME, EXCHANGED, session=session).check()
    usual = ThresholdNoise.__post_init__

    def monotone(self):
        object.__setattr__(self, "monotonic", True)
        usual(self)

    monkeypatch.setattr(ThresholdNoise, "__post_init__", monotone)
    monkeypatch.setattr(Questions, "on_grid", lambda self, *args: self)
    found = replay(both_ways, FRAME, EXCHANGED, session=session)
    assert [text for text in found.violations if "moved both ways" in text] == [
        "draw 1: declared monotone, and entries moved both ways"
    ]
