from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from smooth_reference import pi

from dpframe.noise.arctangent import arctan_of_root, pi_interval, root_interval

WIDTHS = [1, 64, 200, 321]


@pytest.mark.parametrize("width", WIDTHS)
def test_pi(width):
    low, high = pi_interval(width)
    with localcontext(prec=110):
        assert low <= pi() * 2**width <= high
    assert high - low == 3


@pytest.mark.parametrize("width", WIDTHS)
def test_roots(width):
    for square in ("0", "1e-30", "1/3", "2", "9/4", "1e40"):
        low, high = root_interval(Fraction(square), width)
        assert low**2 <= Fraction(square) * 4**width < high**2
        assert high == low + 1


def series(y):
    """atan(y) for 0 <= y < 0.9, from its power series alone."""
    total, power, k = Decimal(0), y, 0
    while power > Decimal(10) ** -105:
        total += (-power if k % 2 else power) / (2 * k + 1)
        power *= y * y
        k += 1
    return total


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("square", ["0", "1e-50", "1e-6", "1/5", "2/3", "3/4"])
def test_angles(square, width):
    square = Fraction(square)
    with localcontext(prec=110):
        y = (Decimal(square.numerator) / square.denominator).sqrt()
        low, high = arctan_of_root(square, width)
        assert low <= series(y) * 2**width <= high
        assert high - low == 3
        if square:  # atan(1/y) = π/2 - atan(y)
            low, high = arctan_of_root(1 / square, width)
            assert low <= (pi() / 2 - series(y)) * 2**width <= high
