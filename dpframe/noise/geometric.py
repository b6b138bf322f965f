"""One-sided geometric noise, P(X = k) ∝ exp(-k / scale) on k = 0, 1, 2, …."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from dpframe.noise.digits import GeometricHead, low_digits
from dpframe.noise.exponential import context
from dpframe.noise.law import Floats, IntegerLaw, Sampler, as_float, as_scale
from dpframe.privacy.amounts import Amount

__all__ = ["Geometric", "geometric_sampler", "least_multiple"]


@final
@dataclass(frozen=True, slots=True, init=False)
class Geometric(IntegerLaw):
    """The geometric law P(X = k) = (1 - r) r^k on k >= 0, with r = exp(-1/scale).

    The integer form of exponential noise; default noise of the sparse vector.

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
    Mean r / (1 - r), variance r / (1 - r)². Sampled exactly, digit by digit
    (`dpframe.noise.digits`). Proof: docs/proofs/noise.

    Examples
    --------
    >>> law = Geometric("1/2")
    >>> round(law.pmf(0), 6), round(law.cdf(1), 6)
    (0.864665, 0.981684)
    >>> law.sample(3).shape
    (3,)
    >>> Geometric(10).interval(0.95)
    (0, 29)
    """

    scale: Fraction

    def __init__(self, scale: Amount) -> None:
        object.__setattr__(self, "scale", as_scale(scale))

    @property
    def mean(self) -> float:
        """Mean r / (1 - r), in grid steps."""
        return math.exp(-self._rate) / -math.expm1(-self._rate)

    @property
    def variance(self) -> float:
        """Variance r / (1 - r)², in squared grid steps."""
        return math.exp(-self._rate) / math.expm1(-self._rate) ** 2

    @property
    def _rate(self) -> float:
        return as_float(1 / self.scale)

    def _draw(self, n: int) -> NDArray[np.int64]:
        return geometric_sampler(self.scale)(n)

    def _mass(self, k: Floats) -> Floats:
        inside = np.exp(-self._rate * np.maximum(k, 0)) * -math.expm1(-self._rate)
        return np.where(k >= 0, inside, 0.0)

    def _cumulative(self, k: Floats) -> Floats:
        return -np.expm1(-self._rate * np.maximum(k + 1, 0))

    def _interval(self, miss: Fraction) -> tuple[int, int]:
        # P(X > h) = r^(h + 1).
        with localcontext(context(80)):
            tail = Decimal(miss.numerator) / miss.denominator
        return 0, least_multiple(self.scale, tail) - 1


@lru_cache(maxsize=16)
def geometric_sampler(scale: Fraction) -> Sampler:
    """Return the sampler of G = B H + L: head H, low digits L in 0..B - 1."""
    digits = low_digits(1 / scale)
    head = GeometricHead(digits)

    def draw(n: int) -> NDArray[np.int64]:
        value = head.draw(n)
        if digits.tables:
            value *= digits.base
            value += digits.draw(n)
        return value

    return draw


def least_multiple(scale: Fraction, tail: Decimal) -> int:
    """Return the least m >= 1 with exp(-m / scale) <= tail, for a tail below 1.

    Equality never holds at the tails asked for (exp of a rational is
    transcendental), and eighty digits leave more than fifty after the point.
    """
    with localcontext(context(80)):
        steps = -tail.ln() * scale.numerator / scale.denominator
    # A tail nearer to 1 than eighty digits tell makes it 0, where 1 is right.
    return max(1, int(steps.to_integral_value(ROUND_CEILING)))
