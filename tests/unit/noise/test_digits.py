from bisect import bisect_left, bisect_right
from fractions import Fraction

import numpy as np
import pytest
from noise_reference import BITS, exp_minus, scripted

from dpframe.noise.bits import use_source_for_tests
from dpframe.noise.digits import GeometricHead, low_digits, powers
from dpframe.noise.laplace import _signed_head_table
from dpframe.noise.law import MAX_NOISE
from dpframe.noise.table import InversionTable, exact_floors

SCALES = [Fraction(1, 2), Fraction(1), Fraction(10, 3), Fraction(25), Fraction(1000)]
WIDE = [Fraction(10**12), Fraction(2**54)]
TINY = Fraction(1, 2**360)


def digit_thresholds(rate):
    last = 1 - exp_minus(256 * rate)
    return [(1 - exp_minus(i * rate)) / last for i in range(1, 256)]


def head_thresholds(rate, reach):
    return [1 - exp_minus(i * rate) for i in range(1, reach + 1)]


def signed_thresholds(rate, head_rate, reach):
    r = exp_minus(rate)
    tails = [r / (1 + r) * exp_minus(h * head_rate) for h in range(reach + 1)]
    return tails[::-1] + [1 - tail for tail in tails]


def all_tables(scale):
    """Every table behind the laws of this scale, with independent thresholds."""
    digits = low_digits(1 / scale)
    head = GeometricHead(digits)
    signs = _signed_head_table(1 / scale, digits.head_rate, head.reach)
    expected = signed_thresholds(1 / scale, digits.head_rate, head.reach)
    yield signs, -head.reach - 1, expected
    yield head._table, 0, head_thresholds(digits.head_rate, head.reach)
    for place, table in enumerate(digits.tables):
        yield table, 0, digit_thresholds(256**place / scale)


def outcomes_of_all_cells(table: InversionTable, fill: int) -> np.ndarray:
    cells = np.arange(1 << 16, dtype="<u2")
    with use_source_for_tests(
        lambda n: cells.tobytes() if n == cells.nbytes else bytes([fill]) * n
    ):
        return table.draw(cells.size)


@pytest.mark.parametrize("scale", SCALES + WIDE, ids=str)
def test_every_cell_of_every_table_has_its_exact_mass(scale):
    for table, first, thresholds in all_tables(scale):
        grid = [int(f * 2**BITS) for f in thresholds]
        cells = [c << (BITS - 16) for c in range(65537)]
        at_start = np.array([bisect_right(grid, c) for c in cells[:-1]]) + first
        at_end = np.array([bisect_left(grid, c) for c in cells[1:]]) + first
        assert (outcomes_of_all_cells(table, 0) == at_start).all()
        assert (outcomes_of_all_cells(table, 255) == at_end).all()
        assert table._cuts.tolist() == [g >> (BITS - 64) for g in grid]
        # and the digits that would settle a tie
        assert exact_floors(table._intervals, 192) == [g >> (BITS - 192) for g in grid]


@pytest.mark.parametrize("scale", SCALES + WIDE, ids=str)
def test_digit_laws_multiply_back_to_the_geometric_law(scale):
    digits = low_digits(1 / scale)
    head = GeometricHead(digits)

    def mass(table, digit):
        cuts = [0, *exact_floors(table._intervals, 320), 1 << 320]
        return Fraction(cuts[digit + 1] - cuts[digit], 1 << 320)

    r = exp_minus(1 / scale)
    for k in (0, digits.base - 1, digits.base, int(scale), int(3 * scale) + 7):
        product, rest = Fraction(1), k
        for table in digits.tables:
            rest, digit = divmod(rest, 256)
            product *= mass(table, digit)
        assert rest < head.reach
        product *= mass(head._table, rest)
        truth = (1 - r) * exp_minus(k / scale)
        assert abs(product / truth - 1) < Fraction(1, 10**70)


@pytest.mark.parametrize("scale", SCALES + WIDE, ids=str)
def test_the_head_rarely_leaves_a_small_table(scale):
    digits = low_digits(1 / scale)
    head = GeometricHead(digits)
    assert digits.head_rate >= Fraction(1, 32)
    assert exp_minus(head.reach * digits.head_rate) <= exp_minus(Fraction(17))
    assert head.reach <= 544


def test_powers_enclose_the_exponentials():
    rate = Fraction(3, 7)
    for i, (low, high) in enumerate(powers(rate, 40, 100)):
        truth = exp_minus(i * rate) * 2**100
        assert low - TINY <= truth < high or (i == 0 and low == high == 2**100)
        assert high - low <= 2 * i + 1


def test_digits_are_put_together_lowest_first():
    digits = low_digits(Fraction(1, 10**6))  # three digits or fewer, nearly uniform
    assert len(digits.tables) == 2
    assert digits.base == 65536
    # Cells in the middle of the ranges of digits 7 (high) and 5 (low).
    pieces = [n.to_bytes(2, "little") for n in (7 * 256 + 128, 5 * 256 + 128)]
    with use_source_for_tests(scripted(pieces)):
        assert digits.draw(1).tolist() == [7 * 256 + 5]


def test_the_head_goes_on_past_its_table_without_memory():
    head = GeometricHead(low_digits(Fraction(1, 10)))
    top = [b"\xff\xff", b"\xff" * 8]
    with use_source_for_tests(scripted([*top, *top, b"\x00\x00", b"\x00" * 8])):
        assert head.draw(1).tolist() == [2 * head.reach]


def test_the_greatest_noise_is_cut_not_wrapped():
    digits = low_digits(Fraction(1, 2**54))
    head = GeometricHead(digits)
    assert (head._most + 1) * digits.base == MAX_NOISE
    endless = scripted([b"\xff\xff", b"\xff" * 8] * 20 + [b"\x00\x00", b"\x00" * 8])
    with use_source_for_tests(endless):
        assert head.draw(1).tolist() == [head._most]
