r"""The least delta of Gaussian noise at a given epsilon: two exact curves.

Let f(y) = exp(-y²/2σ²), D the shift of one coordinate and s = εσ²/D - D/2 the place
where the privacy loss is ε. Above s the excess of one law over e^ε times the other is

    G(y) = f(y) - e^ε f(y + D) = f(y) (1 - exp(-D (y - s)/σ²)) > 0,

and δ is the integral (continuous noise: Balle and Wang 2018, Theorem 8) or the sum
over integers (discrete noise: Canonne, Kamath and Steinke 2020, Theorem 7) of G,
divided by that of f. The second form of G has no cancellation, even in far tails.

**Every smaller shift is covered.** Both laws are log-concave, so the sets that tell
0 and D apart best are half-lines y > t (Neyman and Pearson), and
P(y > t - D) - e^ε P(y > t) grows with D for every t; so does its supremum over t, δ.
In σ² the discrete curve is *not* monotone where the loss changes by more than about 1
from one integer to the next (D > σ²): a larger σ² than one that fits may not fit.

**Wide noise.** Where the sum has too many terms, Euler-Maclaurin bounds it:
Σ G ≤ ∫ G + V/16 with V the total variation of G' (the periodic B₂/2 lies within 1/16
of its midrange 1/48, and ∫ dG' = 0). Let r = max(-s, 0)/σ and
c = D f(max(s, 0))/σ² · (1 + r + r²). Then |G'| ≤ c, because
G' = -y G/σ² + (D/σ²) e^ε f(y + D), where G ≤ f(y) D (y - s)/σ² and e^ε f(y + D) ≤ f(y);
G' jumps by at most c at s; and G'' has at most five zeros (it is a polynomial of
degree 2 times an exponential plus one of degree 2), so G' has at most six monotone
pieces, each changing by at most 2c. Hence V ≤ 13 c and Σ G ≤ ∫ G + c. As
Σ f ≥ σ√(2π) (Poisson summation), δ exceeds the continuous one by at most c/(σ√(2π)).
"""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpframe.errors import ParameterError
from dpframe.privacy.amounts import Amount, as_fraction
from dpframe.privacy.rounding import as_decimal, digits_below_one, precision, round_up

__all__ = [
    "continuous_curve",
    "discrete_curve",
    "discrete_gaussian_delta",
    "gaussian_delta",
]

_DIGITS = 15  # of a delta that is handed out
_LEAST = Fraction(1, 10**1200)  # smaller deltas are rounded up to this one
_FAR = 75  # standard deviations: exp(-75²/2) < 10**-1200
_FLOAT_RANGE = Fraction(10) ** 200  # of 1/σ² and ε, so that no float overflows
_TERMS = 20_000  # of a sum over integers; wider noise uses Euler-Maclaurin
_FLOAT_SLACK = Decimal(1) + Decimal("1e-12")  # far above the rounding of such a sum
_DECIMAL_SLACK = Decimal(1) + Decimal("1e-20")


def discrete_gaussian_delta(
    sigma2: Amount, epsilon: Amount, sensitivity: int = 1
) -> Fraction:
    """Return the least delta of integer Gaussian noise on one integer, rounded up.

    The noise has pmf proportional to exp(-k²/2σ²). The figure holds for every
    change of that one integer by at most ``sensitivity``; several changed numbers
    go through rho instead.

    Parameters
    ----------
    sigma2 : int, float, str, Decimal or Fraction
        The σ² of the noise, in squared lattice steps; positive.
    epsilon : int, float, str, Decimal or Fraction
        Not negative; at 0 the figure is the total variation distance.
    sensitivity : int
        The largest change, in lattice steps; positive.

    Returns
    -------
    Fraction
        Never below the true figure. Above it by 2e-12 of itself at most; where σ
        exceeds about 1,500 by (x/σ)² of itself, x the distance of the tail in
        standard deviations (below 10 for usual deltas). At least 10**-1200.

    Raises
    ------
    ParameterError
        If an argument is out of range.

    References
    ----------
    .. [1] Canonne, Kamath and Steinke (2020), *The discrete Gaussian for
       differential privacy*, Theorem 7.

    Examples
    --------
    >>> float(discrete_gaussian_delta(400, "0.902"))
    2.05806185123...e-75
    """
    if isinstance(sensitivity, bool) or not isinstance(sensitivity, int):
        msg = f"sensitivity must be an integer, not {type(sensitivity).__name__}."
        raise ParameterError(msg)
    return discrete_curve(*_arguments(sigma2, epsilon, Fraction(sensitivity)))


def gaussian_delta(
    sigma2: Amount, epsilon: Amount, sensitivity: Amount = 1
) -> Fraction:
    """Return the least delta of continuous Gaussian noise, rounded up.

    For a vector, ``sensitivity`` is its l2 sensitivity (Balle and Wang 2018,
    Theorem 8). Arguments and errors as in `discrete_gaussian_delta`.
    """
    shift = as_fraction(sensitivity, "sensitivity")
    return continuous_curve(*_arguments(sigma2, epsilon, shift))


def _arguments(
    sigma2: Amount, epsilon: Amount, shift: Fraction
) -> tuple[Fraction, Fraction, Fraction]:
    variance = as_fraction(sigma2, "sigma2")
    loss = as_fraction(epsilon, "epsilon")
    if variance <= 0 or shift <= 0 or loss < 0:
        msg = "sigma2 and sensitivity must be positive and epsilon not negative."
        raise ParameterError(msg)
    return variance, loss, shift


