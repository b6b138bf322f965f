"""The marginal of a junction tree on columns that no clique has all of.

Leaves that say nothing about the columns asked for are cut off; the rest is summed out
from the leaves to the root, each clique handing its parent a table over what they share
and the columns asked for that lie beyond (Koller and Friedman 2009, algorithm 10.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

import numpy as np

from dpframe.errors import DomainError
from dpframe.models.junction_tree import DENSE_CELLS, JunctionTree
from dpframe.models.table import Block, Sizes, Table, lift, project, size_of

__all__ = ["contract"]


def contract(
    tree: JunctionTree,
    tables: Sequence[Table],
    separators: Sequence[Table],
    block: Block,
) -> Table:
    """Return the marginal on ``block``.

    Parameters
    ----------
    tree : JunctionTree
        Which cliques.
    tables, separators : sequence of array
        Their marginals, and those on what each shares with its parent.
    block : tuple of str
        Columns in the order of the axes.

    Raises
    ------
    DomainError
        If a table on the way would have more than ``DENSE_CELLS`` cells.
    """
    home = tree.home(block)
    if home is not None:
        return project(tables[home], tree.cliques[home], block)
    kept = _pruned(tree, set(block))
    waiting: dict[int, list[tuple[Block, Table]]] = {i: [] for i in kept}
    for i in reversed(kept):
        clique, table = tree.cliques[i], tables[i]
        if i == kept[0]:
            break
        # Given the separator, so that the product over the tree is p.
        table = table / lift(separators[i], tree.separators[i], clique)
        up = {*block, *tree.separators[i]}
        message = _absorb(tree.sizes, (clique, table), waiting[i], up)
        waiting[tree.parents[i]].append(message)
    root = (tree.cliques[kept[0]], tables[kept[0]])
    return _absorb(tree.sizes, root, waiting[kept[0]], set(block))[1]


def _pruned(tree: JunctionTree, wanted: set[str]) -> list[int]:
    """Return the cliques of the least subtree that has the columns, parents first."""
    kept = set(range(len(tree.cliques)))
    while True:
        for i in kept:
            below = [j for j in kept if tree.parents[j] == i]
            above = [i] if tree.parents[i] in kept else []
            if len(below) + len(above) == 1:
                (edge,) = below + above
                if wanted.intersection(tree.cliques[i]) <= set(tree.separators[edge]):
                    kept.remove(i)
                    break
        else:
            return sorted(kept)


def _absorb(
    sizes: Sizes,
    own: tuple[Block, Table],
    messages: list[tuple[Block, Table]],
    kept: set[str],
) -> tuple[Block, Table]:
    """Multiply by messages; sum out what neither ``kept`` nor a later one needs."""
    block, table = own
    for i, (other, message) in enumerate(messages):
        needed = kept.union(*(later for later, _ in messages[i + 1 :]))
        joint = tuple(c for c in sizes if c in block or c in other)
        onto = tuple(c for c in joint if c in needed)
        if size_of(sizes, onto) > DENSE_CELLS:
            raise _too_large(sizes, onto)
        letter = dict(zip(joint, ascii_letters, strict=False))
        own_axes, other_axes, left = (
            "".join(letter[c] for c in columns) for columns in (block, other, onto)
        )
        table = np.einsum(f"{own_axes},{other_axes}->{left}", table, message)
        block = onto
    onto = tuple(c for c in block if c in kept)
    return onto, project(table, block, onto)


def _too_large(sizes: Sizes, block: Block) -> DomainError:
    named = ", ".join(f"{column!r} ({sizes[column]:,} cells)" for column in block)
    return DomainError(
        f"this marginal needs a table of {size_of(sizes, block):,} cells, and "
        f"{DENSE_CELLS:,} are the most: {named}. Ask for fewer columns, or declare "
        "fewer categories or wider bins for some of these."
    )
