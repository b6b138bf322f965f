"""Exact integer sums: in one int64, or in two limbs where one might not do.

An integer of at most 2**30 in size, summed over fewer than 2**33 rows, stays below
2**63. Larger ones (up to 2**62) are split as x = 2**31 * high + low, 0 <= low < 2**31,
summed limb by limb, and put together as Python integers (``design: units`` §6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from dpframe.engines.physical import INT64

__all__ = ["LIMB", "ExactSum", "add_exactly"]

LIMB = 2**31
_NARROW = 2**30

Integers = NDArray[Any]


@final
@dataclass(frozen=True, slots=True)
class ExactSum:
    """The sum of an integer column of the plan.

    Parameters
    ----------
    name : str
        Prefix of the summed columns.
    bound : int
        Largest size of one summand, at most 2**62.
    """

    name: str
    bound: int

    @property
    def narrow(self) -> bool:
        """Whether one int64 holds the sum."""
        return self.bound <= _NARROW

    def expressions(self, column: nw.Expr) -> list[nw.Expr]:
        """Return the sums to be taken of ``column``; null adds nothing."""
        if self.narrow:
            return [column.sum().alias(self.name)]
        high = column // LIMB
        low = column - high * LIMB
        return [
            high.sum().alias(f"{self.name} high"),
            low.sum().alias(f"{self.name} low"),
        ]

    def clipped(self, low: int, high: int) -> nw.Expr:
        """Return the sum of two limbs clipped to bounds of at most 2**62 in size.

        Exact: where the high limb is cut, the sum lies beyond the bounds anyway.
        """
        upper, lower = nw.col(f"{self.name} high"), nw.col(f"{self.name} low")
        carried = (upper + lower // LIMB).clip(-LIMB - 1, LIMB + 1)
        return (carried * LIMB + lower % LIMB).clip(low, high)

    def read(self, sums: Mapping[str, Integers]) -> Integers:
        """Put the sums together: int64, or Python integers (dtype object)."""
        if self.narrow:
            return sums[self.name]
        high, low = (sums[f"{self.name} {limb}"] for limb in ("high", "low"))
        return high.astype(object) * LIMB + low


def add_exactly(first: Integers, second: Integers) -> Integers:
    """Add the sums of two chunks as Python integers, in the dtype of the first.

    An int64 is saturated: that moves no total further from its neighbor's, where
    an overflow would raise on some data only.
    """
    total: Integers = first.astype(object) + second.astype(object)
    if first.dtype != object:
        total = np.clip(total, *INT64).astype(np.int64)
    return total
