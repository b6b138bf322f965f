"""The bounded frame and its sums as the design writes them down, row by row in Python.

Slow and plain: an engine to compare with, and to plant faults in by overriding a step.
It reads booleans, integers, floats and text.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib import import_module
from typing import Any

import numpy as np
import polars as pl

from dpframe.domain.coding import DROPPED
from dpframe.domain.lattice import Lattice
from dpframe.domain.schema import ColumnType, Schema
from dpframe.noise.bits import random_bytes
from dpframe.queries.reduction import Crosstab, Cuts, Distinct, Reduction, Split
from dpframe.secret import Aggregates, Combinations, Occurrences, Secret


@dataclass(frozen=True)
class Row:
    unit: Any
    cell: Any
    steps: tuple[int | None, ...] = ()  # by measure; None is not usable

    @property
    def content(self) -> tuple[Any, ...]:
        return (self.cell, self.steps)


class ReferenceSource:
    """A Polars frame or Series behind the reference engine."""

    def __init__(self, frame: pl.DataFrame | pl.Series) -> None:
        self.frame = frame.to_frame() if isinstance(frame, pl.Series) else frame
        types = {name: _type(dtype) for name, dtype in self.frame.schema.items()}
        self.schema = Schema(types, "polars")

    # -- row by row ------------------------------------------------------------

    def owner(self, value: Any) -> Any:
        """Whose row it is: the stored value; null and NaN are nobody's."""
        return value if self.is_usable(value) else None

    def is_usable(self, value: Any) -> bool:
        return value is not None and not (isinstance(value, float) and value != value)

    def steps(self, value: Any, lattice: Lattice) -> int:
        """The clipped value in grid steps; totals of units are clipped later."""
        low, high = lattice.lower, lattice.upper
        if lattice.per == "unit":
            low, high = -(2**53), 2**53
        if lattice.type.kind != "float":
            return math.floor(min(max(value, int(low)), int(high)) + 0.5)
        clipped = min(max(float(value), float(low)), float(high))
        return math.floor((clipped - lattice.offset) * (lattice.inverse or 1.0) + 0.5)

    # -- whose rows are kept ---------------------------------------------------

    def hash(self, *parts: object) -> bytes:
        return blake2b(repr(parts).encode(), key=self.key, digest_size=8).digest()

    def bounded(
        self, rows: list[Row], groups: int | None, most: int | None
    ) -> list[Row]:
        """Groups first, then rows."""
        rows = rows if groups is None else self.limit_groups(rows, groups)
        return rows if most is None else self.limit_rows(rows, most)

    def limit_groups(self, rows: list[Row], most: int) -> list[Row]:
        kept = set()
        for unit, mine in _by(lambda row: row.unit, rows).items():
            cells = {row.cell for row in mine}
            order = sorted(cells, key=lambda c: (self.hash("group", unit, c), repr(c)))
            kept |= {(unit, cell) for cell in order[:most]}
        return [row for row in rows if (row.unit, row.cell) in kept]

    def limit_rows(self, rows: list[Row], most: int) -> list[Row]:
        """Equal rows of a unit are numbered: each has its own ticket."""
        kept = []
        for unit, mine in _by(lambda row: row.unit, rows).items():
            copies: Counter[Any] = Counter()
            tickets = []
            for row in mine:
                copies[row.content] += 1
                ticket = (row.content, copies[row.content])
                tickets.append((self.hash("row", unit, ticket), repr(ticket), row))
            kept += [row for *_, row in sorted(tickets, key=lambda t: t[:2])[:most]]
        return kept

    # -- the reductions --------------------------------------------------------

    def aggregate(
        self,
        reduction: Reduction,
        hash_key: bytes | None = None,
        also: Sequence[str] = (),
    ) -> Secret[Aggregates]:
        """``also`` changes which rows are kept, not how many: it plays no part."""
        self.key = random_bytes(16) if hash_key is None else hash_key
        unit, keys = reduction.unit, reduction.keys
        size = 1 if keys is None else keys.size
        lattices = [m.lattice for m in reduction.valued]
        rows = self.read(reduction)
        by_row = [lattice.per == "row" for lattice in lattices]
        if not reduction.rows and not reduction.units:
            rows = [r for r in rows if any(s is not None for s in r.steps)]
        only_units = reduction.units and not (reduction.rows or lattices)
        if only_units:
            rows = list(dict.fromkeys(rows))
        groups = None if keys is None or unit.is_row else unit.max_groups
        whole = self.bounded(rows, groups, None)
        kept = self.bounded(whole, None, None if unit.is_row else unit.max_rows)
        counted = [0] * size
        units: list[set[Any]] = [set() for _ in range(size)]
        for row in kept:
            counted[row.cell] += 1
            units[row.cell].add(row.unit)
        measured = [
            self.measure(number, lattice, kept if row else whole, size)
            for number, (lattice, row) in enumerate(zip(lattices, by_row, strict=True))
        ]
        summed = measured[: len(reduction.measures)]
        return Secret(
            Aggregates(
                rows=_ints(counted) if reduction.rows else None,
                units=_ints([len(u) for u in units]) if reduction.units else None,
                usable=tuple(_ints(usable) for usable, _, _ in summed),
                sums=tuple(_ints(total) for _, total, _ in summed),
                squares=tuple(
                    _ints(squares) if m.squares else None
                    for m, (_, _, squares) in zip(
                        reduction.measures, summed, strict=True
                    )
                ),
                occurrences=tuple(
                    self.tabulate(i, lattices[i], kept if by_row[i] else whole)
                    for i in range(len(summed), len(lattices))
                ),
            )
        )

    def tabulate(self, number: int, lattice: Lattice, rows: list[Row]) -> Occurrences:
        """How often each cell and integer occurs."""
        found = Counter(
            (cell, lattice.second_stage(steps))
            for cell, steps in self.terms(number, lattice, rows)
        )
        table = np.array(
            [(*key, times) for key, times in sorted(found.items())], dtype=np.int64
        ).reshape(-1, 3)
        return Occurrences(table[:, 0], table[:, 1:2], table[:, 2])

    def read(self, reduction: Reduction) -> list[Row]:
        """Rows with an owner and a cell, on their lattices."""
        keys, frame = reduction.keys, self.frame
        cells: Sequence[int] = [0] * frame.height
        if keys is not None:
            codes = [
                coding.code([_key(v) for v in frame[name].to_list()])
                for name, coding in zip(keys.columns, keys.codings, strict=True)
            ]
            cells = keys.cell_index(codes).tolist()
        rows = []
        for place, (cell, row) in enumerate(
            zip(cells, frame.rows(named=True), strict=True)
        ):
            by_row = reduction.unit.is_row
            unit = place if by_row else self.owner(row[reduction.unit.column])
            if unit is None or cell == DROPPED:
                continue
            steps = tuple(
                self.steps(row[m.column], m.lattice)
                if self.is_usable(row[m.column])
                else None
                for m in reduction.valued
            )
            rows.append(Row(unit, cell, steps))
        return rows

    def measure(self, number: int, lattice: Lattice, rows: list[Row], size: int) -> Any:
        """Usable count, sum and sum of squares of each cell."""
        usable, total, squares = [0] * size, [0] * size, [0] * size
        for cell, steps in self.terms(number, lattice, rows):
            k = lattice.second_stage(steps)
            usable[cell] += 1
            total[cell] += k
            squares[cell] += k * k
        return usable, total, squares

    def terms(self, number: int, lattice: Lattice, rows: list[Row]) -> list[Any]:
        """Cell and steps of what is summed: rows, or clipped totals of units."""
        seen = [
            (r.unit, r.cell, r.steps[number])
            for r in rows
            if r.steps[number] is not None
        ]
        if lattice.per == "row":
            return [(cell, steps) for _, cell, steps in seen]
        totals: dict[Any, int] = defaultdict(int)
        for unit, cell, steps in seen:
            totals[unit, cell] += steps or 0
        low, high = lattice.low_steps, lattice.high_steps
        return [(cell, min(max(t, low), high)) for (_, cell), t in totals.items()]

    def crosstab(
        self,
        crosstab: Crosstab,
        hash_key: bytes | None = None,
        also: Sequence[str] = (),
    ) -> Secret[Combinations]:
        self.key = random_bytes(16) if hash_key is None else hash_key
        unit, measures = crosstab.unit, crosstab.measures
        rows = []
        for place, row in enumerate(self.frame.rows(named=True)):
            owner = place if unit.is_row else self.owner(row[unit.column])
            if owner is None:
                continue
            cell = tuple(self.class_of(row[s.column], s) for s in crosstab.splits)
            steps = tuple(
                self.steps(row[m.column], m.lattice)
                if self.is_usable(row[m.column])
                else None
                for m in measures
            )
            last = tuple(split.classes.size - 1 for split in crosstab.splits)
            said = any(step is not None for step in steps) if measures else cell != last
            if crosstab.rows or said:
                rows.append(Row(owner, cell, steps))
        rows = self.bounded(rows, None, None if unit.is_row else unit.max_rows)
        groups = _by(lambda row: row.cell, rows)
        found = np.array(list(groups), dtype=np.int64).reshape(len(groups), -1)
        return Secret(
            Combinations(
                found.T.reshape(len(crosstab.splits), len(groups)),
                _ints([len(group) for group in groups.values()]),
                tuple(
                    _ints([sum(r.steps[i] or 0 for r in g) for g in groups.values()])
                    for i in range(len(measures))
                ),
            )
        )

    def class_of(self, value: Any, split: Split) -> int:
        classes = split.classes
        if not self.is_usable(value):
            return classes.size - 1
        if isinstance(classes, Cuts):
            return sum(point <= value for point in classes.points)
        known = dict(zip(classes.values, range(classes.size), strict=False))
        return known.get(value, classes.size - 2)

    def distinct(self, query: Distinct) -> Secret[int]:
        self.key = random_bytes(16)
        unit, values = query.unit, self.frame[query.column].to_list()
        if unit.is_row:
            owners: list[Any] = list(range(len(values)))
        else:
            owners = [self.owner(v) for v in self.frame[unit.column].to_list()]
        rows = [
            Row(owner, _key(value))
            for owner, value in zip(owners, values, strict=True)
            if owner is not None and self.is_usable(value)
        ]
        if query.listed is not None:
            codes = query.listed.code([row.cell for row in rows])
            rows = [r for r, c in zip(rows, codes, strict=True) if c != DROPPED]
        if not unit.is_row and query.column != unit.column:
            rows = list(dict.fromkeys(rows))
            rows = self.bounded(rows, unit.max_groups, unit.max_rows)
        return Secret(len({row.cell for row in rows}))


def _by(key: Any, rows: list[Row]) -> dict[Any, list[Row]]:
    found: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def _key(value: Any) -> Any:
    """One zero, and one missing value."""
    if isinstance(value, float):
        return None if value != value else value + 0.0
    return value


def _ints(values: list[int]) -> np.ndarray:
    fits = all(-(2**62) < v < 2**62 for v in values)
    return np.array(values, dtype=np.int64 if fits else object)


def _type(dtype: pl.DataType) -> ColumnType:
    if dtype.is_float():
        return ColumnType("float")
    if dtype.is_integer():
        return ColumnType("integer")
    return ColumnType("boolean" if dtype == pl.Boolean else "text")


def install(monkeypatch: Any, source: Any) -> None:
    """Let the verbs read frames by ``source`` in place of dpframe's engine."""
    for name in ("private", "register", "series"):
        # By name: `dpframe.accessor.private` is also the function.
        module = import_module(f"dpframe.accessor.{name}")
        monkeypatch.setattr(module, "ingest", source)
