"""A distribution on a junction tree, held as the marginals of its cliques.

p(x) is the product of the clique marginals divided by that of the separator marginals.
Multiplying p by factors on cliques changes the marginals of others, too: one pass of
messages up the tree and one down again brings all of them up to date [1]_.

References
----------
.. [1] Lauritzen and Spiegelhalter (1988), Local computations with probabilities on
   graphical structures, section 5; the messages are theirs divided by the old
   separators (Jensen, Lauritzen and Olesen 1990).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from dpframe.models.contraction import contract
from dpframe.models.junction_tree import JunctionTree
from dpframe.models.table import Block, MarginalTree, Sizes, Table, lift, project

__all__ = ["Beliefs", "Sweep"]

#: Probabilities stay above it, so that none is lost for good and no message is 0 / 0.
_FLOOR = 1e-250

#: An exponent's greatest range in one go; e to this power is far from the floor.
_RANGE = 200.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """A distribution that a junction tree can hold.

    Parameters
    ----------
    tree : JunctionTree
        Which cliques.
    tables : tuple of array
        The marginal of each clique.
    separators : tuple of array
        The marginal on what each clique shares with its parent.
    """

    tree: JunctionTree
    tables: tuple[Table, ...]
    separators: tuple[Table, ...]

    @classmethod
    def product(
        cls, tree: JunctionTree, factors: Iterable[tuple[Block, Table]] = ()
    ) -> Beliefs:
        """Return the distribution proportional to a product of factors.

        Parameters
        ----------
        tree : JunctionTree
            Every factor's columns are in one of its cliques.
        factors : iterable of (tuple of str, array)
            Conditional probabilities, or others up to about 1; none is uniform.
        """
        sizes = tree.sizes
        tables = [np.ones([sizes[c] for c in clique]) for clique in tree.cliques]
        for block, factor in factors:
            home = tree.home(block)
            assert home is not None
            tables[home] = tables[home] * lift(factor, block, tree.cliques[home])
        ones = [np.ones([sizes[c] for c in block]) for block in tree.separators]
        return _calibrated(tree, [np.maximum(t, _FLOOR) for t in tables], ones)

    @property
    def factors(self) -> list[tuple[Block, Table]]:
        """Factors whose product it is: each clique given its separator."""
        return [
            (clique, table / lift(separator, block, clique))
            for clique, table, block, separator in zip(
                self.tree.cliques,
                self.tables,
                self.tree.separators,
                self.separators,
                strict=True,
            )
        ]

    def tilted(self, exponents: Sequence[Table | None], scale: float = 1.0) -> Beliefs:
        """Return the distribution proportional to p times e^(scale * exponents).

        Parameters
        ----------
        exponents : sequence of array or None
            One for each clique, as `Sweep.spread` makes them.
        scale : float
            Multiplies all of them.
        """
        tables = list(self.tables)
        for i, exponent in enumerate(exponents):
            if exponent is not None:
                tables[i] = _tilt(tables[i], exponent, scale)
        return _calibrated(self.tree, tables, list(self.separators))

    def tilted_far(self, exponents: Sequence[Table | None]) -> Beliefs:
        """Do the same in as many steps as floats need for exponents of any size."""
        ranges = [float(np.ptp(e)) for e in exponents if e is not None]
        steps = max(1, int(np.ceil(max(ranges, default=0.0) / _RANGE)))
        beliefs = self
        for _ in range(steps):
            beliefs = beliefs.tilted(exponents, 1 / steps)
        return beliefs

    def marginal(self, block: Block) -> Table:
        """Return the marginal on any columns, in the order of the axes.

        Raises
        ------
        DomainError
            If a table on the way would be too large.
        """
        return contract(self.tree, self.tables, self.separators, block)


@final
class Sweep:
    """Marginals of chosen blocks, each from the smallest clique that has it.

    Parameters
    ----------
    tree : JunctionTree
        Every block is in one of its cliques.
    blocks : sequence of tuple of str
        The blocks, each once.
    """

    __slots__ = ("_members", "_trees")

    def __init__(self, tree: JunctionTree, blocks: Sequence[Block]) -> None:
        self._members: list[list[int]] = [[] for _ in tree.cliques]
        for i, block in enumerate(blocks):
            home = tree.home(block)
            assert home is not None
            self._members[home].append(i)
        self._trees = [
            MarginalTree.of(_sizes(tree.sizes, clique), tuple(blocks[i] for i in own))
            for clique, own in zip(tree.cliques, self._members, strict=True)
        ]

    def marginals(self, beliefs: Beliefs) -> list[Table]:
        """Return the marginals, in the order of the blocks."""
        found: dict[int, Table] = {}
        for own, tree, table in zip(
            self._members, self._trees, beliefs.tables, strict=True
        ):
            found.update(zip(own, tree.marginals(table), strict=True))
        return [found[i] for i in range(len(found))]

    def spread(self, parts: Sequence[Table]) -> list[Table | None]:
        """Return for each clique, cell by cell, the sum of its blocks' numbers."""
        return [
            tree.spread([parts[i] for i in own]) if own else None
            for own, tree in zip(self._members, self._trees, strict=True)
        ]


def _tilt(table: Table, exponent: Table, scale: float) -> Table:
    shifted = exponent * scale
    shifted -= shifted.max()
    tilted: Table = np.exp(shifted, out=shifted)
    tilted *= table
    return np.maximum(tilted, _FLOOR, out=tilted)


def _calibrated(
    tree: JunctionTree, tables: list[Table], separators: list[Table]
) -> Beliefs:
    """Pass messages up and down; ``separators`` are those of before the change."""
    cliques, shared = tree.cliques, tree.separators
    for i in range(len(cliques) - 1, 0, -1):
        up = tree.parents[i]
        message = project(tables[i], cliques[i], shared[i])
        gain = lift(message / separators[i], shared[i], cliques[up])
        tables[up] = tables[up] * gain
        separators[i] = message
    total = tables[0].sum()
    tables[0] = tables[0] / total
    separators[0] = np.ones(())
    for i in range(1, len(cliques)):
        up = tree.parents[i]
        message = project(tables[up], cliques[up], shared[i])
        gain = lift(message / separators[i], shared[i], cliques[i])
        tables[i] = tables[i] * gain
        separators[i] = message
    return Beliefs(tree, tuple(tables), tuple(separators))


def _sizes(sizes: Sizes, clique: Block) -> tuple[tuple[str, int], ...]:
    return tuple((column, sizes[column]) for column in clique)
