"""atan(√r) of a rational r, and π, enclosed between integers.

Halving the angle, tan(a/2) = tan a / (1 + √(1 + tan² a)), brings the argument below
1/100, where the power series gains thirteen bits with every term.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt

from dpframe.noise.table import Interval

__all__ = ["arctan_of_root", "pi_interval", "root_interval"]

_HALVINGS = 8  # of an angle of at most π/2: it ends below 0.0062
_GUARD = 64  # extra bits: far more than the roundings below can spoil


def root_interval(square: Fraction, width: int) -> Interval:
    """Enclose √square, for a rational square >= 0, in units of 2^-width."""
    low = isqrt((square.numerator << 2 * width) // square.denominator)
    return low, low + 1


def arctan_of_root(square: Fraction, width: int) -> Interval:
    """Enclose atan(√square), for a rational square >= 0, in units of 2^-width.

    Cutting off costs below 4 units at each halving, 2 at each term and 1 for what the
    series leaves out; the 2^8 angles together come to less than 2^32 of the 2^64 units
    that the guard bits are.
    """
    bits = width + _GUARD
    one = 1 << bits
    y, _ = root_interval(square, bits)
    for _ in range(_HALVINGS):
        y = (y << bits) // (one + isqrt((one << bits) + y * y))
    total, power, n = 0, y, 1
    while power:
        total += power // n if n % 4 == 1 else -(power // n)
        power = (power * y >> bits) * y >> bits
        n += 2
    angle = total << _HALVINGS >> _GUARD
    return angle - 1, angle + 2


@lru_cache(maxsize=8)
def pi_interval(width: int) -> Interval:
    """Enclose π = 4 atan(1) in units of 2^-width."""
    return arctan_of_root(Fraction(1), width + 2)
