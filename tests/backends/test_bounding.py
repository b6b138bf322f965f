"""The bounded frame on every kind of frame equals the oracle's, whatever the hash."""

from __future__ import annotations

import math
import random
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from backends import oracle
from backends.frames import ENGINES, build, take

from dpframe.domain.coding import Bins, Linear, Lookup
from dpframe.domain.keys import Keys
from dpframe.domain.lattice import fit_lattice
from dpframe.engines import reduce as plan
from dpframe.engines.ingest import ingest
from dpframe.errors import ParameterError
from dpframe.noise.bits import use_source_for_tests
from dpframe.privacy.unit import ROW, Unit
from dpframe.queries.reduction import Distinct, Measure, Reduction

ROWS = 120
START = datetime(2024, 1, 1)


def make_table(seed: int, units: int = 12):
    """Few units, keys and values, so that many rows are equal and many units heavy."""
    rng = random.Random(seed)

    def draw(*values):
        return [rng.choice(values) for _ in range(ROWS)]

    whose = [rng.choice([None, *range(units), 0, 0, 1]) for _ in range(ROWS)]

    def unit(change):
        return [None if u is None else change(u) for u in whose]

    return {
        "whole": (pl.Int64, [-1 if u is None else u - 3 for u in whose]),
        "gaps": (pl.Int64, unit(lambda u: u)),
        "real": (pl.Float64, unit(lambda u: (u - 3) / 2 if u != 3 else -0.0)),
        "nan": (pl.Float64, [math.nan if u is None else u * 1.0 for u in whose]),
        "name": (pl.String, unit(lambda u: f"pérson {u}")),
        "category": (pl.Categorical, unit(lambda u: f"p{u}")),
        "enum": (pl.Enum([f"p{u}" for u in range(units)]), unit(lambda u: f"p{u}")),
        "flag": (pl.Boolean, [bool((u or 0) % 2) for u in whose]),
        "day": (pl.Datetime("us"), unit(lambda u: START + timedelta(days=u))),
        "amount": (pl.Decimal(10, 2), unit(lambda u: Decimal(u) / 4)),
        "key": (pl.String, draw("a", "b", "b", "c", None, "unlisted")),
        "code": (pl.Int64, draw(1, 2, 2, 3)),
        "x": (pl.Float64, draw(None, math.nan, math.inf, -math.inf, 1.5, 1.5, -0.0, 9)),
        "y": (pl.Int64, draw(-(2**63), 2**63 - 1, 2**61, -5, 5, 5, 0)),
    }


KEYS = Keys(("key", "code"), (Lookup(("b", "a", "z"), other=True), Linear(1, 3)))
ONE_KEY = Keys(("key",), (Lookup(("c", "b", "a")),))
BINS = Keys(("x",), (Bins((-math.inf, 0, 1, 2, math.inf), other=True),))

UNIT_COLUMNS = ["whole", "gaps", "real", "nan", "name", "category", "enum", "day"]


def lattice(schema, column, use="sum", bounds=(-2, 7), per="row"):
    return fit_lattice(column, schema[column], bounds, use, per=per)


def measures(schema, per="row"):
    wide = (-(2**62), 2**62)
    return (
        Measure("x", lattice(schema, "x", per=per)),
        Measure("x", lattice(schema, "x", "variance", per=per), squares=True),
        Measure("y", lattice(schema, "y", bounds=wide, per=per)),
        Measure("y", lattice(schema, "y", "mean", bounds=wide, per=per)),
    )


def values_of(table):
    return {name: list(pl.Series(v, dtype=t)) for name, (t, v) in table.items()}


def check(source, reduction, table, hashes):
    got = source.aggregate(reduction).reveal()
    columns = values_of(table)
    expected = oracle.reduce(columns, source.schema, reduction, hashes.of)
    if reduction.rows:
        assert got.rows.tolist() == expected.rows
    if reduction.units:
        assert got.units.tolist() == expected.units
    for i, measure in enumerate(reduction.measures):
        assert got.usable[i].tolist() == expected.usable[i]
        assert got.sums[i].tolist() == expected.sums[i]
        if measure.squares:
            assert got.squares[i].tolist() == expected.squares[i]
    return got


@pytest.mark.parametrize("column", [*UNIT_COLUMNS, "flag"])
def test_units_of_every_type(engine, column, hashes):
    table = make_table(1)
    source = ingest(build(engine, table))
    unit = Unit(column, max_rows=3, max_groups=2)
    asked = measures(source.schema)
    check(source, Reduction(unit, KEYS, True, True, asked), table, hashes)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("keys", [None, ONE_KEY, KEYS, BINS])
