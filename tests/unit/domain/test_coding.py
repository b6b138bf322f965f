import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpframe.domain.coding import Bins, Linear, Lookup

INF, NAN = math.inf, math.nan


def codes(coding, values):
    result = coding.code(values)
    assert result.dtype == np.int64
    assert result.shape == (len(values),)
    return result.tolist()


def test_lookup_codes_by_position_and_drops_the_rest():
    assert codes(Lookup(("b", "a")), ["a", "b", "c", None, 1]) == [1, 0, -1, -1, -1]


def test_lookup_other_takes_unlisted_null_and_nan():
    lookup = Lookup((1, 2), other=True)
    assert lookup.size == 3
    assert lookup.keys == (1, 2, None)
    assert codes(lookup, [2, 5, None, NAN, "1", [1]]) == [1, 2, 2, 2, 2, 2]


def test_lookup_null_has_a_code_if_listed():
    lookup = Lookup((None, "a"))
    assert lookup.size == 2
    assert codes(lookup, ["a", None, NAN, pd.NA, pd.NaT, "b"]) == [1, 0, 0, 0, 0, -1]


def test_lookup_equality_is_that_of_python():
    assert codes(Lookup((0, 1)), [1.0, True, np.int8(1), Decimal(1), "1", 1.5]) == [
        1, 1, 1, 1, -1, -1,
    ]  # fmt: skip
    assert codes(Lookup((False, True)), [1, 0.0, None]) == [1, 0, -1]


def test_lookup_never_raises_for_a_value_that_is_no_key():
    assert codes(Lookup(("a",)), [["a"], {"a": 1}, {"a"}, object()]) == [-1] * 4


def test_lookup_of_nothing_drops_everything():
    assert Lookup(()).size == 0
    assert codes(Lookup(()), ["a", None]) == [-1, -1]
    assert codes(Lookup(()), []) == []


def test_linear_rounds_halves_up_then_clips():
    linear = Linear(-2, 2)
    assert linear.size == 5
    assert linear.keys == (-2, -1, 0, 1, 2)
    values = [-9, -2.5, -1.5, -0.5, 0.49, 0.5, 1.5, 2.5, INF, -INF]
    assert codes(linear, values) == [0, 0, 1, 2, 2, 3, 4, 4, 4, 0]


def test_linear_unusable_values_are_dropped_or_other():
    values = [None, NAN, "1", date(2024, 1, 1), timedelta(1), [1]]
    assert codes(Linear(0, 3), values) == [-1] * 6
    assert codes(Linear(0, 3, other=True), values) == [4] * 6
    assert Linear(0, 1, other=True).keys == (0, 1, None)


@pytest.mark.parametrize(
    ("number", "code"),
    [
        ("0.5", 1),
        ("-0.5", 0),
        ("-1.5", -1),
        ("0.49999999999999999999999999999999999", 0),
        ("1E+999999", 5),
        ("-Infinity", -5),
        ("1E-999999", 0),
    ],
)
def test_linear_decimals_are_exact_and_never_blow_up(number, code):
    assert codes(Linear(-5, 5), [Decimal(number)]) == [code + 5]


def test_linear_is_exact_for_integers_beyond_float():
    linear = Linear(2**60, 2**60 + 10)
    assert codes(linear, [2**60 + 3, 2**70, -(2**70)]) == [3, 10, 0]


@given(st.floats(-60, 60), st.integers(-20, 20), st.integers(0, 20))
def test_linear_is_the_formula(x, lower, width):
    expected = min(max(math.floor(x + 0.5), lower), lower + width) - lower
    assert codes(Linear(lower, lower + width), [x]) == [expected]


@pytest.mark.parametrize(
    ("edges", "values", "expected"),
    [
        (
            (5, 20, 30, 35, 50),
            [30, 99.999, None, 30, 20, 99.999, 33.3, 99.999, 50, 35],
            [2, 3, -1, 2, 1, 3, 2, 3, 3, 3],
        ),
        (
            (10, 40, 65, 80, 90),
            [10, 33.3, 90, 99.999, 40, 99.999, 90, 10, 80, 1000],
            [0, 0, 3, 3, 1, 3, 3, 0, 3, 3],
        ),
    ],
)
def test_bins_published_cases(edges, values, expected):
    assert codes(Bins(edges), values) == expected


