"""The split of epsilon, the laws and the statements that follow from them."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from dpframe.errors import ParameterError
from dpframe.noise import DiscreteLaplace, Geometric
from dpframe.noise.threshold import ThresholdNoise, read_family, read_ratio

CASES = json.loads((Path(__file__).parents[2] / "data" / "svt.json").read_text())
OPTIONS = [
    dict(zip(("max_above", "monotonic", "refresh", "adaptive"), each, strict=True))
    for each in itertools.product(
        (1, 2, 5), (False, True), (False, True), (False, True)
    )
    if not (each[2] and each[3])
]


def noise(**given):
    given.setdefault("epsilon", Fraction(1))
    given.setdefault("sensitivity", 1)
    return ThresholdNoise(**given)


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["id"])
def test_split_and_scales_of_the_shared_cases(case):
    # The grid cancels where scales are compared in the answers' unit.
    moved = Fraction(str(case["sensitivity"]))
    grid = 1 / Fraction(moved.denominator)
    ratio = read_ratio(case["ratio"], case["c"], monotonic=case["monotonic"])
    family = "geometric" if case["noise"] in ("geometric", "exponential") else "laplace"
    found = noise(
        epsilon=Fraction(str(case["eps"])),
        sensitivity=int(moved / grid),
        max_above=case["c"],
        monotonic=case["monotonic"],
        family=family,
        ratio=ratio,
    )
    (branch,) = found.branches
    assert float(found.epsilon_threshold) == pytest.approx(case["eps_threshold"], 1e-10)
    assert float(found.epsilon_query) == pytest.approx(case["eps_query"], 1e-10)
    assert found.epsilon_threshold + found.epsilon_query == found.epsilon
    scale = float(found.threshold.scale * grid)
    assert scale == pytest.approx(case["scale_threshold"], 1e-10)
    assert float(branch.law.scale * grid) == pytest.approx(case["scale_query"], 1e-10)
    if case["shift"] and case["noise"] == "geometric":
        assert float(found.shift(branch)) == pytest.approx(case["shift"], 1e-9)
    if case["noise"] == "laplace":
        assert found.shift(branch) == 0


@pytest.mark.parametrize(
    ("options", "values"),
    [
        (options, values)
        for options in OPTIONS
        for values in (None, 1, "full")
        if values is None or not options["adaptive"]
    ],
    ids=str,
)
@pytest.mark.parametrize("family", ["geometric", "laplace"])
def test_scales_spend_epsilon_and_no_more(options, values, family):
    full = 3 * options["max_above"]
    found = noise(
        epsilon=Fraction(7, 10),
        sensitivity=3,
        family=family,
        ratio=read_ratio("optimal", options["max_above"], monotonic=False),
        values=full if values == "full" else values,
        **options,
    )
    moved = 3 if options["monotonic"] else 6
    # The dearest way to use the credit up: all of one branch, whatever it costs.
    per_run = found.max_above if not options["refresh"] else 1
    of_credit = max(
        moved / branch.law.scale * (2 * per_run // branch.price)
        for branch in found.branches
    ) / (1 if options["adaptive"] else 2)
    spent = found.runs * (3 / found.threshold.scale + of_credit)
    if found.fresh is not None:
        spent += found.values / found.fresh.scale
    assert spent == Fraction(7, 10)
    assert found.loss.epsilon == Fraction(7, 10)


def test_optimal_ratio_minimizes_the_variance():
    def variance(ratio):
        found = noise(max_above=5, family="laplace", ratio=ratio, sensitivity=1000)
        return found.gap_variance(found.branches[0])

    best = read_ratio("optimal", 5, monotonic=False)
    assert float(best) == pytest.approx(10 ** (2 / 3), 1e-12)
    assert variance(best) < min(variance(best * Fraction(9, 10)), variance(best * 2))


def test_even_is_the_textbook_pair():
    found = noise(family="laplace", ratio=read_ratio("even", 1, monotonic=False))
    assert (found.threshold.scale, found.branches[0].law.scale) == (2, 4)


@pytest.mark.parametrize("refresh", [False, True])
@pytest.mark.parametrize("values", [1, 6])
def test_half_of_epsilon_finds_and_half_measures(values, refresh):
    found = noise(
        epsilon=Fraction(7, 10),
        sensitivity=2,
        max_above=3,
        values=values,
        refresh=refresh,
    )
    assert found.epsilon_values == Fraction(7, 20)
    assert found.runs * found.epsilon_run == Fraction(7, 20)
    assert found.runs * (found.epsilon_threshold + found.epsilon_query) == Fraction(
        7, 20
    )
    assert found.fresh == DiscreteLaplace(values / Fraction(7, 20))


@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(9), Fraction(1, 3)])
def test_ratio_splits_what_values_leave(ratio):
    found = noise(max_above=3, ratio=ratio, values=3)
    assert found.epsilon_threshold == Fraction(1, 2) / (1 + ratio)
    assert found.epsilon_query == ratio * found.epsilon_threshold
    alone = noise(max_above=3, ratio=ratio)
    assert (alone.epsilon_values, alone.fresh) == (0, None)
    assert alone.epsilon_threshold == 2 * found.epsilon_threshold


def test_adaptive_branches():
    found = noise(max_above=3, adaptive=True, monotonic=True, ratio=Fraction(2))
    clear, near = found.branches
    each = Fraction(2, 3) / 3
    assert (clear.law, near.law) == (Geometric(2 / each), Geometric(1 / each))
    assert (clear.price, near.price, found.credit) == (1, 2, 6)
    assert (float(clear.margin), near.margin) == (pytest.approx(2 * clear.law.std), 0)
    asked = noise(max_above=3, adaptive=True, margin=Fraction(4))
    assert asked.branches[0].margin == 4


def test_zcdp_loss_of_monotone_queries_is_less():
    general = noise(epsilon=Fraction(1), concentrated=True)
    monotone = noise(epsilon=Fraction(1), monotonic=True, concentrated=True)
    assert general.loss.rho == Fraction(1, 2)
    assert monotone.loss.rho == Fraction(9, 32)  # (1/2 + 2 · 1/2)² / 8
    assert (general.loss.epsilon, monotone.loss.epsilon) == (None, None)
    assert noise(adaptive=True, monotonic=True, concentrated=True).loss.rho == Fraction(
        1, 2
    )


def test_zcdp_values_cost_more_over_disjoint_keys():
    def rho(values):
        return noise(max_above=4, values=values, concentrated=True).loss.rho

    comparisons = Fraction(1, 4) / 2
    assert rho(4) - comparisons == Fraction(1, 4) / 8  # ε₃²/(2c)
    assert rho(1) - comparisons == Fraction(1, 4) / 2  # ε₃²/2


@pytest.mark.parametrize("aboves", [2, 3, 5, 10**6])
def test_refreshed_runs_cost_at_most_one_run_of_epsilon(aboves):
    found = noise(max_above=aboves, refresh=True, concentrated=True)
    assert found.loss.rho <= Fraction(1, 2)
    assert float(found.loss.rho) == pytest.approx(0.5, 1e-9)
    assert noise(max_above=aboves, refresh=True).epsilon_run == Fraction(1, aboves)


def test_refreshed_scales_are_those_of_the_specification():
    def scale(aboves, refresh):
        runs = 1 if refresh else aboves
        found = noise(
            max_above=aboves,
            family="laplace",
            ratio=read_ratio("optimal", runs, monotonic=False),
            refresh=refresh,
            concentrated=True,
        )
        return float(found.branches[0].law.scale)

    scales = [scale(c, refresh) for c in (2, 5) for refresh in (True, False)]
    assert scales == pytest.approx([4.6, 5.6, 7.3, 12.2], abs=0.05)


def test_bar_is_the_least_integer_that_passes():
    found = noise(max_above=2)
    (branch,) = found.branches
    for threshold in (Fraction(0), Fraction(1, 3), Fraction(-7, 2), Fraction(10**6)):
        place = threshold + found.shift(branch)
        assert found.bar(branch, threshold) == math.ceil(place)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("family", ["geometric", "laplace"])
def test_accuracy_holds_by_the_laws_themselves(options, family):
    found = noise(family=family, epsilon=Fraction(1, 2), **options)
    queries, level = 1000, Fraction(9, 10)
    low, high = found.accuracy(queries, level)
    # An answer at the edge is judged wrongly, times the queries; and rho is far out.
    rho = found.threshold
    lo, hi = rho.interval(1 - (1 - level) / 2 / found.runs)
    missed = float(1 - rho.cdf(hi) + (rho.cdf(lo - 1) if lo else 0)) * found.runs
    above, below = 0.0, []
    for branch in found.branches:
        center = float(found.shift(branch) + branch.margin)
        up = math.ceil(center + lo - low)  # from here on nu lifts an answer below low
        down = math.ceil(center + hi - high)  # below it an answer from high on fails
        above += float(1 - branch.law.cdf(up))
        below.append(float(branch.law.cdf(down - 1)))
    missed += queries * max(above, min(below))  # one branch is enough to pass
    assert missed <= 1 - level + 1e-12
    assert low < 0 < high


def test_accuracy_grows_with_the_logarithm_of_the_queries():
    found = noise(family="laplace", epsilon=Fraction(1, 10))
    narrow, wide = found.accuracy(10), found.accuracy(10**6)
    scale = float(found.branches[0].law.scale)
    grown = wide.high - narrow.high
    assert grown == pytest.approx(scale * math.log(10**5), abs=2)


def test_describe_tells_settings_apart():
    told = [json.dumps(noise(**o).describe(), sort_keys=True) for o in OPTIONS]
    assert len(set(told)) == len(told)
    assert noise().mechanism == "sparse vector, geometric noise"
    assert "adaptive" in noise(adaptive=True).mechanism
    assert "refreshed" in noise(refresh=True, family="laplace").mechanism


@pytest.mark.parametrize("given", [None, "gaussian", 1, "Laplace"])
def test_family_is_one_of_two(given):
    with pytest.raises(ParameterError, match="noise must be 'geometric'"):
        read_family(given)


@pytest.mark.parametrize("given", ["best", 0, -1, float("nan"), None, True])
def test_ratio_is_positive(given):
    with pytest.raises(ParameterError, match="ratio"):
        read_ratio(given, 1, monotonic=False)


def test_ratio_takes_numbers_exactly():
    assert read_ratio(0.1, 9, monotonic=True) == Fraction(1, 10)


def test_adaptive_is_not_refreshed():
    with pytest.raises(ParameterError, match="adaptive form has one run"):
        noise(adaptive=True, refresh=True)


@pytest.mark.parametrize("aboves", [1, 2, 5])
@pytest.mark.parametrize("values", [1, 5])
def test_adaptive_has_no_values(aboves, values):
    """There may be 2c - 1 of them, at a scale that is for c."""
    with pytest.raises(ParameterError) as caught:
        noise(max_above=aboves, adaptive=True, values=values)
    assert str(caught.value) == (
        "values=True is for sparse_vector: its noise is for max_above values, and the "
        "adaptive form may find up to 2·max_above - 1 answers. Ask with gap=True, "
        "which is free."
    )


def test_noise_that_integers_cannot_hold_is_refused():
    with pytest.raises(ParameterError, match="2\\^54"):
        noise(epsilon=Fraction(1, 2**60))


@pytest.mark.parametrize("queries", [0, -1, True, 2.0, None])
def test_accuracy_needs_queries(queries):
    with pytest.raises(ParameterError, match="number of queries"):
        noise().accuracy(queries)


@pytest.mark.parametrize("level", [0, 1, 2, -1])
def test_accuracy_needs_a_level(level):
    with pytest.raises(ParameterError, match="level must lie"):
        noise().accuracy(5, level)


def test_laws_are_of_one_family():
    assert isinstance(noise(family="laplace").threshold, DiscreteLaplace)
    assert isinstance(noise().threshold, Geometric)
    assert isinstance(noise(values=1).fresh, DiscreteLaplace)