@pytest.mark.parametrize("bounds", [(1, None), (4, None), (2, 1), (5, 2), (99, 9)])
def test_every_shape_of_question(bounds, keys, constant, hashes):
    hashes.constant = constant
    ask_everything("polars eager", bounds, keys, hashes)


@pytest.mark.parametrize("keys", [None, KEYS])
def test_every_frame(engine, keys, hashes):
    ask_everything(engine, (3, 2), keys, hashes)


def ask_everything(engine, bounds, keys, hashes):
    rows, groups = bounds
    table = make_table(2)
    source = ingest(build(engine, table))
    unit = Unit("gaps", max_rows=rows, max_groups=groups)
    by_row = measures(source.schema)
    by_unit = measures(source.schema, "unit")
    bounded = groups is not None or keys is None
    for asked in (
        Reduction(unit, keys, rows=True),
        Reduction(unit, keys, units=True),
        Reduction(unit, keys, rows=True, units=True),
        Reduction(unit, keys, measures=by_row),
        Reduction(unit, keys, measures=by_row[:1]),
        Reduction(unit, keys, True, True, by_row),
        *(
            [
                Reduction(unit, keys, measures=by_unit),
                Reduction(unit, keys, units=True, measures=by_unit[:1]),
                Reduction(unit, keys, True, True, (*by_row[:2], *by_unit)),
            ]
            if bounded
            else []
        ),
    ):
        check(source, asked, table, hashes)


@pytest.mark.parametrize("column", ["key", "code", "x", "y", "category", "day", "real"])
def test_distinct_values(column, engine, hashes):
    hashes.constant = column in ("code", "y", "category")
    table = make_table(3)
    source = ingest(build(engine, table))
    listed = Lookup(("b", "c", None), other=True) if column == "key" else None
    for unit in (
        Unit("gaps", max_groups=2),
        Unit("gaps", max_rows=3),
        Unit("gaps", max_rows=1, max_groups=3),
        Unit("name", max_rows=9, max_groups=9),
        Unit(column),
    ):
        for kept in {None, listed}:
            query = Distinct(unit, column, kept)
            got = source.distinct(query).reveal()
            expected = oracle.distinct(
                values_of(table), source.schema, query, hashes.of
            )
            assert got == expected


@pytest.mark.parametrize("keys", [None, ONE_KEY])
def test_totals_of_units_are_clipped_not_their_rows(keys, engine):
    table = {
        "u": (pl.Int64, [1, 1, 1, 2, 2, 3, 4]),
        "key": (pl.String, ["a", "a", "a", "a", "a", "a", "a"]),
        "x": (pl.Float64, [50.0, 60.0, -30.0, math.inf, 1.0, -math.inf, None]),
        "y": (pl.Int64, [2**63 - 1, 2**63 - 1, -(2**63), -5, -6, 2, 3]),
    }
    source = ingest(build(engine, table))
    asked = (
        Measure("x", lattice(source.schema, "x", bounds=(0, 100), per="unit")),
        Measure("y", lattice(source.schema, "y", bounds=(-8, 10), per="unit")),
    )
    got = source.aggregate(Reduction(Unit("u", max_groups=1), keys, measures=asked))
    x, y = (total.sum() for total in got.reveal().sums)
    assert asked[0].lattice.step * x == 80 + 100 + 0  # unit 4 says nothing
    assert y == 10 + (-8) + 2 + 3
    assert [usable.sum() for usable in got.reveal().usable] == [3, 4]


def test_row_order_and_chunks_do_not_matter(engine, hashes):
    table = make_table(4)
    answers = set()
    for seed in range(20):
        hashes.constant = seed % 2 == 1
        order = list(range(ROWS))
        random.Random(seed).shuffle(order)
        frame = build(engine, take(table, order))
        if engine == "pyarrow":
            frame = pa.concat_tables([frame.slice(0, seed), frame.slice(seed)])
        if engine == "polars eager":
            frame = pl.concat([frame[:seed], frame[seed:]], rechunk=False)
        source = ingest(frame)
        asked = measures(source.schema)
        unit = Unit("gaps", max_rows=3, max_groups=2)
        with use_source_for_tests(lambda n: b"k" * n):
            got = source.aggregate(Reduction(unit, KEYS, True, True, asked)).reveal()
            distinct = source.distinct(Distinct(unit, "y")).reveal()
        shown = [got.rows.tolist(), got.units.tolist(), [s.tolist() for s in got.sums]]
        answers.add((hashes.constant, str(shown), distinct))
    assert len(answers) == 2  # one for each hash


