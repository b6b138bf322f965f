"""Update rules of iterative database construction."""

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest

import dpframe as dpf
from dpframe.errors import DomainError, ParameterError
from dpframe.models.updates import (
    FriezeKannan,
    Median,
    MultiplicativeWeights,
    UpdateRule,
)
from dpframe.multiplicative_weights import Distribution, fit

DOMAIN = dpf.Domain({"a": [0, 1], "b": [0, 1], "c": [0, 1]})
TRUTH = np.array([0.1, 0.05, 0.15, 0.1, 0.2, 0.08, 0.12, 0.2])
FIRST = dpf.col("a") == 1
N = 1000


def queries(count=60, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 2, 8).astype(float) for _ in range(count)]


def run(rule: UpdateRule, alpha, asked):
    """Ask without noise; update wherever the rule errs by more than alpha."""
    updates = 0
    for q in asked:
        exact = N * float(q @ TRUTH)
        if abs(rule.answer(q) - exact) > alpha * N:
            rule, updates = rule.updated(q, exact, 0.0), updates + 1
    return rule, updates


# -- Frieze-Kannan


def test_frieze_kannan_is_the_formula():
    rule = FriezeKannan(DOMAIN, N, 0.1)
    assert rule.answer(FIRST) == pytest.approx(N / 2)
    q = np.repeat([0, 1], 4)
    up = rule.updated(FIRST, 600)
    np.testing.assert_allclose(up.vector, 1 / 8 + 0.1 / 4 * q)
    down = up.updated(FIRST, 300)
    np.testing.assert_allclose(down.vector, rule.vector)
    w = np.array([0.2, 0.5, 1, 0, 0, 0.3, 0.1, 0.9])
    moved = rule.updated(w, 0.0).vector
    np.testing.assert_allclose(moved, 1 / 8 - 0.1 / (w @ w) * w)


def test_frieze_kannan_may_leave_the_distributions():
    rule = FriezeKannan(DOMAIN, N, 0.9)
    one = np.eye(8)[0]
    assert rule.updated(one, 0).vector.min() < 0


def test_frieze_kannan_needs_no_more_updates_than_it_says():
    alpha = 0.05
    rule = FriezeKannan(DOMAIN, N, alpha)
    assert rule.most_updates == math.floor(8 / alpha**2)
    rule, updates = run(rule, alpha, queries() * 40)
    assert 0 < updates <= rule.most_updates
    assert run(rule, alpha, queries())[1] == 0  # it has learned them


def test_each_frieze_kannan_update_comes_nearer():
    alpha = 0.05
    rule = FriezeKannan(DOMAIN, N, alpha)
    for q in queries(200, seed=1):
        exact = N * float(q @ TRUTH)
        if abs(rule.answer(q) - exact) > alpha * N:
            before = ((rule.vector - TRUTH) ** 2).sum()
            rule = rule.updated(q, exact)
            gained = before - ((rule.vector - TRUTH) ** 2).sum()
            assert gained >= alpha**2 / 8 - 1e-12


def test_frieze_kannan_at_nothing_to_do():
    rule = FriezeKannan(DOMAIN, N, 0.1)
    assert (rule.updated(np.zeros(8), 5).vector == rule.vector).all()
    assert (rule.updated(FIRST, N / 2).vector == rule.vector).all()


# -- median


