from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from unit.releases.made import FLOAT, INTEGER, lattice_of

from dpframe.domain.schema import ColumnType
from dpframe.releases.numbers import Numbers

DECIMAL = ColumnType("decimal", scale=2)
DAY = lattice_of(ColumnType("date"), date(2024, 1, 1), date(2025, 1, 1), "mean")
HOARD = lattice_of(DECIMAL, Decimal(-(10**16)), Decimal(10**16), "mean")
MONEY = lattice_of(DECIMAL, Decimal(0), Decimal(100), "mean")


def moments(unit):
    kind = ColumnType("datetime", unit=unit)
    return lattice_of(kind, datetime(2024, 1, 1), datetime(2025, 1, 1), "mean")


def spans(unit):
    kind = ColumnType("duration", unit=unit)
    return lattice_of(kind, timedelta(0), timedelta(days=1), "mean")


INTS, FLOATS = np.array([1, 2]), np.array([1.5, 2.5])


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (Numbers(INTS), pa.int64()),
        (Numbers(INTS.astype(object)), pa.int64()),
        (Numbers(FLOATS), pa.float64()),
        (Numbers(INTS, lattice_of(INTEGER, 0, 9, "sum")), pa.int64()),
        (Numbers(FLOATS, lattice_of(FLOAT, 0, 9, "mean")), pa.float64()),
        (Numbers(INTS, MONEY), pa.decimal128(38, 2)),
        (Numbers(FLOATS, MONEY), pa.decimal128(38, 8)),
        (Numbers(FLOATS, MONEY, "square"), pa.decimal128(38, 10)),
        (Numbers(FLOATS, HOARD, "square"), pa.decimal128(38, 5)),
        (Numbers(FLOATS, DAY), pa.date32()),
        (Numbers(FLOATS, DAY, "length"), pa.duration("us")),
        (Numbers(FLOATS, moments("s")), pa.timestamp("us")),
        (Numbers(FLOATS, moments("ns")), pa.timestamp("ns")),
        (Numbers(FLOATS, moments("ms"), "length"), pa.duration("us")),
        (Numbers(INTS, spans("s")), pa.duration("s")),
        (Numbers(FLOATS, spans("s")), pa.duration("us")),
        (Numbers(FLOATS, spans("ns")), pa.duration("ns")),
        (Numbers(FLOATS, spans("s"), "square"), pa.float64()),
    ],
)
def test_column_types_depend_on_public_facts(numbers, expected):
    assert numbers.column().type == expected
    assert numbers.first(0).column().type == expected


def test_values_and_columns_agree():
    cases = [
        Numbers(FLOATS, DAY, origin=int(DAY.lower)),
        Numbers(FLOATS, moments("ms"), origin=int(moments("ms").lower)),
        Numbers(FLOATS, spans("s")),
        Numbers(FLOATS, DAY, "length"),
        Numbers(INTS, MONEY),
        Numbers(FLOATS, MONEY, origin=7),
        Numbers(FLOATS, MONEY, "square"),
    ]
    for numbers in cases:
        shown = numbers.column().to_pylist()
        assert shown == [numbers.value(0), numbers.value(1)]


def test_zoned_datetimes_keep_their_zone():
    kind = ColumnType("datetime", unit="us", zone="Europe/Berlin")
    low = datetime.fromisoformat("2024-06-01T00:00:00+00:00")
    grid = lattice_of(kind, low, low + timedelta(days=2), "mean")
    numbers = Numbers(np.array([0.0]), grid, origin=int(grid.lower))
    assert numbers.column().type == pa.timestamp("us", "Europe/Berlin")
    assert numbers.column().to_pylist() == [low] == [numbers.value()]


def test_integers_are_saturated_in_columns_only():
    numbers = Numbers(np.array([2**70, -(2**70), 3], dtype=object))
    assert numbers.column().to_pylist() == [2**63 - 1, -(2**63), 3]
    assert numbers.saturated().dtype == np.int64
    assert numbers.array().tolist() == [2**70, -(2**70), 3]
    assert numbers.value() == 2**70


def test_rounded_ticks_are_saturated():
    numbers = Numbers(np.array([1e30, -1e30]), spans("s"), "length")
    assert numbers.column().cast(pa.int64()).to_pylist() == [2**63 - 1024, -(2**63)]


def test_decimals_of_many_places_fit():
    grid = lattice_of(
        ColumnType("decimal", scale=37), Decimal(0), Decimal("1e-20"), "mean"
    )
    assert Numbers(FLOATS, grid).column().type == pa.decimal128(38, 38)
    squares = Numbers(FLOATS, grid, "square").column()
    assert squares.type == pa.decimal128(38, 38)
    assert squares.to_pylist() == [Decimal(0)] * 2


def test_the_greatest_decimal_variance_fits():
    most = float((HOARD.upper - HOARD.lower) ** 2) / 2
    column = Numbers(np.array([most]), HOARD, "square").column()
    assert float(column.to_pylist()[0]) == pytest.approx(most / 10**4)


def test_arrays_are_new_and_writable():
    for numbers in (Numbers(INTS), Numbers(FLOATS, DAY), Numbers(FLOATS)):
        for array in (numbers.array(), numbers.saturated()):
            array[0] = array[1]
    assert INTS.tolist() == [1, 2]
    assert FLOATS.tolist() == [1.5, 2.5]
