import narwhals.stable.v2 as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpframe.domain import Domain
from dpframe.errors import ColumnNotFoundError, DomainError, UnsupportedFrameError

DECLARED = Domain({"job": ["x", "y", "unused"], "ok": bool})
POLARS = pl.DataFrame(
    {"age": [1, 2], "job": ["x", "y"], "name": ["a", "b"], "ok": [True, None]},
    schema_overrides={"job": pl.Enum(["x", "y", "unused"])},
).with_columns(seen=pl.col("name").cast(pl.Categorical))
PANDAS = pd.DataFrame(
    {
        "age": [1, 2],
        "job": pd.Categorical(["x", "y"], ["x", "y", "unused"]),
        "ok": pd.array([True, None], dtype="boolean"),
    }
)


@pytest.mark.parametrize(
    "frame",
    [POLARS, POLARS.clear(), POLARS.lazy(), POLARS.to_arrow(), nw.from_native(POLARS)],
    ids=["eager", "empty", "lazy", "arrow", "narwhals"],
)
def test_enums_and_booleans_are_declared(frame):
    assert Domain.from_schema(frame) == DECLARED


def test_other_is_passed_on():
    assert Domain.from_schema(POLARS, other=["ok"]).other == ("ok",)


def test_a_lazy_frame_is_never_collected():
    def explode(column):
        raise AssertionError

    lazy = POLARS.lazy().with_columns(
        pl.col("name").map_elements(explode, return_dtype=pl.String)
    )
    assert Domain.from_schema(lazy) == DECLARED


def test_the_rows_of_an_arrow_table_do_not_matter():
    table = POLARS.to_arrow()
    assert Domain.from_schema(table.slice(0, 0)) == Domain.from_schema(table)


def test_an_arrow_dictionary_keeps_its_list_in_the_data():
    table = pa.table({"job": pa.array(["x"]).dictionary_encode(), "ok": [True]})
    assert Domain.from_schema(table) == Domain({"ok": bool})
    assert Domain.from_schema(table, categories="declared") == Domain({"ok": bool})


@pytest.mark.parametrize("ordered", [False, True])
def test_a_pandas_list_needs_the_caller_to_speak(ordered):
    frame = PANDAS.assign(job=PANDAS["job"].cat.set_categories(
        ["x", "y", "unused"], ordered=ordered
    ))  # fmt: skip
    with pytest.raises(DomainError, match=r"'job' is a pandas Categorical.*declared"):
        Domain.from_schema(frame)
    assert Domain.from_schema(frame, categories="declared") == DECLARED
    assert Domain.from_schema(frame, categories=["job"]) == DECLARED
    assert Domain.from_schema(frame, categories=[]) == Domain({"ok": bool})


@pytest.mark.parametrize(
    "dtype", ["bool", "boolean", pd.ArrowDtype(pa.bool_())], ids=str
)
def test_pandas_booleans_of_every_type(dtype):
    frame = pd.DataFrame({"ok": pd.Series([True, False], dtype=dtype), "x": [1, 2]})
    assert Domain.from_schema(frame) == Domain({"ok": bool})


def test_pandas_objects_are_not_looked_at():
    frame = pd.DataFrame({"ok": pd.Series([True, None], dtype=object), "s": ["a", "b"]})
    assert Domain.from_schema(frame) == Domain({})


def test_named_columns_must_list_their_categories():
    with pytest.raises(ColumnNotFoundError, match=r"no column 'jbo'.*'job'"):
        Domain.from_schema(PANDAS, categories=["jbo"])
    with pytest.raises(DomainError, match="lists no categories of column 'age'"):
        Domain.from_schema(PANDAS, categories=["age"])
    with pytest.raises(DomainError, match="lists no categories of column 'seen'"):
        Domain.from_schema(POLARS, categories=["seen"])


@pytest.mark.parametrize("thing", [{"a": [True]}, [1], None, "frame"])
def test_other_objects_are_refused(thing):
    with pytest.raises(UnsupportedFrameError, match="no frame whose schema"):
        Domain.from_schema(thing)
