"""`Listing`: the public names of the answers to a list of queries."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, final

from dpframe.domain.keys import Keys
from dpframe.queries.blocks import Cell, Marginal, Query, SumBy, Weights
from dpframe.queries.cells import count_cells, label_of, text_of
from dpframe.queries.predicates import Predicate

__all__ = ["Entry", "Listing"]


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """A query and, where it has one answer for each cell, its public cells."""

    query: Query
    keys: Keys | None = None

    @property
    def size(self) -> int:
        """Number of answers."""
        if isinstance(self.query, (Predicate, Weights, Cell)):
            return 1
        return count_cells(self.query, self.keys)

    def describe(self) -> dict[str, object]:
        """Return the query and its cells."""
        keys = {} if self.keys is None else {"keys": self.keys.describe()}
        return self.query.describe() | keys


@final
@dataclass(frozen=True, slots=True)
class Listing:
    """The names of k answers, in order: arguments and domain, never data.

    Parameters
    ----------
    entries : tuple of Entry
        The queries in their order.
    """

    entries: tuple[Entry, ...]
    _ends: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ends = tuple(accumulate(entry.size for entry in self.entries))
        object.__setattr__(self, "_ends", ends)

    @property
    def keys(self) -> Keys | None:
        """The cells, where the answers are one block with one answer for each."""
        entry = self.entries[0]
        alone = len(self.entries) == 1 and isinstance(entry.query, (Marginal, SumBy))
        return entry.keys if alone else None

    def __len__(self) -> int:
        return self._ends[-1]

    def label(self, i: int) -> Any:
        """Return the name of answer ``i``.

        Where all answers are one block of cells, the key itself; else the query, and
        for a cell of a block a query that names it.
        """
        query, keys, cell = self._answer(i)
        if keys is None or isinstance(query, (Predicate, Weights, Cell)):
            return query
        label = label_of(query, keys, cell)
        named = self.keys is None
        return Cell(query, label, text_of(query, keys, cell)) if named else label

    def text(self, i: int) -> str:
        """Return the name of answer ``i`` in a few words."""
        query, keys, cell = self._answer(i)
        if keys is None or isinstance(query, (Predicate, Weights, Cell)):
            return repr(query)
        return text_of(query, keys, cell)

    def describe(self) -> list[dict[str, object]]:
        """Return queries and cells as canonical, JSON-able values."""
        return [entry.describe() for entry in self.entries]

    def _answer(self, i: int) -> tuple[Query, Keys | None, int]:
        """Return the query that answer ``i`` belongs to, its cells, and which one."""
        if not 0 <= i < len(self):
            msg = f"there are {len(self):,} answers, and none has the number {i:,}."
            raise IndexError(msg)
        at = bisect_right(self._ends, i)
        entry = self.entries[at]
        return entry.query, entry.keys, i - (self._ends[at] - entry.size)
