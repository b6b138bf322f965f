"""`Secret`: a true value on its way to noise.

Only `dpframe.mechanisms` opens one; a test reads the sources to keep it so. Every
other road to the value is closed: printing, comparing, copying, converting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Aggregates", "Combinations", "Found", "Occurrences", "Secret"]

T_co = TypeVar("T_co", covariant=True)


@final
class Secret(Generic[T_co]):
    """A true value that has not met its noise yet."""

    __slots__ = ("__held",)

    def __init__(self, value: T_co) -> None:
        self.__held = value

    def reveal(self) -> T_co:
        """Hand the true value to the mechanism that protects it."""
        return self.__held

    def __repr__(self) -> str:
        return "<Secret: not released>"

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        msg = "a Secret has no public value; release it through a verb of .dp"
        raise TypeError(msg)

    # What Python would do by default and must not: be true, compare by identity,
    # become an array of objects, be copied. The rest (len, float, +) fails by itself.
    __bool__ = __array__ = _refuse
    __copy__ = __deepcopy__ = _refuse
    __eq__ = __ne__ = __reduce__ = __reduce_ex__ = _refuse
    __hash__ = None  # type: ignore[assignment]


@final
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Aggregates:
    """The exact integers of one reduction, one entry for each cell.

    Arrays are int64 where the sums provably fit, else Python integers (dtype object).
    ``usable``, ``sums`` and ``squares`` have one array for each measure, and
    ``occurrences`` one entry for each column that is tabulated.
    """

    rows: NDArray[Any] | None
    units: NDArray[Any] | None
    usable: tuple[NDArray[np.int64], ...]
    sums: tuple[NDArray[Any], ...]
    squares: tuple[NDArray[Any] | None, ...]
    occurrences: tuple[Occurrences, ...] = ()


@final
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Found:
    """The keys that rows have, in the order of their values, and their aggregates.

    ``keys`` has one array of Python values (of codes, where a column has public ones)
    for each key column, shape (keys,); every key has one unit at least.
    """

    keys: tuple[NDArray[Any], ...]
    aggregates: Aggregates


@final
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Combinations:
    """The exact integers of one cross-tabulation.

    One entry for each combination of classes that occurs; one may stand there twice.
    ``classes`` has shape (splits, combinations), ``rows`` and each of ``sums`` (one for
    each measure) shape (combinations,). Sums are int64 where they provably fit, else
    Python integers (dtype object).
    """

    classes: NDArray[np.int64]
    rows: NDArray[np.int64]
    sums: tuple[NDArray[Any], ...]


@final
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Occurrences:
    """The exact integers of one multiset, in the order of cells, then of values.

    One entry for each cell and combination of values that occurs: ``cells`` of shape
    (entries,), ``values`` of shape (entries, measures), and ``times``, how often it
    occurs, of shape (entries,).
    """

    cells: NDArray[np.int64]
    values: NDArray[np.int64]
    times: NDArray[np.int64]
