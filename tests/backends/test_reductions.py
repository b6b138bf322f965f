"""Every kind of frame gives the integers of the oracle, to the last one."""

from __future__ import annotations

import math
import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from backends import oracle
from backends.frames import ENGINES, build, days, take

from dpframe.domain.coding import Bins, Linear, Lookup
from dpframe.domain.keys import Keys
from dpframe.domain.lattice import fit_lattice
from dpframe.domain.schema import ColumnType
from dpframe.engines import pyarrow as arrow_shim
from dpframe.engines.ingest import ingest
from dpframe.privacy.unit import ROW, Unit
from dpframe.queries.reduction import Distinct, Measure, Reduction

NAN, INF = math.nan, math.inf
BERLIN = ZoneInfo("Europe/Berlin")


def at(*iso):
    return [None if t is None else datetime.fromisoformat(t) for t in iso]


def berlin(*iso):
    return [None if t is None else t.replace(tzinfo=BERLIN) for t in at(*iso)]


def spans(*hours):
    return [None if h is None else timedelta(hours=h) for h in hours]


def decimals(*texts):
    return [None if t is None else Decimal(t) for t in texts]


NOON = "2024-02-29T12:00:00.123456"

#: Ten rows of every type; what makes trouble first.
TABLE = {
    "float": (
        pl.Float64,
        [NAN, INF, -INF, None, -0.0, 0.0, 0.49999999999999994, 1e308, -5e-324, 7.25],
    ),
    "float32": (
        pl.Float32,
        [NAN, INF, -INF, None, -0.0, 0.1, 16777216.0, -3e38, 2.5, 0.5],
    ),
    "int8": (pl.Int8, [127, -128, 0, 1, 2, 3, 100, -1, 5, 5]),
    "int64": (
        pl.Int64,
        [2**63 - 1, -(2**63), 0, 2**53 + 1, 2**61, -(2**61), 7, 7, 1, -1],
    ),
    "int64 null": (pl.Int64, [None, 5, 2**40, -3, 0, None, 9, 9, 1, -1]),
    "uint64": (pl.UInt64, [2**64 - 1, 2**63, 0, 1, 2**62, 3, 3, 50, 2**31, 9]),
    "bool": (pl.Boolean, [True, False, True, True, False, True, False] + [True] * 3),
    "bool null": (pl.Boolean, [True, None, True, False, None, True] + [False] * 4),
    "text": (
        pl.String,
        ["a", None, "b", "naïve ☃", "", "a", " a", "A", "nan", "b"],
    ),
    "category": (
        pl.Categorical,
        ["a", None, "b", "naïve ☃", "a", "a", "c", "A", "nan", "b"],
    ),
    "enum": (
        pl.Enum(["unused", "b", "a", "c"]),
        ["a", None, "b", "c", "a", "a", "c", "b", "b", "b"],
    ),
    "date": (
        pl.Date,
        days(
            "2024-02-29", None, "1969-12-31", "9999-12-31", "0001-01-01",
            "2024-01-01", "2024-03-31", "2024-03-31", "1970-01-01", "2024-07-01",
        ),
    ),
    "datetime": (
        pl.Datetime("us"),
        at(NOON, None, "1969-12-31T23:59:59.999999", "2262-01-01", "1700-01-01",
           NOON, "2024-01-01", "2024-02-29", "2024-03-01", "1970-01-01"),
    ),
    "datetime ns": (
        pl.Datetime("ns"),
        at(NOON, None, "1969-12-31T23:59:59.999999", "2200-01-01", "1700-01-01",
           NOON, "2024-01-01", "2024-02-29", "2024-03-01", "1970-01-01"),
    ),
    "datetime zone": (
        pl.Datetime("ms", "Europe/Berlin"),
        berlin("2024-02-29T00:30", None, "1969-12-31T23:59:59", "2262-01-01",
               "1900-01-01", "2024-07-01T01:00", "2024-01-01", "2024-02-29",
               "2024-03-01", "1970-01-01"),
    ),
    "duration": (pl.Duration("ms"), spans(1, None, -5, 10**6, 0, 0.5, 24, 24, 48, 3)),
    "decimal": (
        pl.Decimal(30, 2),
        decimals("1.25", None, "-0.00", "99999999999999999999999.99", "0.5", "2.5",
                 "-1.5", "7.00", "3.49", "3.50"),
    ),
}  # fmt: skip

