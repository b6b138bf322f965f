"""Discrete Laplace noise, P(X = k) ∝ exp(-|k| / scale) on all integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import localcontext
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from dpframe.noise.digits import GeometricHead, low_digits, powers
from dpframe.noise.exponential import context, exp_bounds, exp_floor
from dpframe.noise.geometric import least_multiple
from dpframe.noise.law import Floats, IntegerLaw, Sampler, as_float, as_scale
from dpframe.noise.table import Interval, InversionTable
from dpframe.privacy.amounts import Amount

__all__ = ["DiscreteLaplace", "laplace_sampler"]


@final
@dataclass(frozen=True, slots=True, init=False)
class DiscreteLaplace(IntegerLaw):
    """The discrete Laplace law P(X = k) = (1 - r) / (1 + r) · r^|k|, r = exp(-1/scale).

    Added to an integer of l1 sensitivity D it is exactly (D / scale)-DP [1]_.

    Parameters
    ----------
    scale : int, float, str, Decimal or Fraction
        In grid steps, over 0 and at most 2^54; usually sensitivity / epsilon, kept
        as an exact fraction. A float means its shortest decimal.

    Raises
    ------
    ParameterError
        If the scale is not such a number.

    Notes
    -----
    Variance 2r / (1 - r)². Sampled exactly and without rejection, so the time does
    not depend on the values drawn. Proof: docs/proofs/noise.

    References
    ----------
    .. [1] Ghosh, Roughgarden, Sundararajan (2012), Universally utility-maximizing
       privacy mechanisms, SIAM J. Comput. 41(6), definition 2.3.

    Examples
    --------
    >>> law = DiscreteLaplace(1)
    >>> round(law.pmf(0), 6), round(law.variance, 6)
    (0.462117, 1.841347)
    >>> law.sample(4).dtype
    dtype('int64')
    >>> DiscreteLaplace("10").interval(0.95)
    (-30, 30)
    """

    scale: Fraction

    def __init__(self, scale: Amount) -> None:
        object.__setattr__(self, "scale", as_scale(scale))

    @property
    def variance(self) -> float:
        """Variance 2r / (1 - r)², in squared grid steps."""
        return 2 * math.exp(-self._rate) / math.expm1(-self._rate) ** 2

    @property
    def _rate(self) -> float:
        return as_float(1 / self.scale)

    def _draw(self, n: int) -> NDArray[np.int64]:
        return laplace_sampler(self.scale)(n)

    def _mass(self, k: Floats) -> Floats:
        return math.tanh(self._rate / 2) * np.exp(-self._rate * np.abs(k))

    def _cumulative(self, k: Floats) -> Floats:
        # P(X <= -m) = r^m / (1 + r) for m >= 1, and P(X > k) = P(X <= -k - 1).
        steps = np.where(k < 0, -k, k + 1)
        tail = np.exp(-self._rate * steps) / (1 + math.exp(-self._rate))
        return np.where(k < 0, tail, 1 - tail)

    def _interval(self, miss: Fraction) -> tuple[int, int]:
        # P(|X| > h) = 2 r^(h + 1) / (1 + r).
        r, _ = exp_bounds(1 / self.scale, 80)
        with localcontext(context(80)):
            tail = miss.numerator * (1 + r) / (2 * miss.denominator)
        half = least_multiple(self.scale, tail) - 1
        return -half, half


@lru_cache(maxsize=32)
def laplace_sampler(scale: Fraction) -> Sampler:
    """Return the sampler of the discrete Laplace law.

    Zero has probability (1 - r) / (1 + r); otherwise X = ±(1 + G), G geometric.
    Zero, the sign and the head H of G come from one table, as the number
    V = 0 or ±(1 + H); then with the low digits L of G, which are in 0..B - 1,
    X = sign(V) (1 + B (|V| - 1) + L) = B V + sign(V) (L - (B - 1)).
    """
    digits = low_digits(1 / scale)
    head = GeometricHead(digits)
    table = _signed_head_table(1 / scale, digits.head_rate, head.reach)

    def draw(n: int) -> NDArray[np.int64]:
        value = table.draw(n).astype(np.int64)
        past = (np.abs(value) > head.reach).nonzero()[0]
        if past.size:
            value[past] = np.sign(value[past]) * (1 + head.continued(past.size))
        if digits.tables:
            low = digits.draw(n)
            low -= digits.base - 1
            low *= np.sign(value)
            value *= digits.base
            value += low
        return value

    return draw


def _signed_head_table(
    rate: Fraction, head_rate: Fraction, reach: int
) -> InversionTable:
    """Return the table of V = 0 or ±(1 + H), H from 0 to "reach or beyond".

    With r = exp(-rate) and R = exp(-head_rate), P(V < 0 and H >= h) is
    q_h = r / (1 + r) · R^h, so the thresholds are
    q_reach < ... < q_0 < 1 - q_0 < ... < 1 - q_reach.
    """

    def intervals(width: int) -> list[Interval]:
        one = 1 << width
        r = exp_floor(rate, width)
        half_low, half_high = r * one // (one + r), (r + 1) * one // (one + r + 1) + 1
        tails = [
            (half_low * low >> width, (half_high * high >> width) + 1)
            for low, high in powers(head_rate, reach, width)
        ]
        return tails[::-1] + [(one - high, one - low) for low, high in tails]

    return InversionTable(intervals, first=-reach - 1)
