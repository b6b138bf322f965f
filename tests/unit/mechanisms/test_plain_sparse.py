"""`dpframe.mechanisms.sparse_vector`: from any numbers to steps of a public grid."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpframe.errors import ParameterError
from dpframe.mechanisms import sparse_vector
from dpframe.mechanisms.above_threshold import Run
from dpframe.mechanisms.plain import _on_grid

SURE = 10**6  # an epsilon at which noise is 0, but once in exp(10,000) draws
unwise = pytest.mark.filterwarnings("ignore::dpframe.PrivacyWarning")
NAN, INFINITE = float("nan"), float("inf")


@pytest.fixture
def steps(monkeypatch):
    """What is compared, in grid steps."""
    seen, usual = [], Run.examine

    def examine(self, answers, **options):
        seen.append(answers)
        return usual(self, answers, **options)

    monkeypatch.setattr(Run, "examine", examine)

    def read(answers, **options):
        sparse_vector(answers, 0, 1, **options)
        assert seen[-1].dtype == np.int64
        return seen.pop().tolist()

    return read


# -- answers -------------------------------------------------------------------


@pytest.mark.parametrize(
    "answers",
    [
        [3, 1_000, 5],
        (3, 1_000, 5),
        [3.0, 1_000.0, 5.0],
        [Decimal(3), Fraction(1_000), 5],
        np.array([3, 1_000, 5], dtype=np.int16),
        np.array([3, 1_000, 5], dtype=np.uint64),
        np.array([3, 1_000, 5], dtype=np.float32),
        pd.Series([3, 1_000, 5], index=[2, 2, 0]),
        pd.Series([3, 1_000, 5], dtype="Int64"),
        pl.Series([3, 1_000, 5]),
        pa.array([3, 1_000, 5]),
    ],
    ids=lambda answers: f"{type(answers).__name__} {getattr(answers, 'dtype', '')}",
)
def test_answers_of_any_kind(answers):
    found = sparse_vector(answers, 500, 5, max_above=2)
    assert found.indices.tolist() == [1]
    assert (found.n_examined, found.exhausted) == (3, False)
    assert (found.gaps, found.values, found.estimates) == (None, None, None)


def test_it_stops_at_the_last_that_is_paid():
    found = sparse_vector([0, 900, 0, 900, 900, 0], 500, 5, max_above=2)
    assert found.indices.tolist() == [1, 3]
    assert (found.n_examined, found.exhausted) == (4, True)


def test_halves_are_rounded_up(steps):
    halves = [0.5, 1.5, 2.5, -0.5, -1.5, 0.49, -0.51]
    assert steps(halves, grid=1) == [1, 2, 3, 0, -1, 0, -1]
    assert steps([Fraction(x) for x in halves], grid=1) == [1, 2, 3, 0, -1, 0, -1]
    assert steps([Decimal("0.05"), Decimal("0.15")], grid="0.1") == [1, 2]


def test_grids(steps):
    assert steps([0.25, 0.3, -7.0], grid=0.25) == [1, 1, -28]
    assert steps([3, 5, 6], grid=4) == [1, 1, 2]
    assert steps([3, 5, 6], grid="1/3") == [9, 15, 18]
    assert steps([Decimal("0.3")], grid="0.1") == [3]
    assert steps([7, -7]) == [7, -7]


def test_floats_are_clamped_where_a_half_is_still_seen(steps):
    most = 2**51
    huge = [1e300, -1e300, 2.0**60, float(most), float(most) + 2]
    assert steps(huge, grid=1) == [most, -most, most, most, most]
    assert steps([1.7e308, -1.7e308], grid=Fraction(1, 2**40)) == [most, -most]
    assert steps([2.0**51 - 0.5], grid=1) == [most]


def test_integers_are_exact_and_clamped_far_out(steps):
    most = 2**60
    assert steps(np.array([2**53 + 1, 2**53 + 3])) == [2**53 + 1, 2**53 + 3]
    wide = np.array([2**64 - 1, 2**63, 2**53 + 1], dtype=np.uint64)
    assert steps(wide) == [most, most, 2**53 + 1]
    assert steps(np.array([2**62, -(2**62)])) == [most, -most]
    assert steps([10**30, -(10**30), 5]) == [most, -most, 5]
    assert steps([2**62], grid=2**20) == [2**42]


answers_and_moves = st.tuples(
    st.floats(-1e18, 1e18), st.floats(-1, 1), st.integers(-12, 6)
)


@given(answers_and_moves)
@example((0.5, 1.0, 0))
@example((float(2**52), 1.0, 0))
@example((float(2**53 - 1), 1.0, 0))
def test_rounding_moves_no_answer_by_more_than_the_sensitivity(drawn):
    """For floats that differ by no more than Δ, exactly, whatever was rounded away."""
    answer, move, power = drawn
    other = answer + move
    grid = Fraction(2) ** power
    moved = abs(Fraction(other) - Fraction(answer))
    one, two = _on_grid([answer, other], grid, rounded=True).tolist()
    assert abs(one - two) <= -(-moved // grid)


# -- what is compared ----------------------------------------------------------


@unwise
def test_the_threshold_may_be_any_fraction():
    for threshold, expected in [
        (2, [1, 2]),
        ("5/2", [2]),
        (2.5, [2]),
        (Decimal("2.999"), [2]),
        (3, [2]),
        (Fraction(31, 10), []),
    ]:
        found = sparse_vector([1, 2, 3], threshold, SURE, max_above=3)
        assert found.indices.tolist() == expected


@unwise
def test_the_threshold_is_not_rounded_to_the_grid():
    for threshold, expected in [("0.3", [1]), ("0.25", [0, 1]), ("0.51", [])]:
        found = sparse_vector([0.25, 0.5], threshold, SURE, max_above=2, grid=0.25)
        assert found.indices.tolist() == expected


@unwise
def test_below():
    found = sparse_vector(
        [0.25, -0.5, 9.0], "1/4", SURE, max_above=3, grid=0.25, direction="below"
    )
    assert found.indices.tolist() == [0, 1]
    fresh = sparse_vector(
        [0.25, -0.5], 0, SURE, grid=0.25, direction="below", values=True, gap=True
    )
    assert (fresh.values.tolist(), fresh.gaps.tolist()) == ([-0.5], [0.5])
    assert fresh.estimates.tolist() == [-0.5]


@pytest.mark.parametrize("noise", ["geometric", "laplace"])
@pytest.mark.parametrize("direction", ["above", "below"])
def test_one_sided_noise_is_recentered(noise, direction):
    """Far beyond the threshold nothing is selected: gaps are right on average.

    By the mean of 2,000 gaps; without the shift they would be off by 20 of its standard
    deviations, and 7 of them are an accident once in 10¹¹ tests.
    """
    far = 10**6 if direction == "above" else -(10**6)
    found = [
        sparse_vector(
            [far],
            0,
            "1/1000",
            ratio="even",
            noise=noise,
            direction=direction,
            gap=True,
        )
        for _ in range(2_000)
    ]
    noise_ = found[0].noise
    off = np.mean([f.gaps[0] for f in found]) - 10**6
    spread = (noise_.gap_variance(noise_.branches[0]) / len(found)) ** 0.5
    assert abs(off) < 7 * spread
    shift = float(noise_.shift(noise_.branches[0]))
    assert shift / spread > 10 if noise == "geometric" else shift == 0


def test_sensitivity_and_margin_are_in_the_unit_of_the_answers():
    def noise(**options):
        return sparse_vector([1.0, 2.0], 1, 1, **options).noise

    assert noise().sensitivity == 1
    assert noise(sensitivity=3).sensitivity == 3
    assert noise(sensitivity="0.3", grid=0.25).sensitivity == 2
    assert noise(sensitivity="0.5", grid=0.25).sensitivity == 2
    assert noise(sensitivity="0.1").sensitivity == 1
    assert noise(grid=0.25, adaptive=True, margin=2).margin == 8
    assert noise(adaptive=True).margin is None


def test_options_reach_the_noise():
    def noise(**options):
        return sparse_vector([1, 2], 1, "1/2", **options).noise

    assert noise().epsilon == Fraction(1, 2)
    assert noise().family == "geometric"
    assert noise(noise="laplace").family == "laplace"
    assert noise(monotonic=True).monotonic
    assert noise(max_above=3, values=True, sensitivity=2).values == 6
    assert noise(max_above=3, refresh=True).runs == 3
    assert noise(ratio=4).ratio == 4
    assert not noise().concentrated


@unwise
def test_numbers_are_exact_integers_or_on_the_grid():
    found = sparse_vector([2**53 + 1], 0, SURE, values=True)
    assert found.values.tolist() == [2**53 + 1]
    found = sparse_vector([0.75, 5.5], 0, SURE, max_above=2, grid=0.25, values=True)
    assert found.values.tolist() == [0.75, 5.5]


def test_adaptive_runs_pay_less_for_what_is_clear():
    found = sparse_vector([10**6] * 9, 0, 1, max_above=4, adaptive=True)
    assert found.indices.tolist() == list(range(7))
    assert found.branches.tolist() == [0] * 7


# -- refusals ------------------------------------------------------------------


@pytest.mark.parametrize(
    "answers",
    [
        [1.0, NAN],
        [NAN, 1.0],
        [INFINITE, 1.0],
        [1.0, -INFINITE],
        [1, None],
        [Decimal("NaN"), 1],
        [1, Decimal("-Infinity")],
        np.array([1, NAN], dtype=np.float16),
        pd.Series([1, None], dtype="Int64"),
        pl.Series([1, None]),
        ["1", "2"],
        [True, False],
        [1j],
        [{"a": 1}],
        np.array(["2024-01-01"], dtype="datetime64[D]"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("grid", [None, 1, 0.25])
def test_answers_that_are_no_numbers_are_refused_in_one_sentence(answers, grid):
    """Whichever they are: an error must not say which answer it was."""
    with pytest.raises(ParameterError) as caught:
        sparse_vector(answers, 1, 1, grid=grid)
    assert str(caught.value) == "answers must all be finite numbers."
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(
    "answers", [[], [[1, 2]], 5, [[1], [2, 3]], np.zeros((2, 0)), {}, None], ids=repr
)
def test_answers_are_a_flat_list(answers):
    with pytest.raises(ParameterError, match="a flat list of numbers"):
        sparse_vector(answers, 1, 1)


@pytest.mark.parametrize("answers", [[0.5, 1.0], [Fraction(1, 3)], [Decimal("0.1")]])
def test_fractions_need_a_grid(answers):
    with pytest.raises(ParameterError) as caught:
        sparse_vector(answers, 1, 1)
    assert str(caught.value) == (
        "fractional answers need a grid, the public step to which they are rounded, "
        "such as grid='1/1024'."
    )


@pytest.mark.parametrize("grid", [0.1, "1/3", 3, 1.5, 2.0**-30])
def test_floats_need_a_grid_of_a_power_of_two(grid):
    with pytest.raises(
        ParameterError, match="exactly a power of two, such as '1/1024'"
    ):
        sparse_vector([1.0, 2.0], 1, 1, grid=grid)
    assert sparse_vector([1, 2], 1, 1, grid=grid).n_examined >= 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"epsilon": 0}, "epsilon must be positive"),
        ({"epsilon": -1}, "epsilon must be positive"),
        ({"epsilon": NAN}, "It must be finite."),
        ({"epsilon": INFINITE}, "It must be finite."),
        ({"epsilon": None}, "epsilon must be a number"),
        ({"threshold": NAN}, "threshold must be one finite, public number"),
        ({"threshold": [1, 2]}, "threshold must be one finite, public number"),
        ({"threshold": None}, "threshold must be one finite, public number"),
        ({"threshold": 2**61}, "threshold is beyond 2**60 steps"),
        ({"max_above": 0}, "max_above must be an integer of 1 or more"),
        ({"max_above": -1}, "max_above must be an integer of 1 or more"),
        ({"max_above": 2.0}, "max_above must be an integer of 1 or more"),
        ({"max_above": True}, "max_above must be an integer of 1 or more"),
        ({"max_above": None}, "max_above must be an integer of 1 or more"),
        ({"sensitivity": 0}, "sensitivity must be positive"),
        ({"sensitivity": -1}, "sensitivity must be positive"),
        ({"sensitivity": INFINITE}, "sensitivity must be a number"),
        ({"sensitivity": NAN}, "sensitivity must be a number"),
        ({"sensitivity": None}, "sensitivity must be a number"),
        ({"sensitivity": 2**60}, "at most 2^54"),
        ({"grid": 0}, "grid must be positive"),
        ({"grid": -1}, "grid must be positive"),
        ({"grid": INFINITE}, "grid must be a number"),
        ({"noise": None}, "noise must be 'geometric'"),
        ({"noise": "gaussian"}, "noise must be 'geometric'"),
        ({"ratio": -1}, "ratio must be positive"),
        ({"ratio": "best"}, "ratio must be 'optimal', 'even' or a number"),
        ({"direction": "up"}, "direction must be 'above' or 'below'"),
        ({"monotonic": "auto"}, "monotonic must be True or False; got 'auto'"),
        ({"refresh": "auto"}, "refresh must be True or False; got 'auto'"),
        ({"gap": 1}, "gap must be True or False"),
        ({"values": None}, "values must be True or False"),
        ({"adaptive": 1}, "adaptive must be True or False"),
        ({"adaptive": True, "refresh": True}, "the adaptive form has one run"),
        ({"adaptive": True, "values": True}, "Ask with gap=True, which is free."),
        ({"adaptive": True, "margin": -1}, "margin must not be negative"),
        ({"adaptive": True, "margin": NAN}, "margin must be a number"),
        ({"adaptive": True, "margin": 2**61}, "margin is beyond 2**60 steps"),
    ],
    ids=str,
)
def test_wrong_arguments_draw_nothing(arguments, said, monkeypatch):
    def drawn(self, *args):
        pytest.fail("noise was drawn")

    monkeypatch.setattr(Run, "__init__", drawn)
    with pytest.raises(ParameterError) as caught:
        sparse_vector([1, 2], **{"threshold": 1, "epsilon": 1, **arguments})
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["seed", "rho", "noisy_threshold", "rng"])
def test_there_is_no_seed_and_no_way_to_the_noisy_threshold(name):
    with pytest.raises(TypeError, match="unexpected keyword"):
        sparse_vector([1], 1, 1, **{name: 1})
    assert not hasattr(sparse_vector([1], 1, 1), name)
