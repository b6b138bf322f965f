"""Kinds of public fact about a column, one frozen class each.

Every kind but `Bounds` divides the column into cells: it knows their number
(``size``), their labels (``keys``), and how a value is coded (``coding``).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
from typing import Any, final

from dpframe.domain.calendar import calendar_edges, read_step
from dpframe.domain.coding import Bins, Coding, Linear, Lookup
from dpframe.domain.values import distinct, infinite, listed, ordered, plain, uniform
from dpframe.errors import DomainError, ParameterError, shown

__all__ = [
    "Booleans",
    "Bounds",
    "Categories",
    "ColumnKind",
    "Dates",
    "Edges",
    "Integers",
]


@final
@dataclass(frozen=True, slots=True)
class Categories:
    """A list of values, one cell each, in the listed order.

    Parameters
    ----------
    values : sequence
        Text, numbers, booleans, dates, datetimes, timedeltas or Decimals of one
        kind. None may be listed and stands for null and NaN.
    """

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        values = uniform(listed(self.values, "categories"), "categories")
        if not values:
            msg = "categories are empty; list the values that the column may hold."
            raise ParameterError(msg)
        distinct(values, "categories")
        object.__setattr__(self, "values", values)

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.values)

    @property
    def keys(self) -> tuple[Any, ...]:
        """Label of each cell."""
        return self.values

    def coding(self, other: bool = False) -> Lookup:
        """Return the coding, with an ``other`` cell if asked."""
        if other and None in self.values:
            msg = (
                "None is listed among the categories, and other=True would add a "
                "second cell of key None; remove one of the two."
            )
            raise ParameterError(msg)
        return Lookup(self.values, other)


@final
@dataclass(frozen=True, slots=True)
class Integers:
    """The whole numbers from ``lower`` to ``upper``, one cell each.

    Parameters
    ----------
    lower, upper : int
        Public ends, both included. Values beyond are clamped, fractions rounded.
    """

    lower: int
    upper: int

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            end = plain(getattr(self, name))
            if isinstance(end, bool) or not isinstance(end, int):
                msg = (
                    f"integers need whole ends, such as dpf.integers(17, 90); {name} "
                    f"is {shown(end)}. For fractions use dpf.bounds or dpf.edges."
                )
                raise ParameterError(msg)
            object.__setattr__(self, name, end)
        _check_order(self.lower, self.upper, "integers")
        if self.upper - self.lower >= 2**62:
            msg = "integers span more than 2**62 values; use dpf.bounds for such ends."
            raise ParameterError(msg)

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.upper - self.lower + 1

    @property
    def keys(self) -> tuple[Any, ...]:
        """Label of each cell."""
        return tuple(range(self.lower, self.upper + 1))

    def coding(self, other: bool = False) -> Linear:
        """Return the coding, with an ``other`` cell if asked."""
        return Linear(self.lower, self.upper, other)


@final
@dataclass(frozen=True, slots=True)
class Bounds:
    """A public range and nothing more: for sums and means, without cells.

    Parameters
    ----------
    lower, upper : int, float, Decimal, date, datetime or timedelta
        Finite ends of one kind, both included; they may be equal.
    """

    lower: Any
    upper: Any

    def __post_init__(self) -> None:
        lower, upper = ordered((self.lower, self.upper), "bounds")
        if infinite(lower) or infinite(upper):
            msg = (
                f"bounds must be finite; got ({lower}, {upper}). Give the widest "
                "range that you can state without looking at the data."
            )
            raise ParameterError(msg)
        _check_order(lower, upper, "bounds")
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    def coding(self, other: bool = False) -> Coding:
        """Refuse: a range has no cells.

        Raises
        ------
        DomainError
            Always.
        """
        msg = "bounds alone give no cells; pass bins= or keys=, or declare dpf.edges."
        raise DomainError(msg)


@final
@dataclass(frozen=True, slots=True)
class Edges:
    """Bins [lo, hi) between the edges, the last one closed.

    Parameters
    ----------
    edges : sequence
        At least two, strictly increasing, of one kind: numbers (the outer ones may
        be infinite), dates, datetimes, timedeltas or Decimals. Values beyond the
        outer edges are clamped into the first or last bin.
    """

    edges: tuple[Any, ...]

    def __post_init__(self) -> None:
        edges = ordered(listed(self.edges, "edges"), "edges")
        if len(edges) < 2:
            msg = (
                f"edges need at least two values, one bin; got {len(edges)}. "
                "Such as dpf.edges([0, 10, 50, 100])."
            )
            raise ParameterError(msg)
        for low, high in pairwise(edges):
            if not low < high:
                msg = f"edges must increase strictly; {high!r} follows {low!r}."
                raise ParameterError(msg)
        object.__setattr__(self, "edges", edges)

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.edges) - 1

    @property
    def keys(self) -> tuple[Any, ...]:
        """Label of each cell: its lower edge."""
        return self.edges[:-1]

    def coding(self, other: bool = False) -> Bins:
        """Return the coding, with an ``other`` cell if asked."""
        return Bins(self.edges, other)


@final
@dataclass(frozen=True, slots=True)
class Booleans:
    """False and True, in this order."""

    @property
    def size(self) -> int:
        """Number of cells."""
        return 2

    @property
    def keys(self) -> tuple[Any, ...]:
        """Label of each cell."""
        return (False, True)

    def coding(self, other: bool = False) -> Lookup:
        """Return the coding, with an ``other`` cell if asked."""
        return Lookup(self.keys, other)


@final
@dataclass(frozen=True, slots=True)
class Dates:
    """Calendar bins: a day, week, month, quarter or year each.

    Parameters
    ----------
    start, end : date
        First and last day, both included. Days beyond are clamped to them.
    every : str
        Length of a bin, counted from ``start``: "1d", "1w", "1mo", "1q", "1y" or a
        multiple such as "2w". The last bin has its full length, so the last edge is
        the first one after ``end``.
    """

    start: date
    end: date
    every: str

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            day = plain(getattr(self, name))
            if not isinstance(day, date) or isinstance(day, datetime):
                msg = (
                    f"{name} must be a date, such as '2024-01-31'; got {shown(day)}. "
                    "For bins of hours use dpf.edges with datetimes."
                )
                raise ParameterError(msg)
            object.__setattr__(self, name, day)
        _check_order(self.start, self.end, "dates")
        read_step(self.every)
        calendar_edges(self.start, self.end, self.every)

    @property
    def edges(self) -> tuple[Any, ...]:
        """First day of each bin, and the first day after the last bin."""
        return calendar_edges(self.start, self.end, self.every)

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.edges) - 1

    @property
    def keys(self) -> tuple[Any, ...]:
        """Label of each cell: its first day."""
        return self.edges[:-1]

    def coding(self, other: bool = False) -> Bins:
        """Return the coding, with an ``other`` cell if asked."""
        return Bins(self.edges, other)


ColumnKind = Categories | Integers | Bounds | Edges | Booleans | Dates


def _check_order(lower: Any, upper: Any, what: str) -> None:
    if lower > upper:
        msg = f"{what} are swapped: {lower} is above {upper}. Write the lower first."
        raise ParameterError(msg)
