"""Values of keys there and back: from ticks and labels to Python's and again."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpframe.domain.schema import ColumnType
from dpframe.engines.labels import label, unlabel
from dpframe.engines.physical import position, value_at

TYPES = [
    ColumnType("date"),
    ColumnType("datetime", unit="s"),
    ColumnType("datetime", unit="ms", zone="Asia/Tokyo"),
    ColumnType("datetime", unit="us"),
    ColumnType("duration", unit="ms"),
    ColumnType("decimal", scale=3),
    ColumnType("decimal", scale=0),
]


@given(
    st.sampled_from(TYPES), st.integers(-(10**6), 10**6) | st.sampled_from([0, 2932896])
)
def test_a_tick_is_where_its_value_is(type_, number):
    if type_.kind == "date":
        number = max(number, -719162)
    value = value_at(number, type_)
    assert position(value, type_) == number


def test_values_have_the_type_of_the_column():
    assert value_at(0, ColumnType("boolean")) is False
    assert value_at(1, ColumnType("boolean")) is True
    assert value_at(2932896, ColumnType("date")) == date(9999, 12, 31)
    zoned = value_at(1500, ColumnType("datetime", unit="ms", zone="Asia/Tokyo"))
    assert zoned == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)
    assert zoned.tzinfo is UTC
    assert value_at(-1, ColumnType("datetime", unit="us")) == datetime(
        1969, 12, 31, 23, 59, 59, 999_999
    )
    assert value_at(90, ColumnType("duration", unit="s")) == timedelta(seconds=90)


def test_decimals_of_any_length_are_exact():
    number = 10**37 + 1
    value = value_at(number, ColumnType("decimal", scale=2))
    assert str(value) == f"{10**35}.01"
    assert str(value_at(-5, ColumnType("decimal", scale=2))) == "-0.05"


@pytest.mark.parametrize(
    "value",
    ["a", "", "naïve ☃", "1/1", "datetime.date(2024, 1, 1)", 0, 7, -7, 2**63, 2**64 - 1,
     -(2**63), date(2024, 10, 5), date.min, date.max],
)  # fmt: skip
def test_labels_of_text_whole_numbers_and_dates_are_read(value):
    read = unlabel(label(value))
    assert read == value
    assert type(read) is type(value)


@given(st.integers(-(2**63), 2**64 - 1) | st.text() | st.dates())
def test_labels_are_read_back(value):
    named = label(value)
    if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        assert unlabel(named) is None
    else:
        assert unlabel(named) == value


@pytest.mark.parametrize(
    "value",
    [0.5, float("inf"), Decimal("0.1"), Decimal("1e9999"), 2**64, -(2**63) - 1,
     "\ud800", datetime(2024, 1, 1), timedelta(1), b"raw"],
)  # fmt: skip
def test_other_labels_are_not(value):
    assert unlabel(label(value)) is None


def test_numbers_that_are_equal_have_one_value():
    assert [unlabel(label(v)) for v in (True, 1.0, Decimal("1.00"))] == [1, 1, 1]
