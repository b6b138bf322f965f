from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpframe as dpf
from dpframe.noise import DiscreteLaplace
from dpframe.testing import unsafe_deterministic
from dpframe.testing.portrait import OPAQUE, portrait, words

FRAME = pl.DataFrame({"x": [1, 2, 3], "k": ["a", "b", "a"]})


@dataclass
class Note:
    text: str
    more: list = field(default_factory=list)


class Slotted:
    __slots__ = ("__hidden", "shown", "unset")

    def __init__(self, hidden):
        self.__hidden = hidden
        self.shown = 1

    def tell(self):
        return self.__hidden


def enclosing(value):
    return lambda: value


DIFFERENT = [
    (1, 2),
    (1, 1.0),
    (1, True),
    (0.0, -0.0),
    (1, np.int64(1)),
    ("1", b"1"),
    (None, 0),
    ((1, 2), [1, 2]),
    ((1, 2), (1, 2, 3)),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"a": 1}, {"a": 2}),
    (Note("a"), Note("b")),
    (Note("a", [1]), Note("a", [2])),
    (Slotted(1), Slotted(2)),
    (SimpleNamespace(_n=1), SimpleNamespace(_n=2)),
    (np.zeros(2), np.zeros(2, dtype=int)),
    (np.zeros(2), np.zeros((2, 1))),
    (np.zeros(2), np.array([0.0, -0.0])),
    (pa.table({"x": [1]}), pa.table({"x": [2]})),
    (pa.table({"x": [1]}), pa.table({"x": pa.array([1], pa.int32())})),
    (pl.DataFrame({"x": [1]}), pl.DataFrame({"x": [1.0]})),
    (pl.DataFrame({"x": [1]}), pl.DataFrame({"x": [2]})),
    (pd.DataFrame({"x": [1]}), pd.DataFrame({"x": [1]}, index=[5])),
    (pd.DataFrame({"x": [1]}), pd.DataFrame({"x": [1]}, dtype="Int64")),
    (ValueError("a"), ValueError("b")),
    (DiscreteLaplace(1), DiscreteLaplace(2)),
    (int, float),
    (partial(max, 1), partial(max, 2)),
    (enclosing(1), enclosing(2)),
    (Slotted(1).tell, Slotted(2).tell),
]


def kind_of(thing):
    """Name a case by its type: addresses would differ between runs."""
    return type(thing).__name__


@pytest.mark.parametrize(("first", "second"), DIFFERENT, ids=kind_of)
def test_different_things_have_different_portraits(first, second):
    assert portrait(first) != portrait(second)
    assert portrait([{"a": first}]) != portrait([{"a": second}])


@pytest.mark.parametrize(
    "thing", [thing for pair in DIFFERENT for thing in pair], ids=kind_of
)
def test_things_are_like_themselves(thing):
    assert portrait(thing) == portrait(thing)


def test_nan_is_like_nan():
    assert portrait([math.nan, np.array([np.nan])]) == portrait(
        [float("nan"), np.array([-np.nan])]
    )


def test_metadata_and_attributes_of_frames_are_seen():
    table = pa.table({"x": [1]})
    noted = table.replace_schema_metadata({"dpframe": '{"rows": 3}'})
    assert portrait(table) != portrait(noted)
    plain, marked = pd.DataFrame({"x": [1]}), pd.DataFrame({"x": [1]})
    marked.attrs["rows"] = 3
    assert portrait(plain) != portrait(marked)


def test_a_thing_that_holds_itself_has_an_end():
    loop = [1]
    loop.append(loop)
    assert portrait(loop)["result[1]"] == "itself"


@pytest.mark.parametrize(
    "thing", [iter([1]), (x for x in "ab"), object(), len], ids=kind_of
)
def test_what_cannot_be_seen_into_is_named(thing):
    assert portrait([thing])["result[0]"] == OPAQUE


def releases():
    with dpf.Session(10, unit="row"), unsafe_deterministic(1):
        return (
            FRAME.dp.sum("x", 1, bounds=(0, 5)),
            FRAME.dp.histogram(1, "k", keys=["a", "b"]),
            FRAME.dp.group_by("k", keys=["a"]).mean("x", 1, bounds=(0, 5)),
        )


@pytest.mark.filterwarnings("ignore::dpframe.errors.PrivacyWarning")
def test_releases_are_seen_in_every_form_without_ids_and_times():
    first, second = releases(), releases()
    assert first[0].release_id != second[0].release_id
    one = portrait(first)
    assert one == portrait(second)
    assert not any(first[0].release_id in text for text in one.values())
    for view in ("repr", "_repr_html_", "to_arrow", "to_frame"):
        assert f"result[1].{view}()" in one
    assert "sensitivity" in one["result[1].to_arrow()"]


@pytest.mark.filterwarnings("ignore::dpframe.errors.PrivacyWarning")
def test_times_are_left_out_where_a_stored_release_tells_its_own():
    with dpf.Session(9, unit="row"), unsafe_deterministic(1):
        first, again = (FRAME.dp.count(1, label="daily") for _ in range(2))
    later = replace(
        again, receipt=replace(again.receipt, time=again.time + timedelta(days=1))
    )
    assert repr(again) != repr(later)
    assert portrait(again) == portrait(later) != portrait(first)


def test_words_of_an_error_hold_notes_causes_and_context():
    try:
        try:
            raise KeyError(17)
        except KeyError as inner:
            msg = "outer"
            raise ValueError(msg) from inner
    except ValueError as error:
        error.add_note("a note")
        said = words(error)
    assert said.startswith("ValueError('outer',): outer [a note] <- KeyError(17,)")
    assert words(None) == ""
