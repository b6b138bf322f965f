"""Choices among runs of equal candidates follow the law of the candidates."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from helpers import assert_law, assert_not_law, assert_uniform
from noise_reference import scripted
from selection_reference import exact_law

from dpframe.errors import ParameterError
from dpframe.noise import ordered_choice
from dpframe.noise.bits import use_source_for_tests
from dpframe.noise.ordered_choice import OrderedChoice, Runs

N = 100_000
RULES = ("permute_and_flip", "exponential")
#: Scores of runs, and their lengths: seven candidates.
SCORES, LENGTHS = [-3, 0, -2, -1], [2, 1, 3, 1]


def exponential_law(scores, rate):
    weights = [math.exp(-rate * (max(scores) - score)) for score in scores]
    return [weight / sum(weights) for weight in weights]


LAWS = {"permute_and_flip": exact_law, "exponential": exponential_law}


def pmf(rule, scores, rate):
    law = np.array(LAWS[rule](scores, rate))
    last = len(law) - 1
    return lambda k: np.where((k >= 0) & (k <= last), law[np.clip(k, 0, last)], 0.0)


def repeated(lengths, times):
    """The same runs for many independent choices."""
    heads = np.arange(times) * len(lengths)
    return Runs(np.tile(np.array(lengths), times), heads)


def sample(rule, rate, times=N, scores=SCORES, lengths=LENGTHS):
    law = OrderedChoice(2 * Fraction(rate), 1, rule)
    return law.choose(np.tile(np.array(scores), times), repeated(lengths, times))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("rate", ["3/2", "3"])
def test_law_of_candidates(rule, rate):
    """Seven candidates in four runs, against every order and every coin."""
    every = np.repeat(SCORES, LENGTHS).tolist()
    rate = Fraction(rate)
    drawn = sample(rule, rate)
    assert_law(drawn, pmf(rule, every, float(rate)))
    assert_not_law(drawn, pmf(rule, every, 0.95 * float(rate)))
    assert_not_law(drawn, pmf(rule, every, 1.05 * float(rate)))
    other = RULES[1 - RULES.index(rule)]
    assert_not_law(drawn, pmf(other, every, float(rate)))


@pytest.mark.parametrize("rule", RULES)
def test_runs_are_only_a_shorter_way_to_write_candidates(rule):
    every = np.repeat(SCORES, LENGTHS)
    drawn = sample(rule, 1, scores=every, lengths=np.ones_like(every))
    assert_law(drawn, pmf(rule, every.tolist(), 1.0))


@pytest.mark.parametrize("rule", RULES)
def test_settling_in_decimals_has_the_same_law(monkeypatch, rule):
    """Floats that are trusted with nothing leave it all to the decimals."""
    settled = []
    settle = OrderedChoice._settle

    def noted(self, runners):
        settled.append(len(runners))
        return settle(self, runners)

    monkeypatch.setattr(OrderedChoice, "_settle", noted)
    monkeypatch.setattr(ordered_choice, "_SLACK", 100.0)
    every = np.repeat(SCORES, LENGTHS).tolist()
    drawn = sample(rule, 1, times=1_500)
    assert settled == [4] * 1_500
    assert_law(drawn, pmf(rule, every, 1.0))
    assert_not_law(drawn, pmf(rule, every, 0.3))
    assert_not_law(drawn, pmf(rule, every, 2.0))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("known", [0, 1, 2**52, 2**53 - 1])
@pytest.mark.parametrize("length", [1, 2**21])
def test_floats_lie_within_their_slack_of_the_decimals(rule, known, length):
    law = OrderedChoice(2, 3, rule)
    x = Fraction(70, 3)
    runner = ordered_choice._Runner(0, x, length, known)
    exact = law._enclosed(runner, 53)
    assert exact[0] < exact[1]
    for end, true in zip((known, known + 1), exact, strict=True):
        found = law._arrival(
            np.array([float(x)]), np.array([end]), np.array([length])
        ).item()
        if math.isinf(found):
            assert Decimal(found) == true
        else:
            assert abs(Decimal(found) - true) < Decimal(2.0**-41) * (1 + int(x))


@pytest.mark.parametrize("rule", RULES)
def test_more_bits_narrow_the_enclosure(rule):
    law = OrderedChoice(1, 1, rule)
    runner = ordered_choice._Runner(0, Fraction(2), 5, 9)
    width = Decimal(1)
    for bits in (53, 117, 181):
        low, high = law._enclosed(runner, bits)
        assert 0 < high - low < width
        width = (high - low) / 2**40
        runner = runner.extended()


def test_equal_bits_are_told_apart_by_later_ones():
    """Two runs of one candidate and the same 53 bits: the next 64 decide."""
    law = OrderedChoice(1, 1)
    word = np.array([5 << 11, 5 << 11], dtype="<u8").tobytes()
    for first, second, winner in [(1, 9, 0), (9, 1, 1)]:
        more = [np.array([n], dtype="<u8").tobytes() for n in (first, second)]
        place = [np.array([0], dtype="<u8").tobytes()]
        runs = Runs(np.array([1, 1]), np.array([0]))
        with use_source_for_tests(scripted([word, *more, *place])):
            assert law.choose(np.array([0, 0]), runs).tolist() == [winner]


def test_a_run_far_behind_wins_if_its_bits_are_all_zero():
    """At a gap of 300, V^(1/L) must come within exp(-300), or 433 bits, of 1."""
    law, half = OrderedChoice(2, 1), 2**63
    runs = Runs(np.array([1, 1]), np.array([0]))

    def word(number):
        return np.array([number], dtype="<u8").tobytes()

    first = np.array([half, 0], dtype="<u8").tobytes()
    behind = [word(half), word(1), word(0)]
    ahead = [word(half), word(0)] * 6 + [word(0)]
    for later, winner in ((behind, 0), (ahead, 1)):
        with use_source_for_tests(scripted([first, *later])):
            assert law.choose(np.array([0, -300]), runs).tolist() == [winner]


def test_choices_of_different_runs_keep_apart():
    """Three choices, of one run, three runs and two: each has its own law."""
    scores = np.array([7, -1, 0, -1, 0, -50])
    lengths = np.array([4, 1, 2, 1, 1, 6])
    times = 20_000
    runs = Runs(
        np.tile(lengths, times), (np.arange(times)[:, None] * 6 + [0, 1, 4]).ravel()
    )
    drawn = OrderedChoice(2, 1).choose(np.tile(scores, times), runs).reshape(times, 3)
    assert_uniform(np.bincount(drawn[:, 0], minlength=4))
    assert_law(drawn[:, 1], pmf("permute_and_flip", [-1, 0, 0, -1], 1.0))
    assert not drawn[:, 2].any()
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1]) < 7 / times**0.5


def test_extreme_rates_and_scores():
    runs = Runs(np.array([2**20, 1, 2**20]), np.array([0]))
    scores = np.array([-(2**62), 0, -(2**62)])
    for rule in RULES:
        assert OrderedChoice(10**300, "1e-300", rule).choose(scores, runs) == [2**20]
        drawn = OrderedChoice("1e-300", 10**300, rule).choose(scores, runs).item()
        assert 0 <= drawn <= 2**21


@pytest.mark.parametrize("rule", RULES)
def test_a_bound_on_the_error_holds(rule):
    scores, times, miss = np.arange(-200, 1), 20_000, Fraction(1, 100)
    law = OrderedChoice(1, 1, rule)
    drawn = law.choose(np.tile(scores, times), repeated(np.ones(201, np.int64), times))
    bound = law.error(201, miss)
    assert bound == pytest.approx(2 * math.log(201 / 0.01))
    assert np.mean(200 - drawn > bound) < 0.01
    assert np.quantile(200 - drawn, 0.99) > bound / 4


def test_uniform_below():
    limits = np.tile([2, 3, 7, 1], 30_000)
    drawn = ordered_choice._uniform_below(limits).reshape(-1, 4)
    assert not drawn[:, 3].any()
    for column, limit in enumerate([2, 3, 7]):
        assert_uniform(np.bincount(drawn[:, column], minlength=limit))


def test_words_beyond_a_whole_multiple_are_drawn_again():
    """2^64 = 1 mod 3 and mod 5: the last word is of no use to either."""
    words = [[2**64 - 1, 2**64 - 1, 2**64 - 1], [2**64 - 1, 7], [4]]
    pieces = [np.array(w, dtype="<u8").tobytes() for w in words]
    with use_source_for_tests(scripted(pieces)):
        drawn = ordered_choice._uniform_below(np.array([3, 5, 8]))
    assert drawn.tolist() == [4 % 3, 7 % 5, 7]


def test_what_a_choice_costs():
    law = OrderedChoice("1/2", 3)
    assert law == OrderedChoice(0.5, 3)
    assert (law.rate, law.rho) == (Fraction(1, 12), Fraction(1, 8))
    assert OrderedChoice("1/2", 3, "exponential").rho == Fraction(1, 32)
    for wrong in [(0, 1), (1, 0), (-1, 1)]:
        with pytest.raises(ParameterError):
            OrderedChoice(*wrong)


def loss(rule, one, other, rate):
    ratios = zip(LAWS[rule](one, rate), LAWS[rule](other, rate), strict=True)
    return max(abs(math.log(a / b)) for a, b in ratios)


@pytest.mark.parametrize("rule", RULES)
def test_no_pair_of_scores_costs_more_than_epsilon(rule):
    base = [0, 0, 0, 0]
    for number in range(3**4):
        moves = [number // 3**i % 3 - 1 for i in range(4)]
        assert loss(rule, base, moves, 0.75) <= 1.5 + 1e-12
    assert loss(rule, [9, 0, 0, 0], [8, 1, 1, 1], 0.75) > 1.2


def test_concentrated_cost_of_the_exponential_mechanism():
    """Renyi divergences within alpha epsilon²/8; those of permute-and-flip are not."""
    epsilon, shown = 0.1, 0
    for rule in RULES:
        for one, other in [([1, 0, 0], [0, 1, 1]), ([0, 9], [1, 8]), ([3, 0], [2, 0])]:
            p, q = (np.array(LAWS[rule](s, epsilon / 2)) for s in (one, other))
            for alpha in (1.01, 2, 5, 50):
                renyi = math.log((p**alpha * q ** (1 - alpha)).sum()) / (alpha - 1)
                within = renyi <= alpha * epsilon**2 / 8 + 1e-12
                assert within or rule == "permute_and_flip"
                shown += not within
    assert shown
