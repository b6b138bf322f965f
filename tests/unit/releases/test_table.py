from __future__ import annotations

import gc
import time
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from unit.releases.made import (
    FLOAT,
    INTEGER,
    RECEIPT,
    averaged,
    counted,
    keys_of,
    lattice_of,
    summed,
)

from dpframe.domain.schema import ColumnType
from dpframe.errors import ColumnNotFoundError, ParameterError
from dpframe.releases import TableRelease
from dpframe.releases.answers import Answer

LIBRARIES = ("pandas", "polars", "pyarrow")
MEANS = lattice_of(INTEGER, 0, 10, "mean")


def table(library="polars", cells=None, answers=None, types=None):
    cells = cells or keys_of(job=["a", "b", "c"])
    answers = answers or (
        counted([5, -1, 7], "n"),
        averaged([20, 0, 30], [30, 0, 40], MEANS),
    )
    return TableRelease.of(tuple(answers), cells, RECEIPT, library, types)


def columns_of(frame):
    """Python values of each column, whatever the library."""
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    assert isinstance(frame, pd.DataFrame)
    return frame.to_dict(orient="list")


@pytest.mark.parametrize("library", LIBRARIES)
def test_frame_is_of_the_callers_library(library):
    expected = {"job": ["a", "b", "c"], "n": [5, -1, 7], "mean": [4.0, 5.0, 30 / 7]}
    assert columns_of(table(library).to_frame()) == expected
    assert columns_of(table("polars").to_frame(library)) == expected


def test_another_library_is_refused():
    with pytest.raises(
        ParameterError, match="'pandas', 'polars', 'pyarrow'; got 'dask'"
    ):
        table().to_frame("dask")


def test_shape():
    t = table()
    assert len(t) == 3
    assert t.keys == ["a", "b", "c"]
    assert t.columns == ["job", "n", "mean"]
    assert t["n"].tolist() == [5, -1, 7]
    assert t["mean"].dtype == np.float64
    assert t.scale == {"n": 2.0}


def test_several_keys_are_tuples():
    t = table(
        cells=keys_of(a=["x", "y"], b=[1, 2]), answers=[counted([1, 2, 3, 4], "n")]
    )
    assert t.keys == [("x", 1), ("x", 2), ("y", 1), ("y", 2)]
    assert t.columns == ["a", "b", "n"]


def test_unknown_column_offers_the_nearest():
    with pytest.raises(ColumnNotFoundError, match="Did you mean 'mean'"):
        table()["meen"]
    with pytest.raises(ColumnNotFoundError):
        table()["job"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_intervals_and_errors_are_frames(library):
    t = table(library)
    ends = columns_of(t.interval(0.9))
    assert list(ends) == ["job", "n_lower", "n_upper", "mean_lower", "mean_upper"]
    lower, upper = t.answers[1].intervals(0.9)
    assert ends["mean_lower"] == lower.tolist()
    assert ends["mean_upper"] == upper.tolist()
    errors = columns_of(t.std_error)
    assert list(errors) == ["job", "n", "mean"]
    assert errors["n"] == t.answers[0].std_errors().tolist()


def test_an_aggregate_named_like_a_key_takes_underscores():
    t = table(
        cells=keys_of(n=[1], n_lower=["k"]),
        answers=[counted([5], "n"), counted([6], "m")],
    )
    assert t.columns == ["n", "n_lower", "n_", "m"]
    assert t["n_"].tolist() == [5]
    assert t.interval().columns == [
        "n", "n_lower", "n__lower", "n__upper", "m_lower", "m_upper",
    ]  # fmt: skip
    t = table(cells=keys_of(n_lower=["k"]), answers=[counted([5], "n")])
    assert t.interval().columns == ["n_lower", "n_lower_", "n_upper"]


def test_columns_are_saturated_at_int64():
    grid = lattice_of(INTEGER, 0, 2**60, "sum")
    huge = np.array([2**80, -(2**80), 5], dtype=object)
    t = table(answers=[summed(huge, grid)])
    assert t["sum"].dtype == np.int64
    assert t["sum"].tolist() == [2**63 - 1, -(2**63), 5]
    assert t.to_frame()["sum"].to_list() == t["sum"].tolist()


def test_dtypes_are_the_same_without_keys():
    types = (ColumnType("date"), ColumnType("integer"))
    some = keys_of(day=[date(2024, 1, 1)], k=[3])
    none = keys_of(day=[], k=[])
    grid = lattice_of(FLOAT, 0.0, 1.0, "sum")

    def answers(n):
        return [
            counted([1] * n, "n") if n else Answer("n", "count", None),
            Answer("sum", "sum", None, grid),
        ]

    for library in LIBRARIES:
        full = table(library, some, answers(1), types).to_frame()
        empty = table(library, none, answers(0), types).to_frame()
        if library == "pyarrow":
            assert full.schema.equals(empty.schema)
        elif library == "polars":
            assert full.schema == empty.schema
        else:
            assert full.dtypes.drop("day").equals(empty.dtypes.drop("day"))
        assert len(empty) == 0


def test_pandas_types():
    cells = keys_of(a=["x", None], b=[True, None], c=[1, None], d=[1, 2])
    n = cells.size
    frame = table("pandas", cells, [counted(range(n), "n")]).to_frame()
    assert frame["b"].dtype == "boolean"
    assert frame["c"].dtype == "Int64"
    assert (frame["d"].dtype, frame["n"].dtype) == (np.int64, np.int64)
    assert isinstance(frame.index, pd.RangeIndex)
    assert frame.index.equals(pd.RangeIndex(n))
    assert frame.attrs == {}
    frame.loc[0, "n"] = 99  # the frame is the caller's own


def test_answers_of_a_release_are_never_a_view():
    t = table()
    t["n"][0] = 99
    frame = t.to_frame("pandas")
    frame.loc[0, "n"] = 99
    assert t["n"].tolist() == [5, -1, 7]


#: Only pandas 3 reads the stream by itself.
READERS = [
    pl.DataFrame,
    pa.table,
    *filter(None, [getattr(pd.DataFrame, "from_arrow", 0)]),
]


@pytest.mark.parametrize("make", READERS)
def test_arrow_stream_is_read_by_every_library(make):
    got = columns_of(make(table()))
    assert got == columns_of(table().to_frame("polars"))


def test_arrow_stream_honours_a_requested_schema():
    wanted = pa.schema(
        {"job": pa.large_string(), "n": pa.int64(), "mean": pa.float64()}
    )
    reader = pa.RecordBatchReader.from_stream(table(), wanted)
    assert reader.read_all().schema.field("job").type == pa.large_string()
    assert pa.schema(table()).names == ["job", "n", "mean"]


def test_ten_thousand_keys_take_milliseconds():
    n = 10_000
    t = table(
        "pandas",
        keys_of(k=list(range(n))),
        [counted(np.arange(n), "n"), averaged(np.arange(n), np.arange(n), MEANS)],
    )
    for library in LIBRARIES:
        t.to_frame(library)  # imports
        start = time.perf_counter()
        t.to_frame(library)
        assert time.perf_counter() - start < 0.5  # about 5 ms; a loop would need more


def test_no_frame_is_reachable_from_a_release():
    frame = pd.DataFrame({"job": ["a", "b", "c"]})
    t = table("pandas")
    t.to_frame()
    repr(t)
    seen, stack = set(), [t]
    while stack:
        thing = stack.pop()
        if id(thing) in seen or isinstance(thing, type):
            continue
        seen.add(id(thing))
        assert not isinstance(
            thing, (pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.Table)
        )
        stack += gc.get_referents(thing)
    assert id(frame) not in seen
