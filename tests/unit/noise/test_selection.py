import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers import assert_law, assert_not_law, assert_uniform
from noise_reference import scripted

from dpframe.errors import ParameterError
from dpframe.noise import permute_and_flip, selection
from dpframe.noise.bits import use_source_for_tests

SCORES = [3, 0, 5, 5, 4]


def exact_law(scores, rate):
    """P(i), with coins p_j: sum over the others S of (-1)^|S| p_i p_S / (|S| + 1).

    The candidate's place in the order is uniform, and the others before it, each
    with that place as its chance, must all have failed: the integral of the product
    of (1 - u p_j) over u in [0, 1].
    """
    p = [math.exp(-rate * (max(scores) - score)) for score in scores]
    law = []
    for i, own in enumerate(p):
        others = p[:i] + p[i + 1 :]
        law.append(
            own
            * sum(
                (-1) ** size * math.prod(chosen) / (size + 1)
                for size in range(len(p))
                for chosen in itertools.combinations(others, size)
            )
        )
    return law


def enumerated_law(monkeypatch, scores, *arguments, **options):
    """The law of the function itself: every order, and every outcome of the coins."""
    law = dict.fromkeys(range(len(scores)), 0.0)
    coins = {}
    monkeypatch.setattr(selection, "_random_order", lambda n: coins["order"])

    def scripted_coins(x, exact):
        for i, one in enumerate(x.tolist()):
            assert one == pytest.approx(float(exact(i)), rel=1e-14)
        odds = [math.exp(-exact(i)) for i in range(x.size)]
        shown = zip(odds, coins["heads"], strict=True)
        coins["weight"] = math.prod(p if head else 1 - p for p, head in shown)
        return np.array(coins["heads"])

    monkeypatch.setattr(selection, "bernoulli_exp", scripted_coins)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        for heads in itertools.product([False, True], repeat=len(scores)):
            coins |= {"order": np.array(order), "heads": heads}
            chosen = permute_and_flip(scores, *arguments, **options)
            law[chosen] += coins["weight"] / len(orders)
    return list(law.values())


@pytest.mark.parametrize(
    ("monotonic", "rate"), [(False, Fraction(1, 6)), (True, Fraction(1, 3))]
)
@pytest.mark.parametrize("scores", [[3, 0, 5, 5], [2.5, -1.0, 2.25], [0]])
def test_law_by_enumeration(monkeypatch, scores, monotonic, rate):
    law = enumerated_law(monkeypatch, scores, "2/3", 2, monotonic=monotonic)
    assert sum(law) == pytest.approx(1, abs=1e-12)
    assert law == pytest.approx(exact_law(scores, rate), abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_monotone_form_keeps_epsilon_only_where_scores_move_together(epsilon):
    """Its own guarantee, and the doubling under replace that the docstring names."""

    def loss(one, other, rate):
        ratios = zip(exact_law(one, rate), exact_law(other, rate), strict=True)
        return max(abs(math.log(a / b)) for a, b in ratios)

    base = [0, 0, 0, 0]
    added = itertools.product([0, 1], repeat=4)
    replaced = itertools.product([-1, 0, 1], repeat=4)
    for scores in replaced:
        assert loss(base, scores, epsilon / 2) <= epsilon + 1e-9
    for scores in added:
        assert loss(base, scores, epsilon) <= epsilon + 1e-9
    assert loss([5, 0], [4, 1], epsilon) > 1.2 * epsilon


def test_sampled_law():
    epsilon, n = 1, 20_000
    chosen = np.array([permute_and_flip(SCORES, epsilon, 1) for _ in range(n)])

    def pmf(rate):
        law = np.array(exact_law(SCORES, rate))
        return lambda k: np.where((k >= 0) & (k < 5), law[np.clip(k, 0, 4)], 0.0)

    assert_law(chosen, pmf(0.5))
    assert_not_law(chosen, pmf(0.4))
    assert_not_law(chosen, pmf(0.6))


@pytest.mark.parametrize(
    "scores",
    [
        np.array([3, 0, 5], dtype=np.uint8),
        np.array([-3, -128, 127], dtype=np.int8),
        np.array([-(2**63), 2**63 - 1, 0]),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        np.array([True, False]),
    ],
)
def test_gaps_of_machine_integers_never_wrap(scores):
    values = [int(score) for score in scores]
    gaps = selection._gaps(scores)
    assert [gaps.item(i) for i in range(gaps.size)] == [max(values) - v for v in values]


@pytest.mark.parametrize(
    "scores", [[Fraction(1, 3), 2, 10**40], [0.1, -1e308, 1e308], [10**400, 0.5]]
)
def test_gaps_of_other_numbers_are_exact(scores):
    exact = [Fraction(score) for score in scores]
    gaps = selection._gaps(scores)
    assert gaps.tolist() == [max(exact) - score for score in exact]
    assert permute_and_flip(scores, 10**3, 1) == exact.index(max(exact))


def test_the_best_of_many_and_far_scores_are_chosen():
    scores = np.arange(10_000)
    assert permute_and_flip(scores, 50, 1) > 9_990
    assert permute_and_flip([-(10**60), 0], "1e-50", 1) == 1


def test_the_order_is_uniform():
    ranks = {order: i for i, order in enumerate(itertools.permutations(range(3)))}
    seen = [ranks[tuple(selection._random_order(3).tolist())] for _ in range(12_000)]
    assert_uniform(np.bincount(seen, minlength=6))


def test_keys_that_tie_are_drawn_again():
    words = [[7, 9, 7], [5, 6, 4]]
    pieces = [np.array(w, dtype="<u8").tobytes() for w in words]
    with use_source_for_tests(scripted(pieces)):
        assert selection._random_order(3).tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("scores", "epsilon", "sensitivity", "match"),
    [
        ([], 1, 1, "flat list"),
        ([[1, 2]], 1, 1, "flat list"),
        (3, 1, 1, "flat list"),
        ([1.0, float("nan")], 1, 1, "finite numbers"),
        ([1.0, float("inf")], 1, 1, "finite numbers"),
        ([1, None], 1, 1, "finite numbers"),
        ([1, 2], 0, 1, "epsilon must be positive"),
        ([1, 2], "nan", 1, "epsilon"),
        ([1, 2], 1, -1, "sensitivity must be positive"),
    ],
)
def test_arguments_are_checked_and_messages_hold_no_score(
    scores, epsilon, sensitivity, match
):
    with pytest.raises(ParameterError, match=match) as caught:
        permute_and_flip(scores, epsilon, sensitivity)
    assert caught.value.__context__ is None
