"""Exact draws of value + scale · Z, clamped and rounded to a grid, for real laws of Z.

Z has a fair sign and a size |Z| with P(|Z| > x) = T(x), T continuous and falling from
T(0) = 1. Think of an infinite binary number V in [0, 1) with |Z| > x just where
V < T(x). Each output is a cell of sizes, e(k) <= |Z| < e(k + 1), and bits of V are
revealed until the cell is known:

1. with 63 bits, float64 proposes a cell and compares V with T at both of its edges. It
   decides unless V is within a margin far above any error of those floats;
2. one that is left open goes on with the same bits and more: edges are rational, T is
   enclosed between integers, and the enclosure narrows as V does.

So the law is exact for the value and the scale as given, whatever made them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from dpframe.errors import DPFrameError, ParameterError
from dpframe.noise.bits import random_bytes, random_uint64
from dpframe.noise.law import Floats
from dpframe.noise.table import Interval

__all__ = ["Cells", "SizeLaw", "draw_on_grid"]

_BLOCK = 1 << 14  # draws worked on at a time; they stay in the processor's cache
_REACH = 1 << 62  # steps beyond it leave no room for a difference in int64
_DOUBT = 2.0**-44  # of V: tail() errs by less than 2^-47, a division by 2^-52
_EDGE_DOUBT = 2.0**-49  # of the numbers in an edge, each rounded a few times to 53 bits


class SizeLaw(Protocol):
    """What a symmetric law must know of its size |Z| to be drawn."""

    def sizes(self, share: Floats) -> Floats:
        """Return about the x with P(|Z| > x) = share; only speed depends on it."""

    def tail(self, x: Floats) -> Floats:
        """Return P(|Z| > x) at x in [0, inf], to within 2^-47."""

    def tail_interval(self, x: Fraction, width: int) -> Interval:
        """Enclose P(|Z| > x), x > 0, in units of 2^-width; it narrows as that grows."""


@final
@dataclass(frozen=True, slots=True)
class Cells:
    """The public part of a draw: which outputs there are.

    Parameters
    ----------
    first, last : int
        The least and the greatest output, in steps of the grid.
    grid : Fraction
        The step, in the unit of the values.
    noise_unit : Fraction
        The spread that makes Z count in steps: scale = spread / noise_unit.
    """

    first: int
    last: int
    grid: Fraction
    noise_unit: Fraction

    @classmethod
    def read(cls, low: Fraction, high: Fraction, grid: Fraction, s: Fraction) -> Cells:
        """Return the steps that bounds clamp to, for noise (spread / s) Z.

        Raises
        ------
        ParameterError
            Unless 0 < grid, low < high, and both are within 2^62 steps of 0.
        """
        if grid <= 0:
            msg = "the output grid must be positive."
            raise ParameterError(msg)
        if low >= high:
            msg = "the lower bound must be below the upper bound."
            raise ParameterError(msg)
        if max(abs(low), abs(high)) >= _REACH * grid:
            msg = "bounds must lie within 2^62 grid steps of 0. Choose a coarser grid."
            raise ParameterError(msg)
        half = Fraction(1, 2)
        first, last = math.floor(low / grid + half), math.floor(high / grid + half)
        return cls(first, last, grid, s * grid)


def draw_on_grid(
    law: SizeLaw, value: NDArray[Any], spread: NDArray[Any], cells: Cells
) -> NDArray[np.int64]:
    """Return one output each of value + spread / noise_unit · grid · Z, in steps.

    Parameters
    ----------
    law : SizeLaw
        Of Z.
    value, spread : arrays, shape (n,)
        Integers, floats or Fractions, taken as the exact numbers that they are.
    cells : Cells
        Clamps and rounds.

    Raises
    ------
    DPFrameError
        If a value is not finite or a spread not positive, which is a bug of the caller.
    """
    near = value.astype(np.float64), spread.astype(np.float64)
    if not (np.isfinite(near[0]) & (near[1] > 0) & np.isfinite(near[1])).all():
        msg = "a value or a spread to draw around is out of range: a bug in dpframe."
        raise DPFrameError(msg)
    steps = np.empty(value.size, dtype=np.int64)
    for start in range(0, value.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        bits = random_uint64(steps[block].size)
        with np.errstate(all="ignore"):  # what leaves float64 is left to integers
            steps[block], open_ = _propose(
                law, near[0][block], near[1][block], cells, bits
            )
        for i in start + open_.nonzero()[0]:
            settled = _Open(law, cells, value[i], spread[i], int(bits[i - start]))
            steps[i] = settled.step(int(steps[i]))
    return steps


def _propose(
    law: SizeLaw, value: Floats, spread: Floats, cells: Cells, bits: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the cell of each draw, and whether floats leave it open.

    Everything counts outwards: negative noise is mirrored and then mirrored back.
    """
    sign = 1 - 2 * (bits & np.uint64(1)).astype(np.int64)
    share = ((bits >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-63
    scale = spread / _near(cells.noise_unit)
    center = sign * (value / _near(cells.grid))
    first = np.where(sign > 0, cells.first, -cells.last)
    last = np.where(sign > 0, cells.last, -cells.first)
    reach = np.floor(center + scale * law.sizes(share) + 0.5)
    step = np.fmax(np.fmin(reach, last), first).astype(np.int64).clip(first, last)
    doubt = _EDGE_DOUBT * (np.abs(center) + np.abs(step) + 1)
    inner = np.where(step == first, 0.0, (step - 0.5 - center + doubt) / scale)
    outer = np.where(step == last, np.inf, (step + 0.5 - center - doubt) / scale)
    sure = law.tail(np.maximum(inner, 0)) - share > _DOUBT
    sure &= share - law.tail(np.maximum(outer, 0)) > _DOUBT
    sure &= (np.minimum(scale, spread) > 1e-300) & (scale < 1e300)
    return sign * step, ~sure


def _near(number: Fraction) -> float:
    """Return the float of 53 bits, or NaN, which decides nothing."""
    return float(number) if 2.0**-1000 < number < 2.0**1000 else math.nan


@final
class _Open:
    """A draw that floats left open: V in [number, number + 1) / 2^width, exactly."""

    __slots__ = ("_center", "_law", "_limits", "_number", "_scale", "_sign", "_width")

    def __init__(
        self, law: SizeLaw, cells: Cells, value: Any, spread: Any, bits: int
    ) -> None:
        self._law = law
        self._sign = 1 - 2 * (bits & 1)
        self._number, self._width = bits >> 1, 63
        self._center = self._sign * _exact(value) / cells.grid
        self._scale = _exact(spread) / cells.noise_unit
        ends = self._sign * cells.first, self._sign * cells.last
        self._limits = min(ends), max(ends)

    def step(self, guess: int) -> int:
        """Return the output, looked for ever further around a guess of it."""
        (first, last), guess, radius = self._limits, self._sign * guess, 1
        while True:
            low, high = max(first, guess - radius), min(last, guess + radius)
            if self._reaches(low) and not self._reaches(high + 1):
                beyond = range(low + 1, high + 1)
                short = bisect_left(beyond, True, key=lambda k: not self._reaches(k))
                return self._sign * (low + short)
            radius *= 16

    def _reaches(self, step: int) -> bool:
        """Tell whether the output, counted outwards, is ``step`` or more."""
        first, last = self._limits
        if step <= first or step > last:
            return step <= first
        edge = (step - Fraction(1, 2) - self._center) / self._scale
        return edge <= 0 or self._is_below(lambda w: self._law.tail_interval(edge, w))

    def _is_below(self, interval: Callable[[int], Interval]) -> bool:
        """Compare V with a number in (0, 1), revealing bits while both may be equal."""
        while True:
            width = self._width + 64
            low, high = interval(width)
            if (self._number + 1) << 64 <= low:
                return True
            if self._number << 64 >= high:
                return False
            fresh = int.from_bytes(random_bytes(8), "little")
            self._number, self._width = (self._number << 64) | fresh, width


def _exact(number: Any) -> Fraction:
    """Return a number as a Fraction; numpy's are unwrapped first."""
    return Fraction(number.item() if isinstance(number, np.generic) else number)
