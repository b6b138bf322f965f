"""The variance (1/n) Σ (x_i - μ)²; 0 for no values.

With R = U - L and D = max(U - μ, μ - L):

    replace      A(k) = min(R² (n-1)/n², min(R, D + k R/n)² / (n-1)), 0 for n = 1
    add_remove   A(k) = min(R² (j-1)/j², min(R, D + k R/(n-k))² / (n-k-1)),
                 j = max(2, n - k), and the first alone where n - k <= 1

Both are upper profiles, worked out in exact rationals and rounded once: what holds
between neighbors holds of the floats too.
Proof: docs/proofs/sensitivity, theorem 9.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np

from dpframe.noise.law import Floats
from dpframe.sensitivity.ordered import Integers, Ordered, exact_sum
from dpframe.sensitivity.profile import Constant, Profile
from dpframe.sensitivity.statistic import Statistic

__all__ = ["variance"]


@dataclass(frozen=True, eq=False, repr=False)
class _VarianceProfile(Profile):
    """What both relations share: the bounds and the mean."""

    data: Ordered

    def _at(self, ks: Integers) -> Floats:
        return np.array([float(self._bound(k)) for k in ks.tolist()])

    @abstractmethod
    def _bound(self, k: int) -> Fraction:
        """Return A(k) exactly."""

    @cached_property
    def _width(self) -> Fraction:
        """R, the width of the bounds."""
        lower, upper = self.data.ends
        return upper - lower

    @cached_property
    def _farthest(self) -> Fraction:
        """D, the distance from the mean to the farther bound."""
        lower, upper = self.data.ends
        mean = exact_sum(self.data.values) / len(self.data)
        return max(upper - mean, mean - lower)


@final
class _Replaced(_VarianceProfile):
    """One of n >= 2 values is replaced."""

    @property
    def last(self) -> int:
        """Where every value may have moved by R."""
        return len(self.data)

    @property
    def exact_local(self) -> float:
        """The largest change by one replacement, over all values and places for it.

        For the value x_i the change is a parabola in its new place y: greatest at a
        bound, or least at the mean of the others.
        """
        n, x = len(self.data), self.data.values.astype(np.float64)
        lower, upper = map(float, self.data.ends)
        sum_ = float(exact_sum(self.data.values))
        others = np.clip((sum_ - x) / (n - 1), lower, upper)
        y = np.stack([np.full(n, lower), np.full(n, upper), others])
        change = (y - x) * ((y + x) - (2 * sum_ + y - x) / n) / n
        return float(np.abs(change).max())

    def _bound(self, k: int) -> Fraction:
        n, width = len(self.data), self._width
        farthest = min(width, self._farthest + k * width / n)
        return min(width**2 * (n - 1) / n**2, farthest**2 / (n - 1))


@final
class _AddedRemoved(_VarianceProfile):
    """Values come and go."""

    @property
    def last(self) -> int:
        """Where a single value is left: any two may then be a width apart."""
        return max(len(self.data) - 1, 0)

    def _bound(self, k: int) -> Fraction:
        left, width = len(self.data) - k, self._width
        j = max(2, left)
        anywhere = width**2 * (j - 1) / j**2
        if left <= 1:
            return anywhere
        farthest = min(width, self._farthest + k * width / left)
        return min(anywhere, farthest**2 / (left - 1))


def variance() -> Statistic[Ordered]:
    """Make the variance with 1/n."""
    return Statistic(
        "variance",
        Ordered.read,
        _value,
        {"add_remove": _AddedRemoved, "replace": _replaced},
    )


def _replaced(data: Ordered) -> Profile:
    return _Replaced(data) if len(data) > 1 else Constant(0.0)


def _value(data: Ordered) -> float:
    if not len(data):
        return 0.0
    mean = float(exact_sum(data.values) / len(data))
    return math.fsum(((data.values - mean) ** 2).tolist()) / len(data)
