"""The bounded frame of ``design: units`` §3 in plain Python, one row after the other.

Nothing is shared with the engine but the public codings and the hash values, which
are looked up in what the engine's one hash function returned.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpframe.domain.coding import Bins, Coding
from dpframe.domain.keys import Keys
from dpframe.domain.lattice import Lattice
from dpframe.domain.schema import ColumnType, Schema
from dpframe.queries.reduction import Distinct, Reduction

Columns = Mapping[str, Sequence[Any]]
HashOf = Callable[[str, tuple[Any, ...]], int]

TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def missing(value: Any) -> bool:
    return value is None or value != value


def number(value: Any, type: ColumnType) -> int | float | None:
    """Return a value as the number that the engine's column holds."""
    if missing(value) or type.kind in ("text", "null"):
        return None
    if type.kind == "float":
        return float(value)
    if type.kind == "decimal":
        return int(Decimal(value).scaleb(type.scale))
    if type.kind == "date":
        return (value - date(1970, 1, 1)).days
    if type.kind == "datetime":
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        value = moment - datetime(1970, 1, 1, tzinfo=UTC)
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1) * TICKS[type.unit] // 10**6
    return int(value)


def steps(value: Any, type: ColumnType, lattice: Lattice) -> int | None:
    """Return the steps of a row: clipped to its bounds, or to 2**61 of a total."""
    x = number(value, type)
    if x is None:
        return None
    by_row = lattice.per == "row"
    if lattice.inverse is None:
        low, high = (lattice.lower, lattice.upper) if by_row else (-(2**61), 2**61)
        return math.floor(min(max(x, low), high) + Fraction(1, 2))
    x = float(x)
    if by_row:
        x = min(max(x, float(lattice.lower)), float(lattice.upper))
    v = (x - lattice.offset) * lattice.inverse
    if not by_row:
        v = min(max(v, -(2.0**61)), 2.0**61)
    return math.floor(v + 0.5)


def k(amount: int, lattice: Lattice) -> int:
    return (amount >> lattice.shift) - lattice.base


@dataclass
class Answer:
    rows: list[int]
    units: list[int]
    usable: list[list[int]]
    sums: list[list[int]]
    squares: list[list[int]]


@dataclass
class Row:
    unit: Any
    cell: int
    values: tuple[int | None, ...] = field(default=())

    @property
    def order(self) -> tuple[Any, ...]:
        return (self.cell, *(-math.inf if v is None else v for v in self.values))


def stored(value: Any, type: ColumnType) -> Any:
    """Return a value as rows of the plan hold it."""
    return value if type.kind == "text" else number(value, type)


def coded_rows(columns: Columns, schema: Schema, reduction: Reduction) -> list[Row]:
    """Steps 1 to 3."""
    n = len(next(iter(columns.values())))
    unit, keys, measures = reduction.unit, reduction.keys, reduction.measures
    cells = [0] * n if keys is None else cell_of_rows(columns, keys)
    rows = []
    for i in range(n):
        whose = i if unit.is_row else columns[unit.column][i]
        if missing(whose) or cells[i] < 0:
            continue
        values = []
        for measure in measures:
            type_ = schema[measure.column]
            q = steps(columns[measure.column][i], type_, measure.lattice)
            by_row = measure.lattice.per == "row"
            values.append(k(q, measure.lattice) if by_row and q is not None else q)
        asked = reduction.rows or reduction.units or not measures
        if asked or any(value is not None for value in values):
            whose = i if unit.is_row else stored(whose, schema[unit.column])
            rows.append(Row(whose, cells[i], tuple(values)))
    return rows


def cell_of_rows(columns: Columns, keys: Keys) -> list[int]:
    codes = [
        coding.code([on_its_day(value, coding) for value in columns[name]])
        for name, coding in zip(keys.columns, keys.codings, strict=True)
    ]
    places = {cell: i for i, cell in enumerate(keys.cells or ())}
    cells = []
    for row in zip(*codes, strict=True):
        if min(row) < 0:
            cells.append(-1)
        elif keys.cells is not None:
            cells.append(places.get(tuple(int(c) for c in row), -1))
        else:
            cell = 0
            for code, size in zip(row, keys.radix, strict=True):
                cell = cell * size + int(code)
            cells.append(cell)
    return cells


def on_its_day(value: Any, coding: Coding) -> Any:
    """Where bins are days, a moment falls on the day of its own time zone."""
    if isinstance(coding, Bins) and isinstance(value, datetime):
        by_day = not isinstance(coding.edges[0], datetime)
        return value.replace(tzinfo=None) if by_day else value
    return value


