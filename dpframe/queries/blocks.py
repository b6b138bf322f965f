"""Queries with one answer for each public cell, and weighted counts.

They name columns only. Which cells there are, and which number each weight belongs to,
follows from the domain when a session resolves them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from dpframe.domain.serial import dump_value
from dpframe.queries.predicates import Predicate
from dpframe.queries.wording import show_name

__all__ = [
    "Block",
    "Cell",
    "Marginal",
    "Prefixes",
    "Query",
    "Ranges",
    "SumBy",
    "Weights",
]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Marginal:
    """Rows of every cell over some columns, last column fastest."""

    columns: tuple[str, ...]

    def describe(self) -> dict[str, object]:
        """Return the columns."""
        return {"query": "marginal", "columns": list(self.columns)}

    def __repr__(self) -> str:
        return f"marginal of {_names(self.columns)}"


@final
@dataclass(frozen=True, slots=True, repr=False)
class Prefixes:
    """Rows up to each cell of an ordered column: its distribution function."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)

    def describe(self) -> dict[str, object]:
        """Return the column."""
        return {"query": "cdf", "column": self.column}

    def __repr__(self) -> str:
        return f"cdf of {show_name(self.column)}"


@final
@dataclass(frozen=True, slots=True, repr=False)
class Ranges:
    """Rows of every run of cells of an ordered column."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)

    def describe(self) -> dict[str, object]:
        """Return the column."""
        return {"query": "ranges", "column": self.column}

    def __repr__(self) -> str:
        return f"ranges of {show_name(self.column)}"


@final
@dataclass(frozen=True, slots=True, repr=False)
class SumBy:
    """Sums of a column in every cell over others; of none, over the whole frame.

    Parameters
    ----------
    by : tuple of str
        Key columns.
    column : str
        What is summed.
    bounds : pair, optional
        Each row is clamped to them; None is the domain's.
    keys : tuple, optional
        Values of the one key column, tuples of several, or (column, values) pairs
        where ``by_column``; None is the domain's.
    by_column : bool
        How ``keys`` is read.
    """

    by: tuple[str, ...]
    column: str
    bounds: tuple[Any, Any] | None = None
    keys: tuple[Any, ...] | None = None
    by_column: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that are read."""
        return tuple(dict.fromkeys((*self.by, self.column)))

    def describe(self) -> dict[str, object]:
        """Return the arguments."""
        return {
            "query": "sum",
            "by": list(self.by),
            "column": self.column,
            "bounds": None if self.bounds is None else dump_value(self.bounds),
            "keys": None if self.keys is None else dump_value(self.keys),
        }

    def __repr__(self) -> str:
        by = f" by {_names(self.by)}" if self.by else ""
        return f"sum of {show_name(self.column)}{by}"


@final
@dataclass(frozen=True, slots=True, repr=False)
class Weights:
    """One weighted count: a row counts as the product of its codes' weights.

    Parameters
    ----------
    tables : tuple of (str, tuple of float)
        Column -> weight in [0, 1] of each code of the domain. A row without a code
        has the weight 0.
    """

    tables: tuple[tuple[str, tuple[float, ...]], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that are read."""
        return tuple(column for column, _ in self.tables)

    def describe(self) -> dict[str, object]:
        """Return the tables."""
        return {
            "query": "weights",
            "tables": {column: list(weights) for column, weights in self.tables},
        }

    def __repr__(self) -> str:
        return f"rows weighted by {_names(self.columns)}"


Block = Marginal | Prefixes | Ranges | SumBy


@final
@dataclass(frozen=True, slots=True, repr=False)
class Cell:
    """One answer of a block, by its public key; it can be asked again by itself.

    Parameters
    ----------
    block : Marginal, Prefixes, Ranges or SumBy
        What it belongs to.
    key : scalar or tuple
        Label of the cell: of one column its value, of several a tuple. Of `Prefixes`
        the label of the last cell, of `Ranges` those of the first and the last.
    text : str
        The same in words.
    """

    block: Block
    key: Any
    text: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that are read."""
        return self.block.columns

    def describe(self) -> dict[str, object]:
        """Return the block and the key."""
        return {**self.block.describe(), "cell": dump_value(self.key)}

    def __repr__(self) -> str:
        return self.text


Query = Predicate | Block | Weights | Cell


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(map(show_name, columns))
