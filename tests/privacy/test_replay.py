"""Every verb replayed on neighboring frames: nothing but the noise may differ.

A thousand pairs of each method, spread over libraries, relations and accountants, take
minutes; a share of them is checked by default, all of them under the marker ``slow``.
That the replay would see a fault is shown by planting some.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import helpers_replay
import numpy as np
import polars as pl
import pytest
from helpers_frames import CONVERTERS
from helpers_replay import VERBS, each_verb, few_cases, many_cases, pool
from reference_engine import ReferenceSource, install

import dpframe as dpf
from dpframe.accessor import PrivateFrame, PrivateGroups, PrivateSeries
from dpframe.errors import EngineError
from dpframe.mechanisms import noising
from dpframe.mechanisms.selection import TopK
from dpframe.noise import DiscreteLaplace
from dpframe.noise.bits import random_bytes
from dpframe.noise.selection import PermuteAndFlip
from dpframe.plan import Planner
from dpframe.testing import neighbours, replay

SHARE = 24
WHOLE = 1_000

PAIRS = list(neighbours(helpers_replay.PEOPLE, count=51))
ALL = list(each_verb())
NAMES = [name for name, *_ in ALL]


def method(name):
    """The method of a variant: "sum" of "sum of floats, row"."""
    return re.split("[ ,]", name)[0]


METHODS = Counter(map(method, NAMES))


def check(chosen, verb, column):
    """No case is violated, each draws, and some inputs do differ."""
    moved = 0
    for case in chosen:
        found = case.replay(verb, column)
        about = f"{case.pair.what}, {type(case.frame)}, {case.session}, {case.price}"
        assert found.ok, "\n".join([about, *found.violations])
        assert found.draws > 0
        moved += any(distance.l0 for distance in found.distances)
    assert moved > len(chosen) / 10


@pytest.mark.parametrize(("name", "kind", "verb", "column"), ALL, ids=NAMES)
def test_verb_is_private_on_some_pairs(name, kind, verb, column):
    """Half the cases for variants of a method that is there more than twice."""
    share = SHARE if METHODS[method(name)] <= 2 else SHARE // 2
    check(few_cases(kind, share, name), verb, column)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind", "verb", "column"), ALL, ids=NAMES)
def test_verb_is_private_on_a_thousand_pairs(name, kind, verb, column):
    """A thousand for each method, shared by its variants in the list."""
    share = -(-WHOLE // METHODS[method(name)])
    check(many_cases(kind, share, name), verb, column)


#: Verbs over columns of declared integers and booleans.
DECLARED = [
    "sum of integers", "sum of booleans", "mean of integers", "variance",
    "histogram of integers", "histogram of tuples", "group_by.variance",
]  # fmt: skip


@pytest.mark.parametrize("name", DECLARED)
def test_null_in_numpy_columns_changes_no_declared_kind(name):
    """It turns int64 into float64, bool into object; the domain says what they are."""
    whole = helpers_replay.PEOPLE
    holed = whole.with_columns(
        pl.when(pl.int_range(pl.len()) > 0).then(pl.col("age", "ok"))
    )
    numpy = CONVERTERS["pandas numpy"]
    assert str(numpy(whole).dtypes[["age", "ok"]].to_list()) != str(
        numpy(holed).dtypes[["age", "ok"]].to_list()
    )
    replay(
        lambda frame: VERBS[name](dpf.private(frame), epsilon=1),
        numpy(whole),
        numpy(holed),
        session=lambda: dpf.Session(
            9, unit="row", neighboring="replace", domain=helpers_replay.DOMAIN
        ),
    ).check()


# -- planted faults ------------------------------------------------------------


class Unclipped(ReferenceSource):
    def steps(self, value, lattice):
        return int(min(max(value, -(2**50)), 2**50))


class NaNThroughTheClamp(ReferenceSource):
    def is_usable(self, value):
        return value is not None

    def steps(self, value, lattice):
        # What a cast to int64 makes of NaN.
        return -(2**63) if value != value else super().steps(value, lattice)


class GroupedByHash(ReferenceSource):
    def owner(self, value):
        return None if value is None else 0


class KeptByPosition(ReferenceSource):
    def limit_rows(self, rows, most):
        return super().limit_rows(rows[::2], most)


class RaisingOnNull(ReferenceSource):
    def is_usable(self, value):
        if value is None:
            msg = "the engine failed"
            raise EngineError(msg)
        return super().is_usable(value)


class QuotingInAWarning(ReferenceSource):
    def read(self, reduction):
        warnings.warn(f"{self.frame.height} rows read", UserWarning, stacklevel=1)
        return super().read(reduction)


class QuotingInALogLine(ReferenceSource):
    def read(self, reduction):
        logging.getLogger("dpframe.engines").debug("%s rows read", self.frame.height)
        return super().read(reduction)


class Printing(ReferenceSource):
    def read(self, reduction):
        print(self.frame.null_count())
        return super().read(reduction)


class WideOnNull(ReferenceSource):
    def measure(self, *args):
        measured = super().measure(*args)
        return [[2**62] for _ in measured] if self.has_nulls() else measured

    def has_nulls(self):
        return any(self.frame.null_count().row(0))


class WrappingAtEightBits(ReferenceSource):
    def measure(self, *args):
        usable, total, squares = super().measure(*args)
        return usable, [(t + 128) % 256 - 128 for t in total], squares


class BytesForEachRow(ReferenceSource):
    def read(self, reduction):
        random_bytes(self.frame.height)
        return super().read(reduction)


#: An engine with a fault, a verb that meets it, and what the replay says.
ENGINE_FAULTS = {
    "unclipped sum": (Unclipped, "sum of integers", "l1 distance"),
    "NaN through the clamp": (NaNThroughTheClamp, "sum of floats", "l1 distance"),
    "group by hash": (GroupedByHash, "group_by.count", "l1 distance"),
    "error on null": (RaisingOnNull, "mean", "raised"),
    "warning quotes a count": (QuotingInAWarning, "count", "rows read"),
    "log line quotes a count": (QuotingInALogLine, "count", "rows read"),
    "print of nulls": (Printing, "count", "prints"),
    "dtype depends on nulls": (WideOnNull, "sum of booleans", "inputs"),
    "wrap at eight bits": (WrappingAtEightBits, "sum of integers", "l1 distance"),
    "bytes for each row": (BytesForEachRow, "count", "random bytes"),
}


def violations(verb, kind="unit"):
    """What replays of the verb on Polars frames say, one after the other."""
    eager = [c for c in pool(kind, 11 * SHARE) if isinstance(c.frame, pl.DataFrame)]
    assert len(eager) > 40
    for case in eager:
        yield from case.replay(verb).violations


@pytest.mark.parametrize("verb", ["count", "sum of floats", "mean", "group_by.sum"])
def test_reference_engine_without_fault_passes(monkeypatch, verb):
    install(monkeypatch, ReferenceSource)
    assert not list(violations(VERBS[verb]))


@pytest.mark.parametrize("fault", ENGINE_FAULTS)
def test_fault_in_the_engine_is_seen(monkeypatch, fault):
    source, verb, said = ENGINE_FAULTS[fault]
    install(monkeypatch, source)
    assert any(said in text for text in violations(VERBS[verb]))


def test_rows_kept_by_position_are_seen(monkeypatch):
    """One row in front moves every row behind it by a place."""
    install(monkeypatch, KeptByPosition)
    frame = pl.DataFrame({"person": list("abcde"), "sex": list("FFMFM")})
    unit = dpf.Unit("person", max_rows=1)
    found = replay(
        lambda people: people.dp.histogram(1, "sex", keys=["F", "M"]),
        frame,
        frame.tail(4),
        session=lambda: dpf.Session(1, unit=unit),
    )
    assert any("l1 distance" in text for text in found.violations)


def test_replace_sensitivity_without_nothing_is_seen(monkeypatch):
    verb = VERBS["sum of floats"]  # bounds (3, 5)
    assert not list(violations(verb))
    monkeypatch.setattr(
        "dpframe.privacy.sensitivity._span", lambda low, high: high - low
    )
    assert any("l1 distance" in text for text in violations(verb))


def scale_from_data(exact, law, sensitivity):
    wider = DiscreteLaplace(law.scale * (1 + abs(int(exact[0][0]))))
    return noising.add_noise(exact, wider, sensitivity)


def half_the_scale(exact, law, sensitivity):
    return noising.add_noise(exact, DiscreteLaplace(law.scale / 2), sensitivity)


def no_draw(exact, law, sensitivity):
    return noising.noisy(exact, law)


def no_noise(exact, law, sensitivity):
    return exact


def own_generator(exact, law, sensitivity):
    rng = np.random.default_rng()
    return tuple(part + rng.integers(-(2**40), 2**40, part.size) for part in exact)


def noise_after_noise(exact, law, sensitivity):
    """The watcher is shown zeros; the truth is added behind its back."""
    zeros = tuple(part * 0 for part in exact)
    noise = noising.add_noise(zeros, law, sensitivity)
    return tuple(a + b for a, b in zip(exact, noise, strict=True))


def rounded_floats(exact, law, sensitivity):
    floats = tuple(part.astype(float) for part in exact)
    noisy = noising.add_noise(floats, law, sensitivity)
    return tuple(part.astype(np.int64) for part in noisy)


def drawn_twice_if_large(exact, law, sensitivity):
    if exact[0][0] > 2:
        noising.add_noise(exact, law, sensitivity)
    return noising.add_noise(exact, law, sensitivity)


NOISE_FAULTS = {
    scale_from_data: "laws",
    half_the_scale: "costs epsilon",
    no_draw: "no noise drawn",
    no_noise: "no noise drawn",
    own_generator: "results",
    noise_after_noise: "results",
    rounded_floats: "not all integers",
    drawn_twice_if_large: "draws: ",
}


@pytest.mark.parametrize("fault", NOISE_FAULTS, ids=lambda f: f.__name__)
def test_fault_in_the_noise_is_seen(monkeypatch, fault):
    monkeypatch.setattr("dpframe.mechanisms.additive.add_noise", fault)

    found = [replay(counted, pair.frame, pair.neighbour) for pair in PAIRS]
    assert any(NOISE_FAULTS[fault] in text for r in found for text in r.violations)


def always_monotonic(self):
    return PermuteAndFlip(self.epsilon / self.k, self.sensitivity.linf, monotonic=True)


def whole_epsilon_each(self):
    return PermuteAndFlip(self.epsilon, self.sensitivity.linf)


def half_the_rows(self):
    return PermuteAndFlip(self.epsilon / self.k, Fraction(self.sensitivity.linf, 2))


SELECTION_FAULTS = {
    always_monotonic: "moved both ways",
    whole_epsilon_each: "costs epsilon",
    half_the_rows: "costs epsilon",
}


@pytest.mark.parametrize("fault", SELECTION_FAULTS, ids=lambda f: f.__name__)
def test_fault_in_a_selection_is_seen(monkeypatch, fault):
    monkeypatch.setattr(TopK, "law", property(fault))
    said = violations(VERBS["top_k"])
    assert any(SELECTION_FAULTS[fault] in text for text in said)


def test_selection_without_fault_passes():
    assert not list(violations(VERBS["top_k"]))


# -- verbs that leak -----------------------------------------------------------


def counted(frame):
    return frame.dp.count(1)


def keys_from_data(frame):
    keys = frame["sex"].drop_nulls().unique().sort().to_list()
    return frame.dp.histogram(1, "sex", keys=[*keys, "other"])


def bounds_from_data(frame):
    top = max([*frame["age"].drop_nulls().to_list(), 1])
    return frame.dp.sum("age", 1, bounds=(0, min(top, 10**6)))


def epsilon_from_data(frame):
    return frame.dp.count(1 if frame.height < 3 else 2)


def exact_beside(frame):
    return counted(frame), frame.height


def exact_inside(frame):
    return SimpleNamespace(release=counted(frame), _rows=frame.height)


def frame_inside(frame):
    return {"release": counted(frame), "of": frame}


def count_in_a_closure(frame):
    rows, release = frame.height, counted(frame)
    return lambda: (release, rows)


def method_of_the_frame(frame):
    counted(frame)
    return frame.height.__add__, frame.sum


def generator(frame):
    counted(frame)
    return (row for row in frame.rows())


def class_from_data(frame):
    release = counted(frame)
    return [release] if frame.height > 2 else (release,)


def asked_again(frame):
    return [counted(frame) for _ in range(min(frame.height, 3))]


def error_from_data(frame):
    release = counted(frame)
    if frame["age"].null_count():
        msg = "null found"
        raise ValueError(msg)
    return release


def error_with_a_value(frame):
    counted(frame)
    msg = f"no such row: {frame.height}"
    raise KeyError(msg)


def error_with_a_cause(frame):
    counted(frame)
    try:
        raise KeyError(frame.height)
    except KeyError as error:
        msg = "the same for all"
        raise ValueError(msg) from error


def error_with_a_note(frame):
    counted(frame)
    error = ValueError("the same for all")
    error.add_note(f"{frame.height} rows")
    raise error


def session_of_its_own(frame):
    return dpf.private(frame, dpf.Session(1, unit="row")).count(1)


LEAKS = {
    keys_from_data: "inputs",
    bounds_from_data: "laws",
    epsilon_from_data: "charge 0",
    exact_beside: "results",
    exact_inside: "_rows",
    frame_inside: "results",
    count_in_a_closure: "__closure__",
    method_of_the_frame: "results",
    generator: "cannot be seen into",
    class_from_data: "type(result)",
    asked_again: "draws: ",
    error_from_data: "null found",
    error_with_a_value: "no such row",
    error_with_a_cause: "KeyError",
    error_with_a_note: "rows",
    session_of_its_own: "before anything was charged",
}


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.__name__)
def test_leaking_verb_is_seen(leak):
    found = [replay(leak, pair.frame, pair.neighbour) for pair in PAIRS]
    assert any(LEAKS[leak] in text for r in found for text in r.violations)


def test_honest_verb_beside_them_passes():
    for pair in PAIRS:
        replay(counted, pair.frame, pair.neighbour).check()


def asked_again_under_its_label(frame):
    return [frame.dp.count(1, label="daily") for _ in range(2)]


def free_of_charge(frame):
    return frame.dp.sum("age", bounds=(0, 0)), frame.dp.mean("pay", 1, bounds=(3, 3))


def failing_alike(frame):
    counted(frame)
    return frame.dp.sum("salary", 1, bounds=(0, 1))


@pytest.mark.parametrize(
    ("verb", "draws"),
    [(asked_again_under_its_label, 1), (free_of_charge, 0), (failing_alike, 1)],
)
def test_honest_verb_of_another_kind_passes(verb, draws):
    for pair in PAIRS[:17]:
        assert replay(verb, pair.frame, pair.neighbour).check().draws == draws


def mean_by_public_rows(frame):
    """The textbook's mean under replace: n, less its nulls, taken as public."""
    total = frame.dp.sum("age", 1).value
    return total / max(frame.height - frame["age"].null_count(), 1)


