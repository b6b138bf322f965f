from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from dpframe.display.column import Column
from dpframe.display.text import (
    plural,
    printable,
    show,
    show_moment,
    show_spread,
    text_table,
)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1_234_567, "1,234,567"),
        (10**30, f"{10**30:,}"),
        (True, "True"),
        (0.0, "0"),
        (0.1 + 0.2, "0.3"),
        (1234567.89, "1,234,568"),
        (-12.5, "-12.5"),
        (1e-9, "1e-09"),
        (1e300, "1e+300"),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
        (Decimal("1234.50"), "1,234.50"),
        (Decimal(1) / 7, "0.142857"),
        (date(2024, 1, 2), "2024-01-02"),
        (timedelta(hours=25), "1 day, 1:00:00"),
        ("text", "text"),
        (None, "None"),
    ],
)
def test_show(value, shown):
    assert show(value) == shown


@pytest.mark.parametrize(
    ("error", "shown"),
    [(123.0, "46"), (1.2, "46.2"), (0.074, "46.200"), (1e-12, "46.2"), (0.0, "46.2")],
)
def test_digits_of_a_float_follow_its_error(error, shown):
    assert show(46.2, error) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (14.1421, "14"),
        (2.84, "2.8"),
        (0.0744, "0.074"),
        (9876.5, "9,876"),
        (0.0, "0"),
        (1e20, "1e+20"),
        (Decimal("0.123"), "0.12"),
        (timedelta(days=4, hours=9), "4.4 days"),
        (timedelta(hours=18, minutes=53), "19 h"),
        (timedelta(seconds=-2), "-2 s"),
        (timedelta(microseconds=1_500), "1.5 ms"),
        (timedelta(0), "0 µs"),
    ],
)
def test_show_spread(value, shown):
    assert show_spread(value) == shown


def test_printable_keeps_one_line():
    assert printable("a\nb\tc\x1b[31m") == r"a\nb\tc\x1b[31m"
    assert printable("naïve ½") == "naïve ½"
    assert printable("x" * 50) == "x" * 39 + "…"


def test_moments():
    assert show_moment(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) == (
        "2026-01-02 03:04:05 UTC"
    )
    assert show_moment(datetime(2026, 1, 2)) == "2026-01-02 00:00:00"


def test_plural():
    assert plural(1, "cell") == "1 cell"
    assert plural(0, "cell") == "0 cells"
    assert plural(2_000, "cell") == "2,000 cells"


def test_text_table():
    columns = [Column("na\nme", ("a", "bbbb"), left=True), Column("n", ("10", "7"))]
    assert text_table(columns).splitlines() == [
        r"na\nme   n",
        "a       10",
        "bbbb     7",
    ]
