"""Rows whose counts follow a distribution: by error diffusion, or drawn independently.

The cliques are visited from the root, and a clique's new columns are given to the rows
one by one, the largest first. Rows are grouped by the columns of the clique that they
have already; a group g of n_g rows takes the values of the new column a about
t = n_g p(a | g) times each, in random order.

Error diffusion makes t whole: a group gets the floors, and the rows left over go to the
values that are furthest behind, in the group itself and in all margins of measured
blocks that it belongs to. So a group errs by less than 1 in each cell, and its margins
do not add up the errors of the groups, as they do when each is rounded by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, final, get_args

import numpy as np
from numpy.typing import NDArray

from dpframe.errors import ParameterError, shown
from dpframe.models.beliefs import Beliefs
from dpframe.models.table import Block, Sizes, Table, lift, project, size_of

__all__ = ["Codes", "Method", "synthetic"]

Codes = NDArray[np.int32]
Integers = NDArray[np.int64]
Method = Literal["round", "sample"]

#: Targets so near to a whole number are whole: the rest is rounding of floats.
_WHOLE = 1e-9


def synthetic(
    beliefs: Beliefs,
    measured: Iterable[Block],
    n: int,
    *,
    seed: int | None = None,
    method: Method = "round",
) -> dict[str, Codes]:
    """Return ``n`` rows of codes that follow a distribution.

    Parameters
    ----------
    beliefs : Beliefs
        The distribution.
    measured : iterable of tuple of str
        The blocks whose counts are to stay near n times their marginals.
    n : int
        Number of rows, 0 or more.
    seed : int, optional
        Makes the rows reproducible; it has nothing to do with any noise.
    method : {"round", "sample"}
        Error diffusion, or independent draws.

    Returns
    -------
    dict of str to array of int32
        For each column the code of each row, shape (n,). Rows are in random order.

    Raises
    ------
    ParameterError
        If the method or the number of rows is none of these.
    """
    if method not in get_args(Method):
        msg = f"method must be 'round' or 'sample'; got {shown(method)}."
        raise ParameterError(msg)
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
        msg = f"n is a number of rows, 0 or more; got {shown(n)}."
        raise ParameterError(msg)
    generator = np.random.default_rng(seed)  # post-processing: no noise comes from it
    tree = beliefs.tree
    blocks = {*measured, *tree.separators}
    rows: dict[str, Codes] = {}
    for clique, shared, table in zip(
        tree.cliques, tree.separators, beliefs.tables, strict=True
    ):
        placed = shared
        for column in clique:
            if column in shared:
                continue
            groups = _Groups.of(tree.sizes, placed, rows, n)
            joint = tuple(c for c in clique if c in placed or c == column)
            last = np.moveaxis(project(table, clique, joint), joint.index(column), -1)
            chances = np.ascontiguousarray(last)
            if method == "sample":
                given = groups.given(chances)
                counts = generator.multinomial(groups.counts, given)
            else:
                margins = _margins(placed, column, blocks)
                order = generator.permutation(len(groups.cells))
                counts = _diffuse(groups, column, chances, margins, order)
            rows[column] = groups.deal(counts, generator.permutation(n))
            placed = joint
    return rows


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """Rows grouped by the columns that they have."""

    block: Block
    cells: Integers  # of each group that is not empty
    counts: Integers  # rows of each group
    members: NDArray[Any]  # the group of each row

    @classmethod
    def of(
        cls, sizes: Sizes, block: Block, rows: Mapping[str, Codes], n: int
    ) -> _Groups:
        cell_of_row = np.zeros(n, dtype=np.int64)
        for column in block:
            cell_of_row = cell_of_row * sizes[column] + rows[column]
        counts = np.bincount(cell_of_row, minlength=size_of(sizes, block))
        cells = np.flatnonzero(counts)
        # Of up to 2^16 groups numpy sorts the numbers in linear time.
        short = np.uint16 if len(cells) <= 2**16 else np.int32
        numbers = np.zeros(len(counts), dtype=short)
        numbers[cells] = np.arange(len(cells))
        return cls(block, cells, counts[cells], numbers[cell_of_row])

    def given(self, chances: Table) -> Table:
        """Return p(value | group), shape (groups, values)."""
        joint = chances.reshape(-1, chances.shape[-1])[self.cells]
        given: Table = joint / joint.sum(axis=1, keepdims=True)
        return given

    def deal(self, counts: Integers, shuffled: Integers) -> Codes:
        """Hand the values of each group to its rows, in the order ``shuffled``."""
        values = np.tile(np.arange(counts.shape[1], dtype=np.int32), len(counts))
        order = shuffled[np.argsort(self.members[shuffled], kind="stable")]
        codes = np.empty(len(order), dtype=np.int32)
        codes[order] = np.repeat(values, counts.ravel())
        return codes


def _margins(placed: Block, column: str, measured: Iterable[Block]) -> list[Block]:
    """Return the margins of ``placed`` whose joint counts with the column matter.

    None of the columns, and what measured blocks with the new column have of them. All
    of the columns are the group itself.
    """
    found = {tuple(c for c in placed if c in b) for b in measured if column in b}
    return sorted((found | {()}) - {placed})


def _diffuse(
    groups: _Groups,
    column: str,
    chances: Table,
    margins: Sequence[Block],
    order: Integers,
) -> Integers:
    """Return whole numbers less than 1 from their targets, with balanced margins.

    Groups come in a random ``order``: in that of the cells, the last groups of a margin
    would come in a row, and their margins could be balanced no more.
    """
    targets = groups.counts[:, None] * groups.given(chances)
    whole = np.floor(targets + _WHOLE)
    parts = np.maximum(targets - whole, 0.0)
    parts[parts < _WHOLE] = 0.0
    made = whole.astype(np.int64)
    missing = groups.counts - made.sum(axis=1)
    behind, places = _lacking(groups, column, chances, targets, margins)
    for g in order[missing[order] > 0]:
        part, own = parts[g], places[g]
        lacking = behind[own]
        # The cube makes the margin that is furthest behind count most.
        late = part + (lacking + lacking * lacking * lacking).sum(axis=0)
        late[part == 0] = -np.inf
        chosen = np.argpartition(late, -missing[g])[-missing[g] :]
        made[g, chosen] += 1
        behind[own] += part
        behind[own[:, None], chosen] -= 1
    return made


def _lacking(
    groups: _Groups,
    column: str,
    chances: Table,
    targets: Table,
    margins: Sequence[Block],
) -> tuple[Table, Integers]:
    """Return how many rows of each value the cells of the margins lack.

    Before any rounding: groups of too few or too many rows have their share of values
    only. The cells of all margins are numbered through; also returned is each group's
    cell in each margin.
    """
    lacking = chances * groups.counts.sum()
    shape, values = lacking.shape[:-1], lacking.shape[-1]
    lacking.reshape(-1, values)[groups.cells] -= targets
    behind = np.zeros((0, values))
    places = np.zeros((len(groups.cells), len(margins)), dtype=np.int64)
    for i, margin in enumerate(margins):
        own = project(lacking, (*groups.block, column), (*margin, column))
        numbers = np.arange(len(behind), len(behind) + own.size // values)
        lifted = lift(numbers.reshape(own.shape[:-1]), margin, groups.block)
        places[:, i] = np.broadcast_to(lifted, shape).ravel()[groups.cells]
        behind = np.concatenate([behind, own.reshape(-1, values)])
    return behind, places
