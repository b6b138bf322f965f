"""Rounding to the safe side between exact rationals and decimals.

Irrational privacy figures are worked out in `decimal`, whose ``exp``, ``ln`` and
``sqrt`` are correctly rounded, with digits to spare, then rounded once: upwards
for what is claimed, downwards for what is allowed.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    localcontext,
)
from fractions import Fraction

__all__ = [
    "as_decimal",
    "digits_below_one",
    "leading_place",
    "precision",
    "round_down",
    "round_up",
]


def precision(digits: int) -> AbstractContextManager[Context]:
    """Work with ``digits`` decimal digits and practically unbounded exponents."""
    return localcontext(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX))


def as_decimal(value: Fraction) -> Decimal:
    """Return the decimal nearest to ``value`` in the current precision."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def digits_below_one(value: Fraction) -> int:
    """Return the number of decimal places before the first digit; 0 from 1 on."""
    excess = value.denominator.bit_length() - value.numerator.bit_length()
    return max(0, excess * 30103 // 100_000 + 1)


def leading_place(value: Fraction) -> Fraction:
    """Return the power of ten of the first digit of a positive ``value``."""
    with precision(30):
        return Fraction(10) ** as_decimal(value).adjusted()


def round_up(value: Decimal | Fraction, digits: int) -> Fraction:
    """Return the least decimal of ``digits`` digits that is at least ``value``."""
    return _rounded(value, digits, ROUND_CEILING)


def round_down(value: Decimal | Fraction, digits: int) -> Fraction:
    """Return the largest decimal of ``digits`` digits that is at most ``value``."""
    return _rounded(value, digits, ROUND_FLOOR)


def _rounded(value: Decimal | Fraction, digits: int, rounding: str) -> Fraction:
    context = Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    if isinstance(value, Decimal):
        return Fraction(context.plus(value))
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(quotient)
