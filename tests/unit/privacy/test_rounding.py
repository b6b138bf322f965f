"""Rounding to one side, between rationals and decimals."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from dpframe.privacy.rounding import (
    as_decimal,
    digits_below_one,
    leading_place,
    precision,
    round_down,
    round_up,
)


def test_rounding_goes_to_one_side_only():
    third = Fraction(1, 3)
    assert round_up(third, 3) == Fraction(334, 1000)
    assert round_down(third, 3) == Fraction(333, 1000)
    assert round_up(Decimal("1.0001"), 3) == Fraction(101, 100)
    assert round_down(Decimal("19999"), 2) == 19_000
    for exact in (Fraction(1, 8), Fraction(120), Decimal("0.125")):
        assert round_up(exact, 3) == round_down(exact, 3) == Fraction(exact)


def test_exponents_have_practically_no_limit():
    with precision(20):
        tiny = as_decimal(Fraction(1, 10**3000)).exp() - 1
        far = as_decimal(Fraction(-(10**12))).exp()
    assert tiny == 0
    assert far > 0
    assert leading_place(Fraction(7, 10**2000)) == Fraction(1, 10**2000)


@pytest.mark.parametrize("value", ["1", "0.5", "0.01", "3e-7", "1e-1000", "250"])
def test_places_before_the_first_digit_are_enough(value):
    places = digits_below_one(Fraction(value))
    assert Fraction(value) * 10**places >= Fraction(1, 2)
    assert places <= max(0, -Decimal(value).adjusted()) + 1
