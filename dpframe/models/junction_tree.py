"""Junction trees: which small tables hold a distribution over very many cells.

A distribution fitted to the marginals on some blocks is a product of one factor for
each block. Eliminating the columns one after the other, each time the one whose
neighbors span the fewest cells, gives a chordal graph; its cliques, joined by a
spanning tree of largest separators, have the running intersection property: a column
is in all cliques on the way between two that have it [1]_.

References
----------
.. [1] Koller and Friedman (2009), Probabilistic Graphical Models, section 9.4.3 for
   the order, theorem 4.12 and corollary 10.1 for the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

from dpframe.errors import DomainError
from dpframe.models.table import Block, Sizes, size_of

__all__ = ["DENSE_CELLS", "TREE_CELLS", "JunctionTree", "tree_cells"]

#: Cells of one dense table, and of all cliques of a tree, at most. A fit of as many
#: takes some ten seconds.
DENSE_CELLS = 2**22
TREE_CELLS = 2**19

_LISTED = 6  # columns that an error names


@final
@dataclass(frozen=True)
class JunctionTree:
    """Cliques of columns, each but the first hung on an earlier one.

    Parameters
    ----------
    sizes : mapping of str to int
        Cells of each column, in the order of the axes.
    cliques : tuple of tuple of str
        Every column is in at least one; the first is the root.
    parents : tuple of int
        The clique that each hangs on, an earlier one; -1 of the root.
    """

    sizes: Sizes
    cliques: tuple[Block, ...]
    parents: tuple[int, ...]

    @classmethod
    def build(cls, sizes: Sizes, blocks: Iterable[Block]) -> JunctionTree:
        """Return a tree with every block inside a clique.

        One clique of all columns where that is no larger.

        Raises
        ------
        DomainError
            If the tree is above ``TREE_CELLS`` and the dense table above
            ``DENSE_CELLS``; it names the columns to coarsen.
        """
        cliques = _cliques(sizes, blocks)
        cells = sum(size_of(sizes, clique) for clique in cliques)
        if size_of(sizes, sizes) <= cells:
            cliques = [tuple(sizes)]
        if cells > TREE_CELLS and size_of(sizes, sizes) > DENSE_CELLS:
            raise _too_large(sizes, cliques, cells)
        return cls(dict(sizes), *_span(sizes, cliques))

    @property
    def cells(self) -> int:
        """Cells of all cliques together."""
        return sum(size_of(self.sizes, clique) for clique in self.cliques)

    @cached_property
    def separators(self) -> tuple[Block, ...]:
        """Columns that each clique shares with its parent; none of the root."""
        return tuple(
            _in_order(clique, set(self.cliques[up]) if up >= 0 else set())
            for clique, up in zip(self.cliques, self.parents, strict=True)
        )

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Steps from each clique to the root."""
        depths: list[int] = []
        for up in self.parents:
            depths.append(depths[up] + 1 if up >= 0 else 0)
        return tuple(depths)

    def home(self, columns: Iterable[str]) -> int | None:
        """Return the smallest clique that has all ``columns``, None if none has."""
        wanted = set(columns)
        holding = [i for i, c in enumerate(self.cliques) if wanted.issubset(c)]
        cells = {i: size_of(self.sizes, self.cliques[i]) for i in holding}
        return min(holding, key=cells.__getitem__, default=None)


def tree_cells(sizes: Sizes, blocks: Iterable[Block]) -> int:
    """Return the cells that a tree over ``blocks`` needs, without building it."""
    cells = sum(size_of(sizes, clique) for clique in _cliques(sizes, blocks))
    return min(cells, size_of(sizes, sizes))


def _cliques(sizes: Sizes, blocks: Iterable[Block]) -> list[Block]:
    """Eliminate columns by least weight; return the maximal cliques made on the way.

    Sets of columns are bits of integers here: a strategy tries thousands of trees.
    """
    bit = {column: 1 << i for i, column in enumerate(sizes)}
    lengths = list(sizes.values())
    neighbors = {i: 1 << i for i in range(len(lengths))}
    for block in blocks:
        joined = sum(bit[column] for column in block)
        for column in block:
            neighbors[bit[column].bit_length() - 1] |= joined
    weights = {i: _weight(lengths, around) for i, around in neighbors.items()}
    found: list[int] = []
    while neighbors:
        out = min(weights, key=weights.__getitem__)
        clique = neighbors.pop(out)
        del weights[out]
        if not any(clique & larger == clique for larger in found):
            found.append(clique)
        for i in neighbors:
            if clique >> i & 1:
                neighbors[i] = (neighbors[i] | clique) & ~(1 << out)
                weights[i] = _weight(lengths, neighbors[i])
    return [tuple(c for c in sizes if bit[c] & clique) for clique in found]


def _weight(lengths: Sequence[int], columns: int) -> int:
    weight = 1
    while columns:
        lowest = columns & -columns
        weight *= lengths[lowest.bit_length() - 1]
        columns ^= lowest
    return weight


def _span(
    sizes: Sizes, cliques: Sequence[Block]
) -> tuple[tuple[Block, ...], tuple[int, ...]]:
    """Join cliques by Prim's algorithm, largest separators first.

    Starts from the largest clique; among equal separators the shallowest parent. An
    empty separator joins what is independent.
    """
    left = sorted(cliques, key=lambda clique: (-size_of(sizes, clique), clique))
    placed, parents, depths = [left.pop(0)], [-1], [0]
    while left:
        _, up, clique = max(
            (
                ((len(set(clique).intersection(above)), -depths[i]), i, clique)
                for i, above in enumerate(placed)
                for clique in left
            ),
            key=lambda found: found[0],
        )
        left.remove(clique)
        placed.append(clique)
        parents.append(up)
        depths.append(depths[up] + 1)
    return tuple(placed), tuple(parents)


def _in_order(block: Block, kept: set[str]) -> Block:
    return tuple(column for column in block if column in kept)


def _too_large(sizes: Sizes, cliques: Sequence[Block], cells: int) -> DomainError:
    largest = max(cliques, key=lambda clique: size_of(sizes, clique))
    coarsest = sorted(largest, key=sizes.__getitem__, reverse=True)[:_LISTED]
    named = ", ".join(f"{column!r} ({sizes[column]:,} cells)" for column in coarsest)
    return DomainError(
        f"the blocks need a junction tree of {cells:,} cells, and {TREE_CELLS:,} are "
        f"the most. Its largest clique joins {named}"
        f"{' and more' if len(largest) > _LISTED else ''}. Declare fewer categories or "
        "wider bins for some of these, or ask for fewer combinations of them."
    )
