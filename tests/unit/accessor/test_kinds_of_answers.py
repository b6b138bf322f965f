"""Answers come in the column's own kind, whatever the library made of it."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpframe as dpf

NEW_YORK = "America/New_York"


@pytest.fixture
def session():
    return dpf.Session(epsilon=20, unit="row")


def evenings():
    """Twenty rows of 21:00 on New Year's Eve in New York: already 2024 in UTC."""
    moment = pd.Timestamp("2023-12-31 21:00", tz=NEW_YORK)
    frame = pd.DataFrame({"t": pd.Series([moment] * 20)})
    return {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "pyarrow": pa.Table.from_pandas(frame),
    }


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_days_are_those_of_the_columns_zone(session, library):
    people = dpf.private(evenings()[library], session)
    years = [dt.date(2023, 1, 1), dt.date(2024, 1, 1), dt.date(2025, 1, 1)]
    counts = people.histogram(20, bins=years).counts
    assert abs(counts[0] - 20) <= 3
    assert abs(counts[1]) <= 3


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_naive_bins_on_a_zoned_column_are_refused(session, library):
    people = dpf.private(evenings()[library], session)
    bins = [dt.datetime(2023, 1, 1), dt.datetime(2024, 1, 1)]
    with pytest.raises(dpf.ParameterError, match="zone"):
        people.histogram(1, bins=bins)
    assert session.charges == ()


def test_dates_bound_datetimes_through_the_whole_last_day(session):
    moments = [dt.datetime(2024, 1, 2, 18)] * 50
    people = dpf.private(pl.DataFrame({"t": moments}), session)
    mean = people.mean("t", 20, bounds=(dt.date(2024, 1, 1), dt.date(2024, 1, 2)))
    assert abs(mean.value - moments[0]) < dt.timedelta(hours=3)


def test_the_interval_of_a_mean_date_holds_the_mean(session):
    days = [dt.date(2024, 1, 1)] * 600 + [dt.date(2024, 1, 2)] * 400
    people = dpf.private(pl.DataFrame({"d": days}), session)
    mean = people.mean("d", 10, bounds=(dt.date(2024, 1, 1), dt.date(2024, 1, 31)))
    low, high = mean.interval()
    assert low <= dt.date(2024, 1, 1)
    assert high >= dt.date(2024, 1, 2)


def test_decimals_answer_in_decimals_of_a_sensible_length(session):
    prices = [Decimal("1.25"), Decimal("3.50"), Decimal("2.00")]
    people = dpf.private(pl.DataFrame({"p": prices}), session)
    assert people.sum("p", 1, bounds=(0, 5)).value.as_tuple().exponent >= -2
    assert people.mean("p", 1, bounds=(0, 5)).value.as_tuple().exponent >= -8


def test_integers_are_exact_above_two_to_the_53(session):
    big = 2**53 + 1
    people = dpf.private(pl.DataFrame({"n": [big]}), session)
    total = people.sum("n", 20, bounds=(0, big))
    assert isinstance(total.value, int)
    assert total.interval()[1] - total.value > 2**50


@pytest.mark.parametrize("values", [[30, 40], [30, None]])
def test_declared_integers_answer_in_integers(values):
    frame = pd.DataFrame({"age": values})
    domain = {"age": dpf.integers(17, 90)}
    with dpf.Session(epsilon=1, unit="row", domain=domain):
        total = frame.dp.sum("age", 0.5)
    assert isinstance(total.value, int)
    assert total.scale == 180


@pytest.mark.parametrize("values", [[True, False], [True, None]])
def test_declared_booleans_sum_whatever_pandas_makes_of_them(values):
    frame = pd.DataFrame({"ok": values * 50})
    with dpf.Session(epsilon=20, unit="row", domain={"ok": bool}):
        total = frame.dp.sum("ok", 20)
    assert abs(total.value - 50) <= 3


def test_a_column_of_nulls_answers_like_an_empty_one(session):
    frame = pl.DataFrame({"x": [None, None]})
    people = dpf.private(frame, session)
    assert 0 <= people.mean("x", 1, bounds=(0, 9)).value <= 9
    assert isinstance(people.sum("x", 1, bounds=(0, 9)).value, int)
    assert people.histogram(1, "x", keys=["a", "b"]).counts.shape == (2,)


def test_a_list_of_columns_groups_like_several_names(session):
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    keys = {"a": [1, 2], "b": ["x", "y"]}
    people = dpf.private(frame, session)
    one = people.group_by(["a", "b"], keys=keys).count(1)
    two = people.group_by("a", "b", keys=keys).count(1)
    assert one.keys == two.keys
    assert list(one) == ["a", "b", "count"]
    assert "b" in one