BOUNDS = {
    "float": (-1.5, 8.25),
    "float32": (0, 1e6),
    "int8": (0, 1000),
    "int64": (-(2**62), 2**62),
    "int64 null": (0, 2**41),
    "uint64": (0, 2**62),
    "bool": (0, 1),
    "bool null": (0, 1),
    "date": (date(1900, 1, 1), date(2100, 1, 1)),
    "datetime": (datetime(1960, 1, 1), datetime(2100, 1, 1)),
    "datetime ns": (datetime(1960, 1, 1), datetime(2100, 1, 1)),
    "datetime zone": (
        datetime(1960, 1, 1, tzinfo=UTC),
        datetime(2100, 1, 1, tzinfo=UTC),
    ),
    "duration": (timedelta(hours=-1), timedelta(days=1)),
    "decimal": (Decimal("-1.25"), Decimal("100.50")),
}

CODINGS = {
    "float": [
        Lookup((0, 7.25, None, INF)),
        Linear(-1, 8, other=True),
        Bins((-INF, 0.0, 0.5, 7, INF)),
        Bins((0, 1, 2)),
        Bins(tuple(i / 64 for i in range(1000)), other=True),
    ],
    "float32": [Lookup((0, 2.5)), Linear(0, 3), Bins((0.0, 0.1, 0.5, 3.0))],
    "int8": [Lookup((5, 2.0, True, 300)), Linear(0, 300), Bins((-200, -1.5, 2, 500))],
    "int64": [
        Lookup((2**63 - 1, 7, 0.0), other=True),
        Linear(-3, 2**20),
        Linear(2**70, 2**70 + 5),
        Bins((-INF, -(2**63), -0.5, 2.0**53, 2**53 + 1, 2**63, INF)),
    ],
    "int64 null": [Lookup((5, None)), Linear(0, 10, other=True), Bins((0, 4, 9))],
    "uint64": [
        Lookup((2**64 - 1, 3)),
        Linear(2**64 - 4, 2**64 - 1),
        Bins((0, 3, 2**62, 2**63, 2**64 - 1, 2**64), other=True),
    ],
    "bool": [Lookup((False, True)), Lookup((1,), other=True), Linear(0, 1)],
    "bool null": [Lookup((False, True), other=True), Lookup((None, True))],
    "text": [
        Lookup(("b", "a", "naïve ☃", "absent")),
        Lookup(("", None)),
        Lookup(("a", "\ud800", 1), other=True),
        Linear(0, 3, other=True),
        Bins((0.0, 1.0)),
    ],
    "category": [Lookup(("b", "a", "unused")), Lookup(("a",), other=True)],
    "enum": [Lookup(("b", "unused", None))],
    "date": [
        Lookup((date(2024, 2, 29), date(1969, 12, 31))),
        Bins((date(2024, 1, 1), date(2024, 2, 1), date(2024, 7, 1), date(2025, 1, 1))),
        Bins((datetime(2024, 1, 1), datetime(2024, 2, 29, 1), datetime(2024, 4, 1))),
    ],
    "datetime": [
        Lookup((datetime.fromisoformat(NOON), date(2024, 1, 1))),
        Bins((date(1900, 1, 1), date(1970, 1, 1), date(2024, 2, 29), date(2300, 1, 1))),
        Bins((datetime(1900, 1, 1), *at(NOON), datetime(2300, 1, 1))),
    ],
    "datetime ns": [
        Lookup((datetime.fromisoformat(NOON), datetime(1970, 1, 1))),
        Bins((datetime(1900, 1, 1), *at(NOON), datetime(2300, 1, 1))),
    ],
    "datetime zone": [
        Lookup((datetime(2024, 2, 28, 23, 30, tzinfo=UTC), datetime(2024, 2, 29))),
        Bins((date(2024, 1, 1), date(2024, 2, 29), date(2024, 7, 1), date(2025, 1, 1))),
        Bins((datetime(2024, 1, 1), datetime(2024, 2, 29), datetime(2300, 1, 1))),
    ],
    "duration": [
        Lookup((timedelta(days=1), timedelta(0))),
        Bins((timedelta(0), timedelta(hours=1), timedelta(days=2))),
    ],
    "decimal": [
        Lookup((Decimal("1.25"), 7, 0.5, None)),
        Linear(-2, 5),
        Linear(10**23 - 2, 10**23 + 2),
        Bins((Decimal("-1.5"), Decimal("1.255"), Decimal("3.5"), Decimal(100))),
        Bins((0, 0.5, 10**30)),
    ],
}  # fmt: skip


