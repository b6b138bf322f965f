"""Discrete Gaussian noise, P(X = k) ∝ exp(-k² / (2 sigma2)) on all integers."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from dpframe.noise.bernoulli import bernoulli_exp
from dpframe.noise.gaussian_sums import normalizer, second_moment, upper_tail
from dpframe.noise.laplace import laplace_sampler
from dpframe.noise.law import (
    MAX_SCALE,
    Floats,
    IntegerLaw,
    Sampler,
    as_float,
    as_scale,
)
from dpframe.privacy.amounts import Amount

__all__ = ["DiscreteGaussian", "gaussian_sampler"]

_LEAST_TAIL = 1e-290  # below it, intervals use the closed bound instead of the sum
_LEAST_SIGMA2 = 1e-300  # below it, every figure in float64 is that of a constant 0


@final
@dataclass(frozen=True, slots=True, init=False)
class DiscreteGaussian(IntegerLaw):
    """The discrete Gaussian law P(X = k) ∝ exp(-k² / (2 sigma2)).

    Added to a vector of integers of l2 sensitivity D, one draw per coordinate, it is
    exactly D² / (2 sigma2)-zCDP [1]_. Its (epsilon, delta) curve is a sum over
    integers, not the formula of the continuous Gaussian.

    Parameters
    ----------
    sigma2 : int, float, str, Decimal or Fraction
        In squared grid steps, over 0 and at most 2^108. A float means its shortest
        decimal. The variance is a little below it: by one part in 10^7 at 1, and
        by less than one in 10^20 from 3 on.

    Raises
    ------
    ParameterError
        If ``sigma2`` is not such a number.

    Notes
    -----
    Sampled exactly, by rejection from the discrete Laplace law: 1.3 to 2.2 proposals
    a draw. Proof: docs/proofs/noise.

    References
    ----------
    .. [1] Canonne, Kamath, Steinke (2020), The discrete Gaussian for differential
       privacy, theorem 4 and algorithm 3.

    Examples
    --------
    >>> law = DiscreteGaussian(4)
    >>> round(law.pmf(0), 6), round(law.std, 6)
    (0.199471, 2.0)
    >>> law.interval(0.95)
    (-4, 4)
    >>> law.sample(2).shape
    (2,)
    """

    sigma2: Fraction

    def __init__(self, sigma2: Amount) -> None:
        object.__setattr__(self, "sigma2", as_scale(sigma2, "sigma2", MAX_SCALE**2))

    @property
    def variance(self) -> float:
        """Variance, in squared grid steps: sigma2 or a little less."""
        return second_moment(self._float)

    @property
    def _float(self) -> float:
        return max(as_float(self.sigma2), _LEAST_SIGMA2)

    def _draw(self, n: int) -> NDArray[np.int64]:
        return gaussian_sampler(self.sigma2)(n)

    def _mass(self, k: Floats) -> Floats:
        return np.exp(-(k * k) / (2 * self._float)) / normalizer(self._float)

    def _cumulative(self, k: Floats) -> Floats:
        # P(X <= k) = P(X >= -k).
        tail = upper_tail(np.where(k < 0, -k, k + 1), self._float)
        return np.where(k < 0, tail, 1 - tail)

    def _interval(self, miss: Fraction) -> tuple[int, int]:
        # P(X >= m) <= exp(-m² / (2 sigma2)), as for the continuous Gaussian.
        nats = math.log(2 * miss.denominator) - math.log(miss.numerator)
        half = math.ceil(math.sqrt(2 * self._float * nats))
        if (each := as_float(miss) / 2) > _LEAST_TAIL:
            half = bisect_left(
                range(half),
                True,
                key=lambda h: bool(self._cumulative(np.array(-h - 1.0)) <= each),
            )
        return -half, half


@lru_cache(maxsize=16)
def gaussian_sampler(sigma2: Fraction) -> Sampler:
    """Return the sampler of the discrete Gaussian law.

    A proposal Y, P(Y = y) ∝ exp(-|y| / t), is kept with probability
    exp(-(|Y| - c)² / (2 sigma2)), c = sigma2 / t: the product of the two is
    ∝ exp(-y² / (2 sigma2)), whatever t. The nearest integer to sigma wastes least.
    """
    t = max(1, (math.isqrt(math.floor(4 * sigma2)) + 1) // 2)
    center, weight = sigma2 / t, 1 / (2 * sigma2)
    center_float, weight_float = as_float(center), as_float(weight)
    propose = laplace_sampler(Fraction(t))
    effort = 1 / _acceptance(sigma2, t)

    def accepted(n: int) -> NDArray[np.int64]:
        """Return the accepted of as many proposals as ``n`` draws usually need."""
        mean = n * effort
        proposals = propose(math.ceil(mean + 4 * math.sqrt(mean) + 4))
        magnitude = np.abs(proposals)
        x = magnitude - center_float
        with np.errstate(over="ignore"):
            x *= x
            x *= weight_float
        kept = bernoulli_exp(x, lambda i: (int(magnitude[i]) - center) ** 2 * weight)
        return proposals[kept]

    def draw(n: int) -> NDArray[np.int64]:
        found = accepted(n)
        while found.size < n:
            found = np.concatenate([found, accepted(n - found.size)])
        return found[:n]

    return draw


def _acceptance(sigma2: Fraction, t: int) -> float:
    """Return the share of proposals kept, Σ tanh(1/2t) exp(-y²/2σ² - σ²/2t²)."""
    bound = math.tanh(0.5 / t) * math.exp(-as_float(sigma2 / (2 * t * t)))
    return bound * normalizer(max(as_float(sigma2), _LEAST_SIGMA2))
