"""Synthetic rows: near the model, in its cells, and reproducible."""

from itertools import combinations

import numpy as np
import pytest
from models_reference import counted, random_beliefs, random_blocks, random_sizes

from dpframe.errors import ParameterError
from dpframe.models.beliefs import Beliefs
from dpframe.models.junction_tree import JunctionTree
from dpframe.models.rounding import synthetic


def worst(rows, beliefs, n, block):
    expected = n * beliefs.marginal(block)
    return float(np.abs(counted(rows, beliefs.tree.sizes, block) - expected).max())


def instance(seed):
    rng = np.random.default_rng(seed)
    sizes = random_sizes(rng, int(rng.integers(2, 8)), most=9)
    blocks = random_blocks(rng, sizes, int(rng.integers(1, 8)))
    n = int(10 ** rng.uniform(1, 4.7))
    return random_beliefs(rng, sizes, blocks), blocks, n


@pytest.mark.parametrize("seed", range(25))
def test_rounding_stays_near_every_table(seed):
    beliefs, blocks, n = instance(seed)
    rows = synthetic(beliefs, blocks, n, seed=seed)
    assert all(len(codes) == n for codes in rows.values())
    for block in blocks:
        assert worst(rows, beliefs, n, block) < 10
    tree = beliefs.tree
    for clique, depth in zip(tree.cliques, tree.depths, strict=True):
        assert worst(rows, beliefs, n, clique) < 5 * (1 + depth)
    for column in tree.sizes:
        assert rows[column].min() >= 0
        assert rows[column].max() < tree.sizes[column]


def test_the_first_columns_are_within_one_row():
    beliefs, blocks, n = instance(3)
    first = beliefs.tree.cliques[0][:1]
    assert worst(synthetic(beliefs, blocks, n, seed=0), beliefs, n, first) < 1


def test_each_group_errs_by_less_than_one_row_in_each_cell():
    rng = np.random.default_rng(4)
    sizes = {"a": 7, "b": 5}
    beliefs = random_beliefs(rng, sizes, [("a", "b")])
    rows = synthetic(beliefs, [("a", "b")], 1234, seed=1)
    joint = beliefs.marginal(("a", "b"))
    given = joint / joint.sum(axis=1, keepdims=True)
    group = counted(rows, sizes, ("a",))[:, None]
    assert np.abs(counted(rows, sizes, ("a", "b")) - group * given).max() < 1


def test_margins_do_not_add_up_errors():
    # 400 groups of two values each: rounded one by one, their margin is off by tens.
    sizes = {"a": 400, "b": 2}
    chances = np.tile([0.7, 0.3], (400, 1))
    tree = JunctionTree.build(sizes, [("a", "b")])
    beliefs = Beliefs.product(tree, [(("a", "b"), chances)])
    rows = synthetic(beliefs, [("a", "b")], 400, seed=0)
    assert worst(rows, beliefs, 400, ("b",)) <= 1


def test_margins_of_blocks_inside_one_large_clique():
    sizes = dict(zip("abcdef", (6, 6, 5, 4, 3, 2), strict=True))
    whole, blocks = tuple(sizes), list(combinations(sizes, 3))
    beliefs = random_beliefs(np.random.default_rng(8), sizes, [whole])
    rows = synthetic(beliefs, blocks, 50_000, seed=0)
    careless = synthetic(beliefs, [], 50_000, seed=0)
    assert max(worst(rows, beliefs, 50_000, block) for block in blocks) < 7
    assert max(worst(careless, beliefs, 50_000, block) for block in blocks) > 10


def test_zeros_of_many_groups_stay_empty():
    rng = np.random.default_rng(9)
    sizes = {"a": 300, "b": 6, "c": 4}
    table = rng.random((300, 6, 4)) * (rng.random((300, 6, 4)) < 0.3)
    tree = JunctionTree.build(sizes, [tuple(sizes)])
    beliefs = Beliefs.product(tree, [(tuple(sizes), table / table.sum())])
    rows = synthetic(beliefs, [("b", "c"), ("a", "c")], 2000, seed=2)
    assert (counted(rows, sizes, tuple(sizes))[table == 0] == 0).all()


