import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dpframe.domain import Bins, Linear, Lookup, bounds, dates, edges, integers
from dpframe.domain.kinds import (
    Booleans,
    Bounds,
    Categories,
    Dates,
    Edges,
    Integers,
)
from dpframe.domain.shorthand import as_kind
from dpframe.errors import DomainError, ParameterError

INF, NAN = math.inf, math.nan


def test_categories_keep_order_and_become_plain():
    kind = Categories(np.array(["b", "a"]))
    assert kind.values == kind.keys == ("b", "a")
    assert type(kind.values[0]) is str
    assert kind.size == 2
    assert kind.coding() == Lookup(("b", "a"))
    assert kind.coding(other=True) == Lookup(("b", "a"), other=True)


def test_nan_among_categories_is_none():
    assert Categories(["a", NAN]).values == ("a", None)
    with pytest.raises(ParameterError, match="null and NaN are the one key None"):
        Categories(["a", NAN, None])


def test_none_is_not_listed_beside_other():
    with pytest.raises(ParameterError, match="None is listed among the categories"):
        Categories(["a", None]).coding(other=True)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([], "categories are empty"),
        (["a", "a"], "'a' twice"),
        ([1, 1.0], r"1\.0 twice"),
        ([True, 1], "of one kind"),
        ("ab", "must be a list"),
        ({"a", "b"}, "must be a list"),
        ([["a"]], "got list"),
    ],
)
def test_wrong_categories(values, shown):
    with pytest.raises(ParameterError, match=shown):
        Categories(values)


def test_integers():
    kind = integers(np.int64(-1), 2)
    assert kind == Integers(-1, 2)
    assert type(kind.lower) is int
    assert kind.size == 4
    assert kind.keys == (-1, 0, 1, 2)
    assert kind.coding(other=True) == Linear(-1, 2, other=True)
    assert integers(5, 5).size == 1


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ((2, 1), "swapped"),
        ((0.0, 1), "whole ends"),
        ((0, 1.5), "upper is 1.5"),
        ((False, True), "whole ends"),
        (("0", "1"), "whole ends"),
        ((None, 1), "lower is None"),
        ((0, Decimal(1)), "whole ends"),
        ((0, 2**62), "use dpf.bounds"),
    ],
)
def test_wrong_integers(ends, shown):
    with pytest.raises(ParameterError, match=shown):
        integers(*ends)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (0, 99),
        (5, 5),
        (-0.5, 1e300),
        (Decimal("0.01"), Decimal("9.99")),
        (date(2024, 1, 1), date(2024, 12, 31)),
        (datetime(2024, 1, 1), datetime(2024, 1, 2)),
        (datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC)),
        (timedelta(0), timedelta(1)),
        (-(10**30), 10**30),
    ],
)
def test_bounds_of_every_ordered_kind(lower, upper):
    kind = bounds(lower, upper)
    assert (kind.lower, kind.upper) == (lower, upper)
    assert type(kind.lower) is type(lower)


def test_bounds_of_integer_and_float_are_floats():
    kind = bounds(0, 1.5)
    assert type(kind.lower) is float


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ((1, 0), "swapped: 1 is above 0"),
        ((NAN, 1), "NaN"),
        ((0, None), "missing"),
        ((False, True), "got bool"),
        ((0, True), "got bool"),
        ((0, INF), "must be finite"),
        ((-INF, 0), "must be finite"),
        ((Decimal("-Infinity"), Decimal(0)), "must be finite"),
        ((0, Decimal(1)), "of one kind"),
        ((date(2024, 1, 1), datetime(2024, 1, 2)), "of one kind"),
        (("a", "b"), "got str"),
        (([0], [1]), "got list"),
        ((pd.NaT, pd.NaT), "missing"),
    ],
)
def test_wrong_bounds(ends, shown):
    with pytest.raises(ParameterError, match=shown):
        bounds(*ends)


def test_bounds_have_no_cells():
    with pytest.raises(DomainError, match="pass bins= or keys="):
        bounds(0, 1).coding()


