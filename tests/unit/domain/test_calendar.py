from datetime import date

import pytest

from dpframe.domain.calendar import calendar_edges, read_date, read_step
from dpframe.errors import ParameterError


@pytest.mark.parametrize(
    ("every", "edges"),
    [
        ("1w", [date(2024, 1, 1), date(2024, 1, 8), date(2024, 1, 15)]),
        ("5d", [date(2024, 1, 1), date(2024, 1, 6), date(2024, 1, 11)]),
        ("2w", [date(2024, 1, 1), date(2024, 1, 15)]),
        ("1mo", [date(2024, 1, 1), date(2024, 2, 1)]),
        ("1q", [date(2024, 1, 1), date(2024, 4, 1)]),
        ("1y", [date(2024, 1, 1), date(2025, 1, 1)]),
        ("2y", [date(2024, 1, 1), date(2026, 1, 1)]),
    ],
)
def test_the_last_bin_is_whole(every, edges):
    assert calendar_edges(date(2024, 1, 1), date(2024, 1, 10), every) == tuple(edges)


def test_the_end_belongs_to_the_last_bin():
    year = calendar_edges(date(2024, 1, 1), date(2024, 12, 31), "1d")
    assert len(year) - 1 == 366
    assert year[-2:] == (date(2024, 12, 31), date(2025, 1, 1))
    assert calendar_edges(date(2024, 1, 1), date(2024, 1, 8), "1w")[-1] == date(
        2024, 1, 15
    )


def test_one_day_is_one_bin():
    day = date(2024, 1, 1)
    assert calendar_edges(day, day, "1mo") == (day, date(2024, 2, 1))


def test_months_are_counted_from_the_start_not_from_the_last_edge():
    edges = calendar_edges(date(2024, 1, 31), date(2024, 4, 29), "1mo")
    assert edges == (
        date(2024, 1, 31),
        date(2024, 2, 29),
        date(2024, 3, 31),
        date(2024, 4, 30),
    )


def test_leap_days_fall_on_the_last_of_february():
    edges = calendar_edges(date(2024, 2, 29), date(2028, 2, 28), "1y")
    assert [edge.day for edge in edges] == [29, 28, 28, 28, 29]


def test_years_beyond_the_calendar_are_refused():
    for every in ("1d", "1mo", "999999y"):
        with pytest.raises(ParameterError, match="passes the year 9999"):
            calendar_edges(date(9999, 12, 31), date(9999, 12, 31), every)


def test_read_step():
    assert read_step("2w") == (2, "w")
    assert read_step("12mo") == (12, "mo")


@pytest.mark.parametrize("every", ["", "d", "0d", "-1d", "1.5d", "1h", "1m", 7, None])
def test_other_steps_are_refused(every):
    with pytest.raises(ParameterError, match="every must be '1d', '1w'"):
        read_step(every)


def test_read_date():
    assert read_date("2024-02-29", "start") == date(2024, 2, 29)
    for text in ("2023-02-29", "yesterday", ""):
        with pytest.raises(ParameterError, match="start must be a date such as"):
            read_date(text, "start")
