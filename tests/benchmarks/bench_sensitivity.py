"""Smooth sensitivity of a million numbers, in units of one numpy sort of them.

    python tests/benchmarks/bench_sensitivity.py

Everything is timed from the unsorted array on, so 1 is the sort itself. Functions
alternate within one process, so that a busy machine slows them alike.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from dpframe import sensitivity

BETAS = [0.3, 0.01, 1e-4, 1e-6]
STATISTICS = [
    ("median", "add_remove"),
    ("median", "replace"),
    (("quantile", 0.9), "add_remove"),
    ("iqr", "add_remove"),
    (("trimmed_mean", 0.1), "add_remove"),
    (("trimmed_mean", 1000), "replace"),
    ("variance", "add_remove"),
]
Task = Callable[[], object]


def tasks(values: np.ndarray) -> dict[str, Task]:
    chosen: dict[str, Task] = {"numpy sort": lambda: np.sort(values)}
    for statistic, relation in STATISTICS:
        for beta in BETAS if statistic == "median" else BETAS[:2]:
            chosen[f"{statistic}, {relation}, beta {beta:g}"] = (
                lambda s=statistic, r=relation, b=beta: sensitivity.smooth(
                    values, s, bounds=(0, 120), neighboring=r, beta=b
                )
            )
    return chosen


def best_times(chosen: dict[str, Task], rounds: int) -> dict[str, float]:
    """Least CPU seconds over alternating rounds."""
    best = dict.fromkeys(chosen, float("inf"))
    for _ in range(rounds):
        for name, task in chosen.items():
            start = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - start)
    return best


def report(n: int = 10**6, rounds: int = 3) -> None:
    values = np.random.default_rng(0).normal(45, 12, n)
    times = best_times(tasks(values), rounds)
    base = times["numpy sort"]
    print(f"\nsmooth sensitivity of {n:,} numbers: seconds, and in sorts")
    for name, spent in times.items():
        print(f"  {name:52} {spent:8.3f} {spent / base:7.2f}")


def report_points(n: int = 10**5) -> None:
    points = np.random.default_rng(0).normal(0.5, 0.1, (n, 2))
    start = time.process_time()
    sensitivity.smooth(
        points, "closest_pair", bounds=(0, 1), neighboring="add_remove", beta=0.01
    )
    spent = time.process_time() - start
    print(f"\nclosest pair of {n:,} points in the plane: {spent:.2f} s")


@pytest.mark.benchmark
def test_speed_of_smooth_sensitivity() -> None:
    report(n=10**5, rounds=1)
    report_points(n=10**4)


if __name__ == "__main__":
    report()
    report_points()
