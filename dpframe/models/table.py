"""Marginals of one dense table, all in one sweep, and the adjoint of that sweep.

A marginal is reached by summing one axis after the other, and marginals share their
way: a new one starts from the smallest table on an older way that has all its columns,
so only a few sums run over the whole table. The adjoint walks the same tree upwards: a
number for each cell of each marginal is spread over all cells below it, and added up.

Columns stand in one order everywhere in this room. A *block* is a tuple of columns in
that order, and the axes of its table are its columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Block", "MarginalTree", "Sizes", "Table", "lift", "project", "size_of"]

Table = NDArray[np.float64]
Block = tuple[str, ...]

#: Cells of each column, in the order of the axes; the largest first is the fastest.
Sizes = Mapping[str, int]


def size_of(sizes: Sizes, columns: Iterable[str]) -> int:
    """Return the number of cells over ``columns``, a Python integer of any size."""
    return prod(sizes[column] for column in columns)


def project(table: Table, block: Block, onto: Block) -> Table:
    """Sum a table over ``block`` down to ``onto``, some of its columns."""
    axis = 0
    for column in block:
        if column in onto:
            axis += 1
        else:
            table = _drop(table, axis)
    return table


def lift(table: Table, block: Block, onto: Block) -> Table:
    """View a table over ``block`` with an axis of length 1 for each other column."""
    lengths = dict(zip(block, table.shape, strict=True))
    return table.reshape([lengths.get(column, 1) for column in onto])


@final
class MarginalTree:
    """Which sums lead from one table to the marginals asked for.

    Parameters
    ----------
    sizes : mapping of str to int
        Cells of each column.
    block : tuple of str
        Columns of the whole table.
    targets : tuple of tuple of str
        Columns of each marginal, parts of ``block``, each once.
    """

    __slots__ = ("_axes", "_places", "_shape", "_sources")

    def __init__(self, sizes: Sizes, block: Block, targets: tuple[Block, ...]) -> None:
        self._shape = tuple(sizes[column] for column in block)
        nodes = [block]
        self._sources = [-1]  # node 0 is the table itself; each node's parent
        self._axes = [-1]  # and the axis of the parent that is summed
        for target in sorted(targets, key=len, reverse=True):
            wanted = set(target)
            at = min(
                (i for i, node in enumerate(nodes) if wanted.issubset(node)),
                key=lambda i: size_of(sizes, nodes[i]),
            )
            while len(nodes[at]) > len(target):
                axis = next(i for i, c in enumerate(nodes[at]) if c not in wanted)
                nodes.append(nodes[at][:axis] + nodes[at][axis + 1 :])
                self._sources.append(at)
                self._axes.append(axis)
                at = len(nodes) - 1
        self._places = [nodes.index(target) for target in targets]

    @classmethod
    @lru_cache(maxsize=256)
    def of(
        cls, sizes: tuple[tuple[str, int], ...], targets: tuple[Block, ...]
    ) -> MarginalTree:
        """Return the tree of a table with these columns; rounds of a fit share it."""
        return cls(dict(sizes), tuple(column for column, _ in sizes), targets)

    def marginals(self, table: Table) -> list[Table]:
        """Return the marginals of ``table``, in the order of the targets."""
        nodes = [table]
        for source, axis in zip(self._sources[1:], self._axes[1:], strict=True):
            nodes.append(_drop(nodes[source], axis))
        return [nodes[place] for place in self._places]

    def spread(self, parts: Sequence[Table]) -> Table:
        """Return the adjoint: in each cell, the sum of its numbers in all ``parts``."""
        nodes: list[Table | None] = [None] * len(self._sources)
        for place, part in zip(self._places, parts, strict=True):
            nodes[place] = part
        for i in range(len(nodes) - 1, 0, -1):
            below, source = nodes[i], self._sources[i]
            assert below is not None  # every way ends at a target
            above, so_far = np.expand_dims(below, self._axes[i]), nodes[source]
            nodes[source] = above if so_far is None else so_far + above
        spread = nodes[0]
        return np.broadcast_to(0.0 if spread is None else spread, self._shape)


def _drop(table: Table, axis: int) -> Table:
    """Sum over one axis. numpy's own sum is up to ten times slower on short axes."""
    shape = table.shape
    left, length, right = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    dropped: Table = np.einsum("lkr->lr", table.reshape(left, length, right))
    return dropped.reshape(shape[:axis] + shape[axis + 1 :])
