"""From engine numbers to answers of the column's own kind.

Formulas work on plain arrays. Here an amount becomes what the analyst knows: an exact
integer, a float, a Decimal, a date, a duration; as one Python value or as an Arrow
column whose type depends on public facts only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any, Literal, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpframe.domain.lattice import Lattice

__all__ = ["LARGEST", "Form", "Numbers"]

#: A value of the column, a difference of two, or the square of a difference.
Form = Literal["point", "length", "square"]

#: Where float answers end: bounds near 2**1000 must not make an infinity.
LARGEST = sys.float_info.max

_INT64 = np.iinfo(np.int64)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_MICROSECONDS_PER_DAY = 86_400 * 10**6
_INT64_DIGITS = 19
_DECIMAL_DIGITS = 38  # of Arrow's decimal128
_EXTRA_PLACES = 6  # below the last digit of a decimal column, for means


@final
@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """One amount for each cell, in engine numbers.

    Parameters
    ----------
    offsets : ndarray of int64, object (Python integers) or float64, shape (cells,)
        Integers are exact, floats are rounded.
    lattice : Lattice or None
        The grid of the column; None for counts.
    form : {"point", "length", "square"}
        What the amounts are.
    origin : int
        An exact amount to which every offset is added: floats cannot hold the ticks of
        a datetime or the digits of a decimal.
    """

    offsets: NDArray[Any]
    lattice: Lattice | None = None
    form: Form = "point"
    origin: int = 0

    @property
    def exact(self) -> bool:
        """Whether the amounts are integers."""
        return self.offsets.dtype.kind != "f"

    @property
    def kind(self) -> str:
        """Kind of the answer: "number", or that of a column which is none."""
        kind = "number" if self.lattice is None else self.lattice.type.kind
        if kind in ("boolean", "integer", "float") or (
            kind == "duration" and self.form == "square"
        ):
            return "number"  # seconds² have no type of their own
        return kind

    def first(self, cells: int) -> Numbers:
        """Return the amounts of the first cells only."""
        return replace(self, offsets=self.offsets[:cells])

    def outward(self, to: Callable[[NDArray[Any]], NDArray[Any]]) -> Numbers:
        """Return ends of intervals in whole days where the answer is a date."""
        whole = self.kind == "date" and self.form == "point"
        return replace(self, offsets=to(self.offsets)) if whole else self

    def value(self, cell: int = 0) -> Any:
        """Return one amount as a Python value; integers of any size."""
        offset = self.offsets[cell]
        if self.lattice is None or self.kind == "number":
            return int(offset) if self.exact else float(self._plain()[cell])
        exact = Fraction(int(offset) if self.exact else float(offset))
        amount = self.origin + exact
        if self.form == "square":
            return self.lattice.answer(amount / 10**self.lattice.type.scale)
        if self.kind != "decimal":
            limit = _most_ticks(self.lattice)
            amount = min(max(amount, Fraction(-limit)), Fraction(limit))
        show = self.lattice.answer if self.form == "point" else self.lattice.length
        return show(amount)

    def array(self) -> NDArray[Any]:
        """Return the amounts as an array of their kind; integers of any size."""
        if self.kind == "number":
            return self.offsets.copy() if self.exact else self._plain()
        return self.saturated()

    def saturated(self) -> NDArray[Any]:
        """Return the amounts as an array of their kind; integers within int64."""
        # A copy: Arrow's own buffers are read-only.
        return np.array(self.column().to_numpy(zero_copy_only=False))

    def column(self) -> pa.Array[Any]:
        """Return the amounts as an Arrow array; integers are saturated at int64."""
        if self.kind == "number":
            return pa.array(_saturated(self.offsets) if self.exact else self._plain())
        if self.kind == "decimal":
            return self._decimals()
        type_, fineness = self._ticks()
        if self.exact:
            ticks = _saturated(self.offsets) * fineness
        else:
            fine = np.floor(self.offsets * fineness + 0.5)
            ticks = _saturated(fine) + self.origin * fineness
        storage = pa.int32() if pa.types.is_date32(type_) else pa.int64()
        return pa.array(ticks, storage).cast(type_)

    def _plain(self) -> NDArray[Any]:
        """Floats; squared durations in seconds²."""
        floats: NDArray[Any] = self.offsets + float(self.origin)
        if self.lattice is not None and self.lattice.type.kind == "duration":
            floats /= _PER_SECOND[self.lattice.type.unit] ** 2
        return floats

    def _ticks(self) -> tuple[pa.DataType, int]:
        """Return the Arrow type of times, and its ticks per engine tick.

        Exact sums keep the column's unit; what is rounded has microseconds at least.
        """
        assert self.lattice is not None
        type_ = self.lattice.type
        if type_.kind == "date":
            if self.form == "point":
                return pa.date32(), 1
            return pa.duration("us"), _MICROSECONDS_PER_DAY
        unit: Any = type_.unit if self.exact or type_.unit == "ns" else "us"
        fineness = _PER_SECOND[unit] // _PER_SECOND[type_.unit]
        if type_.kind == "datetime" and self.form == "point":
            return pa.timestamp(unit, type_.zone), fineness
        return pa.duration(unit), fineness

    def _decimals(self) -> pa.Array[Any]:
        """Decimals with the column's places (twice in squares); if rounded, six more.

        Where 38 digits are too few for those, as bounds of 2**62 have squares of 37,
        there are fewer.
        """
        assert self.lattice is not None
        held = self.lattice.type.scale * (2 if self.form == "square" else 1)
        if self.exact:
            unscaled, places = _saturated(self.offsets).tolist(), held
        else:
            width = int(self.lattice.upper - self.lattice.lower)
            digits = len(str(width**2)) if self.form == "square" else _INT64_DIGITS
            extra = min(_EXTRA_PLACES, _DECIMAL_DIGITS - digits)
            places = min(held + extra, _DECIMAL_DIGITS)
            fineness = Fraction(10) ** (places - held)
            unscaled = [
                floor((self.origin + Fraction(x)) * fineness + Fraction(1, 2))
                for x in self.offsets.tolist()
            ]
        exact = [Decimal(f"{n}E-{places}") for n in unscaled]
        return pa.array(exact, pa.decimal128(_DECIMAL_DIGITS, places))


def _saturated(values: NDArray[Any]) -> NDArray[np.int64]:
    """Whole numbers as int64, those beyond at its ends."""
    if values.dtype == np.int64:
        return values.copy()
    if values.dtype == object:
        ends = _INT64.min, _INT64.max
        whole = [min(max(int(v), ends[0]), ends[1]) for v in values]
        return np.array(whole, dtype=np.int64)
    # 2**63 itself is a float but no int64, so floats end one float below it.
    inside: NDArray[np.float64] = np.clip(values, _INT64.min, 2.0**63 - 1024)
    return inside.astype(np.int64)


def _most_ticks(lattice: Lattice) -> int:
    """Engine ticks of the longest timedelta."""
    longest = timedelta.max // timedelta(days=1)
    if lattice.type.kind == "date":
        return longest
    return longest * 86_400 * _PER_SECOND[lattice.type.unit]
