from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpframe
from dpframe.domain.schema import ColumnType
from dpframe.engines.ingest import ingest
from dpframe.errors import ColumnNotFoundError, EngineError, UnsupportedFrameError

ROOT = Path(dpframe.__file__).parent

ARROW = pa.table(
    {
        "bool": pa.array([True]),
        "int": pa.array([1], pa.uint8()),
        "float": pa.array(np.array([1.0], dtype=np.float16)),
        "decimal": pa.array([Decimal("1.25")], pa.decimal128(9, 2)),
        "date": pa.array([1], pa.date32()),
        "second": pa.array([1], pa.timestamp("s")),
        "zone": pa.array([1], pa.timestamp("us", "Europe/Berlin")),
        "span": pa.array([1], pa.duration("ms")),
        "text": pa.array(["a"], pa.string_view()),
        "words": pa.array(["a"]).dictionary_encode(),
        "codes": pa.array([5]).dictionary_encode(),
        "null": pa.nulls(1),
        "list": pa.array([[1]]),
        "struct": pa.array([{"a": 1}]),
        "time": pa.array([1], pa.time32("s")),
        "bytes": pa.array([b"a"]),
        "interval": pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        "huge": pa.array([Decimal(1)], pa.decimal256(60, 2)),
    }
)
TYPES = {
    "bool": ColumnType("boolean"),
    "int": ColumnType("integer"),
    "float": ColumnType("float"),
    "decimal": ColumnType("decimal", scale=2),
    "date": ColumnType("date"),
    "second": ColumnType("datetime", unit="s"),
    "zone": ColumnType("datetime", unit="us", zone="Europe/Berlin"),
    "span": ColumnType("duration", unit="ms"),
    "text": ColumnType("text"),
    "words": ColumnType("text"),
    "codes": ColumnType("integer"),
    "null": ColumnType("null"),
    **dict.fromkeys(
        ["list", "struct", "time", "bytes", "interval", "huge"], ColumnType("other")
    ),
}


def test_types_of_arrow():
    schema = ingest(ARROW).schema
    assert schema.library == "pyarrow"
    assert dict(schema.columns) == TYPES


def test_types_of_polars():
    frame = pl.from_arrow(ARROW.drop_columns(["interval", "huge"]))
    expected = {name: TYPES[name] for name in frame.columns}
    expected["second"] = ColumnType("datetime", unit="ms")
    for given in (frame, frame.lazy()):
        assert ingest(given).schema.library == "polars"
        assert dict(ingest(given).schema.columns) == expected


def test_types_of_pandas_with_arrow_dtypes():
    columns = ARROW
    frame = pd.DataFrame(
        {
            name: pd.Series(columns[name], dtype=pd.ArrowDtype(columns[name].type))
            for name in columns.column_names
        }
    )
    schema = ingest(frame).schema
    assert schema.library == "pandas"
    assert dict(schema.columns) == {name: TYPES[name] for name in columns.column_names}


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (np.array([1, 2], dtype=np.int8), "integer"),
        (np.array([1, 2], dtype=np.float32), "float"),
        (np.array([True, False]), "boolean"),
        (pd.array([1, None], dtype="UInt8"), "integer"),
        (pd.array([1, None], dtype="Float32"), "float"),
        (pd.array([True, None], dtype="boolean"), "boolean"),
        (pd.array(["a", None], dtype="string[python]"), "text"),
        (pd.array(["a", None], dtype="string[pyarrow]"), "text"),
        (pd.to_datetime(["2024-01-01", None]), "datetime"),
        (pd.to_timedelta([1, None], unit="s"), "duration"),
        (pd.Categorical(["a", None]), "text"),
        (pd.Categorical([1, 2]), "integer"),
        (pd.Categorical(pd.to_datetime(["2024-01-01", None])), "datetime"),
        (pd.Categorical([None, None]), "float"),
        (pd.interval_range(0, 2), "other"),
        (pd.period_range("2024", periods=2, freq="Y"), "other"),
        (np.array([1j, 2]), "other"),
        (pd.arrays.SparseArray([0.0, 1.0]), "other"),
    ],
)
def test_types_of_pandas(column, kind):
    assert ingest(pd.DataFrame({"x": column})).schema["x"].kind == kind


@pytest.mark.parametrize(
    "values", [[1, 2], ["a", "b"], [b"a", None], [[1], {}], [None, None], []]
)
def test_objects_are_text_whatever_they_hold(values):
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    assert ingest(frame).schema["x"] == ColumnType("text")


@pytest.mark.parametrize(
    "frame",
    [
        {"x": [1]},
        [1, 2],
        np.ones((2, 2)),
        None,
        pa.array([1]),
        pl.col("x"),
        pd.Index([1]),
        pl.DataFrame({"x": [1]}).group_by("x"),
    ],
)
def test_other_objects_are_refused(frame):
    with pytest.raises(UnsupportedFrameError, match="pandas DataFrame") as caught:
        ingest(frame)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["x", "x"]),
        pa.table([[1], [2]], names=["x", "x"]),
    ],
)
def test_duplicate_names_are_refused(frame):
    with pytest.raises(UnsupportedFrameError, match="several columns 'x'"):
        ingest(frame)


@pytest.mark.parametrize(
    "columns", [[0, 1], ["x", 4711], pd.MultiIndex.from_product([["x"], [4711, 2]])]
)
def test_names_that_are_no_text_are_refused_and_not_shown(columns):
    with pytest.raises(UnsupportedFrameError, match="named by text") as caught:
        ingest(pd.DataFrame([[1, 2]], columns=columns))
    assert "4711" not in str(caught.value)


def test_a_lazy_frame_without_a_schema():
    frame = pl.LazyFrame({"secret": [4711]}).select(pl.col("secret").str.len_chars())
    frame = frame.select("missing")
    with pytest.raises(EngineError, match=r"polars\.LazyFrame") as caught:
        ingest(frame)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_missing_column_is_told_with_the_nearest():
    with pytest.raises(ColumnNotFoundError, match="Did you mean 'income'"):
        ingest(pl.DataFrame({"income": [1]})).schema["incom"]


@pytest.mark.parametrize("frame", ["pl.DataFrame({'x': [1]})", "pl.LazyFrame()"])
def test_only_the_library_of_the_frame_is_imported(frame):
    script = f"""
import importlib.util, sys, types
package = types.ModuleType("dpframe")
package.__path__ = [{str(ROOT)!r}]
sys.modules["dpframe"] = package  # without the accessors, which import pandas
import dpframe.engines.ingest as door
assert not {{"pandas", "polars", "pyarrow"}} & set(sys.modules), "imported too much"
import polars as pl
door.ingest({frame})
assert not {{"pandas", "pyarrow"}} & set(sys.modules), "imported too much"
"""
    subprocess.run([sys.executable, "-c", script], check=True)
