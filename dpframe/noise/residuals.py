r"""Noise that turns discrete Laplace noise into noise of another law.

Each function returns independent Y such that X + Y has the other law for X discrete
Laplace; docs/proofs/conversions. Y does not depend on data, so adding it is
post-processing. To continuous laws floats are good enough: what was private stays so
whatever is added. A noisier copy claims an epsilon of its own, so its Y is exact.

With p = e^(-1/scale) write c = p / (1 - p)² for half the variance of X.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpframe.noise.bits import random_uint64
from dpframe.noise.exponential import exp_bounds
from dpframe.noise.laplace import laplace_sampler
from dpframe.noise.law import Floats, as_float
from dpframe.noise.staircase import Staircase
from dpframe.noise.table import Interval, InversionTable

__all__ = ["to_laplace", "to_noisier", "to_staircase"]

_STEEP = 350.0  # beyond it sinh leaves float64


def to_laplace(scale: Fraction, n: int) -> Floats:
    """Return ``n`` draws of Y, in [-1, 1], that make the noise Laplace(scale).

    |Y| = 1 - asinh(√U sinh h) / h with h = 1/(2 scale) and U uniform.
    """
    share, sign = _uniform(n)
    half = as_float(1 / (2 * scale))
    if half > _STEEP:
        size = -np.log(share) / (2 * half)  # the same, U not being below e^-38
    else:
        size = 1 - np.arcsinh(np.sqrt(share) * math.sinh(half)) / half
    return sign * size


def to_staircase(law: Staircase, n: int) -> Floats:
    """Return ``n`` draws of Y, in [-1, 1], for noise of scale 1/law.epsilon.

    With m and M the lesser and the greater of gamma and 1 - gamma, the density of |Y|
    is one constant below m and another from m to M.
    """
    share, sign = _uniform(n)
    gamma, p = float(law.gamma), math.exp(-as_float(law.epsilon))
    near, far = min(gamma, 1 - gamma), max(gamma, 1 - gamma)
    inner = near * (1 + p) / (gamma + p * (1 - gamma))
    return sign * np.interp(share, [0.0, min(inner, 1.0), 1.0], [0.0, near, far])


def to_noisier(scale: Fraction, larger: Fraction, n: int) -> NDArray[np.int64]:
    """Return ``n`` draws of Y that make the noise discrete Laplace of scale ``larger``.

    Y = 0 with probability c / c', else Y is discrete Laplace of scale ``larger``.
    """
    added = laplace_sampler(larger)(n)
    added[_stays(scale, larger).draw(n) == 0] = 0
    return added


def _uniform(n: int) -> tuple[Floats, Floats]:
    """Return uniform numbers inside (0, 1), 53 bits each, and independent signs."""
    bits = random_uint64(n)
    share = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return share, 1.0 - 2.0 * (bits & np.uint64(1)).astype(np.float64)


@lru_cache(maxsize=16)
def _stays(scale: Fraction, larger: Fraction) -> InversionTable:
    """Return the coin that shows 0 with probability c / c', exactly.

    c / c' = e^-(a - a') ((1 - p') / (1 - p))², a and a' being the rates; it is
    transcendental (Lindemann), so more digits always tell.
    """
    rate, flatter = 1 / scale, 1 / larger
    places = math.ceil(math.log10(larger + 1)) + math.ceil(math.log10(scale + 1))

    def intervals(width: int) -> list[Interval]:
        digits = 40 + width // 3 + 2 * places
        fall = _exp_interval(rate - flatter, digits, width)
        p, q = (_exp_interval(x, digits, width) for x in (rate, flatter))
        low = fall[0] * ((1 - q[1]) / (1 - p[0])) ** 2
        high = fall[1] * ((1 - q[0]) / (1 - p[1])) ** 2
        one = 1 << width
        return [(math.floor(low * one), math.floor(high * one) + 1)]

    return InversionTable(intervals)


def _exp_interval(x: Fraction, digits: int, width: int) -> tuple[Fraction, Fraction]:
    """Enclose exp(-x) for x > 0; where it is far below 2^-width, coarsely."""
    if x > 4 * width:
        return Fraction(0), Fraction(1, 1 << 4 * width)
    low, high = exp_bounds(x, digits)
    return Fraction(max(low, Decimal(0))), Fraction(high)
