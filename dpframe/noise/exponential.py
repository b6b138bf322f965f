"""exp(-x) and ln(x) of a rational x, enclosed or cut to b bits exactly.

The standard library's ``decimal`` rounds exp and ln correctly, so one unit in the last
place on either side encloses them; the quotient x itself is rounded outwards first.
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

__all__ = ["context", "exp_bounds", "exp_floor", "log_bounds"]


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
    x_low, x_high = _quotient_bounds(x, digits)
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


def log_bounds(x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return rationals (low, high) with 0 <= low <= ln(x) <= high, for x >= 1.

    The two differ by a few units in the last of ``digits`` places of ln(x), plus the
    error of x rounded to so many digits.
    """
    if x == 1:
        return Fraction(0), Fraction(0)
    x_low, x_high = _quotient_bounds(x, digits)
    working = context(digits)
    low = working.next_minus(working.ln(x_low))
    high = working.next_plus(working.ln(x_high))
    return Fraction(max(low, Decimal(0))), Fraction(high)


def _quotient_bounds(x: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    numerator, denominator = Decimal(x.numerator), Decimal(x.denominator)
    low = context(digits, ROUND_FLOOR).divide(numerator, denominator)
    high = context(digits, ROUND_CEILING).divide(numerator, denominator)
    return low, high


def _scaled_floor(value: Decimal, bits: int) -> int:
    numerator, denominator = value.as_integer_ratio()
    return (numerator << bits) // denominator
