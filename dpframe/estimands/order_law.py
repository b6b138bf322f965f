r"""The signed law of order statistics near the noisy ones.

Let v be the k-th smallest noisy count. Every count steps by at most 1, so the k-th
smallest of the stepped counts is v - 1, v or v + 1, and whether it is at least t
depends only on how many bins at t step down and how many at t - 1 step up. Two order
statistics: "the j-th is at least s" and "the k-th is at least t" are independent if
t >= s + 2, and one implies the other if t <= s; j <= k. What is left, t = s + 1, is the
joint law of the bins below s and above s.

With indicators for both thresholds of both order statistics this gives their signed
covariance; T(f²) - (T f)², that of f with itself, is minus the estimated variance.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from itertools import accumulate, combinations

import numpy as np
import numpy.typing as npt

from dpframe.errors import UnstableEstimateError
from dpframe.estimands.stencil import Stencil
from dpframe.estimands.tie_weights import Law, StepWeights, Tie

__all__ = ["noisy_orders", "order_moments"]

_MOST_DIGITS = 300  # of the l1 norm of the weights
_SPARE_DIGITS = 30


def noisy_orders(
    center: npt.NDArray[np.int64], ranks: Mapping[int, Fraction]
) -> dict[int, int]:
    """Return the order statistics of ``center`` by rank, 1 being the smallest."""
    places = [rank - 1 for rank in ranks]
    found = np.partition(center, places)[places].tolist()
    return dict(zip(ranks, found, strict=True))


def order_moments(
    stencil: Stencil, weights: Mapping[int, Fraction]
) -> tuple[float, float]:
    """Return T f(y) and its unbiased variance, f = sum of weight · order statistic.

    ``weights`` are by rank. The variance is NaN where it is a sum of too many terms.

    Raises
    ------
    UnstableEstimateError
        If the norm of an order statistic's weights is beyond 1e300.
    """
    noisy = noisy_orders(stencil.center, weights)
    _check_norm(stencil, noisy)
    with localcontext(Context(_digits(stencil, noisy), Emin=MIN_EMIN, Emax=MAX_EMAX)):
        law = _OrderLaw(stencil, noisy)
        share = {
            rank: Decimal(weight.numerator) / weight.denominator
            for rank, weight in weights.items()
        }
        value = sum(w * law.mean(rank) for rank, w in share.items())
        spread = sum(w * w * law.covariance(rank, rank) for rank, w in share.items())
        for j, k in combinations(sorted(share), 2):
            spread += 2 * share[j] * share[k] * law.covariance(j, k)
        return float(value), float(-spread) + 0.0


def _check_norm(stencil: Stencil, noisy: Mapping[int, int]) -> None:
    """Refuse sums of terms of both signs that are beyond 1e300."""
    norm = 0.0
    for v in noisy.values():
        below, here, above = (stencil.center == t for t in (v - 1, v, v + 1))
        rise = [stencil.up[here], stencil.down[above]]
        fall = [stencil.down[here], stencil.up[below]]
        norm = max(norm, *(_log_norm(np.concatenate(each)) for each in (rise, fall)))
    if norm > _MOST_DIGITS:
        msg = (
            "so many bins have noisy counts within 1 of this order statistic that the "
            f"unbiased estimate is a sum with weights of norm 1e{norm:.0f}: not "
            f"computed beyond 1e{_MOST_DIGITS}. Use method='plugin'."
        )
        raise UnstableEstimateError(msg)


def _digits(stencil: Stencil, noisy: Mapping[int, int]) -> int:
    """Return the digits that leave 30 right ones in products of two probabilities."""
    near = np.zeros(stencil.center.shape, bool)
    for v in noisy.values():
        near |= np.abs(stencil.center - v) <= 1
    norm = _log_norm(stencil.up[near] + stencil.down[near])
    return _SPARE_DIGITS + 2 * math.ceil(norm)


def _log_norm(weights: npt.NDArray[np.float64]) -> float:
    return float(np.log10(1 + 2 * weights).sum())


class _OrderLaw:
    """Probabilities in the current decimal context, order statistics by rank."""

    def __init__(self, stencil: Stencil, noisy: Mapping[int, int]) -> None:
        self._stencil = stencil
        self._noisy = noisy
        self._ties: dict[int, Tie] = {}
        self._fall = {rank: self._falls(rank) for rank in noisy}
        self._rise = {rank: self._rises(rank) for rank in noisy}

    def mean(self, rank: int) -> Decimal:
        """Return T of the order statistic."""
        return self._noisy[rank] + self._rise[rank] - self._fall[rank]

    def covariance(self, j: int, k: int) -> Decimal:
        """Return T of the product less the product of T, for ranks j <= k."""
        low, high = self._noisy[j], self._noisy[k]
        total = Decimal(0)
        for s in (low, low + 1):
            for t in (high, high + 1):
                if t <= s:  # the j-th at least s makes the k-th at least t
                    total += self._at_least(j, s) * self._less(k, t)
                elif t == s + 1:
                    both = self._less(j, s) * self._at_least(k, t)
                    total += both - self._straddle(j, s, k)
        return total

    def _at_least(self, rank: int, t: int) -> Decimal:
        at_noisy = t == self._noisy[rank]
        return 1 - self._fall[rank] if at_noisy else self._rise[rank]

    def _less(self, rank: int, t: int) -> Decimal:
        at_noisy = t == self._noisy[rank]
        return self._fall[rank] if at_noisy else 1 - self._rise[rank]

    def _falls(self, rank: int) -> Decimal:
        """Return the probability of v - 1: ``rank`` counts or more below v."""
        v = self._noisy[rank]
        return _gain_at_least(
            rank - self._below(v), self._tie(v).fallers, self._tie(v - 1).risers
        )

    def _rises(self, rank: int) -> Decimal:
        """Return the probability of v + 1: fewer than ``rank`` counts up to v."""
        v = self._noisy[rank]
        return _gain_at_least(
            self._below(v + 1) - rank + 1, self._tie(v).risers, self._tie(v + 1).fallers
        )

    def _straddle(self, j: int, s: int, k: int) -> Decimal:
        """Return the probability that the j-th is below s and the k-th above.

        It takes j counts below s and at most k - 1 up to s: no more bins may come from
        below than there are too many, and no more from above than there is room for.
        """
        tie, below = self._tie(s), self._below(s)
        from_below = list(accumulate(self._tie(s - 1).risers))
        from_above = list(accumulate(self._tie(s + 1).fallers))
        spare, room = below - j, k - 1 - below - tie.size
        both = tie.expect(
            [_at_most(spare + fall, from_below) for fall in range(tie.size + 1)],
            [_at_most(room + rise, from_above) for rise in range(tie.size + 1)],
        )
        return Decimal("nan") if both is None else both

    def _below(self, t: int) -> int:
        """Return how many noisy counts are below t."""
        return int((self._stencil.center < t).sum())

    def _tie(self, t: int) -> Tie:
        """Return the bins whose noisy count is t."""
        if t not in self._ties:
            here = self._stencil.center == t
            rises = bool(self._stencil.rises[here].any())
            falls = bool(self._stencil.falls[here].any())
            rates = Counter(self._stencil.rate[here].tolist())
            self._ties[t] = Tie(
                tuple(
                    (StepWeights.of(rate, rises=rises, falls=falls), count)
                    for rate, count in rates.items()
                )
            )
        return self._ties[t]


def _gain_at_least(need: int, gains: Law, losses: Law) -> Decimal:
    """Return the probability that gains less losses come to ``need`` or more."""
    up_to = list(accumulate(losses))
    pairs = enumerate(gains[need:])
    return sum((term * _at_most(most, up_to) for most, term in pairs), Decimal(0))


def _at_most(most: int, up_to: Law) -> Decimal:
    return up_to[min(most, len(up_to) - 1)] if most >= 0 else Decimal(0)
