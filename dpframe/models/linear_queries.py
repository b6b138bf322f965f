"""Queries as weights on the cells of the columns that they read.

The answer to a linear query is a sum over cells: the proportion of rows in the cell
times its weight in [0, 1]. What is asked of the rows can be asked of a model so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, final

import numpy as np

from dpframe.domain.coding import Lookup
from dpframe.domain.domain import Domain
from dpframe.domain.keys import Keys
from dpframe.errors import DomainError, ParameterError, shown
from dpframe.models.conditions import mask
from dpframe.models.junction_tree import TREE_CELLS
from dpframe.models.table import Table, size_of
from dpframe.queries.blocks import Block, Cell, Marginal, Prefixes, Ranges, Weights
from dpframe.queries.cells import position_of
from dpframe.queries.column import Column
from dpframe.queries.predicates import Predicate
from dpframe.queries.workload import Workload

__all__ = ["LinearQuery", "answers_of", "as_linear", "block_of"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class LinearQuery:
    """Weights in [0, 1] on the cells over some columns.

    Parameters
    ----------
    columns : tuple of str
        Its support.
    weights : array
        An axis for each of the columns.
    """

    columns: tuple[str, ...]
    weights: Table

    def on_all(self, domain: Domain) -> Table:
        """Return a weight for each cell of the domain, last column fastest."""
        shape = [domain.coding(column).size for column in domain]
        lengths = dict(zip(self.columns, self.weights.shape, strict=True))
        own = [column for column in domain if column in lengths]
        weights = self.weights.transpose([self.columns.index(c) for c in own])
        lifted = weights.reshape([lengths.get(column, 1) for column in domain])
        return np.broadcast_to(lifted, shape).ravel()


def as_linear(query: Any, domain: Domain) -> LinearQuery:
    """Read a query that has one number for its answer.

    Parameters
    ----------
    query : Predicate, Weights, Cell or array
        An array has a weight for each cell of the domain, last column fastest.
    domain : Domain
        The public cells.

    Raises
    ------
    DomainError
        If a column has no cells, or its columns have more than ``TREE_CELLS``.
    ParameterError
        If it is no such query, does not fit the domain, or a weight is outside [0, 1].
    """
    if isinstance(query, Column):
        query = query.is_true()
    if isinstance(query, Workload) and len(query) == 1:
        query = query[0]
    if isinstance(query, (Predicate, Weights, Cell)):
        _check_size(query.columns, domain)
    if isinstance(query, Predicate):
        true = mask(query, domain, query.columns)
        return LinearQuery(query.columns, true.astype(np.float64))
    if isinstance(query, Weights):
        return _product(query, domain)
    if isinstance(query, Cell):
        return _one_cell(query, domain)
    if isinstance(query, (np.ndarray, list)):
        return _dense(query, domain)
    msg = (
        "the query needs one number for its answer: a predicate, weights, a cell, or "
        f"an array with a weight for each cell of the domain; got {shown(query)}."
    )
    raise ParameterError(msg)


def block_of(query: Any) -> Block | None:
    """Return the block that a query is, None if it has one number for its answer."""
    if isinstance(query, Workload) and len(query) == 1:
        query = query[0]
    if isinstance(query, str):
        query = Marginal((query,))
    return query if isinstance(query, (Marginal, Prefixes, Ranges)) else None


def answers_of(block: Block, marginal: Table, domain: Domain) -> Table:
    """Return all answers of a block from the marginal on its columns.

    Parameters
    ----------
    block : Marginal, Prefixes or Ranges
        What is asked.
    marginal : array
        Of its columns, in their order.
    domain : Domain
        The public cells.

    Raises
    ------
    ParameterError
        If a column without order is asked for prefixes or ranges.
    """
    if isinstance(block, Marginal):
        return marginal.flatten()
    upto = np.cumsum(marginal[: _ordered_cells(block.columns[0], domain)])
    if isinstance(block, Prefixes):
        return upto
    first, last = np.triu_indices(len(upto))
    ranges: Table = upto[last] - (upto - marginal[: len(upto)])[first]
    return ranges


def _product(query: Weights, domain: Domain) -> LinearQuery:
    for column, table in query.tables:
        size = domain.coding(column).size
        if len(table) != size:
            other = ", the other cell last" if domain.coding(column).other else ""
            msg = (
                f"{column!r} has {size:,} cells in the domain, and weights lists "
                f"{len(table):,}; give one weight for each cell, in their order{other}."
            )
            raise ParameterError(msg)
    tables = [np.array(table) for _, table in query.tables]
    return LinearQuery(query.columns, reduce(np.multiply.outer, tables))


def _one_cell(query: Cell, domain: Domain) -> LinearQuery:
    block, columns = query.block, query.columns
    keys = Keys.resolve(columns, domain=domain)
    position = None
    if isinstance(block, (Marginal, Prefixes, Ranges)):
        position = position_of(block, keys, query.key)
    if position is None:
        msg = f"{query!r} is no cell of the model's domain; ask with a key it lists."
        raise ParameterError(msg)
    weights = np.zeros(keys.radix)
    if isinstance(block, Marginal):
        weights.flat[position] = 1
        return LinearQuery(columns, weights)
    size = _ordered_cells(columns[0], domain)
    first, last = 0, position
    if isinstance(block, Ranges):
        first, last = (int(ends[position]) for ends in np.triu_indices(size))
    weights[first : last + 1] = 1
    return LinearQuery(columns, weights)


def _dense(query: Any, domain: Domain) -> LinearQuery:
    shape = [domain.coding(column).size for column in domain]
    try:
        weights = np.asarray(query, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.array(np.nan)
    inside = (weights >= 0) & (weights <= 1)
    if weights.size != domain.size or not inside.all():
        msg = (
            f"a query given as an array has a weight from 0 to 1 for each of the "
            f"{domain.size or 0:,} cells of the domain, last column fastest."
        )
        raise ParameterError(msg)
    return LinearQuery(domain.columns, weights.reshape(shape))


def _ordered_cells(column: str, domain: Domain) -> int:
    coding = domain.coding(column)
    if isinstance(coding, Lookup):
        msg = (
            f"{column!r} is declared by a list, which has no order; ask for marginals, "
            "or declare dpf.integers, dpf.edges or dpf.dates."
        )
        raise ParameterError(msg)
    return coding.size - coding.other


def _check_size(columns: Sequence[str], domain: Domain) -> None:
    sizes = {column: domain.coding(column).size for column in columns}
    if size_of(sizes, sizes) > TREE_CELLS:
        named = ", ".join(f"{column!r} ({size:,})" for column, size in sizes.items())
        msg = (
            f"the query reads {size_of(sizes, sizes):,} cells, and {TREE_CELLS:,} are "
            f"the most: {named}. Declare fewer categories or wider bins for some of "
            "these, or ask about fewer columns."
        )
        raise DomainError(msg)
