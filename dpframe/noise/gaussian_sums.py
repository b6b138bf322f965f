"""Sums of exp(-k² / (2 sigma2)) over integers, in float64, near and in the tail.

For reporting only (pmf, cdf, intervals): the sampler uses none of it.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["normalizer", "second_moment", "upper_tail"]

Floats = NDArray[np.float64]

_SUMMED_UP_TO = 1e6  # sigma2; beyond, the Euler-Maclaurin formula is as accurate
_REACH = 39  # exp(-39² / 2) is the least float64
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def normalizer(sigma2: float) -> float:
    """Return Σ exp(-k² / (2 sigma2)) over all integers k."""
    if sigma2 < 1:
        return 1 + 2 * math.fsum(
            math.exp(-(k * k) / (2 * sigma2)) for k in range(1, 40)
        )
    # Poisson summation: the dual sum converges at once.
    return math.sqrt(2 * math.pi * sigma2) * (1 + 2 * _dual(sigma2, 0))


def second_moment(sigma2: float) -> float:
    """Return the variance, Σ k² exp(-k² / (2 sigma2)) / normalizer."""
    if sigma2 < 1:
        terms = (k * k * math.exp(-(k * k) / (2 * sigma2)) for k in range(1, 40))
        return 2 * math.fsum(terms) / normalizer(sigma2)
    dual = 8 * math.pi**2 * sigma2**2 * _dual(sigma2, 2) / (1 + 2 * _dual(sigma2, 0))
    return sigma2 - dual


def _dual(sigma2: float, power: int) -> float:
    """Return Σ m^power exp(-2 π² sigma2 m²) over m >= 1, for sigma2 >= 1."""
    return math.fsum(
        m**power * math.exp(-2 * math.pi**2 * sigma2 * m * m) for m in (1, 2, 3)
    )


def upper_tail(m: Floats, sigma2: float) -> Floats:
    """Return P(X >= m) for whole m >= 1, to a relative 1e-12."""
    if sigma2 <= _SUMMED_UP_TO:
        tails = _tail_table(sigma2)
        return tails[np.minimum(m, tails.size - 1).astype(np.int64)]
    # Σ_{k >= m} f(k) by the midpoint Euler-Maclaurin formula, f of std sigma:
    # ∫ f from m - 1/2 on, + f'/24 - 7 f'''/5760 + 31 f'''''/967680 at m - 1/2.
    sigma = math.sqrt(sigma2)
    u = np.minimum((m - 0.5) / sigma, _REACH)  # beyond, all is 0 in float64
    density = np.exp(-u * u / 2)
    u3, u5 = u**3 - 3 * u, u**5 - 10 * u**3 + 15 * u
    ends = u / (24 * sigma) - 7 * u3 / (5760 * sigma**3) + 31 * u5 / (967680 * sigma**5)
    area = sigma * math.sqrt(math.pi / 2) * _erfc(u / math.sqrt(2))
    tail: Floats = (area - density * ends) / normalizer(sigma2)
    return tail


@lru_cache(maxsize=16)
def _tail_table(sigma2: float) -> Floats:
    """Return P(X >= m) for m = 0, 1, … until it is 0 in float64."""
    k = np.arange(math.ceil(_REACH * math.sqrt(sigma2)) + 2, dtype=np.float64)
    mass = np.exp(-k * k / (2 * sigma2)) / normalizer(sigma2)
    # From the far end, so that small terms are added first.
    return np.cumsum(mass[::-1])[::-1]
