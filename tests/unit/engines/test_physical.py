from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpframe.domain.schema import ColumnType
from dpframe.engines.physical import equal_to, float_around, thresholds

INTEGER, FLOAT, DATE = ColumnType("integer"), ColumnType("float"), ColumnType("date")
SECONDS = ColumnType("datetime", unit="s")
FAR = datetime(9999, 1, 1)
ZONED = ColumnType("datetime", unit="ms", zone="Asia/Tokyo")


@pytest.mark.parametrize(
    ("value", "type_", "expected"),
    [
        (5, INTEGER, 5),
        (True, INTEGER, 1),
        (2.5, INTEGER, Fraction(5, 2)),
        (Decimal("1.25"), ColumnType("decimal", scale=2), 125),
        (Decimal("1.255"), ColumnType("decimal", scale=2), Fraction(251, 2)),
        (math.inf, FLOAT, math.inf),
        ("5", INTEGER, None),
        (5, ColumnType("text"), None),
        (date(1970, 1, 2), DATE, 1),
        (datetime(1970, 1, 2), DATE, None),
        (datetime(1970, 1, 2), SECONDS, 86400),
        (date(1970, 1, 2), SECONDS, None),
        (datetime(1970, 1, 2, tzinfo=UTC), SECONDS, None),
        (datetime(1970, 1, 2), ZONED, None),
        (datetime(1970, 1, 1, 9, tzinfo=timezone(timedelta(hours=9))), ZONED, 0),
        (timedelta(seconds=2), ColumnType("duration", unit="us"), 2_000_000),
        (None, INTEGER, None),
    ],
)
def test_equal_to(value, type_, expected):
    assert equal_to(value, type_) == expected


@pytest.mark.parametrize(
    ("edges", "type_", "expected"),
    [
        ((0, 1.5, 3), INTEGER, [2]),
        ((-math.inf, 0, math.inf), INTEGER, [0]),
        ((-math.inf, Decimal("0.1"), math.inf), FLOAT, [0.1]),
        ((0, Fraction(1).numerator + 2**53, 2**60), FLOAT, [2.0**53 + 2]),
        ((date(1969, 1, 1), date(1970, 1, 2), date(1971, 1, 1)), SECONDS, [86400]),
        ((datetime(1969, 1, 1), datetime(1970, 1, 2, 1), FAR), DATE, [2]),
        ((0, 1, 2), DATE, None),
        ((date(1970, 1, 1), date(1970, 1, 2)), INTEGER, None),
        ((0, 1), ColumnType("text"), None),
        ((0, 1), INTEGER, []),
    ],
)
def test_thresholds(edges, type_, expected):
    assert thresholds(edges, type_) == expected


@given(st.fractions() | st.integers(-(10**400), 10**400), st.floats(allow_nan=False))
def test_a_float_reaches_the_edge_where_it_reaches_the_threshold(edge, x):
    edge = Decimal(edge.numerator) if isinstance(edge, Fraction) else edge
    (least,) = thresholds((-math.inf, edge, math.inf), FLOAT)
    assert (x >= least) == (x >= edge)


@given(st.integers(-(2**70), 2**70), st.integers(0, 2**62))
def test_floats_around_enclose(lower, span):
    low, high = float_around(lower, lower + span)
    assert low <= lower <= lower + span <= high
    assert math.nextafter(low, math.inf) > lower
    assert math.nextafter(high, -math.inf) < lower + span