def by_unit(rows: Sequence[Row]) -> dict[Any, list[Row]]:
    units = defaultdict(list)
    for row in rows:
        units[row.unit].append(row)
    return units


def keep_groups(rows: Sequence[Row], bound: int, hash_of: HashOf) -> list[Row]:
    """Step 5."""
    kept = []
    for unit, own in by_unit(rows).items():
        groups = {row.cell for row in own}
        if len(groups) > bound:
            ticket = {g: (hash_of("group ticket", (unit, g)), g) for g in groups}
            groups = set(sorted(groups, key=ticket.__getitem__)[:bound])
        kept += [row for row in own if row.cell in groups]
    return kept


def keep_rows(
    rows: Sequence[Row], bound: int, hash_of: HashOf, keyed: bool
) -> list[Row]:
    """Step 6."""
    kept = []
    for unit, own in by_unit(rows).items():
        if len(own) > bound:
            seen: Counter[Any] = Counter()
            tickets = []
            for row in own:
                content = (row.cell, *row.values) if keyed else row.values
                j = seen[content]
                seen[content] += 1
                ticket = hash_of("ticket", (hash_of("content", (unit, *content)), j))
                tickets.append(((ticket, row.order, j), row))
            own = [row for _, row in sorted(tickets, key=lambda t: t[0])[:bound]]
        kept += own
    return kept


def reduce(
    columns: Columns,
    schema: Schema,
    reduction: Reduction,
    hash_of: HashOf,
) -> Answer:
    """Answer a reduction."""
    unit, keys, measures = reduction.unit, reduction.keys, reduction.measures
    rows = coded_rows(columns, schema, reduction)
    if not unit.is_row:
        if not reduction.rows and not measures:  # step 4
            rows = list({(row.unit, row.cell): row for row in rows}.values())
        if keys is not None and unit.max_groups is not None:
            rows = keep_groups(rows, unit.max_groups, hash_of)
    bounded = rows
    by_row = [m for m in measures if m.lattice.per == "row"]
    if not unit.is_row and unit.max_rows is not None:
        if keys is None and not by_row:  # all of a unit's rows are alike
            bounded = [
                r for own in by_unit(rows).values() for r in own[: unit.max_rows]
            ]
        elif reduction.rows or reduction.units or by_row:
            bounded = keep_rows(rows, unit.max_rows, hash_of, keys is not None)
    size = 1 if keys is None else keys.size
    answer = Answer([0] * size, [0] * size, [], [], [])
    for row in bounded:
        answer.rows[row.cell] += 1
    for _, cell in {(row.unit, row.cell) for row in bounded}:
        answer.units[cell] += 1
    for i, measure in enumerate(measures):
        if measure.lattice.per == "row":
            integers = [(r.cell, r.values[i]) for r in bounded]
        else:
            integers = totals(rows, i, measure.lattice)
        usable, sums, squares = ([0] * size for _ in range(3))
        for cell, value in integers:
            if value is not None:
                usable[cell] += 1
                sums[cell] += value
                squares[cell] += value * value
        answer.usable.append(usable)
        answer.sums.append(sums)
        answer.squares.append(squares)
    return answer


def totals(rows: Sequence[Row], i: int, lattice: Lattice) -> list[tuple[int, int]]:
    """Sum within unit and key, clip the sum, then k."""
    sums: dict[tuple[Any, int], int] = defaultdict(int)
    for row in rows:
        if row.values[i] is not None:
            sums[row.unit, row.cell] += row.values[i]
    low, high = lattice.low_steps, lattice.high_steps
    return [
        (cell, k(min(max(total, low), high), lattice))
        for (_, cell), total in sums.items()
    ]


def distinct(columns: Columns, schema: Schema, query: Distinct, hash_of: HashOf) -> int:
    """Answer a count of distinct values."""
    unit = query.unit
    limited = not unit.is_row and query.column != unit.column
    pairs = set()
    for i, value in enumerate(columns[query.column]):
        whose = columns[unit.column][i] if limited else 0
        if missing(value) or missing(whose) or not declared(value, query):
            continue
        whose = stored(whose, schema[unit.column]) if limited else 0
        pairs.add((whose, stored(value, schema[query.column])))
    rows = [Row(whose, value) for whose, value in pairs]
    if limited and unit.max_groups is not None:
        rows = keep_groups(rows, unit.max_groups, hash_of)
    if limited and unit.max_rows is not None:
        rows = keep_rows(rows, unit.max_rows, hash_of, keyed=True)
    return len({row.cell for row in rows})


def declared(value: Any, query: Distinct) -> bool:
    if query.listed is None:
        return True
    code = query.listed.code([value])[0]
    return 0 <= code < query.listed.size - query.listed.other