def values_of(table):
    return {name: list(pl.Series(v, dtype=t)) for name, (t, v) in table.items()}


VALUES = values_of(TABLE)


def check(source, reduction, columns=VALUES, hash_of=None):
    """The engine's integers are the oracle's, in the dtypes that arguments promise."""
    got = source.aggregate(reduction).reveal()
    expected = oracle.reduce(columns, source.schema, reduction, hash_of)
    if reduction.rows:
        assert got.rows.tolist() == expected.rows
        assert got.rows.dtype == np.int64
    if reduction.units:
        assert got.units.tolist() == expected.units
    for i, measure in enumerate(reduction.measures):
        assert got.usable[i].tolist() == expected.usable[i]
        assert got.sums[i].tolist() == expected.sums[i]
        largest = max(abs(measure.lattice.low), abs(measure.lattice.high))
        wide = largest > 2**30
        assert got.sums[i].dtype == (object if wide else np.int64)
        if measure.squares:
            assert got.squares[i].tolist() == expected.squares[i]
        else:
            assert got.squares[i] is None
    return got


def measures_of(schema, column):
    """Every grid that the column's type has."""
    type_ = schema[column]
    bounds = BOUNDS[column]
    uses = (
        ("mean",) if type_.kind in ("date", "datetime") else ("sum", "mean", "variance")
    )
    for use in uses:
        kinds = [type_]
        if type_.kind == "float":  # as when the domain declares integers
            kinds.append(ColumnType("integer"))
        for kind in kinds:
            lattice = fit_lattice(column, kind, bounds, use)
            yield Measure(column, lattice, squares=use == "variance")


#: Plain pandas holds these as untyped objects: keys, but nothing to sum.
UNTYPED = {
    ("pandas numpy", "bool null"),
    ("pandas numpy", "date"),
    ("pandas numpy", "decimal"),
    ("pandas nullable", "date"),
    ("pandas nullable", "decimal"),
}


@pytest.mark.parametrize(
    ("engine", "column"),
    [(e, c) for e in ENGINES for c in BOUNDS if (e, c) not in UNTYPED],
)
def test_sums_of_every_type(engine, column):
    source = ingest(build(engine, TABLE))
    measures = tuple(measures_of(source.schema, column))
    got = check(source, Reduction(ROW, rows=True, measures=measures))
    assert got.rows.tolist() == [10]


@pytest.mark.parametrize("column", CODINGS)
def test_keys_of_every_type(engine, column):
    source = ingest(build(engine, TABLE))
    value = next(iter(measures_of(source.schema, "float")))
    for coding in CODINGS[column]:
        if (engine, column) in UNTYPED and not isinstance(coding, Lookup):
            continue
        keys = Keys((column,), (coding,))
        check(source, Reduction(ROW, keys, rows=True, units=True, measures=(value,)))


@pytest.mark.parametrize("unit", [ROW, Unit("int64", max_rows=9)])
def test_several_key_columns(engine, unit, hashes):
    source = ingest(build(engine, TABLE))
    codings = (Lookup(("b", "a", None)), Linear(-1, 3, other=True), Lookup((True,)))
    columns = ("text", "int64 null", "bool")
    value = next(iter(measures_of(source.schema, "float")))
    reduction = Reduction(unit, Keys(columns, codings), rows=True, measures=(value,))
    assert check(source, reduction, hash_of=hashes.of).rows.size == 18


@pytest.mark.parametrize("unit", [ROW, Unit("int64", max_rows=9)])
def test_listed_cells(engine, unit, hashes):
    source = ingest(build(engine, TABLE))
    keys = Keys.resolve(
        ["text", "int8"],
        domain=None,
        keys=[("b", 5), ("a", 127), ("b", 0), ("absent", 5), ("a", 3)],
    )
    got = check(source, Reduction(unit, keys, rows=True), hash_of=hashes.of)
    assert got.rows.tolist() == [1, 1, 1, 0, 1]


def test_no_cells(engine):
    source = ingest(build(engine, TABLE))
    keys = Keys(("text",), (Lookup(()),))
    for unit in (ROW, Unit("int64", max_rows=1)):
        got = source.aggregate(Reduction(unit, keys, rows=True, units=True)).reveal()
        assert got.rows.tolist() == got.units.tolist() == []


