"""How a value becomes the code of a public cell.

Three codings serve every engine: a list, the integers of a range, and bins. Each
engine writes them in its own expressions; ``code`` here is the plain reference on
public values. A code is the position of the cell; -1 is a dropped row.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpframe.domain.values import comparable, family, plain

__all__ = ["DROPPED", "MAX_CELLS", "Bins", "Codes", "Coding", "Linear", "Lookup"]

Codes = NDArray[np.int64]

#: The code of a row that has no cell.
DROPPED = -1

#: Cells of one release, or of one frame of cells, at most: half a gigabyte of int64.
MAX_CELLS = 2**26


@final
@dataclass(frozen=True, slots=True)
class Lookup:
    """A value's code is its position in ``values``.

    Equality is Python's: 1, 1.0 and True are one value. ``None`` stands for null and
    NaN and has a code only if listed, or if there is an ``other`` cell.

    Parameters
    ----------
    values : tuple of hashable
        Distinct, exact Python values; may hold None.
    other : bool
        One more cell after the last, key None, for every value not listed.
    """

    values: tuple[object, ...]
    other: bool = False

    @property
    def size(self) -> int:
        """Number of cells, the other one included."""
        return len(self.values) + self.other

    @property
    def keys(self) -> tuple[object, ...]:
        """Label of each code, in order."""
        return self.values + (None,) * self.other

    def code(self, values: Sequence[object] | NDArray[Any]) -> Codes:
        """Return the code of each value, shape (n,), int64; -1 is dropped."""
        codes = {value: code for code, value in enumerate(self.values)}
        unlisted = _unusable(self)

        def code_of(value: object) -> int:
            value = plain(value)
            # A list in a cell of the frame is not hashable, hence not listed.
            return codes.get(value, unlisted) if _hashable(value) else unlisted

        return _codes(values, code_of)


@final
@dataclass(frozen=True, slots=True)
class Linear:
    """The integers ``lower`` to ``upper``, one cell each.

    The code is ``clip(floor(x + 1/2), lower, upper) - lower``; null and NaN go to
    the ``other`` cell, or are dropped.

    Parameters
    ----------
    lower, upper : int
        Ends, both included.
    other : bool
        One more cell after the last, key None.
    """

    lower: int
    upper: int
    other: bool = False

    @property
    def size(self) -> int:
        """Number of cells, the other one included."""
        return self.upper - self.lower + 1 + self.other

    @property
    def keys(self) -> tuple[object, ...]:
        """Label of each code, in order."""
        return (*range(self.lower, self.upper + 1), *(None,) * self.other)

    def code(self, values: Sequence[object] | NDArray[Any]) -> Codes:
        """Return the code of each value, shape (n,), int64; -1 is dropped."""

        def code_of(value: object) -> int:
            number = comparable(value, "number")
            return _unusable(self) if number is None else self._nearest(number)

        return _codes(values, code_of)

    def _nearest(self, number: int | float | Decimal) -> int:
        # Clipped first, so that an infinity or 1E+999999 never becomes an integer;
        # clipped again, as x + 0.5 may round up among floats beyond 2**52.
        inside = max(min(number, self.upper), self.lower)
        return max(min(_half_up(inside), self.upper), self.lower) - self.lower


@final
@dataclass(frozen=True, slots=True)
class Bins:
    """Bins [lo, hi), the last one closed.

    The code is the number of inner edges <= x, after clipping x to the outer edges;
    null and NaN go to the ``other`` cell, or are dropped.

    Parameters
    ----------
    edges : tuple
        Strictly increasing, of one family: ints, floats (infinite ends allowed),
        date, datetime, timedelta or Decimal; one more than there are bins.
    other : bool
        One more cell after the last, key None.
    """

    edges: tuple[object, ...]
    other: bool = False

    @property
    def size(self) -> int:
        """Number of cells, the other one included."""
        return len(self.edges) - 1 + self.other

    @property
    def keys(self) -> tuple[object, ...]:
        """Label of each code, in order: the lower edge of the bin."""
        return self.edges[:-1] + (None,) * self.other

    def code(self, values: Sequence[object] | NDArray[Any]) -> Codes:
        """Return the code of each value, shape (n,), int64; -1 is dropped."""
        kind = family(self.edges[0]) or ""
        # Without the outer edges nothing is left to clip.
        inner = [comparable(edge, kind) for edge in self.edges[1:-1]]

        def code_of(value: object) -> int:
            x = comparable(value, kind)
            return _unusable(self) if x is None else bisect_right(inner, x)

        return _codes(values, code_of)


Coding = Lookup | Linear | Bins


def _unusable(coding: Coding) -> int:
    return coding.size - 1 if coding.other else DROPPED


def _hashable(value: object) -> bool:
    return value is None or family(value) is not None


def _half_up(number: int | float | Decimal) -> int:
    """Return floor(x + 1/2): exact for int and Decimal, the float sum for floats."""
    if isinstance(number, Decimal):
        # Ties go up, whatever the sign; the decimal context plays no part here.
        rounding = ROUND_HALF_UP if number >= 0 else ROUND_HALF_DOWN
        return int(number.to_integral_value(rounding))
    return number if isinstance(number, int) else math.floor(number + 0.5)


def _codes(values: Iterable[object], code_of: Callable[[object], int]) -> Codes:
    # Times stay numpy scalars: tolist() would turn nanoseconds into integers.
    if isinstance(values, np.ndarray) and values.dtype.kind not in "mM":
        values = values.tolist()
    return np.array([code_of(value) for value in values], dtype=np.int64)
