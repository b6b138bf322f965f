"""`Keys`: the public cells of one release, over one or several columns.

Cells are the product of the columns' codes, last column fastest, or an explicit
list. They come from arguments and the domain only, so a key's presence in a release
says nothing about the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dpframe.domain.coding import DROPPED, MAX_CELLS, Codes, Coding, Lookup
from dpframe.domain.kinds import Dates, Edges
from dpframe.domain.missing import about, check_cells, needs_keys
from dpframe.domain.serial import dump_record
from dpframe.domain.values import distinct, listed, uniform
from dpframe.errors import DomainError, ParameterError, nearest, shown

if TYPE_CHECKING:
    from dpframe.domain.domain import Domain

__all__ = ["Keys"]


@final
@dataclass(frozen=True, slots=True)
class Keys:
    """The public cells of one release.

    Parameters
    ----------
    columns : tuple of str
        Key columns.
    codings : tuple of Coding
        How each column is coded.
    cells : tuple of tuple of int, optional
        Code tuples, in order, where the caller listed the cells; None is the full
        product, last column fastest.
    """

    columns: tuple[str, ...]
    codings: tuple[Coding, ...]
    cells: tuple[tuple[int, ...], ...] | None = None

    @classmethod
    def resolve(
        cls,
        columns: str | Sequence[str],
        *,
        domain: Domain | None,
        keys: object = None,
        bins: object = None,
    ) -> Keys:
        """Read ``keys=`` and ``bins=``; what they leave open comes from the domain.

        Parameters
        ----------
        columns : str or sequence of str
            Key columns.
        domain : Domain or None
            Declared facts. A column's own ``keys`` or ``bins`` replace them whole:
            no ``other`` cell is added.
        keys : list or dict, optional
            Values of the one column, tuples of several, or column -> values.
        bins : list or dict, optional
            Edges of the one column, or column -> edges.

        Raises
        ------
        DomainError
            If a column has no keys, or there are more than 2**26 cells.
        ParameterError
            If an argument is wrong: duplicates, text for a list, both for a column.
        """
        names = _columns(columns)
        bins_of = _by_column(bins, names, "bins")
        if len(names) > 1 and keys is not None and not isinstance(keys, Mapping):
            _refuse_both(names, bins_of)
            return cls(names, *_listed_cells(names, listed(keys, "keys")))
        keys_of = _by_column(keys, names, "keys")
        _refuse_both(keys_of, bins_of)
        codings = tuple(_coding(name, keys_of, bins_of, domain) for name in names)
        check_cells(names, [coding.size for coding in codings])
        return cls(names, codings)

    @property
    def size(self) -> int:
        """Number of cells."""
        return prod(self.radix) if self.cells is None else len(self.cells)

    @property
    def radix(self) -> tuple[int, ...]:
        """Number of codes of each column."""
        return tuple(coding.size for coding in self.codings)

    @property
    def labels(self) -> list[Any]:
        """Label of each cell, in order: scalars of one column, tuples of several."""
        keys = [coding.keys for coding in self.codings]
        if self.cells is not None:
            rows: Iterable[tuple[object, ...]] = (
                tuple(key[code] for key, code in zip(keys, cell, strict=True))
                for cell in self.cells
            )
        else:
            rows = product(*keys)
        return [row[0] for row in rows] if len(keys) == 1 else list(rows)

    @property
    def position(self) -> Codes | None:
        """Cell of each code of the full product, -1 where not listed.

        None where the cells are the full product: the code is the cell. `locate`
        also serves products too large for a table.
        """
        if self.cells is None:
            return None
        if prod(self.radix) > MAX_CELLS:
            msg = f"a table of {prod(self.radix):,} codes is too large; use locate()."
            raise DomainError(msg)
        table = np.full(prod(self.radix), DROPPED, dtype=np.int64)
        table[self._listed_codes()] = np.arange(len(self.cells))
        return table

    def locate(self, codes: Codes) -> Codes:
        """Return the cell of each code of the full product, -1 where there is none."""
        if self.cells is None:
            return codes
        if not self.cells:
            return np.full(len(codes), DROPPED, dtype=np.int64)
        known = self._listed_codes()
        order = np.argsort(known)
        place = np.searchsorted(known, codes, sorter=order).clip(max=len(known) - 1)
        cell = order[place]
        return np.where(known[cell] == codes, cell, DROPPED)

    def cell_index(self, codes: Sequence[Codes]) -> Codes:
        """Return the cell of each row from its codes, one array for each column.

        A row with a dropped code, or of a cell not listed, has -1.
        """
        return self.locate(self._mixed_radix(codes))

    def describe(self) -> dict[str, Any]:
        """Return the public facts as a canonical, JSON-able dictionary."""
        cells = self.cells
        return {
            "columns": list(self.columns),
            "codings": [dump_record(coding) for coding in self.codings],
            "cells": None if cells is None else [list(cell) for cell in cells],
        }

    def _listed_codes(self) -> Codes:
        cells = np.array(self.cells, dtype=np.int64).reshape(-1, len(self.columns))
        return self._mixed_radix(list(cells.T))

    def _mixed_radix(self, codes: Sequence[Codes]) -> Codes:
        flat = np.zeros(len(codes[0]), dtype=np.int64)
        dropped = np.zeros(len(codes[0]), dtype=bool)
        for code, size in zip(codes, self.radix, strict=True):
            flat = flat * size + code
            dropped |= code == DROPPED
        return np.where(dropped, DROPPED, flat)


def _columns(columns: str | Sequence[str]) -> tuple[str, ...]:
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if not names or not all(isinstance(name, str) for name in names):
        msg = f"key columns must be one name or several; got {shown(columns)}."
        raise ParameterError(msg)
    distinct(names, "key columns")
    return names


def _by_column(given: object, names: tuple[str, ...], what: str) -> dict[str, object]:
    """Read one column's list, or a dictionary of lists by column."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        for name in given:
            if name not in names:
                msg = f"{what} name {name!r}, no key column.{nearest(name, names)}"
                raise ParameterError(msg)
        return dict(given)
    if len(names) == 1:
        return {names[0]: given}
    msg = (
        f"{what} of several columns must be a dictionary, such as "
        f"{what}={{{names[0]!r}: [...]}}."
    )
    raise ParameterError(msg)


