"""Numbers clamped to public bounds and sorted once: what most profiles work on.

Order statistics are 1-based; x_i is the lower bound for i <= 0 and the upper bound for
i > n. Integers stay integers, so that no difference between them is lost above 2^53.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpframe.errors import ParameterError, shown
from dpframe.privacy.amounts import as_fraction

__all__ = ["Integers", "Ordered", "exact_sum", "read_bounds", "read_numbers", "widths"]

Integers = NDArray[np.int64]
Numbers = NDArray[Any]  # float64 or int64

_GREATEST = 10**150  # squares of widths stay far from the end of the floats


@final
@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Ordered:
    """Sorted values with their bounds before and after them.

    Parameters
    ----------
    padded : ndarray of float64 or int64, shape (n + 2,)
        lower, x_1 <= ... <= x_n, upper.
    """

    padded: Numbers

    @classmethod
    def of_sorted(cls, values: Numbers, lower: float, upper: float) -> Ordered:
        """Lay the bounds around values that are sorted and within them."""
        padded = np.empty(values.size + 2, dtype=values.dtype)
        padded[0], padded[1:-1], padded[-1] = lower, values, upper
        return cls(padded)

    @classmethod
    def read(cls, values: ArrayLike, bounds: object) -> Ordered:
        """Read, clamp and sort what a user gave; raise `ParameterError` if it is bad.

        Values of any array-like in one dimension; they must be finite.
        """
        low, high = read_bounds(bounds)
        given, lower, upper = read_numbers(values, low, high)
        if given.ndim != 1:
            msg = "values must be a flat list of numbers."
            raise ParameterError(msg)
        return cls.of_sorted(np.sort(given), lower, upper)

    def __len__(self) -> int:
        return self.padded.size - 2

    def __getitem__(self, ranks: int | Integers) -> Any:
        """Return x_i for each rank i; the bounds where there is no such value."""
        return self.padded[np.clip(ranks, 0, self.padded.size - 1)]

    @property
    def values(self) -> Numbers:
        """x_1 <= ... <= x_n."""
        return self.padded[1:-1]

    @property
    def width(self) -> float:
        """Upper less lower bound."""
        return float(widths(self.padded[-1:], self.padded[:1])[0])

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Both bounds, exactly."""
        return Fraction(self.padded[0].item()), Fraction(self.padded[-1].item())

    def gap(self, high: int | Integers, low: int | Integers) -> NDArray[np.float64]:
        """Return x_high - x_low for ranks high >= low."""
        return widths(self[high], self[low])


def widths(high: Any, low: Any) -> NDArray[np.float64]:
    """Return high - low >= 0, rounded once: integers are subtracted as integers."""
    high, low = np.asarray(high), np.asarray(low)
    if high.dtype == np.int64:  # modulo 2^64, so a width above 2^63 is right too
        high, low = high.astype(np.uint64), low.astype(np.uint64)
    return np.asarray(high - low, dtype=np.float64)


def exact_sum(values: Numbers) -> Fraction:
    """Return the sum without any rounding, whatever the order of the values."""
    if values.dtype == np.int64:
        return Fraction(sum(values.tolist()))
    total, rest = Fraction(0), values.tolist()
    while part := math.fsum(rest):  # `fsum` rounds once; what it lost comes next
        total += Fraction(part)
        rest.append(-part)
    return total


def read_bounds(bounds: object) -> tuple[Fraction, Fraction]:
    """Read public bounds (lower, upper), both finite, lower <= upper."""
    if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
        msg = (
            "bounds must be a pair (lower, upper) that is public, such as (0, 120), "
            f"never taken from the data; got {shown(bounds)}."
        )
        raise ParameterError(msg)
    lower, upper = (as_fraction(bound, "bounds") for bound in bounds)
    if lower > upper:
        msg = f"the lower bound must not be above the upper one; got {shown(bounds)}."
        raise ParameterError(msg)
    if max(abs(lower), abs(upper)) > _GREATEST:
        msg = f"bounds must be within ±1e150; got {shown(bounds)}."
        raise ParameterError(msg)
    return lower, upper


def read_numbers(
    values: ArrayLike, lower: Fraction, upper: Fraction
) -> tuple[Numbers, float, float]:
    """Clamp numbers, and give the bounds in their kind: integers in integer bounds."""
    given = np.asarray(values)
    if given.dtype.kind == "b":
        given = given.astype(np.int64)
    whole = lower.denominator == upper.denominator == 1
    if given.dtype.kind in "iu" and whole and max(-lower - 1, upper) < 2**63:
        ends = np.iinfo(given.dtype)
        low, high = (min(max(int(b), ends.min), ends.max) for b in (lower, upper))
        clamped = np.clip(given, low, high).astype(np.int64)
        return np.clip(clamped, int(lower), int(upper)), int(lower), int(upper)
    numbers = _floats(given)
    return numbers.clip(float(lower), float(upper)), float(lower), float(upper)


def _floats(given: Numbers) -> NDArray[np.float64]:
    if given.dtype.kind in "iufO":
        with suppress(TypeError, ValueError, OverflowError):
            numbers = given.astype(np.float64)
            if np.isfinite(numbers).all():
                return numbers
    msg = "values must all be finite numbers, without NaN: drop or fill the others."
    raise ParameterError(msg)
