"""Staircase noise: a density that falls by e^-epsilon once in every unit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from dpframe.errors import ParameterError
from dpframe.noise.density import RealLaw, negative_log
from dpframe.noise.law import MAX_SCALE, Floats, as_float, as_positive
from dpframe.privacy.amounts import Amount, as_fraction, show_amount

__all__ = ["Staircase"]

_STEEPEST = 600.0  # at any greater epsilon no step but the first can be seen


@final
@dataclass(frozen=True, slots=True, init=False)
class Staircase(RealLaw):
    """The staircase law of sensitivity 1.

    With p = exp(-epsilon) and h = (1 - p) / (2 (gamma + p (1 - gamma))), the density
    is h p^k for k <= |x| < k + gamma and h p^(k+1) for k + gamma <= |x| < k + 1.
    Added to an integer of sensitivity 1 it is epsilon-DP [1]_.

    Parameters
    ----------
    epsilon : int, float, str, Decimal or Fraction
        At least 2^-54; kept as an exact fraction. A float means its shortest decimal.
    gamma : number, optional
        Where in each unit the step is, from 0 to 1. By default 1 / (1 + e^(epsilon/2)),
        which makes E|X| least.

    Raises
    ------
    ParameterError
        If an argument is not such a number.

    Notes
    -----
    Counts with this noise come from `HistogramRelease.to_staircase`.

    References
    ----------
    .. [1] Geng, Viswanath (2014), The optimal mechanism in differential privacy, ISIT
       2014, theorem 1.

    Examples
    --------
    >>> law = Staircase(1)
    >>> round(law.pdf(0), 4), round(law.pdf(0.9) / law.pdf(0.1), 4)
    (0.5211, 0.3679)
    >>> law.cdf(0.0)
    0.5
    """

    epsilon: Fraction
    gamma: Fraction

    def __init__(self, epsilon: Amount, gamma: Amount | None = None) -> None:
        amount = as_positive(epsilon, "epsilon")
        if amount * MAX_SCALE < 1:
            msg = f"epsilon must be at least 2^-54; got {show_amount(amount)}."
            raise ParameterError(msg)
        object.__setattr__(self, "epsilon", amount)
        best = 1 / (1 + math.exp(self._rate / 2))
        step = as_fraction(best if gamma is None else gamma, "gamma")
        if not 0 <= step <= 1:
            msg = f"gamma must lie in [0, 1]; got {show_amount(step)}."
            raise ParameterError(msg)
        object.__setattr__(self, "gamma", step)

    @property
    def variance(self) -> float:
        """Variance, in squared grid steps.

        |X| = K + U, K geometric with P(K = k) = (1 - p) p^k, and U in [0, 1)
        independent of it.
        """
        p, gamma = self._p, float(self.gamma)
        high = gamma / self._spread  # the share of the high part of a unit
        mean = (high * gamma + (1 - high) * (1 + gamma)) / 2
        square = (high * gamma**2 + (1 - high) * (1 + gamma + gamma**2)) / 3
        fall = -math.expm1(-self._rate)
        return p * (1 + p) / fall**2 + 2 * (p / fall) * mean + square

    @property
    def _rate(self) -> float:
        return min(as_float(self.epsilon), _STEEPEST)

    @property
    def _p(self) -> float:
        return math.exp(-self._rate)

    @property
    def _spread(self) -> float:
        """The width of a unit if its low part counts p-fold: gamma + p (1 - gamma)."""
        return float(self.gamma) + self._p * float(1 - self.gamma)

    @property
    def _height(self) -> float:
        return -math.expm1(-self._rate) / (2 * self._spread)

    def _density(self, x: Floats) -> Floats:
        size = np.abs(x)
        unit = np.floor(size)
        unit = unit + (size - unit >= float(self.gamma))
        density: Floats = self._height * np.exp(-self._rate * unit)
        return density

    def _tail(self, x: Floats) -> Floats:
        # P(|X| > k + 1) = p^(k+1), and what is left of the unit that x is in.
        unit, gamma = np.floor(x), float(self.gamma)
        part = x - unit
        left = np.maximum(gamma - part, 0) + self._p * (1 - np.maximum(gamma, part))
        tail: Floats = np.exp(-self._rate * unit) * (self._p + 2 * self._height * left)
        return tail

    def _half_width(self, miss: Fraction) -> float:
        depth = negative_log(miss)
        unit = math.floor(depth / self._rate)
        tail = math.exp(self._rate * unit - depth)
        left = max(tail - self._p, 0.0) / (2 * self._height)
        gamma, low = float(self.gamma), self._p * float(1 - self.gamma)
        if left >= low:
            return unit + max(gamma - (left - low), 0.0)
        return unit + 1 - left / self._p
