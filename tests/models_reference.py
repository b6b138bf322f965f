"""Slow, plain arithmetic on whole tables, for tests of the models."""

import numpy as np

from dpframe.models.beliefs import Beliefs
from dpframe.models.junction_tree import JunctionTree


def random_sizes(rng, columns, most=5):
    names = [f"c{i}" for i in range(columns)]
    lengths = sorted((int(rng.integers(1, most + 1)) for _ in names), reverse=True)
    return dict(zip(names, lengths, strict=True))


def random_blocks(rng, sizes, count, degree=3):
    blocks = set()
    for _ in range(count):
        size = int(rng.integers(1, min(degree, len(sizes)) + 1))
        chosen = rng.choice(list(sizes), size, replace=False)
        blocks.add(tuple(c for c in sizes if c in chosen))
    return sorted(blocks)


def random_factors(rng, sizes, blocks):
    return [(b, rng.gamma(0.5, 1, [sizes[c] for c in b]) + 1e-6) for b in blocks]


def random_beliefs(rng, sizes, blocks):
    tree = JunctionTree.build(sizes, blocks)
    return Beliefs.product(tree, random_factors(rng, sizes, blocks))


def dense_product(sizes, factors):
    """The normalized product of factors, an axis for each column."""
    table = np.ones(list(sizes.values()))
    for block, factor in factors:
        table = table * factor.reshape([sizes[c] if c in block else 1 for c in sizes])
    return table / table.sum()


def dense_marginal(sizes, table, block):
    return table.sum(axis=tuple(i for i, c in enumerate(sizes) if c not in block))


def counted(rows, sizes, block):
    shape = [sizes[c] for c in block]
    flat = np.ravel_multi_index([rows[c] for c in block], shape) if block else []
    return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)
