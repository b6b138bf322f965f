"""Answers of many queries from one cross-tabulation, in exact integers.

The columns of all queries are divided once, the engine tabulates once, and each query
is read off the combinations of classes that occur.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpframe.domain.coding import DROPPED, Codes, Coding
from dpframe.domain.keys import Keys
from dpframe.domain.schema import ColumnType, Schema
from dpframe.engines.partition import Partition, divide, marks
from dpframe.mechanisms.counting import Table, count_true, gather
from dpframe.mechanisms.parts import WEIGHT_STEPS, Part
from dpframe.privacy.unit import Unit
from dpframe.queries.blocks import Block, Prefixes, Ranges, SumBy, Weights
from dpframe.queries.cells import ordered_cells
from dpframe.queries.predicates import Predicate
from dpframe.queries.reduction import Crosstab, Measure, Split
from dpframe.secret import Combinations

__all__ = ["Tabulation"]

Integers = NDArray[Any]

_LIMB = 2**32


@final
@dataclass(frozen=True, slots=True, eq=False)
class Tabulation:
    """How the columns of some queries are divided, and what the engine is told.

    Parameters
    ----------
    crosstab : Crosstab
        What the engine is told.
    partitions : mapping of str to Partition
        The divided columns.
    types : mapping of str to ColumnType
        Their types.
    """

    crosstab: Crosstab
    partitions: Mapping[str, Partition]
    types: Mapping[str, ColumnType]

    @classmethod
    def of(cls, parts: Sequence[Part], unit: Unit, schema: Schema) -> Tabulation:
        """Divide each column by all that the queries ask of it."""
        # Dictionaries, not sets: the order of classes must not differ between runs.
        marked: dict[str, dict[Any, None]] = {}
        codings: dict[str, dict[Coding, None]] = {}
        measures: dict[Measure, None] = {}
        for part in parts:
            block = part.block
            conditions = block.conditions if isinstance(block, Predicate) else ()
            for condition in conditions:
                found = marks(condition, schema[condition.column])
                marked.setdefault(condition.column, {}).update(dict.fromkeys(found))
            for column, coding in part.codings:
                codings.setdefault(column, {})[coding] = None
            if part.lattice is not None:
                measures[_measure(part)] = None
        types = {column: schema[column] for column in {**marked, **codings}}
        partitions = {
            column: divide(type_, marked.get(column, ()), codings.get(column, ()))
            for column, type_ in types.items()
        }
        splits = tuple(Split(name, p.classes) for name, p in partitions.items())
        rows = any(part.lattice is None for part in parts)
        crosstab = Crosstab(unit, splits, rows, tuple(measures))
        return cls(crosstab, partitions, types)

    def answers(self, parts: Sequence[Part], found: Combinations) -> list[Integers]:
        """Return the answers of each part, each in its own steps."""
        classes = dict(zip(self.partitions, found.classes, strict=True))
        table = Table(classes, found.rows.astype(np.float64))
        predicates = [p.block for p in parts if isinstance(p.block, Predicate)]
        counts = count_true(predicates, table, self.partitions, self.types)
        counted = iter(counts.reshape(-1, 1))
        blocks: dict[Block, Integers] = {}
        narrow: dict[tuple[str, ...], Table] = {}
        answers = []
        for part in parts:
            block = part.block
            if isinstance(block, Predicate):
                answers.append(next(counted))
            elif isinstance(block, Weights):
                if block.columns not in narrow:
                    narrow[block.columns] = self._narrowed(table, block.columns)
                answers.append(self._weigh(block, part, narrow[block.columns]))
            else:
                if block not in blocks:
                    blocks[block] = self._block(block, part, table, found)
                cell = part.cell
                one = slice(None) if cell is None else slice(cell, cell + 1)
                answers.append(blocks[block][one])
        return answers

    def _block(
        self, block: Block, part: Part, table: Table, found: Combinations
    ) -> Integers:
        """Return all answers of a block."""
        cells = self._cells(part.keys, table)
        if part.lattice is not None:
            sums = found.sums[self.crosstab.measures.index(_measure(part))]
            return _sums(cells, sums, 1 if part.keys is None else part.keys.size)
        assert part.keys is not None
        listed = cells != DROPPED
        counted = np.bincount(
            cells[listed], weights=table.rows[listed], minlength=part.keys.size
        ).astype(np.int64)
        return _runs(block, counted, part.keys)

    def _cells(self, keys: Keys | None, table: Table) -> Codes:
        """Return the public cell of each combination."""
        if keys is None:
            return np.zeros(len(table.rows), dtype=np.int64)
        return keys.cell_index(
            [
                gather(self.partitions[column].codes(coding), table.classes[column])
                for column, coding in zip(keys.columns, keys.codings, strict=True)
            ]
        )

    def _narrowed(self, table: Table, columns: Sequence[str]) -> Table:
        """Leave other columns out, where few combinations are left then."""
        sizes = {column: self.partitions[column].size for column in columns}
        if prod(sizes.values()) > len(table.rows):
            return table
        return table.merged({c: (np.arange(size), size) for c, size in sizes.items()})

    def _weigh(self, query: Weights, part: Part, table: Table) -> Integers:
        """Weigh each combination once, in whole steps."""
        product = np.ones(len(table.rows))
        tables = zip(part.codings, query.tables, strict=True)
        for (column, coding), (_, weights) in tables:
            by_code = np.array([*weights, 0.0])  # the last one is for DROPPED
            codes = self.partitions[column].codes(coding)
            product *= gather(by_code[codes], table.classes[column])
        steps = np.floor(product * WEIGHT_STEPS + 0.5).astype(np.int64)
        return np.array([(steps * table.rows.astype(np.int64)).sum()])


def _measure(part: Part) -> Measure:
    assert isinstance(part.block, SumBy)
    assert part.lattice is not None
    return Measure(part.block.column, part.lattice)


def _sums(cells: Codes, sums: Integers, size: int) -> Integers:
    """Add up by cell, exactly: Python integers."""
    listed = cells != DROPPED
    cells, sums = cells[listed], sums[listed]
    if sums.dtype == object:
        total = np.zeros(size, dtype=object)
        np.add.at(total, cells, sums)
        return total
    high, low = np.zeros((2, size), dtype=np.int64)
    np.add.at(high, cells, sums // _LIMB)
    np.add.at(low, cells, sums % _LIMB)
    return high.astype(object) * _LIMB + low


def _runs(block: Block, counted: Integers, keys: Keys) -> Integers:
    """Add up runs of cells, where these are what is asked."""
    if not isinstance(block, (Prefixes, Ranges)):
        return counted
    upto = counted[: ordered_cells(keys)].cumsum()
    if isinstance(block, Prefixes):
        return upto
    first, last = np.triu_indices(len(upto))
    before: Integers = upto - counted[: len(upto)]
    return upto[last] - before[first]