def test_bins_clamp_infinities_and_send_nan_to_other():
    bins = Bins((0.0, 1.0, 2.0), other=True)
    assert bins.size == 3
    assert bins.keys == (0.0, 1.0, None)
    assert codes(bins, [-INF, INF, NAN, None, "x", -5, 2.0]) == [0, 1, 2, 2, 2, 0, 1]
    assert codes(Bins((0, 1)), [NAN, "x", True, Decimal("0.5")]) == [-1, -1, 0, 0]


def test_bins_may_be_open_ended():
    bins = Bins((-INF, 0.0, INF))
    assert bins.keys == (-INF, 0.0)
    assert codes(bins, [-INF, -1e300, 0, INF]) == [0, 0, 1, 1]


def test_bins_of_dates_take_the_day_of_a_datetime():
    bins = Bins((date(2024, 1, 1), date(2024, 2, 1), date(2024, 3, 1)))
    values = [
        date(2023, 1, 1),
        datetime(2024, 1, 31, 23, 59, 59, 999999),
        datetime(2024, 2, 1),
        datetime(2024, 2, 1, tzinfo=UTC),
        pd.Timestamp("2030-01-01"),
        np.datetime64("2024-01-31T12", "ns"),
        pd.NaT,
        3,
    ]
    assert codes(bins, values) == [0, 0, 1, 1, 1, 0, -1, -1]


def test_bins_of_datetimes_take_the_midnight_of_a_date():
    bins = Bins(tuple(datetime(2024, 1, day, 12, tzinfo=UTC) for day in (1, 2, 3)))
    assert codes(bins, [date(2024, 1, 2), date(2024, 1, 3)]) == [0, 1]


def test_bins_of_durations_and_decimals():
    bins = Bins((timedelta(0), timedelta(1), timedelta(2)))
    assert codes(bins, [timedelta(hours=30), np.timedelta64(3, "h"), 1]) == [1, 0, -1]
    bins = Bins((Decimal("0.1"), Decimal("0.2"), Decimal("0.3")))
    assert codes(bins, [Decimal("0.2"), 0.2, 0.19]) == [1, 1, 0]


@given(
    st.lists(st.integers(-20, 20), min_size=2, max_size=6, unique=True).map(sorted),
    st.integers(-50, 50),
)
def test_bins_are_the_definition(edges, twice):
    x = twice / 2
    clipped = min(max(x, edges[0]), edges[-1])
    (code,) = codes(Bins(tuple(edges)), [x])
    last = code == len(edges) - 2
    assert edges[code] <= clipped
    assert clipped <= edges[code + 1] if last else clipped < edges[code + 1]


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, 2, 9]),
        np.array([1, 2, 9], dtype=np.uint8),
        np.array([1, 2, 9], dtype=object),
        np.array([1.0, 2.0, 9.0], dtype=np.float32),
        pd.Series([1, 2, 9]),
        pl.Series([1, 2, 9]),
        (1, 2, 9),
    ],
)
def test_arrays_and_series_are_read_alike(values):
    assert codes(Lookup((1, 2)), values) == [0, 1, -1]
    assert codes(Linear(0, 3), values) == [1, 2, 3]
    assert codes(Bins((0, 2, 4)), values) == [0, 1, 1]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_arrays_of_times_are_read_in_any_unit(unit):
    days = np.array(["2024-01-01", "2024-01-15", "NaT"], dtype=f"M8[{unit}]")
    bins = Bins((date(2024, 1, 1), date(2024, 1, 10), date(2024, 2, 1)))
    assert codes(bins, days) == [0, 1, -1]
    assert codes(Lookup((datetime(2024, 1, 15), None)), days) == [-1, 0, 1]


@pytest.mark.parametrize(
    "coding", [Lookup(("a",)), Linear(0, 1), Bins((0, 1, 2))], ids=type
)
def test_codings_are_frozen_and_hashable(coding):
    assert coding == type(coding)(*(getattr(coding, f) for f in coding.__slots__))
    assert hash(coding) == hash(coding)
    with pytest.raises(AttributeError):
        coding.other = True