@pytest.mark.parametrize("unit", [ROW, Unit("unit", max_rows=2, max_groups=2)])
@pytest.mark.parametrize("rows", [0, 3])
def test_empty_and_all_null_frames_have_the_same_shape(engine, unit, rows):
    table = {
        name: (dtype, [None] * rows)
        for name, dtype in {
            "unit": pl.Int64,
            "key": pl.String,
            "x": pl.Float64,
            "i": pl.Int64,
        }.items()
    }
    source = ingest(build(engine, table))
    wide = fit_lattice("i", ColumnType("integer"), (0, 2**50), "sum")
    keys = Keys(("key",), (Lookup(("a", "b")),))
    measures = (
        Measure("x", fit_lattice("x", ColumnType("float"), (0, 1), "variance"), True),
        Measure("i", wide),
    )
    got = check(
        source,
        Reduction(unit, keys, rows=True, units=True, measures=measures),
        values_of(table),
    )
    assert got.squares[0].tolist() == [0, 0]
    assert source.distinct(Distinct(unit, "key")).reveal() == 0


@pytest.mark.parametrize("make", ["polars", "pyarrow", "pandas"])
def test_columns_typed_null(make):
    frame = pl.DataFrame({"x": [None, None], "key": [None, None], "unit": [None, None]})
    if make == "pyarrow":
        frame = frame.to_arrow()
    if make == "pandas":
        frame = pd.DataFrame({name: [None, None] for name in frame.columns})
    source = ingest(frame)
    kind = "text" if make == "pandas" else "null"  # objects could hold anything
    assert {type_.kind for type_ in source.schema.columns.values()} == {kind}
    measure = Measure("x", fit_lattice("x", ColumnType("float"), (0, 1), "sum"))
    keys = Keys(("key",), (Lookup(("a", None)),))
    got = source.aggregate(
        Reduction(ROW, keys, rows=True, measures=(measure,))
    ).reveal()
    assert got.rows.tolist() == [0, 2]
    assert got.usable[0].tolist() == got.sums[0].tolist() == [0, 0]
    got = source.aggregate(Reduction(ROW, rows=True, measures=(measure,))).reveal()
    assert (got.rows.tolist(), got.usable[0].tolist()) == ([2], [0])
    unit = Unit("unit", max_rows=1)
    assert source.aggregate(Reduction(unit, rows=True)).reveal().rows.tolist() == [0]


@pytest.mark.parametrize("column", TABLE)
def test_distinct_of_every_type(engine, column):
    source = ingest(build(engine, TABLE))
    listings = [None, *(c for c in CODINGS[column] if isinstance(c, Lookup))]
    for listed in listings:
        query = Distinct(ROW, column, listed)
        expected = oracle.distinct(VALUES, source.schema, query, None)
        assert source.distinct(query).reveal() == expected


def test_row_order_and_chunks_do_not_matter(engine):
    reduction = None
    first = None
    for seed in range(20):
        order = list(range(10))
        random.Random(seed).shuffle(order)
        frame = build(engine, take(TABLE, order))
        if engine == "pyarrow":
            cut = seed % 9 + 1
            frame = pa.concat_tables([frame.slice(0, cut), frame.slice(cut)])
        if engine == "polars eager":
            frame = pl.concat([frame[: seed % 10], frame[seed % 10 :]], rechunk=False)
        source = ingest(frame)
        if reduction is None:
            keys = Keys(("text", "int8"), (Lookup(("a", "b", None)), Bins((0, 2, 200))))
            measures = tuple(measures_of(source.schema, "float"))
            reduction = Reduction(ROW, keys, rows=True, measures=measures)
        got = source.aggregate(reduction).reveal()
        shown = [got.rows.tolist(), *(s.tolist() for s in got.sums)]
        first = first or shown
        assert shown == first


@pytest.mark.parametrize("engine", [e for e in ENGINES if not e.startswith("polars")])
@pytest.mark.parametrize("unit", [ROW, Unit("int8", max_rows=1, max_groups=1)])
def test_chunks_of_many_rows(engine, unit, monkeypatch, hashes):
    monkeypatch.setattr(arrow_shim, "CHUNK_ROWS", 3)
    source = ingest(build(engine, TABLE))
    keys = Keys(("text",), (Lookup(("a", "b"), other=True),))
    measures = (
        *measures_of(source.schema, "float"),
        *measures_of(source.schema, "int64"),
    )
    reduction = Reduction(unit, keys, rows=True, measures=measures)
    check(source, reduction, hash_of=hashes.of)
    query = Distinct(ROW, "text")
    assert source.distinct(query).reveal() == 7


