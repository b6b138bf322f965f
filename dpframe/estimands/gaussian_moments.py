r"""Transforms of Gaussian noise, discrete or continuous, to 60 digits.

The continuous law has M(t) = E e^(t noise) = e^(s t²/2), s = sigma2. With weights
e^(-k²/2s) on the integers, m = s t and f its distance from the nearest integer,

    M(t) = e^((m² - f²)/2s) · Σ e^(-(k² - 2kf)/2s) / Σ e^(-k²/2s).

Above s = 100 the two laws agree to a relative e^(-2 π² s), which is below 1e-850
(Poisson summation).
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

__all__ = ["inverse_moments", "log_transform"]

_DIGITS = 80
_NATS = 160  # a sum is cut off where its terms are e^-160 of the largest
_SUMMED_UP_TO = 100  # sigma2 beyond which the discrete law is the continuous one


@lru_cache(maxsize=1024)
def inverse_moments(sigma2: Fraction, order: int, *, discrete: bool) -> list[Fraction]:
    """Return q_0, …, q_order with 1 / E e^(s noise) = Σ q_j s^j / j!.

    The inverse of the noise turns x^k into Σ C(k, j) q_j y^(k-j).
    """
    moments = _moments(sigma2, order, discrete=discrete)
    inverse = [Fraction(1)]
    for n in range(1, order + 1):
        known = (math.comb(n, i) * moments[i] * inverse[n - i] for i in range(2, n + 1))
        inverse.append(-sum(known, Fraction(0)))
    return inverse


@lru_cache(maxsize=1024)
def log_transform(sigma2: Fraction, t: Fraction, *, discrete: bool) -> Decimal:
    """Return log E e^(t noise)."""
    with localcontext(Context(prec=_DIGITS)):
        if not discrete or sigma2 > _SUMMED_UP_TO:
            return _decimal(sigma2 * t * t / 2)
        mu = sigma2 * t
        off = mu - round(mu)
        peak = _decimal((mu * mu - off * off) / (2 * sigma2))
        return peak + _weights(sigma2, off).ln() - _weights(sigma2, Fraction(0)).ln()


def _moments(sigma2: Fraction, order: int, *, discrete: bool) -> list[Fraction]:
    """Return the moments of the noise up to ``order``; the odd ones are 0."""
    if not discrete or sigma2 > _SUMMED_UP_TO:
        moments = [Fraction(1), Fraction(0)]
        for n in range(2, order + 1):
            moments.append((n - 1) * sigma2 * moments[n - 2])
        return moments
    reach = _reach(sigma2) + math.isqrt(math.ceil(order * sigma2)) + 1
    with localcontext(Context(prec=_DIGITS)):
        width = _decimal(2 * sigma2)
        weights = [(k, 2 * (-(k * k) / width).exp()) for k in range(1, reach + 1)]
        total = 1 + sum(weight for _, weight in weights)
        return [Fraction(1)] + [
            Fraction(sum(weight * k**n for k, weight in weights) / total)
            if n % 2 == 0
            else Fraction(0)
            for n in range(1, order + 1)
        ]


def _weights(sigma2: Fraction, off: Fraction) -> Decimal:
    """Return Σ e^(-(k² - 2 k off)/(2 sigma2)), |off| <= 1/2."""
    reach = _reach(sigma2)
    width, shift = _decimal(2 * sigma2), _decimal(2 * off)
    steps = map(Decimal, range(-reach, reach + 1))
    return sum((((k * shift - k * k) / width).exp() for k in steps), Decimal(0))


def _reach(sigma2: Fraction) -> int:
    return math.isqrt(math.ceil(2 * _NATS * sigma2)) + 2


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / number.denominator
