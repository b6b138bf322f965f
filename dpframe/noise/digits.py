"""A geometric number in base 256: its digits are independent.

For P(G = k) = (1 - r) r^k with r = exp(-t), the number G = Σ 256^j d_j has
P(G = k) ∝ Π exp(-t 256^j d_j), a product of one factor per digit. Digit j is thus a
geometric number of rate t 256^j cut to 0..255. From the first place where the rate
reaches 1/32 on, the remaining digits are taken together: the *head*, an ordinary
geometric number. Each digit costs sixteen random bits and one table look-up.

(In base 2 this is the known fact that the bits are Bernoulli(1 / (1 + exp(t 2^j))).)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpframe.noise.exponential import exp_floor
from dpframe.noise.law import MAX_NOISE
from dpframe.noise.table import Interval, InversionTable

__all__ = ["GeometricHead", "LowDigits", "low_digits", "powers"]

# A head of this rate or more leaves its table (of at most 545 outcomes) with
# probability exp(-17) or less. A lesser rate makes larger tables and more cells with
# a threshold in them; a greater one costs more draws a digit.
_LEAST_HEAD_RATE = Fraction(1, 32)
_TABLE_REACH = 17


@dataclass(frozen=True, slots=True)
class LowDigits:
    """The digits below the head of a geometric number of a given rate.

    Parameters
    ----------
    tables : tuple of InversionTable
        One per digit, the lowest first.
    head_rate : Fraction
        The rate that is left for the head, t · 256^len(tables).
    """

    tables: tuple[InversionTable, ...]
    head_rate: Fraction

    @property
    def base(self) -> int:
        """The number of values of the digits together, 256^len(tables)."""
        return 1 << 8 * len(self.tables)

    def draw(self, n: int) -> NDArray[np.int64]:
        """Return ``n`` independent numbers in 0..base - 1."""
        *lower, top = self.tables
        total = top.draw(n).astype(np.int64)
        for table in reversed(lower):
            total <<= 8
            total += table.draw(n)
        return total


def low_digits(rate: Fraction) -> LowDigits:
    """Return the digits of a geometric number of rate t, with their tables."""
    tables = []
    while rate < _LEAST_HEAD_RATE:
        tables.append(_digit_table(rate))
        rate *= 256
    return LowDigits(tuple(tables), rate)


def _digit_table(rate: Fraction) -> InversionTable:
    """P(D < i) = (1 - R^i) / (1 - R^256), with R = exp(-rate)."""

    def intervals(width: int) -> list[Interval]:
        one = 1 << width
        *inner, (last_low, last_high) = powers(rate, 256, width)
        return [
            (
                (one - high) * one // (one - last_low),
                (one - low) * one // (one - last_high) + 1,
            )
            for low, high in inner[1:]
        ]

    return InversionTable(intervals)


class GeometricHead:
    """An unbounded geometric number of rate 1/32 or more.

    The table ends at ``reach``, which stands for "reach or beyond"; there the number
    goes on with a fresh geometric number (it has no memory), so its tail is exact.

    Parameters
    ----------
    digits : LowDigits
        The digits below; they set the rate and the greatest useful value.
    """

    __slots__ = ("_most", "_table", "reach")

    def __init__(self, digits: LowDigits) -> None:
        rate = digits.head_rate
        self.reach = math.ceil(_TABLE_REACH / min(rate, Fraction(_TABLE_REACH)))
        self._most = MAX_NOISE // digits.base - 1

        def intervals(width: int) -> list[Interval]:
            one = 1 << width
            tails = powers(rate, self.reach, width)[1:]
            return [(one - high, one - low) for low, high in tails]

        self._table = InversionTable(intervals)

    def draw(self, n: int) -> NDArray[np.int64]:
        """Return ``n`` independent numbers."""
        head = self._table.draw(n).astype(np.int64)
        past = (head == self.reach).nonzero()[0]
        if past.size:
            head[past] = self.continued(past.size)
        return head

    def continued(self, n: int) -> NDArray[np.int64]:
        """Return ``n`` numbers known to be ``reach`` or beyond."""
        return np.minimum(self.reach + self.draw(n), self._most)


def powers(rate: Fraction, count: int, width: int) -> list[Interval]:
    """Return open intervals around exp(-rate · i), i = 0..count, in units of 2^-width.

    The first, exp(0) = 1, is a point. Products are rounded outwards.
    """
    ratio = exp_floor(rate, width)
    low = high = 1 << width
    found = [(low, high)]
    for _ in range(count):
        low = low * ratio >> width
        high = (high * (ratio + 1) >> width) + 1
        found.append((low, high))
    return found
