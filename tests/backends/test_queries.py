"""Queries on every kind of frame, against three-valued logic in plain Python."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from backends import oracle
from backends.frames import build, days, take

import dpframe as dpf
from dpframe.domain.keys import Keys
from dpframe.engines.ingest import ingest
from dpframe.errors import ParameterError
from dpframe.mechanisms.questions import Questions, resolve
from dpframe.mechanisms.request import Setting
from dpframe.privacy.accountants import open_accountant
from dpframe.privacy.unit import ROW, Unit
from dpframe.queries.predicates import Condition, Join, Not, Predicate

NAN, INF = math.nan, math.inf
BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2024, 2, 29, 12, 0, 0, 123456)


def decimals(*texts):
    return [None if t is None else Decimal(t) for t in texts]


def times(*iso, zone=None):
    return [
        None if t is None else datetime.fromisoformat(t).replace(tzinfo=zone)
        for t in iso
    ]


#: Eight rows of every type; what makes trouble first.
TABLE = {
    "float": (pl.Float64, [NAN, INF, -INF, None, -0.0, 0.49999999999999994, 1e308, 7]),
    "float32": (pl.Float32, [NAN, INF, -INF, None, -0.0, 0.1, 16777216.0, 2.5]),
    "int8": (pl.Int8, [127, -128, 0, 1, 2, 3, 100, -1]),
    "int64": (pl.Int64, [2**63 - 1, -(2**63), 0, 2**53 + 1, 2**53, 7, 7, -1]),
    "int64 null": (pl.Int64, [None, 5, 2**40, -3, 0, None, 9, 1]),
    "uint64": (pl.UInt64, [2**64 - 1, 2**63, 0, 1, 2**62, 3, 3, 50]),
    "bool": (pl.Boolean, [True, False, True, True, False, True, False, True]),
    "bool null": (pl.Boolean, [True, None, True, False, None, True, False, False]),
    "text": (pl.String, ["a", None, "b", "naïve ☃", "", "a", " a", "A"]),
    "category": (pl.Categorical, ["a", None, "b", "naïve ☃", "a", "a", "c", "A"]),
    "enum": (pl.Enum(["unused", "b", "a", "c"]), ["a", None, "b", "c", "a", *"acb"]),
    "date": (
        pl.Date,
        days(
            "2024-02-29", None, "1969-12-31", "9999-12-31", "0001-01-01",
            "2024-01-01", "2024-03-31", "2024-03-31",
        ),
    ),
    "datetime": (
        pl.Datetime("us"),
        times(
            NOON.isoformat(), None, "1969-12-31T23:59:59.999999", "2262-01-01",
            "1700-01-01", "2024-02-29", "2024-02-29T23:59:59.999999", "2024-03-01",
        ),
    ),
    "datetime s": (
        pl.Datetime("ms"),
        times(
            "2024-02-29T12:00:00.123", None, "1969-12-31", "2262-01-01", "1700-01-01",
            "2024-02-29", "2024-02-29T12:00:00.124", "2024-03-01",
        ),
    ),
    "datetime zone": (
        pl.Datetime("ms", "Europe/Berlin"),
        times(
            "2024-02-29T00:30", None, "1969-12-31T23:59:59", "2262-01-01",
            "1900-01-01", "2024-07-01T01:00", "2024-02-29", "2024-03-01", zone=BERLIN,
        ),
    ),
    "duration": (
        pl.Duration("ms"),
        [None if h is None else timedelta(hours=h) for h in (1, None, -5, 10**6, 0, 0.5,
                                                             24, 48)],
    ),
    "decimal": (
        pl.Decimal(30, 2),
        decimals("1.25", None, "-0.00", "99999999999999999999999.99", "0.5", "2.5",
                 "-1.5", "3.49"),
    ),
}  # fmt: skip

#: By column, what equality and order are tried with.
EQUAL: dict[str, list[Any]] = {
    "float": [0, -0.0, 7.0, Decimal(7), True, INF, 0.5, 2**1100],
    "float32": [0.1, 16777217, 2.5, float(np.float32(0.1))],
    "int8": [127, 1.0, 0.5, True, 10**30, Decimal("-1.0")],
    "int64": [2**63 - 1, 2**53 + 1, float(2**53), 2**64, -(2**63), 7],
    "int64 null": [2**40, 0, 5.5],
    "uint64": [2**64 - 1, 2**63, -1, float(2**64)],
    "bool": [True, False, 1, 0.0, 2],
    "bool null": [True, False],
    "text": ["a", "A", "naïve ☃", "", "missing", "\udc80"],
    "category": ["a", "naïve ☃", "never in the data"],
    "enum": ["a", "unused", "missing"],
    "date": [date(2024, 3, 31), date.max, date.min],
    "datetime": [NOON, datetime(1969, 12, 31, 23, 59, 59, 999999)],
    "datetime s": [datetime(2024, 2, 29, 12, 0, 0, 123000), NOON],
    "datetime zone": [datetime(2024, 2, 28, 23, 30, tzinfo=UTC)],
    "duration": [timedelta(hours=24), timedelta(0), timedelta(microseconds=1)],
    "decimal": [Decimal("2.5"), Decimal("1E+400"), Decimal("0.004"), 2.5, 0],
}
ORDER: dict[str, list[Any]] = {
    "float": [0, -0.0, 0.5, 1e308, INF, -INF, Decimal("6.99"), 10**400, -(10**400)],
    "float32": [0.1, 16777217, float(np.float32(0.1)), -3.5e38],
    "int8": [0, 0.5, -0.5, 127, -128, 10**30, -(10**30), INF, -INF, Decimal("1.5")],
    "int64": [2**63 - 1, -(2**63), 2**53 + 0.5, 2.0**53, 10**40, 6.999],
    "int64 null": [0, 5, 4.5],
    "uint64": [2**64 - 1, 2**63, 2**62 + 0.5, -1],
    "date": [date(2024, 2, 29), date.max, date.min, datetime(2024, 2, 29, 12)],
    "datetime": [NOON, date(2024, 2, 29), date.max, date.min, datetime(1700, 1, 1)],
    "datetime s": [NOON, date(2024, 2, 29), datetime(2024, 2, 29, 12, 0, 0, 123000)],
    "datetime zone": [date(2024, 2, 29), datetime(2024, 2, 28, 23, 30, tzinfo=UTC)],
    "duration": [timedelta(0), timedelta(hours=0.5), timedelta(microseconds=1)],
    "decimal": [Decimal("2.495"), 0.5, Decimal("1E+400"), -1, Decimal("2.5"), INF],
}

#: Columns that pandas holds as objects: they have no order.
UNTYPED = {
    "pandas numpy": ("text", "bool null", "date", "decimal"),
    "pandas nullable": ("date", "decimal"),
}


def queries_on(name: str, *, order: bool) -> list[Predicate]:
    c, values = dpf.col(name), EQUAL[name]
    asked = [c.is_null(), c.is_not_null(), c.is_in(values[:1]), ~c.is_in([])]
    for value in values:
        asked += [c == value, c != value, ~(c == value), (c != value) | c.is_null()]
    if order:
        for value in ORDER[name]:
            asked += [c < value, c <= value, c > value, c >= value]
            asked += [~(c < value), (c >= value) & ~(c > value), c.is_in(values[:2])]
    if name.startswith("bool"):
        asked += [c & c, ~c, ~(~c), c | c.is_null(), (c == True) & c]  # noqa: E712
    return asked


# -- the oracle ----------------------------------------------------------------


def true_of(condition: Condition, value: Any) -> bool | None:
    """What the condition says of one value of its column; None is unknown."""
    missing = value is None or value != value
    if condition.operator == "null":
        return missing
    if missing:
        return None
    if condition.operator == "true":
        return value is True
    if condition.operator == "in":
        return any(same(value, other) for other in condition.values)
    (other,) = condition.values
    if condition.operator in ("==", "!="):
        return same(value, other) == (condition.operator == "==")
    if isinstance(value, datetime) and not isinstance(other, datetime):
        value = value.date()  # a date is a whole day
    if isinstance(other, datetime) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    value, other = exact(value), exact(other)
    by_order = {"<": value < other, "<=": value <= other, ">": value > other}
    return by_order.get(condition.operator, value >= other)


def exact(value: Any) -> Any:
    """Numbers as fractions, but for infinities."""
    if isinstance(value, (float, Decimal)) and math.isinf(value):
        return float(value)
    return Fraction(value) if isinstance(value, (int, float, Decimal)) else value


def same(value: Any, other: Any) -> bool:
    return type(exact(value)) is type(exact(other)) and exact(value) == exact(other)


def holds(predicate: Predicate, row: dict[str, Any]) -> bool | None:
    if isinstance(predicate, Condition):
        return true_of(predicate, row[predicate.column])
    if isinstance(predicate, Not):
        inner = holds(predicate.part, row)
        return None if inner is None else not inner
    assert isinstance(predicate, Join)
    parts = {holds(part, row) for part in predicate.parts}
    decisive = not predicate.every
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


def rows_of(table: Any) -> list[dict[str, Any]]:
    columns = {}
    for name, (dtype, values) in table.items():
        stored = values
        if dtype == pl.Float32:
            stored = [None if v is None else float(np.float32(v)) for v in values]
        columns[name] = stored
    return [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]


# -- asking --------------------------------------------------------------------


def setting(unit=ROW, domain=None, neighboring="add_remove"):
    return Setting(unit, neighboring, open_accountant(1), domain)


def ask(frame: Any, queries: Any, **facts: Any) -> tuple[Questions, list[int]]:
    source = ingest(frame)
    questions = resolve(queries, setting(**facts), source.schema)
    found = questions.reduce(source).reveal()
    return questions, questions.answers(found).tolist()


@pytest.mark.parametrize("name", TABLE)
def test_predicates_agree_with_python(engine, name):
    untyped = name in UNTYPED.get(engine, ())
    order = name in ORDER and not untyped
    asked = queries_on(name, order=order)
    # Twice, so that large batches are merged and a small one is not.
    few, many = asked[:3], asked * 2
    frame = build(engine, {name: TABLE[name]})
    expected = [
        sum(holds(query, row) is True for row in rows_of({name: TABLE[name]}))
        for query in many
    ]
    assert ask(frame, many)[1] == expected
    assert ask(frame, few)[1] == expected[:3]
    if untyped and name in ORDER:
        with pytest.raises(ParameterError, match="no order"):
            ask(frame, [dpf.col(name) < ORDER[name][0]])


def test_predicates_over_many_columns_agree_with_python(engine):
    c = dpf.col
    asked = [
        (c("float") > 0) & (c("text") == "a"),
        (c("float") > 0) | (c("text") == "a"),
        ~((c("float") > 0) & (c("text") == "a")),
        ~((c("float") > 0) | ~(c("text") == "a")),
        (c("int8") >= 1) & c("bool") & ~c("category").is_in(["a"]),
        c("bool null") | (c("int64 null") < 3) | (c("enum") == "a"),
        ~(c("bool null") & (c("int64 null") < 3)),
        (c("datetime zone") >= date(2024, 2, 29)) & (c("decimal") == Decimal("2.5")),
        ~c("duration").between(timedelta(0), timedelta(hours=24)) | c("bool null"),
    ]
    if engine not in UNTYPED:
        asked.append((c("decimal") < 2.5) | (c("date") > date(2024, 1, 1)))
    for i in range(3):
        asked += [query & (c("uint64") > i) for query in asked[:9]]
    expected = [sum(holds(q, row) is True for row in rows_of(TABLE)) for q in asked]
    assert ask(build(engine, TABLE), asked)[1] == expected


def test_a_null_column_is_missing_everywhere():
    for frame in (
        pl.DataFrame({"x": pl.Series([None, None], dtype=pl.Null)}),
        pa.table({"x": pa.nulls(2)}),
    ):
        c = dpf.col("x")
        asked = [c.is_null(), c == "a", ~(c == 1), c >= 3, c.is_in([]), c, ~c]
        assert ask(frame, asked)[1] == [2, 0, 0, 0, 0, 0, 0]
        for kind in (["a", None], dpf.integers(0, 1), dpf.edges([0, 1, 2])):
            cells = [*dpf.marginals("x"), c.is_null()]
            nothing = [0, 2] if isinstance(kind, list) else [0, 0]
            assert ask(frame, cells, domain=dpf.Domain({"x": kind}))[1] == [*nothing, 2]


def test_nanoseconds_are_compared_as_whole_microseconds():
    noon = np.datetime64("2024-01-01T12:00:00.000000000")
    ticks = noon + np.array([-1, 0, 999, 1000], dtype="timedelta64[ns]")
    frames = [pd.DataFrame({"t": ticks}), pl.DataFrame({"t": ticks})]
    at, c = datetime(2024, 1, 1, 12), dpf.col("t")
    for frame in frames:
        asked = [c == at, c != at, c < at, c <= at, c > at, c >= at]
        assert ask(frame, asked)[1] == [2, 2, 1, 3, 1, 3]


def test_an_empty_frame_answers_zero(engine):
    empty = take(TABLE, [])
    domain = dpf.Domain({"enum": ["a", "b"], "int8": dpf.integers(0, 5)})
    asked = [
        dpf.col("float") > 0,
        dpf.col("text").is_null(),
        dpf.marginals(["enum", "int8"]),
        dpf.weights({"enum": [1, 0.5]}),
        dpf.sum_by("enum", "int8"),
        dpf.sum_by([], "int64", bounds=(-(2**62), 2**62)),
    ]
    questions, answers = ask(build(engine, empty), asked, domain=domain)
    assert answers == [0] * questions.size == [0] * 18


DOMAIN = dpf.Domain(
    {
        "enum": ["a", "b"],
        "text": ["a", "b"],
        "int8": dpf.integers(-1, 3),
        "float": dpf.integers(0, 3),
        "decimal": dpf.edges([Decimal(-1), Decimal("0.5"), Decimal(3)]),
        "datetime zone": dpf.edges([date(2024, 1, 1), date(2024, 2, 29), date.max]),
        "float32": [2.5, 0, None],
        "bool null": bool,
        "int64 null": dpf.integers(-2, 2**35),
    },
    other=["text", "int8"],
)


@pytest.mark.parametrize(
    "columns",
    [("enum",), ("text", "int8"), ("float", "enum"), ("bool null", "float32"),
     ("decimal", "text"), ("datetime zone", "int8")],
)  # fmt: skip
def test_cells_and_sums_agree_with_the_oracle(engine, columns):
    if engine in UNTYPED and "decimal" in columns:
        with pytest.raises(ParameterError, match="bins"):
            ask(build(engine, TABLE), dpf.marginals(columns), domain=DOMAIN)
        return
    frame, data = build(engine, TABLE), {n: v for n, (_, v) in TABLE.items()}
    keys = Keys.resolve(columns, domain=DOMAIN)
    cells = oracle.cell_of_rows(data, keys)
    counts = [cells.count(cell) for cell in range(keys.size)]
    summed = [0] * keys.size
    for cell, value in zip(cells, data["int64 null"], strict=True):
        if cell >= 0 and value is not None:
            summed[cell] += min(max(value, -2), 2**35)
    by = dpf.sum_by(list(columns), "int64 null")
    # Alone it is a group-by, with another query one of many.
    for more in ([], [dpf.col("int8") > 0]):
        _, answers = ask(frame, [*dpf.marginals(columns), *more], domain=DOMAIN)
        assert answers[: keys.size] == counts
        _, answers = ask(frame, [by, *more], domain=DOMAIN)
        assert answers[: keys.size] == summed


def test_weights_runs_and_totals(engine):
    domain = dpf.Domain(
        {"int8": dpf.integers(0, 3), "enum": ["a", "b", "c"]}, other=["int8"]
    )
    weigh = {"int8": [0.1, 0.2, 0.3, 1, 1], "enum": [1, 0.5, 1 / 3]}
    asked = [
        dpf.weights(weigh),
        dpf.cdf("int8"),
        dpf.ranges("int8"),
        dpf.sum_by([], "int8", bounds=(-1, 100)),
    ]
    questions, answers = ask(build(engine, TABLE), asked, domain=domain)
    counts = [3, 1, 1, 3]  # int8 clamped to 0, ..., 3
    runs = [sum(counts[i : j + 1]) for i in range(4) for j in range(i, 4)]
    step = questions.grid
    assert step == Fraction(1, 2**20)
    assert answers[1:5] == [c / step for c in (3, 4, 5, 8)]
    assert answers[5:15] == [c / step for c in runs]
    assert answers[15] == (100 - 1 + 0 + 1 + 2 + 3 + 100 - 1) / step
    codes = {"a": 1, "b": 0.5, "c": 1 / 3, None: 0}
    of_int = [weigh["int8"][min(max(v, 0), 3)] for v in TABLE["int8"][1]]
    products = [w * codes[v] for w, v in zip(of_int, TABLE["enum"][1], strict=True)]
    assert answers[0] == sum(math.floor(p * 2**20 + 0.5) for p in products)


def test_a_cell_is_asked_again_by_itself():
    frame = build("polars eager", TABLE)
    asked = [*dpf.marginals(["enum", "int8"]), dpf.ranges("int8")[0], dpf.col("bool")]
    asked.append(dpf.sum_by("enum", "int8"))
    questions, answers = ask(frame, asked, domain=DOMAIN)
    labels = [questions.listing.label(i) for i in range(questions.size)]
    assert ask(frame, labels, domain=DOMAIN)[1] == answers
    assert ask(frame, labels[7], domain=DOMAIN)[1] == [answers[7]]


def test_object_columns_are_asked_by_equality():
    frame = pd.DataFrame({"x": [1, True, "1", 2.5, None, NAN, Decimal("2.50"), b"b"]})
    c = dpf.col("x")
    asked = [c == 1, c == "1", c == 2.5, c.is_null(), c != 1, c, ~c]
    assert ask(frame, asked)[1] == [2, 1, 2, 2, 4, 2, 4]
    with pytest.raises(ParameterError, match="no order"):
        ask(frame, [c > 1])


def test_what_is_declared_decides_not_what_a_null_made_of_it():
    domain = dpf.Domain({"flag": bool, "n": dpf.integers(0, 9)})
    c = dpf.col
    asked = [c("flag"), ~c("flag"), c("flag") == False, c("n") >= 3, c("n") == 3]  # noqa: E712
    whole = pd.DataFrame({"flag": [True, False, True], "n": [3, 4, 1]})
    holed = pd.DataFrame({"flag": [True, None, True], "n": [3, None, 1]})
    first, answers = ask(whole, asked, domain=domain)
    assert answers == [2, 1, 1, 2, 1]
    second, answers = ask(holed, asked, domain=domain)
    assert answers == [2, 0, 0, 1, 1]
    assert first.describe() == second.describe()
    for frame in (whole, holed):
        with pytest.raises(ParameterError, match="no order"):
            ask(frame, [c("flag") > 0], domain=domain)


def test_rows_of_a_unit_are_limited_alike_on_every_engine(engine):
    """Five rows of one unit, two of another; two of each remain."""
    table = {
        "who": (pl.String, ["a"] * 5 + ["b"] * 2 + [None]),
        "x": (pl.Float64, [1.0, 2, 3, NAN, None, 4, 5, 6]),
    }
    unit, c = Unit("who", max_rows=2), dpf.col("x")
    asked = [c >= 4, c < 4, c.is_null(), (c > 0) | c.is_null(), c == 6]
    _, answers = ask(build(engine, table), asked, unit=unit)
    assert answers[0] == 2
    assert answers[1] + answers[2] == 2
    assert answers[3:] == [4, 0]
    # Rows that only a sum reads, and cannot use, take no place.
    _, (total,) = ask(
        build(engine, table), [dpf.sum_by([], "x", bounds=(1, 1))], unit=unit
    )
    assert total == 4 * 2**30