def test_unnoised_rows_less_nulls_are_seen_under_replace():
    """A row exchanged for one with a null changes no row count, but the usable one."""
    frame = helpers_replay.PEOPLE
    with_null = frame.with_columns(
        age=pl.when(pl.int_range(pl.len()) > 0).then(pl.col("age"))
    )

    def opened():
        domain = helpers_replay.DOMAIN
        return dpf.Session(9, unit="row", neighboring="replace", domain=domain)

    found = replay(mean_by_public_rows, frame, with_null, session=opened)
    assert all("results" in text for text in found.violations)
    assert found.violations


def test_every_method_is_replayed():
    hosts = {"": PrivateFrame, "group_by.": PrivateGroups, "series.": PrivateSeries}
    there = {
        f"{prefix}{name}"
        for prefix, host in hosts.items()
        for name in dir(host)
        if not name.startswith("_")
    }
    assert there - {"group_by", "plan"} == set(METHODS)


PLANS = {
    "above_threshold": lambda plan: plan.above_threshold(
        "sex", 1, threshold=2, keys=["F", "M"]
    ),
    "sparse_vector": lambda plan: plan.sparse_vector(
        dpf.sum_by("ok", "pay"), 1, max_above=2, values=True
    ),
    "adaptive_sparse_vector": lambda plan: plan.adaptive_sparse_vector(
        10, 1, max_above=2
    ),
    "quantile": lambda plan: plan.quantile("pay", [0.5, 1], 1),
}


