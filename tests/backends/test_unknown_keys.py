"""Keys that are found, over every kind of frame: which, in what order, with what."""

from __future__ import annotations

import math
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from backends.frames import build

from dpframe.domain.coding import Bins, Linear, Lookup
from dpframe.domain.keys import Keys
from dpframe.domain.lattice import fit_lattice
from dpframe.domain.open_keys import OpenKeys
from dpframe.domain.schema import ColumnType
from dpframe.engines import pyarrow as arrow_shim
from dpframe.engines import source as plan
from dpframe.engines.ingest import ingest
from dpframe.privacy.unit import ROW, Unit
from dpframe.queries.reduction import Census, Measure, Reduction

D, T, H = date, datetime, timedelta
BERLIN = ZoneInfo("Europe/Berlin")

#: Types and values of key columns, six rows each; then the keys in their order.
COLUMNS = {
    "text": (pl.String, ["b", None, "B", "é", "b", ""], ["", "B", "b", "é", None]),
    "category": (
        pl.Categorical,
        ["b", None, "B", "a", "b", "a"],
        ["B", "a", "b", None],
    ),
    "enum": (pl.Enum(["z", "b", "a"]), ["b", None, "a", "z", "b", "a"],
             ["a", "b", "z", None]),
    "integers": (pl.Int16, [10, 9, -3, 9, 10, 0], [-3, 0, 9, 10]),
    "wide": (
        pl.UInt64,
        [2**64 - 1, 0, 2**63, 7, 7, 7],
        [0, 7, 2**63, 2**64 - 1],
    ),
    "booleans": (pl.Boolean, [True, False, True, True, True, False], [False, True]),
    "dates": (
        pl.Date,
        [D(2024, 10, 5), None, D(2024, 9, 1), D(1, 1, 1), D(9999, 12, 31), None],
        [D(1, 1, 1), D(2024, 9, 1), D(2024, 10, 5), D(9999, 12, 31), None],
    ),
    "moments": (
        pl.Datetime("us"),
        [T(2024, 1, 1, 0, 0, 0, 1), None, T(1960, 1, 1), T(2024, 1, 1), None, None],
        [T(1960, 1, 1), T(2024, 1, 1), T(2024, 1, 1, 0, 0, 0, 1), None],
    ),
    "nanoseconds": (
        pl.Datetime("ns"),
        [T(2024, 1, 1), None, T(1960, 1, 1), T(2024, 1, 1), None, None],
        [T(1960, 1, 1), T(2024, 1, 1), None],
    ),
    "zoned": (
        pl.Datetime("ms", "Europe/Berlin"),
        [T(2024, 7, 1, tzinfo=BERLIN), None, T(1960, 1, 1, tzinfo=BERLIN), None]
        + [None] * 2,
        [T(1959, 12, 31, 23, tzinfo=UTC), T(2024, 6, 30, 22, tzinfo=UTC), None],
    ),
    "spans": (pl.Duration("ms"), [H(1), None, H(-1), H(0, 1), None, H(1)],
              [H(-1), H(0, 1), H(1), None]),
}  # fmt: skip

LATTICE = fit_lattice("x", ColumnType("integer"), (0, 100), "variance")
MEASURES = (Measure("x", LATTICE, squares=True),)
X = (pl.Int64, [1, 200, 3, None, 5, 7])


def census(frame, columns, unit=ROW, codings=None, **asked):
    """What is found in a frame, as key -> (units, rows, sum, sum of squares)."""
    keys = OpenKeys(columns, codings or (None,) * len(columns))
    asked = asked or {"rows": True, "measures": MEASURES, "tabulated": MEASURES}
    found = ingest(frame).census(Census(unit, keys, **asked)).reveal()
    true = found.aggregates
    parts = [true.units, true.rows, *true.usable, *true.sums, *true.squares]
    numbers = zip(*(part.tolist() for part in parts if part is not None), strict=True)
    listed = list(zip(*found.keys, strict=True))
    assert len(set(listed)) == len(listed)
    return dict(zip(listed, numbers, strict=True)), found


@pytest.mark.parametrize("name", COLUMNS)
def test_keys_of_every_type_in_their_order(engine, name):
    dtype, values, expected = COLUMNS[name]
    frame = build(engine, {name: (dtype, values), "x": X})
    answers, _ = census(frame, (name,))
    assert [key for (key,) in answers] == expected
    if (name, engine) != ("booleans", "pandas numpy"):
        assert [type(key) for (key,) in answers] == [type(key) for key in expected]
    counted = Counter(values)
    assert [units for units, *_ in answers.values()] == [counted[k] for k in expected]


@pytest.mark.parametrize("name", COLUMNS)
def test_integers_are_those_under_the_same_keys_listed(engine, name):
    dtype, values, expected = COLUMNS[name]
    frame = build(engine, {name: (dtype, values), "x": X})
    _, found = census(frame, (name,))
    keys = Keys((name,), (Lookup(tuple(expected)),))
    listed = ingest(frame).aggregate(
        Reduction(ROW, keys, True, True, MEASURES, MEASURES)
    )
    true = listed.reveal()
    assert_alike(found.aggregates, true)


