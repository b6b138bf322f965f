"""Sparse vector technique: speed, memory, and how many true positives are found.

    python tests/benchmarks/bench_sparse.py            # all
    python tests/benchmarks/bench_sparse.py 10000000   # rows of the frame

Competitors alternate within one process, so that a busy machine slows them alike.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

import dpframe as dpf
from dpframe.mechanisms import sparse_vector
from dpframe.noise import permute_and_flip

Work = Callable[[], object]


def best_times(works: dict[str, Work], rounds: int) -> dict[str, float]:
    """Least CPU seconds over alternating rounds."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds + 1):  # the first fills tables and caches
        for name, work in works.items():
            start = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - start)
    return best


def report_speed(queries: int = 10**6, rounds: int = 5) -> None:
    """All below: against one float comparison with noise in numpy."""
    rng = np.random.default_rng()
    answers = np.zeros(queries, dtype=np.int64)
    floats = answers.astype(np.float64)

    def compare() -> object:
        return np.flatnonzero(floats + rng.exponential(4.0, queries) >= 1e6)

    works: dict[str, Work] = {"numpy, float exponential": compare}
    for noise in ("geometric", "laplace"):
        works[noise] = lambda noise=noise: sparse_vector(answers, 10**6, 1, noise=noise)
    works["adaptive"] = lambda: sparse_vector(answers, 10**6, 1, adaptive=True)
    works["max_above=100, refresh"] = lambda: sparse_vector(
        answers, 10**6, 1, max_above=100, refresh=True
    )
    times = best_times(works, rounds)
    base = times["numpy, float exponential"]
    print(f"\n{queries:,} queries, none above: ms, and against numpy")
    for name, spent in times.items():
        print(f"  {name:28} {spent * 1000:8.1f} {spent / base:6.2f}")
    tracemalloc.start()
    sparse_vector(answers, 10**6, 1)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    print(f"  memory above the answers: {peak:.1f} MB")


def report_frame(rows: int = 10**6, keys: int = 10**5, rounds: int = 3) -> None:
    """From a Polars frame, against the plain count by key."""
    rng = np.random.default_rng()
    frame = pl.DataFrame({"topic": rng.integers(0, keys, rows)})
    domain = {"topic": dpf.integers(0, keys - 1)}

    def private() -> object:
        with dpf.Session(epsilon=1, unit="row", domain=domain):
            return frame.dp.above_threshold("topic", 10 * rows, 1)

    works: dict[str, Work] = {
        "plain": lambda: frame.lazy().group_by("topic").len().collect(),
        "private": private,
    }
    times = best_times(works, rounds)
    ratio = times["private"] / times["plain"]
    print(f"\n{rows:,} rows, {keys:,} keys: private / plain count by key {ratio:.2f}")


Finder = Callable[[np.ndarray, float], object]


def recall(find: Finder, margin: int, runs: int, above: int) -> float:
    """Share found of the answers at T + margin; the rest of 1,000 are at T - margin."""
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(runs):
        places = rng.choice(1_000, above, replace=False)
        answers = np.full(1_000, -margin)
        answers[places] = margin
        found += len(np.intersect1d(find(answers, 0), places))
    return found / (runs * above)


def peel(answers: np.ndarray, rounds: int) -> list[int]:
    """Permute-and-flip, one round for each answer wanted."""
    left = list(range(len(answers)))
    chosen = []
    for _ in range(rounds):
        place = permute_and_flip(answers[left], 1 / rounds, 1, monotonic=True)
        chosen.append(left.pop(place))
    return chosen


def report_recall(runs: int = 400) -> None:
    """Figures of the design note: geometric against Laplace, optimal against even."""

    def svt(**options: object) -> Finder:
        return lambda answers, at: sparse_vector(answers, at, 1, **options).indices

    print(f"\nrecall, epsilon 1, 1,000 queries, {runs} runs")
    rows: list[tuple[str, int, int, Finder]] = []
    for margin in (20, 40):
        for ratio in ("even", "optimal"):
            for noise in ("laplace", "geometric"):
                options = {"max_above": 5, "monotonic": True}
                finder = svt(**options, noise=noise, ratio=ratio)
                rows.append((f"c=5 monotone, {ratio}, {noise}", margin, 5, finder))
    for noise in ("laplace", "geometric"):
        rows.append((f"c=1 general, optimal, {noise}", 20, 1, svt(noise=noise)))
    finder = svt(max_above=5, monotonic=True, adaptive=True)
    rows.append(("c=5 monotone, adaptive, geometric", 40, 5, finder))
    rows.append(("top_k by permute-and-flip", 20, 5, lambda q, _: peel(q, 5)))
    for name, margin, above, find in rows:
        print(f"  {name:36} m={margin}: {recall(find, margin, runs, above):.2f}")


@pytest.mark.benchmark
def test_sparse_vector() -> None:
    report_speed(queries=10**5, rounds=2)
    report_frame(rows=10**5, keys=10**4, rounds=1)
    report_recall(runs=20)


if __name__ == "__main__":
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10**7
    report_speed()
    report_recall()
    report_frame(rows, 10**6)
