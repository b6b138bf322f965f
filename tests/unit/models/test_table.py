"""Marginals by dropping axes, and the adjoint."""

from itertools import combinations

import numpy as np
import pytest
from models_reference import dense_marginal, random_blocks, random_sizes

from dpframe.models.table import MarginalTree, lift, project, size_of

SIZES = {"a": 4, "b": 3, "c": 2, "d": 2, "e": 1}
BLOCK = tuple(SIZES)


@pytest.fixture
def table(rng):
    return rng.random(list(SIZES.values()))


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("degree", range(6))
def test_all_marginals_of_a_degree(table, degree):
    targets = tuple(combinations(BLOCK, degree))
    found = MarginalTree(SIZES, BLOCK, targets).marginals(table)
    for target, marginal in zip(targets, found, strict=True):
        expected = dense_marginal(SIZES, table, target)
        assert marginal.shape == expected.shape
        np.testing.assert_allclose(marginal, expected, rtol=1e-13)


def test_targets_inside_others_and_the_table_itself(table):
    targets = (("b",), BLOCK, ("a", "b"), ("a", "b", "d"), ())
    found = MarginalTree(SIZES, BLOCK, targets).marginals(table)
    for target, marginal in zip(targets, found, strict=True):
        expected = dense_marginal(SIZES, table, target)
        np.testing.assert_allclose(marginal, expected, rtol=1e-13)


def test_few_sums_run_over_the_whole_table():
    sizes = dict.fromkeys("abcdefgh", 3)
    targets = tuple(combinations(sizes, 3))
    tree = MarginalTree(sizes, tuple(sizes), targets)
    assert tree._sources.count(0) == 4  # of 56 targets


@pytest.mark.parametrize("seed", range(8))
def test_spread_is_the_adjoint(seed):
    rng = np.random.default_rng(seed)
    sizes = random_sizes(rng, 5)
    targets = tuple(random_blocks(rng, sizes, 6, degree=4))
    tree = MarginalTree(sizes, tuple(sizes), targets)
    x = rng.normal(size=list(sizes.values()))
    parts = [rng.normal(size=[sizes[c] for c in target]) for target in targets]
    marginals = tree.marginals(x)
    inside = sum(float((m * y).sum()) for m, y in zip(marginals, parts, strict=True))
    spread = tree.spread(parts)
    assert spread.shape == x.shape
    assert float((x * spread).sum()) == pytest.approx(inside, rel=1e-11, abs=1e-11)


def test_without_targets_nothing_is_spread():
    assert (
        MarginalTree(SIZES, BLOCK, ()).spread([]) == np.zeros((4, 3, 2, 2, 1))
    ).all()


def test_project_and_lift(table):
    part = project(table, BLOCK, ("a", "d"))
    np.testing.assert_allclose(part, table.sum(axis=(1, 2, 4)), rtol=1e-13)
    assert lift(part, ("a", "d"), BLOCK).shape == (4, 1, 1, 2, 1)
    assert project(table, BLOCK, ()).shape == ()


def test_size_of_is_exact_beyond_floats():
    assert size_of({"a": 10**9, "b": 10**9, "c": 3}, "abc") == 3 * 10**18
