"""Rows where predicates are true, counted from a table of classes.

Predicates are taken in batches. A batch sees the columns in the few classes that it
can tell apart itself, so that most combinations fall together before any predicate is
evaluated: 1,000 predicates over 1,000,000 combinations need seconds, not a minute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpframe.domain.coding import Codes
from dpframe.domain.schema import ColumnType
from dpframe.engines.partition import Partition, divide, marks
from dpframe.queries.predicates import Condition, Predicate

__all__ = ["Table", "count_true", "gather"]

#: Combinations of classes that one batch may tell apart.
_BATCH_CELLS = 2**16

Marked = dict[str, set[Any]]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows by combination of classes.

    ``classes`` has, of each column, the class of each combination. Rows are counted in
    float64, exactly: no frame has 2**53 of them.
    """

    classes: Mapping[str, Codes]
    rows: NDArray[np.float64]

    def merged(self, maps: Mapping[str, tuple[Codes, int]]) -> Table:
        """Send classes through maps (the new class of each, and how many); add up."""
        sizes = [size for _, size in maps.values()]
        cells = stride = prod(sizes)
        flat = np.zeros(len(self.rows), dtype=np.int32)
        for column, (new, size) in maps.items():
            stride //= size
            flat += gather((new * stride).astype(np.int32), self.classes[column])
        rows = np.bincount(flat, weights=self.rows, minlength=cells).astype(np.float64)
        kept = rows.nonzero()[0]
        classes = dict(zip(maps, np.unravel_index(kept, sizes), strict=True))
        return Table(classes, rows[kept])


def gather(by_class: NDArray[Any], classes: Codes) -> NDArray[Any]:
    """Look up each class; none is out of range, so clipping only spares a check."""
    return np.take(by_class, classes, mode="clip")


def count_true(
    predicates: Sequence[Predicate],
    table: Table,
    partitions: Mapping[str, Partition],
    types: Mapping[str, ColumnType],
) -> NDArray[np.int64]:
    """Count the rows where each predicate is true, shape (predicates,).

    Parameters
    ----------
    predicates : sequence of Predicate
        What is asked.
    table : Table
        Rows by class.
    partitions : mapping of str to Partition
        What the classes of each column mean.
    types : mapping of str to ColumnType
        The types of the columns.
    """
    counts = np.zeros(len(predicates), dtype=np.int64)
    for members, marked in _batches(predicates, types):
        batch = [predicates[i] for i in members]
        narrow, meaning = table, partitions
        if _repays(batch, marked):
            meaning = {name: divide(types[name], own) for name, own in marked.items()}
            narrow = table.merged(
                {
                    name: (partitions[name].onto(p), p.size)
                    for name, p in meaning.items()
                }
            )
        for i, predicate in zip(members, batch, strict=True):
            counts[i] = _count(predicate, narrow, meaning)
    return counts


def _count(
    predicate: Predicate, table: Table, partitions: Mapping[str, Partition]
) -> int:
    def where(condition: Condition, outcome: bool) -> NDArray[np.bool_]:
        by_class = partitions[condition.column].outcome(condition, outcome)
        return gather(by_class, table.classes[condition.column])

    return int(table.rows[predicate.where(where)].sum())


def _batches(
    predicates: Sequence[Predicate], types: Mapping[str, ColumnType]
) -> Iterator[tuple[list[int], Marked]]:
    """Group predicates over the same columns, as long as few classes tell them apart.

    With each batch comes what it tells apart in each column.
    """
    alike: dict[tuple[str, ...], list[int]] = {}
    for i, predicate in enumerate(predicates):
        alike.setdefault(tuple(sorted(predicate.columns)), []).append(i)
    for members in alike.values():
        batch: list[int] = []
        marked: Marked = {}
        for i in members:
            own = _marks(predicates[i], types)
            grown = {
                name: marked.get(name, set()) | found for name, found in own.items()
            }
            if batch and _cells(grown) > _BATCH_CELLS:
                yield batch, marked
                batch, grown = [], own
            batch, marked = [*batch, i], grown
        yield batch, marked


def _marks(predicate: Predicate, types: Mapping[str, ColumnType]) -> Marked:
    marked: Marked = {name: set() for name in predicate.columns}
    for condition in predicate.conditions:
        found = marks(condition, types[condition.column])
        marked[condition.column].update(found)
    return marked


def _cells(marked: Marked) -> int:
    """Return how many combinations can be told apart, at most."""
    return prod(len(found) + 2 for found in marked.values())


def _repays(batch: Sequence[Predicate], marked: Marked) -> bool:
    """Whether merging, a few steps for each column, saves more than it costs."""
    conditions = sum(len(predicate.conditions) for predicate in batch)
    return conditions > len(marked) + 2 and _cells(marked) <= _BATCH_CELLS
