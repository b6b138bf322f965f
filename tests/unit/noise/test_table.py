from bisect import bisect_left, bisect_right
from fractions import Fraction

import numpy as np
import pytest
from noise_reference import scripted

from dpframe.noise.bits import use_source_for_tests
from dpframe.noise.table import InversionTable, exact_floors

THRESHOLDS = [Fraction(1, 7), Fraction(1, 3), Fraction(1, 2), Fraction(65535, 65536)]


def intervals(width):
    """The thresholds as intervals; a dyadic one may lie at its lower end."""
    lows = [int(threshold * 2**width) for threshold in THRESHOLDS]
    return [(low, low + 1) for low in lows]


def word(value: int) -> bytes:
    return value.to_bytes(8, "little")


@pytest.mark.parametrize("bits", [1, 16, 64, 333])
def test_floors_are_those_of_the_thresholds(bits):
    expected = [int(threshold * 2**bits) for threshold in THRESHOLDS]
    assert exact_floors(intervals, bits) == expected


def test_floors_wait_until_the_interval_is_narrow_enough():
    def vague(width):  # useless at first, known to 2^-120 at a width of 320
        low = 2**width // 3
        return [(max(0, low - 2**200), low + 1)]

    assert exact_floors(vague, 64) == [2**64 // 3]


@pytest.mark.parametrize("fill", [0, 255])
def test_all_sixteen_bit_cells_at_both_ends(fill):
    """With the other bits all 0 or all 1, V is known, and so is the outcome."""
    cells = np.arange(1 << 16, dtype="<u2")

    def source(n: int) -> bytes:
        if n == cells.nbytes:
            return cells.tobytes()
        # A dyadic threshold stays tied with zeros only: let the 128th bit be 1.
        return word(1) if n == 8 else bytes([fill]) * n

    with use_source_for_tests(source):
        outcomes = InversionTable(intervals, first=-2).draw(cells.size)
    if fill:  # V just below (cell + 1) / 2^16
        ends = [bisect_left(THRESHOLDS, Fraction(c + 1, 65536)) for c in range(65536)]
    else:  # V just above cell / 2^16
        ends = [bisect_right(THRESHOLDS, Fraction(c, 65536)) for c in range(65536)]
    assert (outcomes == np.array(ends) - 2).all()


def draw_one(number: int, *more: bytes) -> int:
    """The outcome of the 64-bit ``number`` followed by the bytes ``more``."""
    low = (number & (2**48 - 1)) << 16
    pieces = [(number >> 48).to_bytes(2, "little"), word(low), *more]
    with use_source_for_tests(scripted(pieces)):
        return int(InversionTable(intervals).draw(1)[0])


@pytest.mark.parametrize("i", [0, 1])
def test_numbers_beside_a_threshold_need_no_more_bits(i):
    cut = int(THRESHOLDS[i] * 2**64)
    assert draw_one(cut - 1) == i
    assert draw_one(cut + 1) == i + 1


@pytest.mark.parametrize("i", [0, 1])
def test_a_tie_is_settled_in_proportion_to_the_remaining_digits(i):
    """All 1,000 evenly spread continuations: the bits drawn before are kept."""
    cut = int(THRESHOLDS[i] * 2**64)
    rest = THRESHOLDS[i] * 2**64 - cut
    words = [(2 * j + 1) * 2**64 // 2000 for j in range(1000)]
    outcomes = [draw_one(cut, word(more)) for more in words]
    assert set(outcomes) == {i, i + 1}
    assert outcomes.count(i) == sum(more < rest * 2**64 for more in words)


def test_a_tie_may_last():
    one_half = 2**63
    assert draw_one(one_half, word(0), word(0), word(1)) == 3
    third = [int(THRESHOLDS[1] * 2**bits) % 2**64 for bits in (64, 128, 192)]
    assert draw_one(third[0], word(third[1]), word(third[2] - 1)) == 1
    assert draw_one(third[0], word(third[1]), word(third[2] + 1)) == 2
