"""Junction trees: what they promise, their cells, and their limits."""

from itertools import combinations

import numpy as np
import pytest
from models_reference import random_blocks, random_sizes

from dpframe.errors import DomainError
from dpframe.models.junction_tree import (
    DENSE_CELLS,
    TREE_CELLS,
    JunctionTree,
    tree_cells,
)
from dpframe.models.table import size_of


def path(tree, i, j):
    """The cliques between two, both included."""
    above = []
    for k in (i, j):
        way = [k]
        while tree.parents[way[-1]] >= 0:
            way.append(tree.parents[way[-1]])
        above.append(way)
    up, down = above
    meeting = next(k for k in up if k in down)
    return up[: up.index(meeting) + 1] + down[: down.index(meeting)]


@pytest.mark.parametrize("seed", range(30))
def test_promises(seed):
    rng = np.random.default_rng(seed)
    sizes = random_sizes(rng, int(rng.integers(1, 9)), most=6)
    blocks = random_blocks(rng, sizes, int(rng.integers(0, 9)))
    tree = JunctionTree.build(sizes, blocks)
    assert all(tree.home(block) is not None for block in blocks)
    assert {c for clique in tree.cliques for c in clique} == set(sizes)
    assert tree.cells == tree_cells(sizes, blocks) <= size_of(sizes, sizes)
    assert tree.parents[0] == -1
    for i, up in enumerate(tree.parents[1:], 1):
        assert 0 <= up < i
        shared = set(tree.cliques[i]) & set(tree.cliques[up])
        assert set(tree.separators[i]) == shared
        assert tree.depths[i] == tree.depths[up] + 1
    for i, j in combinations(range(len(tree.cliques)), 2):  # running intersection
        shared = set(tree.cliques[i]) & set(tree.cliques[j])
        assert all(shared <= set(tree.cliques[k]) for k in path(tree, i, j))
        assert not set(tree.cliques[i]) <= set(tree.cliques[j])
        assert not set(tree.cliques[j]) <= set(tree.cliques[i])


def test_the_lightest_column_goes_first():
    # A cycle a-b-c-d needs a chord: the one between the smaller opposite columns.
    sizes = {"b": 20, "d": 20, "c": 15, "a": 2}
    cycle = [("b", "a"), ("b", "c"), ("d", "c"), ("d", "a")]
    assert tree_cells(sizes, cycle) == 2 * 15 * (20 + 20)
    sizes = {"c": 15, "a": 12, "b": 3, "d": 2}
    cycle = [("a", "b"), ("c", "b"), ("c", "d"), ("a", "d")]
    assert tree_cells(sizes, cycle) == 3 * 2 * (15 + 12)


def test_one_clique_where_that_is_no_larger():
    sizes = {"a": 3, "b": 2, "c": 2}
    tree = JunctionTree.build(sizes, [("a", "b"), ("a", "c"), ("b", "c")])
    assert tree.cliques == (("a", "b", "c"),)
    assert tree.cells == 12
    assert JunctionTree.build({"a": 2, "b": 2}, [("a",)]).cliques == (("a", "b"),)


def test_independent_columns_are_joined_by_nothing():
    sizes = dict.fromkeys("abcdef", 10)
    tree = JunctionTree.build(sizes, [("a", "b"), ("c", "d")])
    assert tree.cells == 220
    assert sorted(map(len, tree.cliques)) == [1, 1, 2, 2]
    assert all(separator == () for separator in tree.separators)


def test_home_is_the_smallest_clique():
    sizes = {"a": 10, "b": 10, "c": 10, "d": 2}
    tree = JunctionTree.build(sizes, [("a", "b", "c"), ("a", "d")])
    assert tree.cliques[tree.home(("a",))] == ("a", "d")
    assert tree.home(("b", "d")) is None


def test_a_large_domain_with_a_small_tree():
    sizes = {f"c{i}": 50 for i in range(40)}
    chain = list(zip(list(sizes), list(sizes)[1:], strict=False))
    assert JunctionTree.build(sizes, chain).cells == 39 * 2500


def test_limits():
    dense = {"a": 2**11, "b": 2**11}
    assert size_of(dense, dense) == DENSE_CELLS
    assert JunctionTree.build(dense, [("a", "b")]).cells == DENSE_CELLS
    beyond = {"a": 2**10, "b": 2**9, "c": 2**9}
    assert JunctionTree.build(beyond, [("a",)]).cells == 2**11
    assert JunctionTree.build(beyond, [("b", "c")]).cells == 2**18 + 2**10
    with pytest.raises(DomainError, match="524,800 cells, and 524,288 are the most"):
        JunctionTree.build(beyond, [("a", "b")])
    assert tree_cells(beyond, [("a", "b")]) == TREE_CELLS + 2**9


def test_too_large_a_tree_names_the_columns_to_coarsen():
    sizes = {"city": 900, "job": 700, "age": 74, "sex": 2}
    with pytest.raises(DomainError, match="tree of 630,076 cells") as caught:
        JunctionTree.build(sizes, [("city", "job"), ("age",)])
    text = str(caught.value)
    assert "'city' (900 cells), 'job' (700 cells)" in text
    assert "524,288" in text
    assert "'sex'" not in text
    many = {f"c{i}": 8 for i in range(9)}
    with pytest.raises(DomainError, match="and more"):
        JunctionTree.build(many, [tuple(many)])
