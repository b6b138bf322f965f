"""exp(-x) of a rational x, enclosed between two decimals or cut to b bits exactly.

The standard library's ``decimal`` rounds exp correctly, so one unit in the last
place on either side encloses it; the quotient x itself is rounded outwards first.
"""

from __future__ import annotations

from decimal import (
    MAX_EMAX,
    MAX_PREC,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)
from fractions import Fraction

__all__ = ["context", "exp_bounds", "exp_floor"]


def context(digits: int, rounding: str | None = None) -> Context:
    """Return a decimal context of our own: the caller's may hold anything."""
    return Context(
        prec=min(digits, MAX_PREC),
        rounding=rounding,
        Emin=MIN_EMIN,
        Emax=MAX_EMAX,
        traps=[InvalidOperation, DivisionByZero, Overflow],
    )


def exp_bounds(x: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    """Return decimals (low, high) with low <= exp(-x) <= high, for x >= 0.

    The two differ by a few units in the last of ``digits`` places, plus the error
    of x rounded to so many digits.
    """
    numerator, denominator = Decimal(x.numerator), Decimal(x.denominator)
    x_low = context(digits, ROUND_FLOOR).divide(numerator, denominator)
    x_high = context(digits, ROUND_CEILING).divide(numerator, denominator)
    working = context(digits)
    low = working.next_minus(working.exp(x_high.copy_negate()))
    high = working.next_plus(working.exp(x_low.copy_negate()))
    return low, high


def exp_floor(x: Fraction, bits: int) -> int:
    """Return floor(2^bits · exp(-x)) exactly, for rational x >= 0.

    exp of a rational other than 0 is irrational (Lindemann), so the precision
    that tells the floor is always reached.
    """
    if x == 0:
        return 1 << bits
    if x > bits:  # then 2^bits · exp(-x) < 1; also, nothing below underflows
        return 0
    digits = 20 + bits // 3
    while True:
        low, high = (_scaled_floor(end, bits) for end in exp_bounds(x, digits))
        if low == high:
            return low
        digits *= 2


def _scaled_floor(value: Decimal, bits: int) -> int:
    numerator, denominator = value.as_integer_ratio()
    return (numerator << bits) // denominator
