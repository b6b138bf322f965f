"""Order statistics, quantiles, the median and the range between the quartiles.

Rank m of n sorted values; x_i is the lower bound for i <= 0, the upper one for i > n:

    replace                A(k) = max over 0 <= t <= k + 1 of x_{m+t} - x_{m+t-k-1}
    add_remove, median     A(k) = x_{⌈(n+k+1)/2⌉} - x_{⌈(n-k-1)/2⌉}
    add_remove, others     the first formula at the rank m(n) of the present n

Under add_remove a row that comes or goes moves every order statistic by at most one
place, and the rank ⌈q n⌉ by at most one: the median from one side only, so that its
profile is exact with one term for each k.
Proof: docs/proofs/sensitivity, theorems 3 to 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from dpframe.errors import ParameterError, shown
from dpframe.noise.law import Floats
from dpframe.privacy.amounts import Amount, as_fraction
from dpframe.sensitivity.ordered import Integers, Ordered, widths
from dpframe.sensitivity.profile import Largest, Profile
from dpframe.sensitivity.statistic import Statistic
from dpframe.sensitivity.two_sided import two_sided_smooth

__all__ = [
    "MedianProfile",
    "TwoSidedProfile",
    "iqr",
    "median",
    "order",
    "quantile",
    "quantile_rank",
    "quartile_ranks",
]

_HALF, _FIRST, _THIRD = Fraction(1, 2), Fraction(1, 4), Fraction(3, 4)


@final
@dataclass(frozen=True, eq=False, repr=False)
class TwoSidedProfile(Profile):
    """A(k) = max over a + b = k + 1 of (x_{high+b} - x_{low-a}) / divisor.

    Parameters
    ----------
    data : Ordered
        The values.
    high, low : int
        Ranks from which an upper and a lower end set out: 1 <= low <= high + 1.
    divisor : int
        Values over which a mean is taken; 1 for an order statistic.
    proved_exact : bool
        Whether this is the exact profile under the relation it is used for.
    """

    data: Ordered
    high: int
    low: int
    divisor: int = 1
    proved_exact: bool = False

    @property
    def last(self) -> int:
        """Where both ends have reached the bounds."""
        return int(self._upper.size + self._lower.size - 3)

    @property
    def exact(self) -> bool:
        """As it was made."""
        return self.proved_exact

    @cached_property
    def _upper(self) -> Any:
        """u_b = x_{high+b}, up to the upper bound."""
        return self.data[self.high + np.arange(max(len(self.data) + 2 - self.high, 1))]

    @cached_property
    def _lower(self) -> Any:
        """l_a = x_{low-a}, down to the lower bound."""
        return self.data[self.low - np.arange(max(self.low, 0) + 1)]

    def _at(self, ks: Integers) -> Floats:
        return np.array([self._widest(k + 1) for k in ks.tolist()]) / self.divisor

    def _widest(self, steps: int) -> float:
        """Return the largest u_b - l_a with a + b = steps."""
        fewest, most = steps - self._upper.size + 1, self._lower.size - 1
        a = np.arange(max(fewest, 0), min(most, steps) + 1)
        return float(widths(self._upper[steps - a], self._lower[a]).max())

    def _smooth(self, rate: float) -> float:
        return two_sided_smooth(self._upper, self._lower, rate) / self.divisor


@final
@dataclass(frozen=True, eq=False, repr=False)
class MedianProfile(Profile):
    """The exact profile of the lower median under add_remove."""

    data: Ordered

    @property
    def last(self) -> int:
        """Where as many rows have changed as there are."""
        return len(self.data)

    @property
    def exact(self) -> bool:
        """True."""
        return True

    def _at(self, ks: Integers) -> Floats:
        n = len(self.data)
        return self.data.gap((n + ks + 2) // 2, (n - ks) // 2)


def order(rank: int) -> Statistic[Ordered]:
    """Make the order statistic of a fixed rank, 1 for the least value.

    Where there are fewer values it is the upper bound.
    """
    if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)) or rank < 1:
        msg = f"the rank of ('order', rank) must be 1 or more; got {shown(rank)}."
        raise ParameterError(msg)
    at = int(rank)

    def replace(data: Ordered) -> Profile:
        if at > len(data):
            msg = "the rank of ('order', rank) is above the number of values."
            raise ParameterError(msg)
        return _of_rank(data, at, exact=True)

    return Statistic(
        f"('order', {at})",
        Ordered.read,
        lambda data: data[at].item(),
        {"replace": replace, "add_remove": lambda data: _of_rank(data, at)},
    )


def quantile(q: Amount) -> Statistic[Ordered]:
    """Make the quantile of rank max(1, ⌈q n⌉); the lower bound for no values."""
    level = as_fraction(q, "q")
    if not 0 <= level <= 1:
        msg = f"q of ('quantile', q) must be in [0, 1]; got {shown(q)}."
        raise ParameterError(msg)

    def profile(data: Ordered, *, exact: bool = False) -> Profile:
        return _of_rank(data, quantile_rank(level, len(data)), exact=exact)

    return Statistic(
        f"('quantile', {float(level):.6g})",
        Ordered.read,
        lambda data: data[quantile_rank(level, len(data)) if len(data) else 0].item(),
        {"replace": lambda data: profile(data, exact=True), "add_remove": profile},
    )


def median() -> Statistic[Ordered]:
    """Make the lower median, of rank ⌈n/2⌉; the lower bound for no values."""
    return Statistic(
        "median",
        Ordered.read,
        lambda data: data[(len(data) + 1) // 2].item(),
        {
            "add_remove": MedianProfile,
            "replace": lambda data: _of_rank(
                data, quantile_rank(_HALF, len(data)), exact=True
            ),
        },
    )


def iqr() -> Statistic[Ordered]:
    """Make the range between the quartiles of ranks ⌈n/4⌉ and ⌈3n/4⌉; 0 for no values.

    One replaced row moves both quartiles the same way, so the larger of their two
    profiles suffices; under add_remove their ranks never close in from both sides.
    """

    def profile(data: Ordered) -> Profile:
        return Largest([_of_rank(data, rank) for rank in quartile_ranks(len(data))])

    def value(data: Ordered) -> float:
        first, third = quartile_ranks(len(data))
        return data[third].item() - data[first].item() if len(data) else 0.0

    return Statistic(
        "iqr", Ordered.read, value, {"replace": profile, "add_remove": profile}
    )


def quantile_rank(level: Fraction, n: int) -> int:
    """Return max(1, ⌈level · n⌉), without rounding."""
    return max(1, math.ceil(level * n))


def quartile_ranks(n: int) -> tuple[int, int]:
    """Return the ranks of the first and the third quartile, 1 at least."""
    return quantile_rank(_FIRST, n), quantile_rank(_THIRD, n)


def _of_rank(data: Ordered, rank: int, *, exact: bool = False) -> Profile:
    return TwoSidedProfile(data, rank, rank, proved_exact=exact)
