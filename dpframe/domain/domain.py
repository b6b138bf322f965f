"""`Domain`: the public facts about a frame's columns.

Everything here was stated by a person, never read from rows. It decides the keys of
a histogram, the bounds of a sum and the cells of a model, so none of them can leak.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any, final

from dpframe.domain import declared, frames, serial, show
from dpframe.domain.coding import Coding
from dpframe.domain.kinds import (
    Booleans,
    Bounds,
    Categories,
    ColumnKind,
    Dates,
    Integers,
)
from dpframe.domain.missing import (
    about,
    needs_bounds,
    needs_edges,
    undeclared,
)
from dpframe.domain.schema import Library
from dpframe.domain.shorthand import as_kind
from dpframe.domain.values import infinite
from dpframe.errors import ParameterError, shown

__all__ = ["Domain"]


@final
class Domain:
    """Public facts about columns: categories, ranges, bins.

    Parameters
    ----------
    columns : mapping of str to fact
        A list of categories, a 2-tuple of bounds, a ``range`` of integers, ``bool``,
        or `integers`, `bounds`, `edges`, `dates`. State them from documentation or
        common knowledge, never from the data.
    other : bool or list of str
        Add to all columns with cells, or to the listed ones, one more cell (key
        None) for null, NaN and values that are not listed. Without it such rows
        contribute nothing.

    Raises
    ------
    ParameterError
        If a fact contradicts itself; the message names the column.

    Examples
    --------
    >>> from dpframe.domain import Domain, edges, integers
    >>> domain = Domain(
    ...     {
    ...         "sex": ["Female", "Male"],
    ...         "age": integers(17, 90),
    ...         "income": edges([0, 10, 50, 100]),
    ...         "hours": (0, 99),
    ...     }
    ... )
    >>> domain.select(["sex", "age"]).size
    148
    >>> domain.bounds("hours")
    (0, 99)
    >>> domain.coding("income").keys
    (0, 10, 50)
    """

    __slots__ = ("_kinds", "_other")

    _kinds: dict[str, ColumnKind]
    _other: frozenset[str]

    def __init__(
        self, columns: Mapping[str, object], *, other: bool | Iterable[str] = False
    ) -> None:
        if not isinstance(columns, Mapping):
            msg = (
                "Domain needs a dictionary of column -> fact, such as "
                f"{{'sex': ['Female', 'Male']}}; got {type(columns).__name__}."
            )
            raise ParameterError(msg)
        kinds: dict[str, ColumnKind] = {}
        for name, fact in columns.items():
            if not isinstance(name, str):
                msg = f"column names must be text; got {shown(name)}."
                raise ParameterError(msg)
            with about(name):
                kinds[name] = as_kind(fact)
        object.__setattr__(self, "_kinds", kinds)
        object.__setattr__(self, "_other", _others(kinds, other))
        for name in self.other:
            with about(name):
                kinds[name].coding(other=True)

    def __setattr__(self, name: str, value: object) -> None:
        msg = "a Domain is fixed; build another one."
        raise AttributeError(msg)

    # -- reading -------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """Declared columns, in order."""
        return tuple(self._kinds)

    @property
    def other(self) -> tuple[str, ...]:
        """Columns that have a cell for null, NaN and unlisted values."""
        return tuple(name for name in self._kinds if name in self._other)

    @property
    def size(self) -> int | None:
        """Number of cells of all columns; None if one has bounds only."""
        if any(isinstance(kind, Bounds) for kind in self._kinds.values()):
            return None
        return prod(self.coding(name).size for name in self._kinds)

    def __contains__(self, column: object) -> bool:
        return column in self._kinds

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    def kind(self, column: str) -> ColumnKind:
        """Return the fact declared about ``column``.

        Raises
        ------
        DomainError
            If there is none; the message offers the nearest names.
        """
        if column not in self._kinds:
            raise undeclared(column, self._kinds)
        return self._kinds[column]

    def coding(self, column: str) -> Coding:
        """Return how ``column`` is coded into cells.

        Raises
        ------
        DomainError
            If the column is not declared, or by bounds alone.
        """
        kind = self.kind(column)
        if isinstance(kind, Bounds):
            raise needs_edges(column)
        return kind.coding(column in self._other)

    def bounds(self, column: str) -> tuple[Any, Any]:
        """Return the public (lower, upper) of ``column``, both included.

        Booleans have (0, 1), bins their outer edges, dates their first and last day.

        Raises
        ------
        DomainError
            If the column is not declared, by categories, or by infinite edges.
        """
        kind = self.kind(column)
        if isinstance(kind, Booleans):
            return (0, 1)
        if isinstance(kind, (Integers, Bounds)):
            return (kind.lower, kind.upper)
        if isinstance(kind, Dates):
            return (kind.start, kind.end)
        if isinstance(kind, Categories):
            raise needs_bounds(column, "It is declared by categories.")
        lower, upper = kind.edges[0], kind.edges[-1]
        if infinite(lower) or infinite(upper):
            raise needs_bounds(column, "Its outer edges are infinite.")
        return (lower, upper)

    def select(self, columns: Iterable[str]) -> Domain:
        """Return the facts about ``columns``, in that order."""
        names = [columns] if isinstance(columns, str) else list(columns)
        kinds = {name: self.kind(name) for name in names}
        return Domain(kinds, other=[name for name in kinds if name in self._other])

    # -- public frames -------------------------------------------------------

    def cells(
        self, columns: Sequence[str] | None = None, library: Library = "polars"
    ) -> Any:
        """Return a frame of all cells, last column fastest: no data, keys only.

        Parameters
        ----------
        columns : sequence of str, optional
            Default: all columns that have cells.
        library : {"polars", "pandas", "pyarrow"}
            Whose frame to build.
        """
        names = self._with_cells() if columns is None else list(columns)
        return frames.cells({name: self.coding(name) for name in names}, library)

    def encode(self, frame: Any, columns: Sequence[str] | None = None) -> Any:
        """Return the codes of a *public* frame; -1 is a value without a cell.

        The result shows every row of ``frame``. Private frames are coded inside the
        verbs of ``.dp``; this is for public frames and tests.

        Parameters
        ----------
        frame : DataFrame or Table
            A public eager frame of pandas, Polars or pyarrow.
        columns : sequence of str, optional
            Default: all columns that have cells.

        Returns
        -------
        DataFrame or Table
            int64 columns of the same names, in the same library.

        Raises
        ------
        ColumnNotFoundError
            If the frame lacks a column.
        """
        names = self._with_cells() if columns is None else list(columns)
        return frames.encode({name: self.coding(name) for name in names}, frame)

    @classmethod
    def from_schema(
        cls,
        frame: Any,
        *,
        categories: str | Sequence[str] | None = None,
        other: bool | Iterable[str] = False,
    ) -> Domain:
        """Take from a frame's schema what is declared there; rows are never read.

        Declared are Boolean columns and Enums: of Polars, and of Arrow tables that
        Polars wrote. A pandas Categorical is not: ``astype("category")`` lists the
        values of the rows, and nothing tells such a list from a public one. Nor is
        a Polars Categorical or an Arrow dictionary, whose values sit in the data.

        Parameters
        ----------
        frame : DataFrame, LazyFrame or Table
            Any frame that dpframe reads.
        categories : "declared" or list of str, optional
            Your word that the category lists of all pandas Categorical columns, or
            of those named, are public; the others are left out.
        other : bool or list of str
            As for `Domain`.

        Raises
        ------
        DomainError
            If a pandas Categorical is there and ``categories`` does not say what it
            is, or a named column's categories are not in the schema.
        """
        return cls(declared.from_schema(frame, categories), other=other)

    # -- writing -------------------------------------------------------------

    def to_json(self) -> str:
        """Return JSON text from which `from_json` builds an equal domain."""
        return serial.write_domain(self._facts(self._kinds))

    @classmethod
    def from_json(cls, source: str | bytes | PathLike[str]) -> Domain:
        """Read the text of `to_json`, or a plain form that is easy to write by hand.

        Parameters
        ----------
        source : str, bytes or Path
            JSON text, or a ``Path`` of a file of it. The plain form has one section
            for each kind: ``{"categories": {"sex": ["Female", "Male"]}, "bounds":
            {"age": [17, 90]}, "integers": {...}, "edges": {...}}``.

        Raises
        ------
        ParameterError
            If the text is neither, or a fact contradicts itself.

        Examples
        --------
        >>> Domain.from_json('{"bounds": {"age": [17, 90]}}').bounds("age")
        (17, 90)
        """
        text = source if isinstance(source, (str, bytes)) else Path(source).read_bytes()
        facts = serial.read_domain(text)
        return cls(
            {name: kind for name, (kind, _) in facts.items()},
            other=[name for name, (_, other) in facts.items() if other],
        )

    def describe(self, columns: Iterable[str] | None = None) -> dict[str, Any]:
        """Return the facts about ``columns`` as a canonical, JSON-able dictionary.

        Columns that are not declared are left out, so that a digest of a request
        changes only with facts that the request uses.
        """
        names = self._kinds if columns is None else columns
        facts = self._facts(name for name in names if name in self._kinds)
        return {
            name: serial.dump_record(kind) | {"other": other}
            for name, (kind, other) in facts.items()
        }

    def __eq__(self, other: object) -> bool:
        # By text: 1, 1.0 and True are equal in Python but other facts.
        if not isinstance(other, Domain):
            return NotImplemented
        return self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        return show.as_text(self._facts(self._kinds), self.size)

    def _repr_html_(self) -> str:
        return show.as_html(self._facts(self._kinds), self.size)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Domain.from_json, (self.to_json(),))

    def _facts(self, columns: Iterable[str]) -> serial.Facts:
        return {name: (self._kinds[name], name in self._other) for name in columns}

    def _with_cells(self) -> list[str]:
        return [n for n, kind in self._kinds.items() if not isinstance(kind, Bounds)]


def _others(
    kinds: Mapping[str, ColumnKind], other: bool | Iterable[str]
) -> frozenset[str]:
    """Read ``other=``: the columns that get one more cell."""
    with_cells = [n for n, kind in kinds.items() if not isinstance(kind, Bounds)]
    if isinstance(other, bool):
        return frozenset(with_cells) if other else frozenset()
    if isinstance(other, str) or not isinstance(other, Iterable):
        msg = f"other must be True, False or a list of columns; got {shown(other)}."
        raise ParameterError(msg)
    names = list(other)
    for name in names:
        if name not in kinds:
            raise undeclared(name, kinds)
        if name not in with_cells:
            msg = (
                f"other names {name!r}, which is declared by bounds alone and has no "
                "cells to add one to; leave it out or declare dpf.edges."
            )
            raise ParameterError(msg)
    return frozenset(names)
