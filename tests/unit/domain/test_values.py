from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpframe.domain.values import (
    comparable,
    distinct,
    family,
    listed,
    ordered,
    plain,
    uniform,
)
from dpframe.errors import ParameterError

INDIA = timezone(timedelta(hours=5, minutes=30))


class Color(StrEnum):
    RED = "red"


class Grade(IntEnum):
    GOOD = 1


@pytest.mark.parametrize(
    "missing",
    [
        None,
        float("nan"),
        np.nan,
        np.float32("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT"),
        np.timedelta64("NaT", "ns"),
        Decimal("NaN"),
        Decimal("sNaN"),
    ],
)
def test_null_and_nan_are_one_value(missing):
    assert plain(missing) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.bool_(True), True),
        (np.int8(3), 3),
        (np.uint64(2**63), 2**63),
        (np.float64(0.5), 0.5),
        (np.str_("a"), "a"),
        (Color.RED, "red"),
        (Grade.GOOD, 1),
        (np.datetime64("2024-02"), date(2024, 2, 1)),
        (np.datetime64("2024-02-03"), date(2024, 2, 3)),
        (np.datetime64("2024-02-03T04", "h"), datetime(2024, 2, 3, 4)),
        (np.datetime64(-1, "ns"), datetime(1969, 12, 31, 23, 59, 59, 999999)),
        (np.timedelta64(1500, "ns"), timedelta(microseconds=1)),
        (pd.Timestamp("2024-01-01 00:00:00.000001999"),
         datetime(2024, 1, 1, 0, 0, 0, 1)),
        (pd.Timestamp("2024-01-01 05:30", tz=INDIA), datetime(2024, 1, 1, tzinfo=UTC)),
        (pd.Timedelta(-1, "ns"), timedelta(microseconds=-1)),
        (datetime(2024, 1, 1, 5, 30, tzinfo=INDIA), datetime(2024, 1, 1, tzinfo=UTC)),
        (Decimal("1.10"), Decimal("1.10")),
        (date(2024, 1, 1), date(2024, 1, 1)),
    ],
)  # fmt: skip
def test_scalars_become_exact_python_values(value, expected):
    result = plain(value)
    assert result == expected
    assert type(result) is type(expected)
    assert repr(result) == repr(expected)


def test_what_is_no_scalar_has_no_family():
    value = [1]
    assert plain(value) is value
    assert family(value) is None
    assert family(Fraction(1, 2)) is None
    assert family(None) is None


def test_narrower_types_come_first():
    assert family(True) == "boolean"
    assert family(1) == family(0.5) == "number"
    assert family(datetime(2024, 1, 1)) == "datetime"
    assert family(date(2024, 1, 1)) == "date"


@pytest.mark.parametrize(
    "values",
    [
        "abc",
        b"abc",
        {"a": 1},
        {"a", "b"},
        frozenset("a"),
        3,
        None,
        np.zeros((2, 2)),
        np.array(3),
        pd.DataFrame({"a": [1]}),
    ],
)
def test_listed_refuses_what_has_no_order_or_more_than_one_dimension(values):
    with pytest.raises(ParameterError, match="keys must be a list, in the order"):
        listed(values, "keys")


@pytest.mark.parametrize(
    "values",
    [[1, 2], (1, 2), range(1, 3), np.array([1, 2]), pd.Series([1, 2]), pd.Index([1, 2]),
     pl.Series([1, 2]), {1: 0, 2: 0}.keys(), (v for v in (1, 2))],
)  # fmt: skip
def test_listed_reads_sequences(values):
    assert listed(values, "keys") == [1, 2]


def test_integers_beside_floats_become_floats():
    assert [type(v) for v in uniform([0, 0.5, None], "keys")] == [
        float,
        float,
        type(None),
    ]
    assert [type(v) for v in uniform([0, 1], "keys")] == [int, int]
    with pytest.raises(ParameterError, match=r"beyond 2\*\*53"):
        uniform([2**53 + 1, 0.5], "keys")
    with pytest.raises(ParameterError, match=r"beyond 2\*\*53"):
        uniform([10**400, 0.5], "keys")


@pytest.mark.parametrize(
    "values",
    [
        [1, "a"],
        [True, 2],
        [1, Decimal(1)],
        [date(2024, 1, 1), datetime(2024, 1, 1)],
        [timedelta(1), 1],
    ],
)
def test_mixed_families_are_refused(values):
    with pytest.raises(ParameterError, match="of one kind"):
        uniform(values, "keys")


@pytest.mark.parametrize(
    "value", [(1, 2), [1], {1}, object(), 1j, Fraction(1, 2), b"x"]
)
def test_what_no_column_holds_is_refused(value):
    with pytest.raises(ParameterError, match=f"got {type(value).__name__}"):
        uniform(["a", value], "keys")


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (("a", "a"), "'a' twice"),
        ((1, True), "1 and True, which are equal"),
        ((0.0, -0.0), "0.0 and -0.0, which are equal"),
        ((None, None), "null and NaN are the one key None"),
    ],
)
def test_duplicates_in_any_spelling_are_refused(values, shown):
    with pytest.raises(ParameterError, match=shown):
        distinct(values, "keys")


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([0, None], "missing value or NaN"),
        ([0, float("nan")], "missing value or NaN"),
        ([pd.NaT, pd.NaT], "missing value or NaN"),
        ([False, True], "got bool"),
        ([0, True], "got bool"),
        (["a", "b"], "got str"),
        ([1j, 2], "got complex"),
        ([0, timedelta(1)], "of one kind"),
        ([date(2024, 1, 1), datetime(2025, 1, 1)], "of one kind"),
        ([datetime(2024, 1, 1), datetime(2025, 1, 1, tzinfo=UTC)], "time zone"),
    ],
)
def test_ordered_refuses(values, shown):
    with pytest.raises(ParameterError, match=shown):
        ordered(values, "edges")


@pytest.mark.parametrize(
    ("value", "to", "expected"),
    [
        (True, "number", True),
        (Decimal("1.5"), "number", Decimal("1.5")),
        ("1", "number", None),
        (1, "date", None),
        (timedelta(1), "number", None),
        (datetime(2024, 1, 1, 23), "date", date(2024, 1, 1)),
        (datetime(2024, 1, 1, 5, tzinfo=INDIA), "date", date(2023, 12, 31)),
        (datetime(2024, 1, 1, 5, 30, tzinfo=INDIA), "datetime", datetime(2024, 1, 1)),
        (date(2024, 1, 1), "datetime", datetime(2024, 1, 1)),
        (datetime(2024, 1, 1), "number", None),
        (None, "number", None),
    ],
)
def test_comparable(value, to, expected):
    result = comparable(value, to)
    assert result == expected
    assert type(result) is type(expected)
