"""Distributions on junction trees against the dense table."""

from itertools import combinations

import numpy as np
import pytest
from models_reference import (
    dense_marginal,
    dense_product,
    random_beliefs,
    random_blocks,
    random_factors,
    random_sizes,
)

from dpframe.errors import DomainError
from dpframe.models.beliefs import Beliefs, Sweep
from dpframe.models.junction_tree import JunctionTree
from dpframe.models.table import lift

SEEDS = range(12)


def instance(seed, columns=7, count=6):
    rng = np.random.default_rng(seed)
    sizes = random_sizes(rng, columns, most=6)
    return rng, sizes, random_blocks(rng, sizes, count)


def nearly(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_products_agree_with_the_dense_table(seed):
    rng, sizes, blocks = instance(seed)
    factors = random_factors(rng, sizes, blocks)
    beliefs = Beliefs.product(JunctionTree.build(sizes, blocks), factors)
    dense = dense_product(sizes, factors)
    tree = beliefs.tree
    for clique, table in zip(tree.cliques, beliefs.tables, strict=True):
        nearly(table, dense_marginal(sizes, dense, clique))
    for block, table in zip(tree.separators, beliefs.separators, strict=True):
        nearly(table, dense_marginal(sizes, dense, block))
    nearly(dense_product(sizes, beliefs.factors), dense)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_marginal_by_contraction(seed):
    rng, sizes, blocks = instance(seed)
    factors = random_factors(rng, sizes, blocks)
    beliefs = Beliefs.product(JunctionTree.build(sizes, blocks), factors)
    dense = dense_product(sizes, factors)
    for degree in range(len(sizes) + 1):
        for block in combinations(sizes, degree):
            nearly(beliefs.marginal(block), dense_marginal(sizes, dense, block))


@pytest.mark.parametrize("seed", SEEDS)
def test_tilts_agree_with_the_dense_table(seed):
    rng, sizes, blocks = instance(seed)
    beliefs = random_beliefs(rng, sizes, blocks)
    dense = beliefs.marginal(tuple(sizes))
    exponents = [rng.normal(0, 3, [sizes[c] for c in b]) for b in blocks]
    sweep = Sweep(beliefs.tree, blocks)
    tilted = beliefs.tilted(sweep.spread(exponents), -0.5)
    factors = [(b, np.exp(-0.5 * e)) for b, e in zip(blocks, exponents, strict=True)]
    expected = dense_product(sizes, [(tuple(sizes), dense), *factors])
    nearly(tilted.marginal(tuple(sizes)), expected)
    for block, marginal in zip(blocks, sweep.marginals(tilted), strict=True):
        nearly(marginal, dense_marginal(sizes, expected, block))


@pytest.mark.parametrize("seed", range(5))
def test_the_sweep_is_an_adjoint_pair(seed):
    rng, sizes, blocks = instance(seed)
    beliefs = random_beliefs(rng, sizes, blocks)
    sweep = Sweep(beliefs.tree, blocks)
    parts = [rng.normal(size=[sizes[c] for c in b]) for b in blocks]
    spread = sweep.spread(parts)
    left = sum(
        float((m * y).sum())
        for m, y in zip(sweep.marginals(beliefs), parts, strict=True)
    )
    right = sum(
        float((table * s).sum())
        for table, s in zip(beliefs.tables, spread, strict=True)
        if s is not None
    )
    assert left == pytest.approx(right, rel=1e-11)


def chain(length=8, cells=3):
    sizes = {f"c{i}": cells for i in range(length)}
    return sizes, list(zip(list(sizes), list(sizes)[1:], strict=False))


def test_opposite_exponents_far_beyond_floats_cancel():
    sizes, blocks = chain()
    beliefs = Beliefs.product(JunctionTree.build(sizes, blocks))
    slope = np.array([0.0, 4000.0, -3000.0])
    exponents = [
        lift(slope * (-1) ** i, (block[1 - i % 2],), block)
        + np.zeros([sizes[c] for c in block])
        for i, block in enumerate(blocks[:2])
    ]
    # Block 0 pushes c1, block 1 pushes c1 back; what remains is uniform.
    sweep = Sweep(beliefs.tree, blocks[:2])
    moved = beliefs.tilted_far(sweep.spread(exponents))
    nearly(moved.marginal(tuple(sizes)), beliefs.marginal(tuple(sizes)))


def test_no_probability_is_lost_for_good():
    sizes, blocks = chain(3)
    beliefs = Beliefs.product(JunctionTree.build(sizes, blocks))
    sweep = Sweep(beliefs.tree, blocks)
    push = np.zeros((3, 3))
    push[0] = -600.0
    down = beliefs
    for _ in range(4):
        down = down.tilted(sweep.spread([push, np.zeros((3, 3))]))
    assert all(np.isfinite(table).all() for table in down.tables)
    assert down.marginal(("c0",))[0] < 1e-200
    for _ in range(3):
        down = down.tilted(sweep.spread([-push, np.zeros((3, 3))]))
    assert down.marginal(("c0",))[0] > 0.99


def test_a_marginal_that_needs_too_large_a_table_is_refused():
    sizes, blocks = chain(12, cells=8)
    beliefs = Beliefs.product(JunctionTree.build(sizes, blocks))
    assert beliefs.marginal(("c0", "c11")).shape == (8, 8)
    with pytest.raises(DomainError, match=r"table of 16,777,216 cells.*'c0' \(8 cells"):
        beliefs.marginal(tuple(sizes)[:8])


def test_pruning_leaves_what_matters():
    sizes, blocks = chain(40)
    rng = np.random.default_rng(3)
    beliefs = random_beliefs(rng, sizes, blocks)
    product = np.eye(3)
    for left, right in zip(list(sizes)[5:12], list(sizes)[6:13], strict=True):
        pair = beliefs.marginal((left, right))
        product = product @ (pair / pair.sum(axis=1, keepdims=True))
    start = beliefs.marginal(("c5",))
    nearly(beliefs.marginal(("c5", "c12")), start[:, None] * product)
