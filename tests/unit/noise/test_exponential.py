import decimal
from fractions import Fraction

import pytest
from noise_reference import exp_minus

from dpframe.noise.exponential import exp_bounds, exp_floor, log_bounds

ARGUMENTS = [
    Fraction(1, 3),
    Fraction(1),
    Fraction(17, 10),
    Fraction(1, 2**54),
    Fraction(1, 10**40),
    Fraction(41),
    Fraction(10**30 + 1, 10**30),
]


@pytest.mark.parametrize("x", ARGUMENTS)
@pytest.mark.parametrize("bits", [1, 32, 64, 200])
def test_floor_agrees_with_a_taylor_series(x, bits):
    assert exp_floor(x, bits) == int(exp_minus(x) * 2**bits)


@pytest.mark.parametrize("x", ARGUMENTS)
@pytest.mark.parametrize("digits", [3, 20, 60])
def test_bounds_enclose_and_are_narrow(x, digits):
    low, high = map(Fraction, exp_bounds(x, digits))
    truth = exp_minus(x)
    assert low < truth < high
    assert high - low < truth * (4 + 2 * x) / 10 ** (digits - 1)


def test_ends_of_the_range():
    assert exp_floor(Fraction(0), 10) == 1024
    assert exp_floor(Fraction(10**400), 64) == 0
    assert exp_floor(Fraction(1, 10**400), 64) == 2**64 - 1


def test_the_callers_decimal_context_does_not_matter():
    x = Fraction(17, 10)
    with decimal.localcontext() as context:
        context.prec = 3
        context.Emin = -2
        context.traps[decimal.Inexact] = True
        assert exp_floor(x, 64) == int(exp_minus(x) * 2**64)


@pytest.mark.parametrize("digits", [3, 4, 8, 30])
@pytest.mark.parametrize("x", ["1.0001", "4/3", "2", "355/113", "1e30"])
def test_logarithms_are_enclosed(x, digits):
    x = Fraction(x)
    low, high = log_bounds(x, digits)
    assert 0 <= low < high
    # e^-high <= 1/x <= e^-low, by a series of its own
    error = Fraction(1, 2**300)
    assert exp_minus(high) - error <= 1 / x <= exp_minus(low) + error
    assert high - low <= 4 * max(high, 1) * Fraction(10) ** (1 - digits)


def test_the_logarithm_of_one_is_exact():
    assert log_bounds(Fraction(1), 10) == (0, 0)
    low, high = log_bounds(1 + Fraction(1, 10**40), 10)
    assert low == 0
    assert 0 < high < Fraction(1, 10**8)