def assert_alike(one, other):
    for name in ("rows", "units"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("usable", "sums", "squares"):
        for a, b in zip(getattr(one, name), getattr(other, name), strict=True):
            np.testing.assert_array_equal(a, b)
    for a, b in zip(one.occurrences, other.occurrences, strict=True):
        for name in ("cells", "values", "times"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_decimals():
    values = [
        Decimal("1.50"),
        Decimal("-0.25"),
        None,
        Decimal("1.5"),
        None,
        Decimal("3"),
    ]
    big = pl.Series([Decimal("1" * 36 + ".25")], dtype=pl.Decimal(38, 2))
    frame = pl.DataFrame({"k": pl.Series(values, dtype=pl.Decimal(38, 2))})
    for held in (frame, frame.to_arrow()):
        answers, _ = census(held, ("k",), rows=True)
        expected = [Decimal("-0.25"), Decimal("1.50"), Decimal("3.00"), None]
        assert [str(key) for (key,) in answers] == list(map(str, expected))
    answers, _ = census(pl.DataFrame({"k": big}), ("k",), rows=True)
    assert list(answers) == [(big[0],)]


def test_several_columns_and_some_of_them_public(engine):
    table = {
        "a": (pl.String, ["x", "y", None, "x", "x", "y"]),
        "n": (pl.Int64, [1, 2, 3, 99, 1, None]),
        "v": (pl.Float64, [0.5, math.nan, 1.5, 0.1, -9.0, 0.7]),
    }
    frame = build(engine, table)
    codings = (None, Linear(1, 3, other=True), Bins((0.0, 1.0, 2.0)))
    answers, _ = census(frame, ("a", "n", "v"), codings=codings, rows=True)
    # 99 goes to 3, null to the other cell, -9 to the first bin; NaN has no bin.
    assert answers == {
        ("x", 0, 0): (2, 2),
        ("x", 2, 0): (1, 1),
        ("y", 3, 0): (1, 1),
        (None, 2, 1): (1, 1),
    }
    assert list(answers) == [("x", 0, 0), ("x", 2, 0), ("y", 3, 0), (None, 2, 1)]


def test_nothing_there(engine):
    frame = build(engine, {"k": (pl.String, []), "x": (pl.Int64, [])})
    for unit in (ROW, Unit("k", max_rows=2, max_groups=1)):
        answers, found = census(frame, ("k",), unit)
        assert answers == {}
        assert found.aggregates.units.dtype == np.int64


def test_a_column_of_nothing_but_null():
    for frame in (pl.DataFrame({"k": [None, None]}), pa.table({"k": [None, None]})):
        assert census(frame, ("k",), rows=True)[0] == {(None,): (2, 2)}


def test_untyped_columns_of_pandas():
    """Text, whole numbers and dates, in this order; other values have no key."""
    values = ["b", "a", 3, 3.0, -4, True, D(2024, 10, 5), D(2024, 9, 1), None, np.nan]
    values += [1.5, T(2024, 1, 1), H(1), b"raw", "\ud800", 10**30, [1], 2**64 - 1]
    frame = pd.DataFrame({"k": pd.Series(values, dtype=object)})
    answers, _ = census(frame, ("k",), rows=True)
    shown = [key for (key,) in answers]
    dates = [D(2024, 9, 1), D(2024, 10, 5)]
    assert shown == ["a", "b", -4, 1, 3, 2**64 - 1, *dates, None]
    assert answers[(3,)] == (2, 2)
    assert answers[(None,)] == (3, 3)  # the list is no scalar, and so it is missing
    owned = frame.assign(who=np.arange(len(frame)))
    assert (
        census(owned, ("k",), Unit("who", max_groups=1), rows=False)[0].keys()
        == answers.keys()
    )


def test_times_beyond_python_have_no_key():
    days = pl.Series([0, 10**7, -(10**7)], dtype=pl.Int32).cast(pl.Date)
    moments = pl.Series([0, 2**62, None], dtype=pl.Int64).cast(pl.Datetime("ms"))
    frame = pl.DataFrame({"d": days, "t": moments})
    assert list(census(frame, ("d",), rows=True)[0]) == [(D(1970, 1, 1),)]
    assert list(census(frame, ("t",), rows=True)[0]) == [(T(1970, 1, 1),), (None,)]


def test_chunks_are_added_up(monkeypatch):
    monkeypatch.setattr(arrow_shim, "CHUNK_ROWS", 2)
    values = ["b", "a", "c", "a", "b", "b", None]
    x = [1, 2, 3, 4, 5, 6, None]
    for frame in (pa.table({"k": values, "x": x}), pd.DataFrame({"k": values, "x": x})):
        lattice = fit_lattice("x", ingest(frame).schema["x"], (0, 9), "sum")
        measures = (Measure("x", lattice),)
        answers, _ = census(frame, ("k",), rows=True, measures=measures)
        step = int(1 / lattice.step)
        assert answers == {
            ("a",): (2, 2, 2, 6 * step),
            ("b",): (3, 3, 3, 12 * step),
            ("c",): (1, 1, 1, 3 * step),
            (None,): (1, 1, 0, 0),
        }


# -- units ---------------------------------------------------------------------

OWNED = {
    "who": (pl.String, ["p", "p", "p", "p", "q", "q", "q", None, "r", "r", "s"] * 2),
    "text": (pl.String, ["a", "b", "c", None, "a", "d", "d", "a", "b", "b", None] * 2),
    "kind": (
        pl.Categorical,
        ["z", "y", "z", None, "x", "x", "w", "v", "y", "z", None] * 2,
    ),
    "n": (pl.Int32, [1, 2, 3, 4, 1, 1, 1, 2, 2, 5, 5] * 2),
    "x": (pl.Int64, [5, None, 7, 1, 2, 3, 4, 9, 9, 1, None, *range(11)]),
}
BOUNDS = {
    "rows and groups": Unit("who", max_rows=3, max_groups=2),
    "groups": Unit("who", max_groups=1),
    "rows": Unit("who", max_rows=2),
    "wide": Unit("who", max_rows=99, max_groups=99),
}
PER_UNIT = fit_lattice("x", ColumnType("integer"), (0, 9), "sum", per="unit")
ASKED = {
    "units": {},
    "rows": {"rows": True},
    "sums": {"measures": MEASURES, "tabulated": MEASURES},
    "totals": {"measures": (Measure("x", PER_UNIT),)},
}


def part(table, keep):
    owners = table["who"][1]
    return {
        name: (dtype, [v for v, who in zip(values, owners, strict=True) if keep(who)])
        for name, (dtype, values) in table.items()
    }


def added(answers):
    total = {}
    for answer in answers:
        for key, numbers in answer.items():
            old = total.get(key, (0,) * len(numbers))
            total[key] = tuple(map(sum, zip(old, numbers, strict=True)))
    return total


#: What may be asked under which bounds: rows need max_rows, totals max_groups.
QUESTIONS = [
    ("rows and groups", "units"),
    ("rows and groups", "rows"),
    ("rows and groups", "sums"),
    ("rows and groups", "totals"),
    ("groups", "units"),
    ("groups", "totals"),
    ("rows", "units"),
    ("rows", "rows"),
    ("rows", "sums"),
]


@pytest.mark.parametrize(("bound", "asked"), QUESTIONS)
def test_each_unit_adds_its_own_whatever_others_have(engine, bound, asked, monkeypatch):
    """Under one hash key the whole is the sum of the units one by one."""
    unit = BOUNDS[bound]
    monkeypatch.setattr(plan, "draw_key", lambda: b"sixteen bytes ..")
    columns = ("text", "kind", "n")
    question = ASKED[asked] or {"rows": False}
    whole, _ = census(build(engine, OWNED), columns, unit, **question)
    singles = []
    for owner in ("p", "q", "r", "s"):
        frame = build(engine, part(OWNED, lambda who, owner=owner: who == owner))
        single, _ = census(frame, columns, unit, **question)
        singles.append(single)
        most = min(b for b in (unit.max_rows, unit.max_groups) if b)
        assert len(single) <= most
        assert all(numbers[0] == 1 for numbers in single.values())
        if asked == "rows":
            assert sum(n for _, n in single.values()) <= unit.max_rows
    if asked != "totals":  # of a key that some have lost, others' totals are there
        assert whole == added(singles)
    assert {k: v[0] for k, v in whole.items()} == {
        k: v[0] for k, v in added(singles).items()
    }


def test_order_of_rows_changes_nothing(engine, monkeypatch):
    monkeypatch.setattr(plan, "draw_key", lambda: b"sixteen bytes ..")
    unit = BOUNDS["rows and groups"]
    answers, _ = census(build(engine, OWNED), ("text", "n"), unit)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(22)
        table = {n: (d, [v[i] for i in order]) for n, (d, v) in OWNED.items()}
        again, _ = census(build(engine, table), ("text", "n"), unit)
        assert again == answers
        assert list(again) == list(answers)


def test_without_bounds_that_bite_it_is_as_with_listed_keys(engine):
    unit, keys = BOUNDS["wide"], ("a", "b", "c", "d", None)
    frame = build(engine, OWNED)
    _, found = census(frame, ("text",), unit)
    listed = ingest(frame).aggregate(
        Reduction(
            unit, Keys(("text",), (Lookup(keys),)), True, True, MEASURES, MEASURES
        )
    )
    assert found.keys[0].tolist() == list(keys)
    assert_alike(found.aggregates, listed.reveal())


def test_a_key_only_of_totals_is_not_found(monkeypatch):
    """Units are counted on rows within the bound; a total alone shows no key."""
    monkeypatch.setattr(plan, "draw_key", lambda: b"sixteen bytes ..")
    frame = pl.DataFrame({"who": ["p"] * 3, "text": ["a", "b", "c"], "x": [1, 2, 3]})
    unit = Unit("who", max_rows=1, max_groups=3)
    answers, _ = census(frame, ("text",), unit, **ASKED["totals"])
    assert len(answers) == 1
