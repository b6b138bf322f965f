from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from unit.releases.made import bins_of, keys_of

from dpframe.domain.coding import Linear, Lookup
from dpframe.domain.keys import Keys
from dpframe.domain.schema import ColumnType
from dpframe.releases.columns import distinct_names, key_columns, key_labels


def column_of(cells, *types):
    ((field, column),) = key_columns(cells, types or None)
    assert field.type == column.type
    return field, column


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a", "b"], pa.string()),
        ([1, 2], pa.int64()),
        ([2**63], pa.uint64()),
        ([-1, 2**63], pa.decimal128(38, 0)),
        ([2**100], pa.decimal128(38, 0)),
        ([0.5, 2], pa.float64()),
        ([True, False], pa.bool_()),
        ([date(2024, 1, 1)], pa.date32()),
        ([datetime(2024, 1, 1, 5)], pa.timestamp("us")),
        ([datetime(2024, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC")),
        ([timedelta(hours=1)], pa.duration("us")),
        ([Decimal("1.50")], pa.decimal128(38, 2)),
    ],
)
def test_types_follow_the_keys(values, expected):
    field, column = column_of(keys_of(x=values))
    assert column.type == expected
    assert column.to_pylist() == values
    assert not field.nullable
    field, column = column_of(keys_of(x=[*values, None]))
    assert column.type == expected
    assert column.to_pylist() == [*values, None]
    assert field.nullable


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([1, 10**38], ["1", "1" + "0" * 38]),
        ([Decimal("1E+40"), Decimal("1.5")], ["1E+40", "1.5"]),
        ([Decimal("1E-40")], ["1E-40"]),
        (["\ud800b", "a"], [r"\ud800b", "a"]),
    ],
)
def test_keys_that_no_arrow_type_holds_are_shown_as_text(values, shown):
    column = column_of(keys_of(x=[*values, None]))[1]
    assert column.type == pa.string()
    assert column.to_pylist() == [*shown, None]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (ColumnType("text"), ["a"]),
        (ColumnType("integer"), [1]),
        (ColumnType("float"), [0.5]),
        (ColumnType("boolean"), [True]),
        (ColumnType("date"), [date(2024, 1, 1)]),
        (ColumnType("datetime", unit="ns"), [datetime(2024, 1, 1, 5)]),
        (
            ColumnType("datetime", unit="us", zone="Asia/Tokyo"),
            [datetime(2024, 1, 1, tzinfo=UTC)],
        ),
        (ColumnType("duration", unit="ms"), [timedelta(hours=1)]),
        (ColumnType("decimal", scale=3), [Decimal("1.5")]),
    ],
)
def test_no_keys_have_the_types_of_some(kind, values):
    some = column_of(keys_of(x=values), kind)[1]
    none = column_of(keys_of(x=[]), kind)[1]
    assert none.type == some.type
    assert len(none) == 0
    missing = column_of(keys_of(x=[None]), kind)[1]
    assert missing.type == some.type
    assert missing.to_pylist() == [None]


def test_integers_declared_on_a_float_column_stay_integers():
    cells = Keys(("x",), (Linear(1, 3, other=True),))
    field, column = column_of(cells, ColumnType("float"))
    assert column.to_pylist() == [1, 2, 3, None]
    assert column.type == pa.int64()
    assert field.nullable


def test_bins_are_named_by_their_lower_edges():
    assert column_of(bins_of(x=[0, 10, 50]))[1].to_pylist() == [0, 10]
    edges = [Decimal("-Infinity"), Decimal(1), Decimal(2)]
    assert column_of(bins_of(x=edges))[1].to_pylist() == [float("-inf"), 1.0]


def test_products_and_listed_cells_are_in_order():
    crossed = keys_of(a=["x", "y"], b=[1, 2, 3])
    listed = Keys.resolve(["a", "b"], domain=None, keys=[("y", 2), ("x", 1), ("y", 1)])
    for cells in (crossed, listed):
        columns = [column.to_pylist() for _, column in key_columns(cells, None)]
        assert list(zip(*columns, strict=True)) == cells.labels
        for at in ([0, 1], [2, 0], []):
            labels = key_labels(cells, np.array(at, dtype=np.int64))
            found = list(zip(*labels, strict=True))
            assert found == [cells.labels[i] for i in at]
            columns = key_columns(cells, None, np.array(at, dtype=np.int64))
            rows = list(zip(*(c.to_pylist() for _, c in columns), strict=True))
            assert rows == found


def test_labels_of_no_cells():
    assert key_labels(keys_of(a=[]), np.zeros(0, dtype=np.int64)) == [[]]


def test_an_other_cell_is_null():
    cells = Keys(("x",), (Lookup(("a",), other=True),))
    field, column = column_of(cells)
    assert column.to_pylist() == ["a", None]
    assert field.nullable


def test_clashing_names_take_underscores():
    assert distinct_names(["n", "n_"], ["n", "m"]) == ["n__", "m"]
    assert distinct_names(["n"], ["n", "n_"]) == ["n_", "n__"]
    assert distinct_names([], ["n", "m"]) == ["n", "m"]