def test_all_frames_agree():
    answers = set()
    columns = ("float", "int8", "text", "category", "datetime")
    for engine in ENGINES:
        source = ingest(build(engine, TABLE))
        keys = Keys(("text", "category"), (Lookup(("a", "b")), Lookup(("a", "b", "c"))))
        measures = tuple(
            m for c in ("float", "int8") for m in measures_of(source.schema, c)
        )
        got = source.aggregate(
            Reduction(ROW, keys, rows=True, measures=measures)
        ).reveal()
        distinct = [source.distinct(Distinct(ROW, c)).reveal() for c in columns]
        answers.add(
            str([got.rows.tolist(), *(s.tolist() for s in got.sums), *distinct])
        )
    assert len(answers) == 1


TRICKY = ["dp", "index", "count", "len", " a b ", "*", "^x.*$", "", "unit", "cell",
          "key0", "value0", "column0", "ticket", "number", "rows", "size"]  # fmt: skip


@pytest.mark.parametrize("name", TRICKY)
def test_any_column_name(engine, name, hashes):
    table = {other: (pl.Int64, [9] * 4) for other in TRICKY if other != name}
    table[name] = (pl.Int64, [1, 1, 2, 2])
    source = ingest(build(engine, table))
    lattice = fit_lattice(name, source.schema[name], (0, 9), "sum")
    for unit in (ROW, Unit(name, max_rows=1, max_groups=1)):
        reduction = Reduction(
            unit,
            Keys((name,), (Lookup((2, 1)),)),
            rows=True,
            units=True,
            measures=(Measure(name, lattice),),
        )
        check(source, reduction, values_of(table), hashes.of)
        assert source.distinct(Distinct(unit, name)).reveal() == 2


def test_unused_columns_are_never_read():
    polars = pl.DataFrame(
        {"x": [1.0, 2.0], "list": [[1], []], "struct": [{"a": 1}] * 2}
    )
    arrow = pa.table(
        {
            "x": [1.0, 2.0],
            "interval": pa.array([(1, 2, 3), None], pa.month_day_nano_interval()),
            "wide": pa.array([Decimal(1), None], pa.decimal256(60, 2)),
        }
    )
    pandas = pd.DataFrame({"x": [1.0, 2.0], "object": [object(), []]})
    pandas["period"] = pd.period_range("2020", "2021", freq="Y")
    measure = Measure("x", fit_lattice("x", ColumnType("float"), (0, 4), "sum"))
    for frame in (polars, polars.lazy(), arrow, pandas):
        got = ingest(frame).aggregate(Reduction(ROW, rows=True, measures=(measure,)))
        assert got.reveal().rows.tolist() == [2]


def test_int128():
    values = [2**127 - 1, -(2**127), 2**70, 5, 5, None]
    table = {"x": (pl.Int128, values), "u": (pl.Int128, [2**100, 2**100, 1, 1, 1, 1])}
    source = ingest(build("polars eager", table))
    lattice = fit_lattice("x", source.schema["x"], (-5, 2**62), "sum")
    for coding in (
        Bins((-INF, -(2**80), 0, 2**70, INF)),
        Linear(2**70 - 1, 2**70 + 1),
        Lookup((2**70, 5.0)),
    ):
        keys = Keys(("x",), (coding,))
        for unit in (ROW, Unit("u", max_rows=9)):
            reduction = Reduction(
                unit, keys, rows=True, measures=(Measure("x", lattice),)
            )
            check(source, reduction, values_of(table))


def test_uint128():
    frame = pl.DataFrame({"x": pl.Series([2**128 - 1, 3, None], dtype=pl.UInt128)})
    source = ingest(frame)
    lattice = fit_lattice("x", source.schema["x"], (0, 10), "sum")
    got = source.aggregate(Reduction(ROW, measures=(Measure("x", lattice),))).reveal()
    assert got.sums[0].tolist() == [13]