def test_frames_with_the_same_schema_agree(hashes):
    table = make_table(5)
    answers = set()
    for engine in ENGINES:
        source = ingest(build(engine, table))
        asked = measures(source.schema)
        unit = Unit("category", max_rows=3, max_groups=2)
        with use_source_for_tests(lambda n: b"7" * n):
            got = source.aggregate(Reduction(unit, KEYS, True, True, asked)).reveal()
        answers.add(str([got.rows.tolist(), *(s.tolist() for s in got.sums)]))
    assert len(answers) == 1


@pytest.fixture
def kept(monkeypatch):
    """The rows that the last plan kept, unit first."""
    rows = []
    keep = plan.keep_rows

    def spy(*given):
        bounded = keep(*given)
        rows[:] = bounded.rows()
        return bounded

    monkeypatch.setattr(plan, "keep_rows", spy)
    return rows


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize(
    ("engine", "column"),
    [("polars lazy", column) for column in UNIT_COLUMNS]
    + [(engine, "category") for engine in ENGINES],
)
def test_a_unit_that_leaves_moves_no_other(engine, column, constant, hashes, kept):
    hashes.constant = constant
    table = make_table(6)
    values = values_of(table)[column]

    def rows_without(leaving):
        order = [i for i in range(ROWS) if values[i] != leaving]
        source = ingest(build(engine, take(table, order)))
        unit = Unit(column, max_rows=2, max_groups=2)
        reduction = Reduction(unit, KEYS, True, measures=measures(source.schema))
        with use_source_for_tests(lambda n: b"z" * n):
            source.aggregate(reduction)
        return Counter(kept)

    whole = rows_without(object())
    for leaving in sorted({v for v in values if not oracle.missing(v)})[:4]:
        rest = rows_without(leaving)
        gone = whole - rest
        assert rest <= whole
        assert len({row[0] for row in gone}) == 1
        assert sum(gone.values()) <= 2
    assert max(Counter(row[0] for row in whole.elements()).values()) == 2


@pytest.mark.parametrize("fault", ["rows before groups", "ties by position"])
def test_a_planted_fault_is_seen(fault, hashes, monkeypatch):
    """The oracle tells a plan that breaks a rule of the proof."""
    hashes.constant = True
    keep = plan.keep_rows
    if fault == "rows before groups":
        monkeypatch.setattr(
            plan, "keep_groups", lambda rows, groups, *rest: keep(rows, groups, *rest)
        )
    else:
        monkeypatch.setattr(
            plan, "keep_rows", lambda rows, columns, *rest: keep(rows, [], *rest)
        )
    table = make_table(2)
    source = ingest(build("polars eager", table))
    unit = Unit("gaps", max_rows=4, max_groups=2)
    with pytest.raises((AssertionError, KeyError)):
        check(source, Reduction(unit, KEYS, rows=True), table, hashes)


