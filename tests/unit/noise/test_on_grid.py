"""The sampler on a grid: what it draws from given bits, and that floats never lie."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from noise_reference import scripted
from smooth_reference import laplace_size, lomax_size, step_of, student_two_size

from dpframe.errors import DPFrameError, ParameterError
from dpframe.noise import Laplace, Lomax, StudentT, on_grid
from dpframe.noise.bits import use_source_for_tests
from dpframe.noise.on_grid import Cells, draw_on_grid

RATIO = Fraction(10, 3)
QUANTILES = {
    "lomax": (Lomax(RATIO, 1), lomax_size(RATIO)),
    "heavy": (Lomax("1.01", 1), lomax_size(Fraction("1.01"))),
    "student": (StudentT(1, "0.01", 2), student_two_size),
    "laplace": (Laplace(1), laplace_size),
}
LAWS = [
    Lomax(RATIO, 1),
    Lomax("1.01", 1),
    Lomax(10**5, "1e-6"),
    Laplace(1),
    *(StudentT(1, "0.01", degrees) for degrees in (1, 2, 3, 4, 7)),
]
NUMBERS = np.random.default_rng(5).integers(0, 2**64, 3_000, dtype=np.uint64)
EDGES = [0, 1, 2, 3, 2**20, 2**40 + 1, 2**63, 2**64 - 2, 2**64 - 1]


def drawn(law, bits, value, spread, cells):
    """The outputs of given 64-bit numbers, and no more bits than those."""
    numbers = np.asarray(bits, dtype="<u8")
    n = numbers.size
    blocks = [
        numbers[start : start + on_grid._BLOCK].tobytes()
        for start in range(0, n, on_grid._BLOCK)
    ]
    with use_source_for_tests(scripted(blocks)):
        return draw_on_grid(law, np.full(n, value), np.full(n, spread), cells)


def cells(low, high, grid, s=1):
    return Cells.read(Fraction(low), Fraction(high), Fraction(grid), Fraction(s))


SETTINGS = [  # value, spread, s, low, high, grid
    (45.125, 0.75, "0.2", 0, 120, "15/131072"),
    (-3.7, 2.0**-20, "1/3", -5, 5, "1/7"),
    (17, 40.0, "0.1", 0, 120, 1),
    (2**53 + 1, 1e9, "0.2", 0, 2**55, 1),
    (0.0, 1e12, "0.2", 0, 1, "1e-6"),
    (Fraction(1, 3), Fraction(1, 1000), "0.2", "-1/10", "1/2", "1e-5"),
]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("family", QUANTILES)
def test_outputs_are_those_of_the_quantile(family, setting):
    law, size = QUANTILES[family]
    value, spread, s, low, high, grid = setting
    bits = np.concatenate([NUMBERS[:150], np.array(EDGES, dtype=np.uint64)])
    low, high, grid = Fraction(low), Fraction(high), Fraction(grid)
    scale = Fraction(spread) / Fraction(s)
    expected = [
        step_of(size, int(b), Fraction(value), scale, low, high, grid) for b in bits
    ]
    settled = np.array([step is not None for step in expected])
    assert settled.mean() > 0.9
    wanted = [step for step in expected if step is not None]
    got = drawn(law, bits[settled], value, spread, cells(low, high, grid, s))
    assert got.tolist() == wanted
    assert len(set(wanted)) > 1 or spread == 2.0**-20


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_floats_and_integers_decide_alike(law, monkeypatch):
    here = cells(0, 120, "1/128", "0.2")
    by_floats = drawn(law, NUMBERS, 45.3, 0.75, here)
    monkeypatch.setattr(on_grid, "_DOUBT", 2.0)  # nothing is ever sure
    by_integers = drawn(law, NUMBERS[:200], 45.3, 0.75, here)
    assert by_floats[:200].tolist() == by_integers.tolist()


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_a_wrong_guess_changes_nothing(law, monkeypatch):
    here = cells(0, 120, "1/128", "0.2")
    right = drawn(law, NUMBERS[:20], 45.3, 0.75, here)
    for wrong in (-1e9, 0.0, 37.0, math.inf, math.nan):
        guess = lambda law, share, wrong=wrong: np.full_like(share, wrong)  # noqa: E731
        monkeypatch.setattr(type(law), "sizes", guess)
        assert drawn(law, NUMBERS[:20], 45.3, 0.75, here).tolist() == right.tolist()


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_outputs_grow_with_the_size_of_the_noise(law):
    magnitude = np.sort(NUMBERS >> np.uint64(1))[::-1]  # V falls, |Z| grows
    scale = law.interval("0.5")[1]
    here = cells(0, 120, "1/128", scale / 4)
    for sign, order in ((0, 1), (1, -1)):
        bits = magnitude << np.uint64(1) | np.uint64(sign)
        steps = drawn(law, bits, 45.3, 1.0, here)
        assert (order * np.diff(steps) >= 0).all()
        assert np.unique(steps).size > 300


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_floats_err_less_than_they_are_trusted(law):
    rng = np.random.default_rng(1)
    x = np.concatenate([np.exp(rng.uniform(-30, 30, 150)), rng.uniform(0, 4, 150)])
    for point, tail in zip(x.tolist(), law.tail(x).tolist(), strict=True):
        low, high = law.tail_interval(Fraction(point), 100)
        assert high - low <= 2**12
        assert abs(Fraction(tail) - Fraction(low, 2**100)) < Fraction(1, 2**47)


def threshold(law, edge, bits):
    """floor(2^bits P(|Z| > edge))."""
    low, high = law.tail_interval(Fraction(edge), bits + 100)
    assert low >> 100 == high >> 100
    return low >> 100


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("law", LAWS[:2] + LAWS[3:], ids=repr)
def test_ties_are_settled_by_more_bits(law, sign):
    # Value 0, scale 2 steps: the output reaches 3 at sizes of 2.5 / 2 and more.
    here, edge = cells(-50, 50, 1), Fraction(5, 4)
    start = threshold(law, edge, 63)
    rest = threshold(law, edge, 127) - (start << 64)
    direction = 1 - 2 * sign
    first = (start << 1 | sign).to_bytes(8, "little")

    def outcome(*more):
        pieces = [first, *(m.to_bytes(8, "little") for m in more)]
        with use_source_for_tests(scripted(pieces)):
            steps = draw_on_grid(law, np.array([0]), np.array([2.0]), here)
        return direction * int(steps[0])

    assert outcome(0) == outcome(rest - 1) == 3  # V below the tail: |Z| beyond the edge
    assert outcome(rest + 1) == outcome(2**64 - 1) == 2
    last = threshold(law, edge, 191) - (threshold(law, edge, 127) << 64)
    assert outcome(rest, last - 1) == 3
    assert outcome(rest, last + 1) == 2


def test_few_draws_need_more_bits():
    asked = []

    def source(n):
        asked.append(n)
        return np.random.default_rng(len(asked)).bytes(n)

    here = cells(0, 120, Fraction(120, 2**20), "0.2")
    with use_source_for_tests(source):
        draw_on_grid(LAWS[0], np.full(2**17, 45.3), np.full(2**17, 0.75), here)
    assert sum(n == 8 for n in asked) <= 20
    assert sum(asked) - 8 * sum(n == 8 for n in asked) == 8 * 2**17


def test_bounds_are_reached_and_kept():
    law = LAWS[0]
    wide = drawn(law, NUMBERS, 0.25, 1e250, cells(0, 1, "1/8"))
    assert set(wide.tolist()) == {0, 8}
    assert abs((wide == 0).mean() - 0.5) < 0.05
    for value in (0, 1):  # at a bound, half of the noise is cut
        steps = drawn(law, NUMBERS, value, 0.1, cells(0, 1, "1/8"))
        assert (steps >= 0).all()
        assert (steps <= 8).all()
        assert (steps == 8 * value).mean() > 0.5
    beyond = drawn(law, NUMBERS, 7, 1e-9, cells(0, 1, "1/8"))
    assert set(beyond.tolist()) == {8}


def test_noise_far_below_a_step_leaves_the_value():
    law, bits = LAWS[0], NUMBERS[NUMBERS > 2**30]
    for value, step in ((17, 17), (17.2, 17), (-3.49, -3)):
        steps = drawn(law, bits, value, 1e-12, cells(-20, 120, 1))
        assert set(steps.tolist()) == {step}
    halfway = drawn(law, bits, 2.5, 1e-12, cells(-20, 120, 1))
    assert set(halfway.tolist()) == {2, 3}
    assert abs((halfway == 2).mean() - 0.5) < 0.05


def test_numbers_at_the_ends_of_float64():
    law, few = LAWS[0], NUMBERS[:40]
    for spread in (1e305, 1.7e308):
        assert set(drawn(law, few, 3, spread, cells(0, 9, 1)).tolist()) == {0, 9}
    assert set(drawn(law, few, 3, 5e-324, cells(0, 9, 1)).tolist()) == {3}
    assert set(drawn(law, few, -1e300, 1e-9, cells(0, 9, "1e-15")).tolist()) == {0}


@pytest.mark.parametrize(
    ("value", "spread", "grid"),
    [(3.0, 1e305, 1), (3.0, 1e-305, 1), (0.0, 1e-298, Fraction(2) ** -1010)],
)
def test_floats_decide_nothing_near_the_ends_of_float64(value, spread, grid):
    here, few = cells(-9 * grid, 9 * grid, grid), NUMBERS[:40]
    values, spreads = np.full(40, value), np.full(40, spread)
    with np.errstate(all="ignore"):
        _, left_open = on_grid._propose(LAWS[0], values, spreads, here, few)
    assert left_open.all()


@pytest.mark.parametrize("power", [-1060, -1010, -200, 900])
def test_another_unit_changes_nothing(power):
    law, few, unit = LAWS[0], NUMBERS[:100], Fraction(2) ** power
    steps = drawn(law, few, 45.3, 0.75, cells(0, 120, "1/128"))
    there = cells(0, 120 * unit, unit / 128)
    value, spread = Fraction(45.3) * unit, Fraction(0.75) * unit
    assert drawn(law, few, value, spread, there).tolist() == steps.tolist()


def test_bounds_round_like_values():
    # -0.4 / 0.25 = -1.6 and 0.9 / 0.25 = 3.6
    here = cells("-0.4", "0.9", "1/4", "0.5")
    assert (here.first, here.last) == (-2, 4)
    assert here.noise_unit == Fraction(1, 8)


def test_numbers_are_taken_exactly():
    # The middle between two steps, seen only beyond the 53 bits of a float.
    law, here = LAWS[0], cells(0, 2**61, 1)
    for value in (2**60 + 1, 2**60 + 2):
        steps = drawn(law, NUMBERS[:20], value, 1e-9, here)
        assert set(steps.tolist()) == {value}
    half = Fraction(2 * 2**55 + 1, 2)
    for nudge, step in ((Fraction(-1, 10**9), 2**55), (Fraction(1, 10**9), 2**55 + 1)):
        steps = drawn(law, NUMBERS[:20], half + nudge, Fraction(1, 10**15), here)
        assert set(steps.tolist()) == {step}


def test_blocks_are_joined(monkeypatch):
    here, values = cells(0, 9_999, 1), np.arange(1000.0)
    whole = draw_on_grid(LAWS[0], values, np.full(1000, 1e-15), here)
    monkeypatch.setattr(on_grid, "_BLOCK", 64)
    parts = draw_on_grid(LAWS[0], values, np.full(1000, 1e-15), here)
    assert whole.tolist() == parts.tolist() == list(range(1000))


@pytest.mark.parametrize(
    ("value", "spread"),
    [(math.nan, 1.0), (math.inf, 1.0), (5.0, 0.0), (5.0, -1.0), (5.0, math.inf)],
)
def test_impossible_inputs_are_a_bug(value, spread):
    with pytest.raises(DPFrameError, match="a bug in dpframe") as caught:
        draw_on_grid(LAWS[0], np.array([value]), np.array([spread]), cells(0, 9, 1))
    assert not any(digit.isdigit() for digit in str(caught.value))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1, 0), "grid must be positive"),
        ((0, 1, -1), "grid must be positive"),
        ((1, 1, 1), "lower bound must be below"),
        ((0, 2**62, 1), "within 2\\^62 grid steps"),
        ((-(2**40), 0, "1e-20"), "coarser grid"),
    ],
)
def test_wrong_cells(arguments, message):
    with pytest.raises(ParameterError, match=message):
        cells(*arguments)


def test_the_reference_quantiles_invert_the_tails():
    with localcontext(prec=60):
        for law, size in QUANTILES.values():
            x = Fraction(size(Decimal("0.3")))
            low, high = law.tail_interval(x, 100)
            assert abs(low - 3 * 2**100 // 10) <= 4
            assert high - low <= 4
