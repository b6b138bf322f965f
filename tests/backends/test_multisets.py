"""How often each lattice integer occurs, from every kind of frame, to the last one."""

from __future__ import annotations

import math
from collections import Counter
from datetime import datetime

import numpy as np
import polars as pl
import pytest
from backends import oracle
from backends.frames import ENGINES, build, take

from dpframe.domain.keys import Keys
from dpframe.domain.lattice import fit_lattice
from dpframe.domain.schema import ColumnType
from dpframe.engines.ingest import ingest
from dpframe.errors import ParameterError
from dpframe.privacy.unit import ROW, Unit
from dpframe.queries.reduction import Measure, Multiset

MARCH = datetime(2024, 3, 1, 1, 2, 3, 4)

TABLE = {
    "float": (
        pl.Float64,
        [math.nan, math.inf, -math.inf, None, 0.5, 0.5, 7.25, -3.0, 99.0, 0.1],
    ),
    "float32": (pl.Float32, [0.1, math.nan, math.inf, None] + [2.5, 2.5] * 3),
    "int": (pl.Int64, [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]),
    "int null": (pl.Int64, [2**62, None, -(2**62), 1, 1, None, 7, 0, -1, 3]),
    "bool": (pl.Boolean, [True, False] * 5),
    "bool null": (pl.Boolean, [True, None] * 5),
    "time": (
        pl.Datetime("us"),
        [datetime(2024, 2, 29, 12), None, datetime(2023, 1, 1), MARCH, MARCH] * 2,
    ),
    "key": (pl.String, ["a", "b", "a", None, "b", "c", "a", "a", "b", "b"]),
    "who": (pl.String, ["p", "p", "p", "q", "q", "r", None, "s", "s", "s"]),
}
KEYS = Keys.resolve(("key",), domain=None, keys=["b", "a", "z"])
CASES = {
    "float": (ColumnType("float"), (-2.0, 10.0)),
    "float32": (ColumnType("float"), (0.0, 3.0)),
    "int": (ColumnType("integer"), (2, 5)),
    "int null": (ColumnType("integer"), (-(2**62), 2**62)),
    "bool": (ColumnType("boolean"), (0, 1)),
    "bool null": (ColumnType("boolean"), (0, 1)),
    "time": (
        ColumnType("datetime", unit="us"),
        (datetime(2024, 1, 1), datetime(2024, 12, 31)),
    ),
}


def measure(column, per="row"):
    type_, bounds = CASES[column]
    return Measure(column, fit_lattice(column, type_, bounds, "values", per=per))


def expected(query):
    """Row by row in plain Python; no unit may need a choice."""
    columns = {name: values for name, (_, values) in TABLE.items()}
    types = {m.column: CASES[m.column][0] for m in query.measures}
    found = Counter()
    for i in range(10):
        unit = query.unit
        if not unit.is_row and columns[unit.column][i] is None:
            continue
        cell = 0
        if query.keys is not None:
            listed = ["b", "a", "z"]
            if columns["key"][i] not in listed:
                continue
            cell = listed.index(columns["key"][i])
        steps = [
            oracle.steps(columns[m.column][i], types[m.column], m.lattice)
            for m in query.measures
        ]
        if None not in steps:
            values = (
                oracle.k(s, m.lattice)
                for s, m in zip(steps, query.measures, strict=True)
            )
            found[(cell, *values)] += 1
    return dict(found)


def entries(engine, query, table=TABLE, source=ingest):
    found = source(build(engine, table)).multiset(query).reveal()
    assert {found.cells.dtype, found.values.dtype, found.times.dtype} == {
        np.dtype(np.int64)
    }
    keys = [
        (cell, *values)
        for cell, values in zip(
            found.cells.tolist(), found.values.tolist(), strict=True
        )
    ]
    assert keys == sorted(set(keys))
    return dict(zip(keys, found.times.tolist(), strict=True))


@pytest.mark.parametrize("column", CASES)
@pytest.mark.parametrize("keys", [None, KEYS], ids=["whole", "by key"])
@pytest.mark.parametrize("unit", [ROW, Unit("who", max_rows=9, max_groups=3)])
def test_one_column(engine, column, keys, unit):
    query = Multiset(unit, (measure(column),), keys)
    assert entries(engine, query) == expected(query)


@pytest.mark.parametrize("unit", [ROW, Unit("who", max_rows=9)])
def test_rows_with_a_missing_coordinate_do_not_count(engine, unit):
    query = Multiset(unit, (measure("float"), measure("int null")))
    assert entries(engine, query) == expected(query)
    assert sum(entries(engine, query).values()) < 8


def test_no_order_of_rows_is_left(engine):
    query = Multiset(ROW, (measure("int"), measure("bool")))
    turned = take(TABLE, [3, 9, 1, 0, 2, 8, 7, 6, 5, 4])
    assert entries(engine, query, turned) == entries(engine, query)


def test_units_are_limited_and_unusable_rows_take_no_place(engine):
    table = {
        "x": (pl.Float64, [None, 1.0, 2.0, 3.0, None, 4.0]),
        "who": (pl.Int64, [1, 1, 1, 1, 2, 2]),
    }
    lattice = fit_lattice("x", ColumnType("float"), (0.0, 8.0), "values")
    for most in (1, 2, 3):
        query = Multiset(Unit("who", max_rows=most), (Measure("x", lattice),))
        found = entries(engine, query, table)
        assert sum(found.values()) == most + 1
        assert 2**19 in {value for _, value in found}  # of unit 2, its only row


def test_groups_are_limited_before_rows(engine):
    table = {
        "x": (pl.Int64, [1] * 6),
        "key": (pl.String, ["a", "a", "a", "b", "b", "b"]),
        "who": (pl.Int64, [1] * 6),
    }
    lattice = fit_lattice("x", ColumnType("integer"), (0, 3), "values")
    unit = Unit("who", max_rows=3, max_groups=1)
    found = entries(engine, Multiset(unit, (Measure("x", lattice),), KEYS), table)
    assert list(found.values()) == [3]


def test_totals_of_units(engine):
    unit = Unit("who", max_groups=3)
    query = Multiset(unit, (measure("int", per="unit"),))
    # p: 3 + 1 + 4, q: 1 + 5, r: 9, s: 6 + 5 + 3; clipped to [2, 5].
    assert entries(engine, query) == {(0, 5): 4}
    by_key = Multiset(unit, (measure("int", per="unit"),), KEYS)
    # b: p 1, q 5, s 8; a: p 7, s 6.
    assert entries(engine, by_key) == {(0, 2): 1, (0, 5): 2, (1, 5): 2}


def test_an_empty_frame_has_no_entry(engine):
    empty = {name: (dtype, []) for name, (dtype, _) in TABLE.items()}
    for unit in (ROW, Unit("who", max_rows=1)):
        assert entries(engine, Multiset(unit, (measure("float"),)), empty) == {}


def test_a_unit_needs_its_bound():
    source = ingest(build(ENGINES[0], TABLE))
    with pytest.raises(ParameterError, match="max_rows"):
        source.multiset(Multiset(Unit("who"), (measure("int"),)))
