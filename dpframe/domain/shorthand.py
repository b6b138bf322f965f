"""What a user writes to declare a column: constructors and their shorthands."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from dpframe.domain.calendar import read_date
from dpframe.domain.kinds import (
    Booleans,
    Bounds,
    Categories,
    ColumnKind,
    Dates,
    Edges,
    Integers,
)
from dpframe.domain.values import listed
from dpframe.errors import ParameterError

__all__ = ["as_kind", "bounds", "dates", "edges", "integers"]


def integers(lower: int, upper: int) -> Integers:
    """Declare whole numbers from ``lower`` to ``upper``, both included.

    Answers about such a column are exact integers, and each number is a cell.

    Examples
    --------
    >>> integers(17, 90).size
    74
    """
    return Integers(lower, upper)


def bounds(lower: object, upper: object) -> Bounds:
    """Declare the range of a column, for sums and means; it makes no cells.

    Parameters
    ----------
    lower, upper : int, float, Decimal, date, datetime or timedelta
        Ends of one kind, in the column's own unit. Never taken from the data.

    Examples
    --------
    >>> bounds(0, 99)
    Bounds(lower=0, upper=99)
    """
    return Bounds(lower, upper)


def edges(values: Iterable[object]) -> Edges:
    """Declare bins by their edges: [lo, hi), the last one closed.

    Examples
    --------
    >>> edges([0, 10, 50, 100]).keys
    (0, 10, 50)
    """
    return Edges(tuple(listed(values, "edges")))


def dates(start: date | str, end: date | str, *, every: str) -> Dates:
    """Declare calendar bins from ``start`` to ``end``, both included.

    Parameters
    ----------
    start, end : date or str
        Days, such as "2024-01-31".
    every : str
        "1d", "1w", "1mo", "1q", "1y", or a multiple such as "2w".

    Examples
    --------
    >>> dates("2024-01-01", "2024-12-31", every="1q").keys[1]
    datetime.date(2024, 4, 1)
    """
    return Dates(read_date(start, "start"), read_date(end, "end"), every)


def as_kind(fact: object) -> ColumnKind:
    """Read a kind or its shorthand: list, 2-tuple, range or ``bool``.

    Raises
    ------
    ParameterError
        If the fact is none of these, or contradicts itself.
    """
    if isinstance(fact, ColumnKind):
        return fact
    if fact is bool:
        return Booleans()
    if isinstance(fact, range):
        return _range(fact)
    if isinstance(fact, tuple):
        return _pair(fact)
    one_dimensional = len(getattr(fact, "shape", ())) == 1  # an array, a Series
    if isinstance(fact, list) or one_dimensional:
        return Categories(tuple(listed(fact, "categories")))
    msg = (
        "declare a column by a list of categories, a 2-tuple of bounds, a range of "
        "integers, bool, or dpf.integers, dpf.bounds, dpf.edges, dpf.dates; got "
        f"{fact.__name__ if isinstance(fact, type) else type(fact).__name__}."
    )
    raise ParameterError(msg)


def _range(numbers: range) -> Integers:
    if numbers.step != 1 or not numbers:
        msg = (
            f"{numbers!r} is no run of integers. Use range(lower, upper + 1), "
            "dpf.edges for bins, or list(range(...)) for categories."
        )
        raise ParameterError(msg)
    return Integers(numbers.start, numbers.stop - 1)


def _pair(ends: tuple[object, ...]) -> Bounds:
    if len(ends) != 2 or any(isinstance(end, str) for end in ends):
        msg = (
            f"a tuple means bounds (lower, upper), and {ends!r} is no such pair. "
            "For categories write a list."
        )
        raise ParameterError(msg)
    return Bounds(*ends)
