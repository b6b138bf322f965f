"""The auditor itself: honest bounds, what it finds, what it refuses."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import betainc

from dpframe.errors import ParameterError
from dpframe.noise import DiscreteLaplace
from dpframe.testing import Audit, audit
from dpframe.testing.auditor import _epsilon, _lower

RNG = np.random.default_rng(20)


def vectorized(mechanism):
    mechanism.vectorized = True
    return mechanism


@vectorized
def count(rows, runs):
    return rows + DiscreteLaplace(1).sample(runs)


def coin(chance):
    """An event of known chances: 1 instead of 0."""

    def mechanism(given, runs):
        return (RNG.random(runs) < chance[given]).astype(np.int64)

    return vectorized(mechanism)


# -- bounds ----------------------------------------------------------------------


@pytest.mark.parametrize("miss", [0.025, 5e-10])
def test_lower_bound_is_the_chance_at_which_so_many_are_rare(miss):
    """Clopper-Pearson: P(at least k of n) at the bound is what may be missed."""
    for k, n in (1, 10), (3, 10), (10, 10), (50_000, 100_000), (7, 100_000):
        (low,) = _lower(np.array([float(k)]), n, miss)
        tail = (
            sum(
                math.comb(n, i) * Fraction(low) ** i * (1 - Fraction(low)) ** (n - i)
                for i in range(k, n + 1)
            )
            if n < 100
            else betainc(k, n - k + 1, low)
        )
        assert float(tail) == pytest.approx(miss, rel=1e-6)
    assert _lower(np.array([0.0]), 10, miss).tolist() == [0]


def test_bound_is_on_the_log_of_the_ratio():
    found = _epsilon(np.array([10.0]), np.array([0.0]), 10, 0, 0.05)
    low = 0.05 ** (1 / 10)  # all of ten; and none of ten
    assert found == pytest.approx(math.log(low / (1 - low)))
    granted = _epsilon(np.array([10.0]), np.array([0.0]), 10, 0.1, 0.05)
    assert granted == pytest.approx(math.log((low - 0.1) / (1 - low)))
    nothing = _epsilon(np.array([10.0]), np.array([0.0]), 10, 0.9, 0.05)
    assert nothing == -math.inf


def test_bound_holds_as_often_as_it_says():
    """At a confidence of one half it fails in fewer than half of the audits."""
    chance = (0.3, 0.3 / math.e)
    wrong = sum(
        audit(coin(chance), (0, 1), 1, runs=1_000, confidence=0.5).violated
        for _ in range(200)
    )
    assert 5 < wrong < 130  # 7 standard deviations above one half would be 149


def test_equal_inputs_are_told_apart_by_luck_alone():
    """Hundreds of outputs, many of them unique: the best event is chosen honestly."""

    @vectorized
    def noise(given, runs):
        return RNG.normal(size=(runs, 3))

    for _ in range(5):
        assert audit(noise, (0, 1), "1/10", runs=5_000).lower_bound < 0.1


def test_runs_that_found_the_event_do_not_count():
    """All that differs is in the first half of the runs, which chooses."""

    @vectorized
    def ordered(given, runs):
        return [given] * (runs // 2) + ["the same"] * (runs - runs // 2)

    found = audit(ordered, ("a", "b"), 1, runs=2_000)
    assert found.lower_bound == 0
    assert found.counts in ((0, 0), (1_000, 1_000))


# -- what it finds -----------------------------------------------------------------


@pytest.mark.parametrize(
    "mechanism",
    [
        count,
        vectorized(lambda rows, runs: [(x, None) for x in count(rows, runs).tolist()]),
        vectorized(lambda rows, runs: [f"{x} rows" for x in count(rows, runs)]),
        vectorized(lambda rows, runs: np.exp(count(rows, runs) / 7)),
        vectorized(lambda rows, runs: count(rows, runs) + RNG.random(runs)),
        vectorized(
            lambda rows, runs: [[0] * abs(x) for x in count(rows, runs).clip(0, 20)]
        ),
        vectorized(
            lambda rows, runs: np.column_stack(
                [count(rows, runs), RNG.integers(0, 10**6, runs)]
            )
        ),
    ],
    ids=["integer", "tuple", "text", "float", "jittered", "length", "with junk"],
)
def test_loss_is_seen_in_outputs_of_any_kind(mechanism):
    found = audit(mechanism, (9, 10), 1, runs=40_000)
    assert 0.75 < found.lower_bound <= 1
    assert audit(mechanism, (9, 10), "1/2", runs=40_000).violated


def test_many_small_losses_add_up():
    """Ten answers of 0.3 each: no single one shows it, and cells are too many."""

    @vectorized
    def ten(rows, runs):
        return rows + DiscreteLaplace("10/3").sample(10 * runs).reshape(runs, 10)

    found = audit(ten, (0, 1), 3, runs=100_000)
    assert 1.2 < found.lower_bound <= 3


def test_either_input_may_be_the_likelier_one():
    for chance in (0.5, 0.1), (0.1, 0.5):
        found = audit(coin(chance), (0, 1), 1, runs=50_000)
        assert found.violated
        one, other = found.counts
        both = one / found.tested, other / found.tested
        assert both in (
            pytest.approx(chance, abs=0.02),
            pytest.approx([1 - c for c in chance], abs=0.02),
        )


@pytest.mark.parametrize("chance", [(0.05, 0.001), (0.001, 0.05)])
def test_rare_texts_are_found_whichever_input_likes_them(chance):
    @vectorized
    def text(given, runs):
        return np.where(RNG.random(runs) < chance[given], "rare", "common").tolist()

    assert audit(text, (0, 1), 1, runs=40_000).violated


def test_event_is_told_in_words():
    found = audit(coin((0.9, 0.001)), (0, 1), 1, runs=20_000)
    assert found.event in (
        "one of 1 outputs, such as 1",
        "the output >= 1, such as 1",
        "one of 1 outputs, such as 0",
        "the output <= 0, such as 0",
    )
    with pytest.raises(AssertionError) as raised:
        found.check()
    one, other = found.counts
    assert str(raised.value) == (
        f"epsilon is at least {found.lower_bound:.4g}, and 1 was claimed: "
        f"{found.event} came about {one:,} and {other:,} times in 10,000 runs"
    )


def test_honest_audit_is_handed_back():
    found = audit(count, (9, 10), "3/2", runs=2_000)
    assert found.check() is found
    assert isinstance(found, Audit)
    assert (found.epsilon, found.delta, found.tested) == (1.5, 0.0, 1_000)
    assert found.confidence == 1 - 1e-9


def test_mechanism_of_one_run_is_called_as_often_as_asked():
    calls = []

    def mechanism(given):
        calls.append(given)
        return RNG.integers(2)

    audit(mechanism, ("a", "b"), 1, runs=1_001)
    assert calls == ["a"] * 1_001 + ["b"] * 1_001


def test_argument_decides_over_the_attribute():
    def constant(given, runs):
        return np.ones(runs)

    assert audit(constant, (0, 1), 1, runs=1_000, vectorized=True).lower_bound == 0
    with pytest.raises(TypeError, match="runs"):
        audit(constant, (0, 1), 1, runs=1_000)
    with pytest.raises(TypeError, match="runs"):
        audit(count, (0, 1), 1, runs=1_000, vectorized=False)


# -- what it refuses ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epsilon": 0}, "epsilon must be positive"),
        ({"epsilon": "nan"}, "epsilon must be a number"),
        ({"delta": -1}, "delta must be in"),
        ({"delta": 1}, "delta must be in"),
        ({"runs": 999}, "1,000 or more"),
        ({"runs": 1e6}, "1,000 or more"),
        ({"runs": True}, "1,000 or more"),
        ({"confidence": 1.0}, "between 0 and 1"),
        ({"confidence": 1}, "between 0 and 1"),
    ],
)
def test_arguments_out_of_range_are_refused(options, said):
    with pytest.raises(ParameterError, match=said):
        audit(count, (9, 10), **{"epsilon": 1, **options})


def test_wrong_number_of_outputs_is_refused():
    with pytest.raises(ParameterError, match=r"asked for 2,000 runs and returned 3"):
        audit(vectorized(lambda given, runs: [1, 2, 3]), (0, 1), 1, runs=2_000)
