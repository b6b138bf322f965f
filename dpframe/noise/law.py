"""What every law on the integers can do, and how its parameters are read."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpframe.errors import ParameterError
from dpframe.privacy.amounts import Amount, as_fraction, show_amount

__all__ = [
    "MAX_NOISE",
    "MAX_SCALE",
    "Floats",
    "IntegerLaw",
    "Sampler",
    "as_float",
    "as_miss",
    "as_points",
    "as_positive",
    "as_scale",
]

#: Widest noise, in grid steps: beyond it values no longer fit beside their noise.
MAX_SCALE = 1 << 54

#: Samples are cut to ±this. At the greatest scale a cut has chance exp(-128).
MAX_NOISE = 1 << 61

_BLOCK = 1 << 16  # draws worked on at a time; they stay in the processor's cache

Floats = NDArray[np.float64]
Sampler = Callable[[int], NDArray[np.int64]]


class IntegerLaw(ABC):
    """A probability law on the integers that can be sampled exactly."""

    __slots__ = ()

    @property
    @abstractmethod
    def variance(self) -> float:
        """Variance, in squared grid steps."""

    @property
    def std(self) -> float:
        """Standard deviation, in grid steps."""
        return math.sqrt(self.variance)

    @overload
    def sample(self, size: None = None) -> int: ...
    @overload
    def sample(self, size: int) -> NDArray[np.int64]: ...
    def sample(self, size: int | None = None) -> int | NDArray[np.int64]:
        """Draw from the law, exactly, from fresh bytes of the operating system.

        Parameters
        ----------
        size : int, optional
            Number of independent draws; a single Python int if omitted.

        Returns
        -------
        int or ndarray of int64, shape (size,)
            Magnitudes are cut at 2^61, which at the greatest scale allowed happens
            with probability exp(-128).
        """
        if size is None:
            return int(self._draw(1)[0])
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
            msg = f"size must be a whole number, not {type(size).__name__}."
            raise ParameterError(msg)
        if size < 0:
            msg = f"size must not be negative; got {size}."
            raise ParameterError(msg)
        drawn = np.empty(size, dtype=np.int64)
        for start in range(0, size, _BLOCK):
            block = drawn[start : start + _BLOCK]
            block[:] = self._draw(block.size)
        return drawn

    @overload
    def pmf(self, k: float) -> float: ...
    @overload
    def pmf(self, k: ArrayLike) -> Floats: ...
    def pmf(self, k: ArrayLike) -> float | Floats:
        """Return P(X = k); 0 where ``k`` is not a whole number."""
        points = as_points(k)
        with np.errstate(over="ignore", under="ignore"):
            mass = np.where(points == np.floor(points), self._mass(points), 0.0)
        return mass if mass.ndim else float(mass)

    @overload
    def cdf(self, k: float) -> float: ...
    @overload
    def cdf(self, k: ArrayLike) -> Floats: ...
    def cdf(self, k: ArrayLike) -> float | Floats:
        """Return P(X <= k), with full relative accuracy in the lower tail."""
        with np.errstate(over="ignore", under="ignore"):
            total = np.asarray(self._cumulative(np.floor(as_points(k))))
        return total if total.ndim else float(total)

    def interval(self, level: Amount = 0.95) -> tuple[int, int]:
        """Return the narrowest (-h, h) that holds X with probability ``level``.

        One-sided laws answer (0, h).

        Raises
        ------
        ParameterError
            Unless 0 < level < 1.
        """
        return self._interval(as_miss(level))

    @abstractmethod
    def _draw(self, n: int) -> NDArray[np.int64]:
        """Return ``n`` independent draws."""

    @abstractmethod
    def _mass(self, k: Floats) -> Floats:
        """Return P(X = k) at whole numbers."""

    @abstractmethod
    def _cumulative(self, k: Floats) -> Floats:
        """Return P(X <= k) at whole numbers."""

    @abstractmethod
    def _interval(self, miss: Fraction) -> tuple[int, int]:
        """Return the narrowest interval missed with probability ``miss`` or less."""


def as_positive(value: Amount, name: str) -> Fraction:
    """Read a positive number, or raise `ParameterError`."""
    number = as_fraction(value, name)
    if number <= 0:
        msg = f"{name} must be positive; got {show_amount(number)}."
        raise ParameterError(msg)
    return number


def as_scale(value: Amount, name: str = "scale", limit: int = MAX_SCALE) -> Fraction:
    """Read a noise parameter in (0, limit], or raise `ParameterError`."""
    scale = as_positive(value, name)
    if scale > limit:
        msg = (
            f"{name} must be at most 2^{limit.bit_length() - 1} on the integer grid; "
            f"got {show_amount(scale)}. Spend more epsilon, or choose a coarser grid."
        )
        raise ParameterError(msg)
    return scale


def as_miss(level: Amount) -> Fraction:
    """Read a level inside (0, 1) and return 1 - level, or raise `ParameterError`."""
    coverage = as_fraction(level, "level")
    if not 0 < coverage < 1:
        msg = f"level must lie between 0 and 1; got {show_amount(coverage)}."
        raise ParameterError(msg)
    return 1 - coverage


def as_float(value: Fraction) -> float:
    """Return the nearest float of a number >= 0, but at most 1e300."""
    try:
        return min(float(value), 1e300)
    except OverflowError:
        return 1e300


def as_points(k: ArrayLike) -> Floats:
    """Return ``k`` as floats; Python integers of any size are welcome."""
    points = np.asarray(k)
    if points.dtype == object:
        points = np.vectorize(_nearest, otypes=[np.float64])(points)
    points = np.asarray(points, dtype=np.float64)
    if np.isnan(points).any():
        msg = "k must be numbers; NaN is none."
        raise ParameterError(msg)
    return points


def _nearest(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