def test_edges():
    kind = edges(np.arange(0, 30, 10))
    assert kind == Edges([0, 10, 20])
    assert kind.size == 2
    assert kind.keys == (0, 10)
    assert kind.coding() == Bins((0, 10, 20))
    assert edges([-INF, 0, INF]).edges == (-INF, 0.0, INF)
    assert edges([date(2024, 1, 1), date(2024, 7, 1)]).size == 1
    assert edges([Decimal("0"), Decimal("Infinity")]).size == 1


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([], "at least two values, one bin; got 0"),
        ([1], "got 1"),
        ([0, 0, 1], "0 follows 0"),
        ([0, 2, 1], "1 follows 2"),
        ([INF, 0], "0.0 follows inf"),
        ([0, -0.0, 1], "increase strictly"),
        ([0, NAN, 1], "NaN"),
        ([0, None], "missing"),
        ([False, True], "got bool"),
        (["a", "b"], "got str"),
        ("09", "must be a list"),
        ([0, date(2024, 1, 1)], "of one kind"),
        ([datetime(2024, 1, 1), datetime(2025, 1, 1, tzinfo=UTC)], "time zone"),
    ],
)
def test_wrong_edges(values, shown):
    with pytest.raises(ParameterError, match=shown):
        edges(values)


def test_booleans():
    assert Booleans().size == 2
    assert Booleans().keys == (False, True)
    assert Booleans().coding(other=True) == Lookup((False, True), other=True)


def test_dates():
    kind = dates("2024-01-01", date(2024, 12, 31), every="1mo")
    assert kind == Dates(date(2024, 1, 1), date(2024, 12, 31), "1mo")
    assert kind.size == 12
    assert kind.keys == tuple(date(2024, month, 1) for month in range(1, 13))
    assert kind.edges[-1] == date(2025, 1, 1)


def test_dates_beyond_the_ends_are_clamped():
    coding = dates("2024-01-01", "2024-03-15", every="1mo").coding()
    days = [date(2020, 1, 1), date(2024, 2, 29), date(2024, 3, 20), date(2030, 1, 1)]
    assert coding.code(days).tolist() == [0, 1, 2, 2]


@pytest.mark.parametrize(
    ("start", "end", "every", "shown"),
    [
        ("2024-02-01", "2024-01-01", "1d", "swapped"),
        ("2024-02-30", "2024-03-01", "1d", "start must be a date such as"),
        (datetime(2024, 1, 1), "2024-03-01", "1d", "bins of hours"),
        ("2024-01-01", None, "1d", "end must be a date"),
        ("2024-01-01", 20240301, "1d", "end must be a date"),
        ("2024-01-01", "2024-03-01", "1h", "every must be"),
        ("2024-01-01", "9999-12-31", "1y", "passes the year 9999"),
    ],
)
def test_wrong_dates(start, end, every, shown):
    with pytest.raises(ParameterError, match=shown):
        dates(start, end, every=every)


@pytest.mark.parametrize(
    ("fact", "kind"),
    [
        (["a", "b"], Categories(["a", "b"])),
        (np.array([1, 2]), Categories([1, 2])),
        (pd.Index(["a"]), Categories(["a"])),
        ((0, 99), Bounds(0, 99)),
        (range(17, 91), Integers(17, 90)),
        (bool, Booleans()),
        (Edges([0, 1]), Edges([0, 1])),
    ],
)
def test_shorthands(fact, kind):
    assert as_kind(fact) == kind


@pytest.mark.parametrize(
    ("fact", "shown"),
    [
        (range(0, 10, 2), "no run of integers"),
        (range(5, 5), "no run of integers"),
        (("Female", "Male"), "For categories write a list"),
        ((1, 2, 3), "For categories write a list"),
        (("Female",), "For categories write a list"),
        (int, "got int"),
        ("abc", "got str"),
        ({"a"}, "got set"),
        ({"a": 1}, "got dict"),
        (None, "got NoneType"),
        (5, "got int"),
        (np.zeros((2, 2)), "got ndarray"),
    ],
)
def test_wrong_shorthands(fact, shown):
    with pytest.raises(ParameterError, match=shown):
        as_kind(fact)


@pytest.mark.parametrize(
    "kind", [Categories(["a"]), integers(0, 1), bounds(0, 1), edges([0, 1]), Booleans()]
)
def test_kinds_are_frozen(kind):
    assert not hasattr(kind, "__dict__")
    # Python 3.11's frozen dataclasses with slots raise either error.
    with pytest.raises((AttributeError, TypeError)):
        kind.lower = 3