def test_categories_are_keys_by_value():
    values = ["x", "y", "x", None]
    arrow = pa.table({"k": pa.array(values).dictionary_encode()})
    numbers = pa.table({"k": pa.array([3, 1, 3, None]).dictionary_encode()})
    ordered = pd.Categorical(values, categories=["unused", "y", "x"], ordered=True)
    whole = pd.Categorical([3, 1, 3, None], categories=[2, 1, 3])
    for frame in (
        arrow,
        pl.from_arrow(arrow),
        pl.DataFrame({"k": pl.Series(values, dtype=pl.Enum(["unused", "y", "x"]))}),
        pd.DataFrame({"k": ordered}),
        pd.DataFrame(
            {"k": pd.Series(arrow["k"], dtype=pd.ArrowDtype(arrow["k"].type))}
        ),
        numbers,
        pd.DataFrame({"k": whole}),
    ):
        source = ingest(frame)
        text = source.schema["k"].kind == "text"
        keys = Keys(("k",), (Lookup(("x", "y", "z") if text else (3, 1, 2)),))
        got = source.aggregate(Reduction(ROW, keys, rows=True)).reveal()
        assert got.rows.tolist() == [2, 1, 0]
        assert source.distinct(Distinct(ROW, "k")).reveal() == 2


def test_objects_are_keys_by_equality():
    values = ["a", 1, True, 1.0, Decimal(1), None, NAN, [1], "\ud800", b"a", "a"]
    frame = pd.DataFrame({"k": pd.Series(values, dtype=object)})
    keys = Keys(("k",), (Lookup(("a", 1, None, "\ud800"), other=True),))
    got = ingest(frame).aggregate(Reduction(ROW, keys, rows=True)).reveal()
    assert got.rows.tolist() == [2, 4, 3, 1, 1]  # a list is no value: missing
    for unit in (ROW, Unit("k", max_rows=1)):
        assert ingest(frame).distinct(Distinct(unit, "k")).reveal() == 4


def test_halves_go_up(engine):
    values = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]
    table = {"x": (pl.Float64, values), "u": (pl.Int64, list(range(6)))}
    source = ingest(build(engine, table))
    keys = Keys(("u",), (Linear(0, 5),))
    for kind in ("float", "integer"):
        lattice = fit_lattice("x", ColumnType(kind), (-(2**30), 2**30), "sum")
        reduction = Reduction(ROW, keys, measures=(Measure("x", lattice),))
        got = source.aggregate(reduction).reveal()
        assert got.sums[0].tolist() == [-2, -1, 0, 1, 2, 3]
    whole = Reduction(ROW, Keys(("x",), (Linear(-2, 3),)), rows=True)
    assert source.aggregate(whole).reveal().rows.tolist() == [1] * 6


def test_booleans_beside_a_null_are_objects_in_pandas():
    values = [True, False, None, True, "True", 1, 5, NAN]
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object), "u": [1] * 8})
    for use in ("sum", "mean", "variance"):
        lattice = fit_lattice("x", ColumnType("boolean"), (0, 1), use)
        asked = (Measure("x", lattice),)
        for unit in (ROW, Unit("u", max_rows=99)):
            got = ingest(frame).aggregate(Reduction(unit, measures=asked)).reveal()
            assert (got.usable[0].tolist(), got.sums[0].tolist()) == ([4], [3])


def test_declared_integers_on_floats_stay_within_bounds_no_float_holds():
    values = [-INF, 2.0**53, 2.0**53 + 2, 1e300, NAN]
    table = {"x": (pl.Float64, values), "u": (pl.Int64, [1] * 5)}
    source = ingest(build("polars eager", table))
    for bounds in ((2**53 + 1, 2**53 + 1), (-(2**61) - 1, 2**62 - 1)):
        for per in ("row", "unit"):
            lattice = fit_lattice("x", ColumnType("integer"), bounds, "sum", per=per)
            unit = Unit("u", max_rows=9) if per == "unit" else ROW
            reduction = Reduction(unit, measures=(Measure("x", lattice),))
            check(source, reduction, values_of(table))


def test_a_series_is_one_column():
    for series in (
        pd.Series([1, 2], name="x"),
        pl.Series("x", [1, 2]),
        pd.Series([1, 2]),
        pd.Series([1, 2], name=0),
        pl.Series([1, 2]),
    ):
        source = ingest(series)
        (name,) = source.schema.columns
        assert name == ("x" if series.name == "x" else "value")
        lattice = fit_lattice(name, source.schema[name], (0, 9), "sum")
        got = source.aggregate(Reduction(ROW, measures=(Measure(name, lattice),)))
        assert got.reveal().sums[0].tolist() == [3]


def test_record_batch():
    batch = pa.RecordBatch.from_pydict({"x": [1, 2, 3]})
    assert ingest(batch).aggregate(Reduction(ROW, rows=True)).reveal().rows == [3]
