"""Fits and synthetic rows of models of Adult: CPU seconds, errors, worst counts.

    python tests/benchmarks/bench_models.py [epsilon]

All 3-way marginals of D1 to D4 are measured with equal shares of epsilon (1 by default)
and discrete Laplace noise, and fitted as a strategy does; of D4, whose dense table is
too large, as many as fit into a junction tree. Errors are of proportions, in 10⁻⁵.
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from dpframe.models.junction_tree import (
    DENSE_CELLS,
    TREE_CELLS,
    JunctionTree,
    tree_cells,
)
from dpframe.models.measurements import Measurement, estimate_total
from dpframe.models.mirror_descent import Fit, fit_beliefs
from dpframe.models.rounding import synthetic
from dpframe.models.table import Block, size_of
from dpframe.noise import DiscreteLaplace

ADULT = Path(__file__).parents[2] / "examples" / "data" / "adult.parquet"
D1 = ["workclass", "marital-status", "race", "sex", "income"]
D2 = ["education", "marital-status", "occupation", "relationship", *D1[2:]]
D3 = ["decade", "workclass", "marital-status", "occupation", "relationship", *D1[2:]]
DOMAINS = {"D1": D1, "D2": D2, "D3": D3, "D4": ["education", *D3]}
ROWS = 10**6

Codes = dict[str, np.ndarray]
Sizes = dict[str, int]


def read(columns: list[str]) -> tuple[Codes, Sizes]:
    """Codes of every row, one more for null; the largest column first."""
    frame = pl.read_parquet(ADULT).with_columns(
        ((pl.col("age") - 10) // 10).clip(upper_bound=7).alias("decade")
    )
    codes, sizes = {}, {}
    for name in columns:
        column = frame[name]
        size = 8 if name == "decade" else len(column.dtype.categories)
        codes[name] = column.to_physical().fill_null(size).to_numpy().astype(int)
        sizes[name] = size + (column.null_count() > 0)
    return codes, dict(sorted(sizes.items(), key=lambda item: -item[1]))


def count(codes: Codes, sizes: Sizes, block: Block) -> np.ndarray:
    shape = [sizes[c] for c in block]
    cells = np.ravel_multi_index([codes[c] for c in block], shape)
    return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)


def choose(sizes: Sizes) -> list[Block]:
    """All 3-way marginals; in large domains as many as a tree can hold."""
    blocks = list(combinations(sizes, 3))
    if size_of(sizes, sizes) <= DENSE_CELLS:
        return blocks
    chosen: list[Block] = []
    for i in np.random.default_rng(0).permutation(len(blocks)):
        if tree_cells(sizes, [*chosen, blocks[i]]) <= TREE_CELLS:
            chosen.append(blocks[i])
    return chosen


def measure(counts: list[np.ndarray], blocks: list[Block], scale: Fraction) -> list:
    law = DiscreteLaplace(scale)
    return [
        Measurement(b, x + law.sample(x.size).reshape(x.shape), law.std**2)
        for b, x in zip(blocks, counts, strict=True)
    ]


def report(name: str, epsilon: Fraction, synthetic_rows: int = ROWS) -> None:
    codes, sizes = read(DOMAINS[name])
    blocks = choose(sizes)
    counts = [count(codes, sizes, block) for block in blocks]
    told = measure(counts, blocks, len(blocks) / epsilon)
    start = time.process_time()
    fit = fit_beliefs(sizes, told, total=estimate_total(told))
    spent = time.process_time() - start
    rows = len(next(iter(codes.values())))
    errors = [
        np.abs(fit.beliefs.marginal(block) - exact / rows).ravel()
        for block, exact in zip(blocks, counts, strict=True)
    ]
    print(
        f"{name}: {len(blocks)} of {len(list(combinations(sizes, 3)))} marginals, "
        f"{size_of(sizes, sizes):,} cells, tree {fit.beliefs.tree.cells:,}: "
        f"fit {spent:.2f} s, max {1e5 * max(e.max() for e in errors):.0f}, "
        f"mean {1e5 * np.concatenate(errors).mean():.1f}"
    )
    report_rows(fit, blocks, synthetic_rows)


def report_rows(fit: Fit, blocks: list[Block], n: int) -> None:
    beliefs, tree = fit.beliefs, fit.beliefs.tree

    def worst(rows: Codes, chosen: list[Block]) -> float:
        return max(
            float(
                np.abs(count(rows, dict(tree.sizes), b) - n * beliefs.marginal(b)).max()
            )
            for b in chosen
        )

    for method in ("round", "sample"):
        start = time.process_time()
        rows = synthetic(beliefs, blocks, n, seed=0, method=method)
        spent = time.process_time() - start
        print(
            f"    {n:,} rows, {method}: {spent:.2f} s; worst cell of measured blocks "
            f"{worst(rows, blocks):.1f}, of the tree's cliques "
            f"{worst(rows, list(tree.cliques)):.1f} (depth {max(tree.depths)})"
        )


def report_trees(rounds: int = 200) -> None:
    """How long a strategy needs to size up one candidate tree."""
    _, sizes = read(DOMAINS["D4"])
    blocks = choose(sizes)
    start = time.process_time()
    for _ in range(rounds):
        tree_cells(sizes, blocks)
    sized = (time.process_time() - start) / rounds
    start = time.process_time()
    JunctionTree.build(sizes, blocks)
    print(f"a tree of D4: sized {1e3 * sized:.2f} ms, built "
          f"{1e3 * (time.process_time() - start):.2f} ms")  # fmt: skip


@pytest.mark.benchmark
def test_speed_of_models() -> None:
    report("D1", Fraction(1), 10**5)
    report_trees(20)


if __name__ == "__main__":
    budget = Fraction(sys.argv[1]) if len(sys.argv) > 1 else Fraction(1)
    for domain in DOMAINS:
        report(domain, budget)
    report_trees()