def test_the_median_over_all_multisets():
    rule = Median(DOMAIN, N, size=3)
    listed = list(combinations_with_replacement(range(8), 3))
    assert [tuple(row) for row in rule.multisets] == listed
    q = np.array([0.2, 0.5, 1, 0, 0, 0.3, 0.1, 0.9])
    answers = sorted(float(np.mean(q[list(cells)])) for cells in listed)
    assert rule.answer(q) == pytest.approx(N * answers[(len(answers) - 1) // 2])


def test_the_lower_of_two_medians():
    rule = Median(dpf.Domain({"a": [0, 1]}), 10, size=1)
    assert rule.answer(dpf.col("a") == 1) == 0


def test_an_update_keeps_those_nearer_than_the_median():
    rule = Median(DOMAIN, N, size=4)
    q = np.repeat([0, 1], 4)
    answers = q[rule.multisets].mean(axis=1)
    median = rule.answer(FIRST) / N
    kept = rule.updated(FIRST, 820)
    nearer = np.abs(answers - 0.82) < abs(median - 0.82)
    np.testing.assert_array_equal(kept.multisets, rule.multisets[nearer])
    assert len(kept.multisets) <= len(rule.multisets) / 2


@pytest.mark.parametrize("seed", range(20))
def test_an_update_keeps_at_most_half(seed):
    rng = np.random.default_rng(seed)
    rule = Median(DOMAIN, N, size=int(rng.integers(1, 6)))
    for _ in range(4):
        before = len(rule.multisets)
        q = rng.random(8).round(1)
        after = rule.updated(q, float(rng.uniform(-100, 1100)))
        assert len(after.multisets) <= before / 2 or after is rule
        rule = after


def test_nothing_nearer_keeps_all():
    rule = Median(DOMAIN, N, size=2)
    assert rule.updated(FIRST, rule.answer(FIRST)) is rule


def test_the_median_needs_no_more_updates_than_it_says():
    # Among the multisets of 20 there is the truth itself, so an update never empties.
    domain = dpf.Domain({"a": [0, 1], "b": [0, 1]})
    truth = np.array([0.3, 0.2, 0.1, 0.4])
    rule = Median(domain, N, size=20)
    assert rule.most_updates == math.floor(math.log2(math.comb(23, 20)))
    most, updates = rule.most_updates, 0
    rng = np.random.default_rng(2)
    for _ in range(200):
        q = rng.random(4)
        if abs(rule.answer(q) - N * float(q @ truth)) > 0.02 * N:
            rule, updates = rule.updated(q, N * float(q @ truth)), updates + 1
    assert 0 < updates <= most


def test_too_many_multisets():
    with pytest.raises(ParameterError, match="most; take a smaller size"):
        Median(DOMAIN, N, size=40)
    with pytest.raises(ParameterError, match="size is a positive number"):
        Median(DOMAIN, N, size=0)


# -- multiplicative weights


def test_multiplicative_weights_fit_all_blocks_told():
    rule = MultiplicativeWeights(DOMAIN, total=N)
    assert rule.answer(FIRST) == pytest.approx(N / 2)
    ab = TRUTH.reshape(4, 2).sum(axis=1)
    c = TRUTH.reshape(4, 2).sum(axis=0)
    told = rule.updated(("a", "b"), N * ab, 2.0).updated(("c",), N * c, 2.0)
    assert rule.answer(FIRST) == pytest.approx(N / 2)  # the old one is as it was
    assert told.answer(FIRST) == pytest.approx(600, abs=0.01)
    np.testing.assert_allclose(told.distribution.marginal("c"), c, atol=1e-5)
    both = fit(DOMAIN, [(("a", "b"), N * ab, 2.0), (("c",), N * c, 2.0)], N)
    np.testing.assert_allclose(told.distribution.cells, both.cells, atol=1e-5)


def test_rows_are_estimated_where_they_are_not_public():
    rule = MultiplicativeWeights(DOMAIN)
    with pytest.raises(ParameterError, match="pass total="):
        rule.answer(FIRST)
    told = rule.updated(("a",), [398, 604], 2.0)
    assert told.distribution.total == pytest.approx(1002)
    assert told.answer(FIRST) == pytest.approx(604, abs=0.1)


def test_a_prior_is_kept_where_nothing_is_told():
    rule = MultiplicativeWeights(DOMAIN, N, prior=Distribution(DOMAIN, TRUTH))
    assert rule.answer(FIRST) == pytest.approx(600)
    told = rule.updated(("c",), [500, 500], 2.0)
    expected = TRUTH.reshape(4, 2) * (0.5 / TRUTH.reshape(4, 2).sum(axis=0))
    np.testing.assert_allclose(told.distribution.cells, expected.ravel(), atol=1e-4)


def test_what_the_mechanism_asks_of_a_rule():
    assert MultiplicativeWeights(DOMAIN).whole_blocks
    assert MultiplicativeWeights(DOMAIN).most_updates is None
    assert not FriezeKannan(DOMAIN, N, 0.1).whole_blocks
    assert not Median(DOMAIN, N, 2).whole_blocks


def test_wrong_arguments():
    for alpha in (0, 1, -0.1):
        with pytest.raises(ParameterError, match="alpha"):
            FriezeKannan(DOMAIN, N, alpha)
    large = dpf.Domain({f"c{i}": dpf.integers(0, 15) for i in range(6)})
    with pytest.raises(DomainError, match="vector of all 16,777,216 cells"):
        FriezeKannan(large, N, 0.1)
    with pytest.raises(DomainError, match="vector of all 16,777,216 cells"):
        Median(large, N)
