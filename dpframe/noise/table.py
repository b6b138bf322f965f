"""Exact inversion: as many bits of one uniform number as the answer needs.

A law on n outcomes has n - 1 cumulative thresholds F_1 < F_2 < ... . Think of an
infinite binary number V in [0, 1); the outcome is #{i : F_i <= V}. The bits of V
are revealed piece by piece, and a bit once revealed is kept:

1. sixteen bits choose a cell of a table; a cell without a threshold in it is an
   answer;
2. in the few other cells, 48 more bits are compared with the thresholds cut to 64;
3. a number still tied with a cut threshold (chance below n / 2^64) gets more bits,
   and so does the threshold, until they differ.

Thresholds are known as intervals that may be made as narrow as wanted, and only
their exact binary digits are used: the law is exact, with no error to account for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import final

import numpy as np
from numpy.typing import NDArray

from dpframe.noise.bits import random_bytes, random_uint16, random_uint64

__all__ = ["Interval", "InversionTable", "exact_floors"]

#: (low, high) at a width w: low / 2^w < F < high / 2^w, or low / 2^w = F.
Interval = tuple[int, int]

_OPEN = np.iinfo(np.int16).min  # marks a cell that holds a threshold


@final
class InversionTable:
    """A sampler of one law on ``first``, ``first + 1``, ….

    Parameters
    ----------
    intervals : callable
        Takes a width w and returns the increasing thresholds F_i in (0, 1) as
        intervals in units of 2^-w, which narrow as w grows.
    first : int
        The outcome below the first threshold.
    """

    __slots__ = ("_cells", "_cuts", "_first", "_intervals")

    def __init__(
        self, intervals: Callable[[int], list[Interval]], first: int = 0
    ) -> None:
        self._intervals = intervals
        self._first = first
        self._cuts = np.array(exact_floors(intervals, 64), dtype=np.uint64)
        coarse = self._cuts >> np.uint64(48)
        below = np.searchsorted(coarse, np.arange(1 << 16, dtype=np.uint64))
        self._cells = (below + first).astype(np.int16)
        self._cells[coarse] = _OPEN

    def draw(self, n: int) -> NDArray[np.int16]:
        """Return ``n`` independent outcomes."""
        cells = random_uint16(n)
        outcomes = self._cells.take(cells)
        unsettled = (outcomes == _OPEN).nonzero()[0]
        if unsettled.size:
            outcomes[unsettled] = self._refine(cells[unsettled])
        return outcomes

    def _refine(self, cells: NDArray[np.uint16]) -> NDArray[np.int64]:
        """Settle numbers whose first sixteen bits are ``cells``."""
        more = random_uint64(cells.size) >> np.uint64(16)
        numbers = (cells.astype(np.uint64) << np.uint64(48)) | more
        below = np.searchsorted(self._cuts, numbers)
        # Past the last threshold "clip" compares with the last one: no tie there.
        tied = self._cuts.take(below, mode="clip") == numbers
        for i in tied.nonzero()[0]:
            below[i] = self._settle(int(numbers[i]))
        return below + self._first

    def _settle(self, number: int) -> int:
        """Settle one number whose 64 bits equal a cut threshold."""
        bits = 64
        while True:
            bits += 64
            number = (number << 64) | int.from_bytes(random_bytes(8), "little")
            cuts = exact_floors(self._intervals, bits)
            below = bisect_left(cuts, number)
            if below == len(cuts) or cuts[below] != number:
                return below


def exact_floors(intervals: Callable[[int], list[Interval]], bits: int) -> list[int]:
    """Return floor(2^bits · F) for each F, narrowing its interval until it is sure."""
    width = bits
    while True:
        width += 128
        shift = width - bits
        ends = intervals(width)
        floors = [low >> shift for low, _ in ends]
        # F lies strictly below `high`, hence the greatest integer below it.
        if floors == [(high - 1) >> shift for _, high in ends]:
            return floors