@lru_cache(maxsize=1024)
def discrete_curve(sigma2: Fraction, epsilon: Fraction, shift: Fraction) -> Fraction:
    """Return `discrete_gaussian_delta` for arguments that have been checked."""
    start = epsilon * sigma2 / shift - shift / 2
    first = math.floor(start) + 1
    if start < 0 and start**2 > _FAR**2 * sigma2:
        return Fraction(1)
    if first > 0 and first**2 > _FAR**2 * sigma2:
        return _LEAST
    terms = _terms(first, sigma2)
    if terms > _TERMS:
        return continuous_curve(sigma2, epsilon, shift, lattice=True)
    if max(1 / sigma2, epsilon) > _FLOAT_RANGE:
        return Fraction(1)
    return _summed_delta(sigma2, shift, start, terms)


def _terms(first: int, sigma2: Fraction) -> int:
    """Return how many integers from ``first`` on matter: to e^-90 below the rest."""
    peak = max(first, 0)
    fall = 90 * 2 * sigma2 + 2 * peak + 1  # (y² - peak²) at the last one
    return math.isqrt(math.ceil(peak**2 + fall)) + 1 - first


def _summed_delta(
    sigma2: Fraction, shift: Fraction, start: Fraction, terms: int
) -> Fraction:
    """Sum G over the integers above ``start``, scaled by f at its largest."""
    first = math.floor(start) + 1
    peak = max(first, 0)
    above = np.arange(terms)
    # (y - peak)(y + peak) is y² - peak² without cancellation; y - start likewise.
    fall = (above + float(first - peak)) * (above + float(first + peak))
    weight = -np.expm1(-float(shift / sigma2) * (above + float(first - start)))
    total = float(np.sum(np.exp(fall * -float(1 / (2 * sigma2))) * weight))
    with precision(_DIGITS + 15):
        scale = (-as_decimal(Fraction(peak**2) / (2 * sigma2))).exp()
        delta = scale * Decimal(total) / Decimal(_least_mass(sigma2)) * _FLOAT_SLACK
    return min(Fraction(1), max(_LEAST, round_up(delta, _DIGITS)))


def _least_mass(sigma2: Fraction) -> float:
    """Return Σ f(k) over all integers, or the σ√(2π) just below it."""
    if sigma2 >= 4:  # the two differ by 2 exp(-2π²σ²) < 1e-33
        return math.sqrt(2 * math.pi * float(sigma2))
    rate = float(min(1 / (2 * sigma2), Fraction(1000)))
    return 1 + 2 * math.fsum(math.exp(-rate * k * k) for k in range(1, 40))


def continuous_curve(
    sigma2: Fraction, epsilon: Fraction, shift: Fraction, *, lattice: bool = False
) -> Fraction:
    """Return φ(a) (R(a) - R(b)) with a = s/σ, b = a + D/σ and R = (1 - Φ)/φ.

    This is `gaussian_delta` for arguments that have been checked. With ``lattice`` it
    bounds the sum over integers: D/σ³ (1 + r + r²) e^(r²/2) joins R(a) - R(b).
    """
    start = epsilon * sigma2 / shift - shift / 2
    if start**2 > _FAR**2 * sigma2:
        return Fraction(1) if start < 0 else _LEAST
    ratio = shift**2 / sigma2
    # R(a) - R(b) is to R(a) about as b - a to max(a, 1): so many digits cancel.
    lost = digits_below_one(ratio) + digits_below_one(1 / (1 + abs(start) / shift))
    with precision(40 + lost):
        sigma, step = as_decimal(sigma2).sqrt(), as_decimal(ratio).sqrt()
        low = as_decimal(start) / sigma
        excess = _mills(low) - _mills(low + step)
        if lattice:
            depth = max(-low, Decimal(0))
            bound = step / as_decimal(sigma2) * (1 + depth + depth * depth)
            excess += bound * (depth * depth / 2).exp()
        delta = (
            (-low * low / 2).exp() / _root_two_pi(40 + lost) * excess * _DECIMAL_SLACK
        )
    return min(Fraction(1), max(_LEAST, round_up(delta, _DIGITS)))


def _mills(x: Decimal) -> Decimal:
    """Return Mills' ratio (1 - Φ(x))/φ(x) in the current precision."""
    digits = getcontext().prec
    if x > 6:
        # Laplace's continued fraction; the error falls like exp(-2x √(2n)).
        ratio = x
        for k in range(10 + int((digits * Decimal("1.3") / x) ** 2), 0, -1):
            ratio = x + k / ratio
        return 1 / ratio
    # (Φ(x) - 1/2)/φ(x) = x + x³/3 + x⁵/(3·5) + …, terms of one sign. At x = 6 the
    # difference below loses nine digits; the precision allows for them.
    term = total = x
    odd = 3
    while total + term != total:
        term *= x * x / odd
        total += term
        odd += 2
    return _root_two_pi(digits) / 2 * (x * x / 2).exp() - total


@lru_cache(maxsize=32)
def _root_two_pi(digits: int) -> Decimal:
    """Return √(2π) by the arithmetic-geometric mean (Brent 1976, Salamin 1976)."""
    with precision(digits + 10):
        a, b, rest, power = Decimal(1), Decimal("0.5").sqrt(), Decimal("0.25"), 1
        for _ in range(digits.bit_length() + 1):  # correct digits double each time
            mean = (a + b) / 2
            b = (a * b).sqrt()
            rest -= power * (a - mean) ** 2
            a, power = mean, 2 * power
        return (2 * (a + b) ** 2 / (4 * rest)).sqrt()
