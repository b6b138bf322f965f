from fractions import Fraction

import numpy as np
import pytest
from noise_reference import exp_minus, scripted

from dpframe.errors import DPFrameError
from dpframe.noise.bernoulli import bernoulli_exp
from dpframe.noise.bits import use_source_for_tests

EXPONENTS = [Fraction(1, 3), Fraction(5), Fraction(1, 10**9), Fraction(21)]


def flip(x, numbers, *more, error=0.0):
    """Coins of exponent x for the given first 32 bits, then the bytes ``more``."""
    numbers = np.array(numbers, dtype="<u4")
    floats = np.full(numbers.size, float(x) * (1 + error))
    with use_source_for_tests(scripted([numbers.tobytes(), *more])):
        return bernoulli_exp(floats, lambda i: x).tolist()


@pytest.mark.parametrize("x", EXPONENTS)
@pytest.mark.parametrize("error", [0.0, 1e-11, -1e-11])
def test_accepts_exactly_the_numbers_below_the_cut(x, error):
    """Also where the float is off by more than it ever will be."""
    cut = int(exp_minus(x) * 2**32)
    near = [cut + d for d in (-9, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 9)]
    far = np.random.default_rng(1).integers(0, 2**32, 2000).tolist()
    numbers = [n for n in near + far if 0 <= n < 2**32 and n != cut]
    assert flip(x, numbers, error=error) == [n < cut for n in numbers]


@pytest.mark.parametrize("x", EXPONENTS)
def test_a_tie_goes_on_with_the_next_digits(x):
    cut, digits = divmod(int(exp_minus(x) * 2**96), 2**64)
    words = [(digits + d).to_bytes(8, "little") for d in (-1, 1)]
    assert flip(x, [cut], words[0]) == [True]
    assert flip(x, [cut], words[1]) == [False]
    later = int(exp_minus(x) * 2**160) % 2**64
    words = [n.to_bytes(8, "little") for n in (digits, later - 1)]
    assert flip(x, [cut], *words) == [True]


def test_ends_of_the_range():
    assert flip(Fraction(0), [0, 2**31, 2**32 - 1]) == [True, True, True]
    zero, one = (n.to_bytes(8, "little") for n in (0, 1))
    # exp(-50) is below 2^-64 and above 2^-128; exp(-10^30) is below both.
    assert flip(Fraction(50), [1, 0], zero, zero) == [False, True]
    assert flip(Fraction(10**30), [1, 0], one) == [False, False]


@pytest.mark.parametrize("x", [np.nan, -1e-9])
def test_an_impossible_exponent_is_a_bug_and_says_so(x):
    with pytest.raises(DPFrameError, match="a bug in dpframe"):
        bernoulli_exp(np.array([1.0, x]), lambda i: Fraction(0))
