"""What every law on the real numbers can do: outputs of post-processing have one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from dpframe.noise.law import Floats, as_miss, as_points
from dpframe.privacy.amounts import Amount

__all__ = ["RealLaw", "negative_log"]


class RealLaw(ABC):
    """A symmetric probability law on the real numbers with a density.

    Floats cannot follow such a law exactly, so no mechanism draws from one: it is
    reached from an exact integer law by independent noise (docs/proofs/conversions),
    or drawn, exactly, as steps of a grid (`dpframe.noise.on_grid`).
    """

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
    def pdf(self, x: float) -> float: ...
    @overload
    def pdf(self, x: ArrayLike) -> Floats: ...
    def pdf(self, x: ArrayLike) -> float | Floats:
        """Return the density at x, per grid step."""
        with np.errstate(over="ignore", under="ignore"):
            density = self._density(_finite(x))
        return density if density.ndim else float(density)

    @overload
    def cdf(self, x: float) -> float: ...
    @overload
    def cdf(self, x: ArrayLike) -> Floats: ...
    def cdf(self, x: ArrayLike) -> float | Floats:
        """Return P(X <= x), with full relative accuracy in the lower tail."""
        where = _finite(x)
        with np.errstate(over="ignore", under="ignore"):
            tail = self._tail(np.abs(where)) / 2
        below = np.where(where < 0, tail, 1 - tail)
        return below if below.ndim else float(below)

    def interval(self, level: Amount = 0.95) -> tuple[float, float]:
        """Return the narrowest (-h, h) that holds X with probability ``level``.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1.
        """
        half = self._half_width(as_miss(level))
        return -half, half

    @abstractmethod
    def _density(self, x: Floats) -> Floats:
        """Return the density at finite x."""

    @abstractmethod
    def _tail(self, x: Floats) -> Floats:
        """Return P(|X| > x) at finite x >= 0."""

    @abstractmethod
    def _half_width(self, miss: Fraction) -> float:
        """Return the h with P(|X| > h) = ``miss``."""


def negative_log(share: Fraction) -> float:
    """Return -ln(share) of a share in (0, 1), near 0 and near 1 alike."""
    if 2 * share > 1:
        return -math.log1p(-float(1 - share))
    return math.log(share.denominator) - math.log(share.numerator)


def _finite(x: ArrayLike) -> Floats:
    return np.asarray(np.clip(as_points(x), -1e300, 1e300))