@pytest.mark.parametrize("name", PLANS)
def test_plan_draws_nothing_charges_nothing_and_is_the_same(name):
    """It tells no neighbors apart, and has nothing to protect that with."""
    for case in few_cases("unit", SHARE, name):
        found = replace(case, price={}).replay(lambda dp: PLANS[name](dp.plan))
        assert found.check().draws == 0


def test_every_plan_is_replayed():
    assert {name for name in dir(Planner) if not name.startswith("_")} == set(PLANS)


def test_check_raises_with_every_violation():
    frame = helpers_replay.PEOPLE
    found = replay(exact_beside, frame, frame.head(3))
    with pytest.raises(AssertionError) as raised:
        found.check()
    assert str(raised.value).splitlines() == list(found.violations)
    assert any("l1 distance 5, declared 1" in text for text in found.violations)


@pytest.mark.parametrize(("share", "kinds"), [(SHARE, 16), (SHARE // 2, 11)])
@pytest.mark.parametrize(
    ("kind", "libraries"), [("row", 6), ("unit", 6), ("series", 4)]
)
def test_cases_cover_what_they_should(kind, libraries, share, kinds):
    chosen = few_cases(kind, share, "a verb")
    seen = Counter((case.library, case.session["neighboring"]) for case in chosen)
    assert len(seen) == 2 * libraries
    assert max(seen.values()) <= -(-share // (2 * libraries))
    assert len({case.pair.what for case in chosen}) >= kinds
    assert len({str(case.price) for case in chosen}) == len(helpers_replay.PRICES)


@pytest.mark.parametrize(
    ("kind", "libraries"), [("row", 6), ("unit", 6), ("series", 4)]
)
def test_pool_has_every_pair_in_every_library(kind, libraries):
    everything = pool(kind, 11 * SHARE)
    assert (
        len({(case.library, case.pair.what) for case in everything}) == 17 * libraries
    )
