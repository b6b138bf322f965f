"""`Distribution`: proportions of rows over the cells of a domain, as a public value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from dpframe.domain.domain import Domain
from dpframe.errors import DomainError, ParameterError, shown
from dpframe.models.beliefs import Beliefs
from dpframe.models.junction_tree import DENSE_CELLS, JunctionTree
from dpframe.models.linear_queries import answers_of, as_linear, block_of
from dpframe.models.table import Block, Table, size_of

__all__ = ["Distribution", "axis_sizes"]

#: How far printed proportions may add up from 1.
_PRINTED = 1e-3


@final
class Distribution:
    """Proportions of rows over the cells of a domain.

    Held as one table, or, over domains of up to 10^17 cells and more, as the cliques
    of a junction tree. It was made of public or released values, so all of it is
    public.

    Parameters
    ----------
    domain : Domain
        The public cells; every column has some.
    cells : array, optional
        The proportion of each cell, last column fastest, in any shape; their sum is 1,
        up to the rounding of printed numbers. Uniform if not given.
    total : float, optional
        N, how many rows it stands for.

    Raises
    ------
    DomainError
        If a column is declared by bounds alone, or ``cells`` are more than 2**22.
    ParameterError
        If the cells are not one number >= 0 for each, or do not add up to 1, or the
        total is not positive.

    Examples
    --------
    >>> from dpframe import Domain, col
    >>> from dpframe.multiplicative_weights import Distribution
    >>> p = Distribution(Domain({"a": [0, 1], "b": [0, 1]}), [0.1, 0.2, 0.3, 0.4])
    >>> p.marginal("b")
    array([0.4, 0.6])
    >>> round(p.answer((col("a") == 1) | (col("b") == 1)), 9)
    0.9
    """

    __slots__ = ("_beliefs", "_domain", "_total")

    _beliefs: Beliefs
    _domain: Domain
    _total: float | None

    def __init__(
        self,
        domain: Domain,
        cells: ArrayLike | None = None,
        *,
        total: float | None = None,
    ) -> None:
        sizes = axis_sizes(domain)
        if total is not None and not 0 < total < np.inf:
            msg = f"total is a positive number of rows; got {shown(total)}."
            raise ParameterError(msg)
        if cells is None:
            beliefs = Beliefs.product(JunctionTree.build(sizes, []))
        else:
            table = _in_axis_order(_read_cells(domain, cells), domain.columns, sizes)
            tree = JunctionTree.build(sizes, [tuple(sizes)])
            beliefs = Beliefs(tree, (table,), (np.ones(()),))
        self._set(domain, beliefs, total)

    @classmethod
    def of(cls, domain: Domain, beliefs: Beliefs, total: float | None) -> Distribution:
        """Return the distribution that a junction tree holds."""
        distribution = cls.__new__(cls)
        distribution._set(domain, beliefs, total)
        return distribution

    def _set(self, domain: Domain, beliefs: Beliefs, total: float | None) -> None:
        object.__setattr__(self, "_domain", domain)
        object.__setattr__(self, "_beliefs", beliefs)
        object.__setattr__(self, "_total", total)

    def __setattr__(self, name: str, value: object) -> None:
        msg = "a Distribution is fixed; update() and fit() return new ones."
        raise AttributeError(msg)

    @property
    def domain(self) -> Domain:
        """Whose cells."""
        return self._domain

    @property
    def beliefs(self) -> Beliefs:
        """The junction tree that holds it."""
        return self._beliefs

    @property
    def total(self) -> float | None:
        """N, how many rows it stands for; None if nothing said so."""
        return self._total

    @property
    def cells(self) -> Table:
        """The proportion of every cell, last column fastest, shape (domain.size,).

        Row i of ``domain.cells()`` names cell i.

        Raises
        ------
        DomainError
            If there are more than 2**22.
        """
        size = size_of(self._beliefs.tree.sizes, self._domain)
        if size > DENSE_CELLS:
            msg = (
                f"the domain has {size:,} cells, and {DENSE_CELLS:,} are the most for "
                "one table. Ask for marginal(...) on some of the columns."
            )
            raise DomainError(msg)
        return self.marginal(*self._domain.columns)

    def marginal(self, *columns: str) -> Table:
        """Return the proportion of each cell over ``columns``, last one fastest.

        Row i of ``domain.cells(columns)`` names cell i; multiply by ``total`` for rows.

        Raises
        ------
        DomainError
            If a column is not declared, or the table would be too large.
        ParameterError
            If a column is named twice.
        """
        return self.table(columns).flatten()

    def table(self, columns: Sequence[str]) -> Table:
        """Return `marginal` with an axis for each of the columns."""
        for column in columns:
            self._domain.kind(column)  # refuses one that is not declared
        if len(set(columns)) < len(columns):
            msg = f"name each column once; got {shown(tuple(columns))}."
            raise ParameterError(msg)
        sizes = self._beliefs.tree.sizes
        block: Block = tuple(column for column in sizes if column in columns)
        table = self._beliefs.marginal(block)
        return table.transpose([block.index(column) for column in columns])

    def answer(self, query: Any) -> Any:
        """Return the proportion of rows that a query counts.

        Parameters
        ----------
        query : query or array
            A predicate, weights, or a cell; a marginal, cdf or ranges; or an array
            with a weight in [0, 1] for each cell of the domain.

        Returns
        -------
        float or array
            An array for marginals, cdf and ranges, in their own order.

        Raises
        ------
        DomainError, ParameterError
            If the query does not fit the domain: a column or a value that it does not
            declare, a condition that cuts through a bin, too many cells.
        """
        block = block_of(query)
        if block is not None:
            return answers_of(block, self.table(block.columns), self._domain)
        linear = as_linear(query, self._domain)
        return float((linear.weights * self.table(linear.columns)).sum())

    def __reduce__(self) -> tuple[Any, ...]:
        return (Distribution.of, (self._domain, self._beliefs, self._total))

    def __repr__(self) -> str:
        size = size_of(self._beliefs.tree.sizes, self._domain)
        held = self._beliefs.tree.cells
        tree = "" if held >= size else f", held as {held:,}"
        rows = "" if self._total is None else f"; {self._total:,.6g} rows"
        return (
            f"Distribution over {', '.join(self._domain)} ({size:,} cells{tree}{rows})"
        )


def axis_sizes(domain: Domain) -> dict[str, int]:
    """Return the cells of each column in the order of axes: the largest first.

    Raises
    ------
    DomainError
        If a column has no cells, or there is no column.
    """
    if not len(domain):
        msg = "the domain declares no column; a model needs at least one with cells."
        raise DomainError(msg)
    sizes = {column: domain.coding(column).size for column in domain}
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def _read_cells(domain: Domain, cells: ArrayLike) -> Table:
    shape = [domain.coding(column).size for column in domain]
    table = np.array(cells, dtype=np.float64)
    proper = table.size == domain.size and np.isfinite(table).all()
    if not proper or table.min() < 0 or abs(table.sum() - 1) > _PRINTED:
        msg = (
            f"cells are one proportion >= 0 for each of the {domain.size or 0:,} cells "
            f"of the domain, last column fastest, adding up to 1; got {table.size:,} "
            "numbers. Divide counts by their sum, or give noisy ones to fit(...)."
        )
        raise ParameterError(msg)
    return table.reshape(shape)


def _in_axis_order(
    table: Table, columns: Sequence[str], sizes: dict[str, int]
) -> Table:
    order = [columns.index(column) for column in sizes]
    return np.ascontiguousarray(table.transpose(order))
