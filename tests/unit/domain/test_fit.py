"""Keys and bins that a column cannot hold are refused from its type alone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from dpframe.domain.coding import Bins, Linear, Lookup
from dpframe.domain.fit import check_fit
from dpframe.domain.schema import ColumnType
from dpframe.domain.zones import midnight
from dpframe.errors import ParameterError

TEXT, INTEGER, FLOAT = (ColumnType(kind) for kind in ("text", "integer", "float"))
NAIVE = ColumnType("datetime", unit="us")
ZONED = ColumnType("datetime", unit="us", zone="America/New_York")
DAY, NOON = date(2024, 1, 1), datetime(2024, 1, 1, 12)


@pytest.mark.parametrize(
    ("coding", "type_"),
    [
        (Lookup(("a", None)), TEXT),
        (Lookup((1, 2.5, True, Decimal(1))), INTEGER),
        (Lookup((1,)), ColumnType("boolean")),
        (Lookup((1,)), ColumnType("decimal", scale=2)),
        (Lookup((DAY,)), ColumnType("date")),
        (Lookup((NOON,)), NAIVE),
        (Lookup((NOON.replace(tzinfo=UTC),)), ZONED),
        (Lookup((timedelta(1),)), ColumnType("duration", unit="ms")),
        (Bins((float("-inf"), 0, float("inf"))), FLOAT),
        (Bins((DAY, date(2024, 2, 1))), ZONED),
        (Bins((DAY, date(2024, 2, 1))), NAIVE),
        (Linear(0, 9), FLOAT),
        (Lookup(("a",)), ColumnType("null")),
        (Bins((0, 1)), ColumnType("null")),
    ],
)
def test_what_fits(coding, type_):
    check_fit("x", coding, type_)


@pytest.mark.parametrize(
    ("coding", "type_", "word"),
    [
        (Lookup((1, 2)), TEXT, "keys"),
        (Lookup(("1",)), INTEGER, "'1'"),
        (Lookup((NOON,)), ColumnType("date"), "keys"),
        (Lookup((DAY,)), NAIVE, "keys"),
        (Lookup((NOON,)), ZONED, "zone"),
        (Lookup((NOON.replace(tzinfo=UTC),)), NAIVE, "zone"),
        (Bins((0, 1)), TEXT, "bins"),
        (Linear(0, 9), TEXT, "bins"),
        (Bins((0, 1)), NAIVE, "bins"),
        (Bins((NOON, datetime(2025, 1, 1))), ZONED, "zone"),
        (Bins((timedelta(0), timedelta(1))), FLOAT, "bins"),
    ],
)
def test_what_does_not_fit(coding, type_, word):
    with pytest.raises(ParameterError, match=word) as caught:
        check_fit("x", coding, type_)
    assert "'x'" in str(caught.value)


def test_untyped_columns_hold_any_key_but_no_bins():
    check_fit("x", Lookup((1, 2)), TEXT, untyped=True)
    with pytest.raises(ParameterError, match="untyped"):
        check_fit("x", Bins((0, 1)), TEXT, untyped=True)


@pytest.mark.parametrize(
    ("zone", "hours"),
    [(None, 0), ("UTC", 0), ("America/New_York", 5), ("+02:00", -2), ("-0530", 5.5)],
)
def test_a_day_begins_at_midnight_of_its_zone(zone, hours):
    begins = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=hours)
    assert midnight(DAY, zone) == begins


def test_an_unknown_zone_is_refused():
    with pytest.raises(ParameterError, match="Mars/Base"):
        midnight(DAY, "Mars/Base")