def test_rows_of_one_unit_are_chosen_evenly():
    """Nine equal rows and one other: at one row, the other shows in a tenth."""
    units = 4_000
    frame = pl.DataFrame(
        {
            "unit": np.repeat(np.arange(units), 10),
            "x": np.tile([5] * 9 + [100], units),
        }
    )
    source = ingest(frame)
    asked = Measure("x", lattice(source.schema, "x", bounds=(0, 100)))
    with use_source_for_tests(lambda n: b"even" * (n // 4)):
        got = source.aggregate(Reduction(Unit("unit", max_rows=1), measures=(asked,)))
    others = (got.reveal().sums[0][0] - 5 * units) / 95
    assert abs(others - units / 10) < 6 * math.sqrt(units * 0.09)


def test_groups_come_before_rows(engine, hashes):
    """A unit with one kept group fills its rows from that group alone."""
    table = {
        "u": (pl.Int64, [1] * 8),
        "key": (pl.String, ["a"] * 4 + ["b"] * 4),
    }
    source = ingest(build(engine, table))
    unit = Unit("u", max_rows=4, max_groups=1)
    got = source.aggregate(Reduction(unit, ONE_KEY, rows=True, units=True)).reveal()
    assert sorted(got.rows.tolist()) == [0, 0, 4]
    assert sorted(got.units.tolist()) == [0, 0, 1]


def test_rows_that_say_nothing_take_no_place(engine):
    """Null values do not use up a unit's rows, unless rows are counted."""
    table = {
        "u": (pl.Int64, [1] * 6),
        "x": (pl.Float64, [None, math.nan, None, None, None, 7.0]),
    }
    source = ingest(build(engine, table))
    asked = (Measure("x", lattice(source.schema, "x")),)
    unit = Unit("u", max_rows=1)
    got = source.aggregate(Reduction(unit, measures=asked)).reveal()
    assert got.usable[0].tolist() == [1]


def test_negative_zero_is_zero(engine):
    table = {"u": (pl.Float64, [0.0, -0.0, 0.0, -0.0]), "x": (pl.Int64, [1] * 4)}
    source = ingest(build(engine, table))
    unit = Unit("u", max_rows=3)
    asked = (Measure("x", lattice(source.schema, "x")),)
    got = source.aggregate(Reduction(unit, rows=True, measures=asked)).reveal()
    assert got.rows.tolist() == got.sums[0].tolist() == [3]
    assert source.distinct(Distinct(Unit("x", max_rows=9), "u")).reveal() == 1
    assert source.distinct(Distinct(unit, "u")).reveal() == 1
    assert source.distinct(Distinct(ROW, "u")).reveal() == 1


@pytest.mark.parametrize("rows", [0, 1, 50])
def test_the_key_is_drawn_from_arguments_alone(rows, engine):
    table = {
        "u": (pl.Int64, [i % 7 for i in range(rows)]),
        "key": (pl.String, ["a"] * rows),
        "x": (pl.Float64, [1.0] * rows),
    }
    source = ingest(build(engine, table))
    by_row = (Measure("x", lattice(source.schema, "x")),)
    by_unit = (Measure("x", lattice(source.schema, "x", per="unit")),)
    m, both = Unit("u", max_rows=2), Unit("u", max_rows=2, max_groups=1)
    for request, draws in (
        (Reduction(ROW, ONE_KEY, True, measures=by_row), 0),
        (Reduction(m, rows=True, units=True), 0),
        (Reduction(m, measures=by_unit), 0),
        (Reduction(Unit("u"), units=True), 0),
        (Reduction(m, measures=by_row), 1),
        (Reduction(m, ONE_KEY, rows=True), 1),
        (Reduction(both, ONE_KEY, rows=True, units=True), 1),
        (Reduction(both, ONE_KEY, measures=(*by_row, *by_unit)), 1),
        (Distinct(ROW, "key"), 0),
        (Distinct(m, "u"), 0),
        (Distinct(m, "key"), 1),
    ):
        drawn = []

        def draw(n, drawn=drawn):
            drawn.append(n)
            return bytes(n)

        with use_source_for_tests(draw):
            ask = source.distinct if isinstance(request, Distinct) else source.aggregate
            ask(request)
        assert drawn == [16] * draws


def test_one_key_serves_the_whole_call(engine, hashes):
    source = ingest(build(engine, make_table(7)))
    asked = measures(source.schema)
    unit = Unit("gaps", max_rows=2, max_groups=1)
    source.aggregate(Reduction(unit, KEYS, True, True, asked))
    (first,) = hashes.keys
    source.aggregate(Reduction(unit, KEYS, True, True, asked))
    assert len(hashes.keys) == 2
    assert len(first) == 16


def test_missing_bounds_are_refused_from_arguments_alone():
    source = ingest(pl.LazyFrame({"u": [1], "key": ["a"], "x": [1.0]}))
    by_row = (Measure("x", lattice(source.schema, "x")),)
    by_unit = (Measure("x", lattice(source.schema, "x", per="unit")),)
    for request, bound in (
        (Reduction(Unit("u"), rows=True), "max_rows"),
        (Reduction(Unit("u", max_groups=1), measures=by_row), "max_rows"),
        (Reduction(Unit("u", max_rows=1), ONE_KEY, measures=by_unit), "max_groups"),
        (Reduction(Unit("u"), ONE_KEY, units=True), "max_groups"),
        (Reduction(ROW, measures=by_unit), "per='unit'"),
    ):
        with pytest.raises(ParameterError, match=bound):
            source.aggregate(request)
    wide = Measure("x", lattice(source.schema, "x", bounds=(0, 2**40)), squares=True)
    whole = fit_lattice("u", source.schema["u"], (0, 2**32), "sum")
    assert source.aggregate(Reduction(ROW, measures=(wide,))) is not None
    with pytest.raises(ParameterError, match="squares"):
        source.aggregate(Reduction(ROW, measures=(Measure("u", whole, squares=True),)))
    with pytest.raises(ParameterError, match="max_groups"):
        source.distinct(Distinct(Unit("u"), "key"))
