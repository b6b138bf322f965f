"""Trimmed means: of x_{t+1}, ..., x_{n-t}, over w = n - 2t values.

    replace                 A(k) = max over 0 <= s <= k + 1 of
                                   (x_{n-t+1+k-s} - x_{t+1-s}) / w
    add_remove, t = ⌊p n⌋   A(k) = (x_{n-t+1+k} - x_{t-k}) / min of max(1, n' - 2⌊p n'⌋)
                                   over n' from n - k - 1 (0 at least) to n + k + 1
    add_remove, fixed t     A(k) = max over a + b + r = k of
                                   (x_{n-t+1+a} - x_{t-b}) / (w + a + b - r - 1),
                                   U - L at most, and where a divisor is not positive

The mean of nothing is the lower bound. The first is exact, the others are upper
profiles.
Proof: docs/proofs/sensitivity, theorems 3, 6 and 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import final

import numpy as np

from dpframe.errors import ParameterError, shown
from dpframe.noise.law import Floats
from dpframe.privacy.amounts import Amount, as_fraction
from dpframe.sensitivity.order_statistics import TwoSidedProfile
from dpframe.sensitivity.ordered import Integers, Ordered, exact_sum
from dpframe.sensitivity.profile import Constant, Profile
from dpframe.sensitivity.statistic import Statistic

__all__ = ["FixedTrimProfile", "ShareTrimProfile", "trimmed_mean"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class ShareTrimProfile(Profile):
    """The share ``share`` of the values is cut at each end; rows come and go."""

    data: Ordered
    share: Fraction

    @property
    def last(self) -> int:
        """Where no value is left."""
        return len(self.data)

    def _at(self, ks: Integers) -> Floats:
        n = len(self.data)
        trim = int(self.share * n)
        spread = self.data.gap(n - trim + 1 + ks, trim - ks)
        return spread / self._fewest(int(ks.max()) + 1)[ks + 1]

    def _fewest(self, changes: int) -> Integers:
        """Return the least max(1, n' - 2⌊p n'⌋) with |n' - n| <= j, for each j."""
        # Fewer than n are enough: ⌊p (n + j)⌋ - ⌊p (n - j)⌋ <= j for p below 1/2.
        sizes = np.maximum(len(self.data) - np.arange(changes + 1), 0)
        p, q = self.share.as_integer_ratio()
        fits = p * len(self.data) < 2**63 and q < 2**63
        exact = sizes if fits else sizes.astype(object)
        kept = sizes - 2 * (exact * p // q).astype(np.int64)
        return np.maximum(np.minimum.accumulate(kept), 1)


@final
@dataclass(frozen=True, eq=False, repr=False)
class FixedTrimProfile(Profile):
    """The same number of values is cut at each end; rows come and go."""

    data: Ordered
    trim: int

    @property
    def kept(self) -> int:
        """The values within, w = n - 2t; perhaps negative."""
        return len(self.data) - 2 * self.trim

    @property
    def last(self) -> int:
        """Where as many removals leave a single value within."""
        return max(self.kept - 1, 0)

    def _at(self, ks: Integers) -> Floats:
        return np.array([self._widest(k) for k in ks.tolist()])

    def _widest(self, k: int) -> float:
        if k >= self.kept - 1:
            return self.data.width
        pushes = np.arange(k + 1)  # a + b; the other changes are removals within
        ratios = self._spreads(k + 1) / (self.kept + 2 * pushes - k - 1)
        return min(float(ratios.max()), self.data.width)

    def _spreads(self, count: int) -> Floats:
        """Return the largest x_{n-t+1+a} - x_{t-b}, a + b = s, for s < count."""
        n, known = len(self.data), self._known
        for pushed in range(len(known), count):
            a = np.arange(pushed + 1)
            spread = self.data.gap(n - self.trim + 1 + a, self.trim - pushed + a)
            known.append(float(spread.max()))
        return np.array(known[:count])

    @cached_property
    def _known(self) -> list[float]:
        return []


def trimmed_mean(trim: Amount) -> Statistic[Ordered]:
    """Make a trimmed mean: ``trim`` rows off each end, or that share below 1/2 of n."""
    if isinstance(trim, Integral) and not isinstance(trim, bool):
        return _fixed(int(trim))
    share = as_fraction(trim, "trim")
    if not 0 <= share < Fraction(1, 2):
        msg = (
            "trim of ('trimmed_mean', trim) must be a whole number of rows or a share "
            f"below 1/2, such as 0.1; got {shown(trim)}."
        )
        raise ParameterError(msg)
    return Statistic(
        f"('trimmed_mean', {float(share):.6g})",
        Ordered.read,
        lambda data: _mean(data, int(share * len(data))),
        {
            "replace": lambda data: _replace(data, int(share * len(data))),
            "add_remove": lambda data: ShareTrimProfile(data, share),
        },
    )


def _fixed(trim: int) -> Statistic[Ordered]:
    if trim < 0:
        msg = f"trim of ('trimmed_mean', trim) must not be negative; got {shown(trim)}."
        raise ParameterError(msg)
    return Statistic(
        f"('trimmed_mean', {trim})",
        Ordered.read,
        lambda data: _mean(data, trim),
        {
            "replace": lambda data: _replace(data, trim),
            "add_remove": lambda data: FixedTrimProfile(data, trim),
        },
    )


def _replace(data: Ordered, trim: int) -> Profile:
    n = len(data)
    if n <= 2 * trim:  # the lower bound, whatever the values are
        return Constant(0.0)
    return TwoSidedProfile(data, n - trim, trim + 1, n - 2 * trim, proved_exact=True)


def _mean(data: Ordered, trim: int) -> float:
    kept = data.values[trim : max(len(data) - trim, trim)]
    return float(exact_sum(kept) / len(kept) if len(kept) else data[0])