def test_where_a_model_has_nothing_no_row_appears():
    sizes = {"a": 3, "b": 3}
    table = np.array([[5, 0, 0], [0, 4, 1], [0, 0, 3]]) / 13
    beliefs = Beliefs.product(
        JunctionTree.build(sizes, [("a", "b")]), [(("a", "b"), table)]
    )
    for method in ("round", "sample"):
        rows = synthetic(beliefs, [("a", "b")], 5000, seed=2, method=method)
        assert (counted(rows, sizes, ("a", "b"))[table == 0] == 0).all()


@pytest.mark.parametrize("method", ["round", "sample"])
def test_columns_apart_are_independent(method):
    sizes = {"a": 2, "b": 2}
    beliefs = Beliefs.product(JunctionTree(sizes, (("a",), ("b",)), (-1, 0)))
    rows = synthetic(beliefs, [], 40_000, seed=5, method=method)
    both = counted(rows, sizes, ("a", "b"))
    assert np.abs(both - 10_000).max() < 500  # five standard deviations


def test_draws_follow_the_model():
    beliefs, blocks, _ = instance(6)
    n = 50_000
    rows = synthetic(beliefs, blocks, n, seed=3, method="sample")
    for block in blocks:
        p = beliefs.marginal(block)
        off = counted(rows, beliefs.tree.sizes, block) - n * p
        assert (np.abs(off) <= 7 * np.sqrt(n * p) + 7).all()
        assert np.abs(off).max() > 1  # as draws are, and rounding is not


def test_draws_are_multinomial():
    sizes = {"a": 2}
    tree = JunctionTree.build(sizes, [])
    beliefs = Beliefs.product(tree, [(("a",), np.array([0.3, 0.7]))])
    counts = np.array(
        [
            counted(synthetic(beliefs, [], 100, seed=s, method="sample"), sizes, ("a",))
            for s in range(2000)
        ]
    )[:, 0]
    assert counts.mean() == pytest.approx(30, abs=0.6)
    assert counts.var() == pytest.approx(21, rel=0.2)


def test_the_order_of_rows_says_nothing():
    sizes = {"a": 4}
    beliefs = Beliefs.product(JunctionTree.build(sizes, []))
    codes = synthetic(beliefs, [], 4000, seed=8)["a"]
    assert np.abs(np.bincount(codes[:2000], minlength=4) - 500).max() < 120


def test_seeds():
    beliefs, blocks, _ = instance(9)
    same = [synthetic(beliefs, blocks, 200, seed=4) for _ in range(2)]
    other = synthetic(beliefs, blocks, 200, seed=5)
    column = beliefs.tree.cliques[0][0]
    assert (same[0][column] == same[1][column]).all()
    assert (same[0][column] != other[column]).any()
    fresh = [synthetic(beliefs, blocks, 200)[column] for _ in range(2)]
    assert (fresh[0] != fresh[1]).any()


@pytest.mark.parametrize("method", ["round", "sample"])
@pytest.mark.parametrize("n", [0, 1])
def test_few_rows(n, method):
    beliefs, blocks, _ = instance(10)
    rows = synthetic(beliefs, blocks, n, seed=1, method=method)
    assert set(rows) == set(beliefs.tree.sizes)
    assert all(len(codes) == n for codes in rows.values())


def test_wrong_arguments():
    beliefs, blocks, _ = instance(0)
    with pytest.raises(ParameterError, match="'round' or 'sample'; got 'copy'"):
        synthetic(beliefs, blocks, 5, method="copy")
    for n in (-1, 2.5, True, None):
        with pytest.raises(ParameterError, match="number of rows"):
            synthetic(beliefs, blocks, n)