def _refuse_both(keyed: Iterable[str], binned: Mapping[str, object]) -> None:
    both = [name for name in keyed if name in binned]
    if both:
        msg = f"column {both[0]!r} has both keys= and bins=; pass one of them."
        raise ParameterError(msg)


def _coding(
    name: str,
    keys_of: Mapping[str, object],
    bins_of: Mapping[str, object],
    domain: Domain | None,
) -> Coding:
    """Code one column by its keys, else its bins, else what the domain declares."""
    if name in keys_of:
        with about(name):
            exact = uniform(listed(keys_of[name], "keys"), "keys")
            distinct(exact, "keys")
            return Lookup(exact)
    if name in bins_of:
        with about(name):
            return _bins(bins_of[name]).coding()
    if domain is None or name not in domain:
        raise needs_keys(name, domain)
    return domain.coding(name)


def _bins(given: object) -> Edges | Dates:
    if isinstance(given, (Edges, Dates)):
        return given
    return Edges(tuple(listed(given, "bins")))


def _listed_cells(
    names: tuple[str, ...], rows: list[object]
) -> tuple[tuple[Lookup, ...], tuple[tuple[int, ...], ...]]:
    """Code an explicit list of cells: per column its values as they first appear."""
    for row in rows:
        if not isinstance(row, tuple) or len(row) != len(names):
            msg = (
                f"keys over {', '.join(names)} must be tuples of {len(names)} values, "
                f"one for each column; got {shown(row)}. For the product of all pass a "
                f"dictionary: keys={{{names[0]!r}: [...], ...}}."
            )
            raise ParameterError(msg)
    columns = []
    for i, name in enumerate(names):
        with about(name):
            columns.append(uniform((row[i] for row in rows), "keys"))  # type: ignore[index]
    distinct(tuple(zip(*columns, strict=True)), "keys")
    codings = tuple(Lookup(tuple(dict.fromkeys(column))) for column in columns)
    if prod(coding.size for coding in codings) >= 2**62:
        msg = "keys list more than 2**62 combinations of values; take fewer columns."
        raise ParameterError(msg)
    codes = [
        coding.code(column).tolist()
        for coding, column in zip(codings, columns, strict=True)
    ]
    return codings, tuple(zip(*codes, strict=True))
