"""A private median on Polars, beside a group-by of the same grid points.

    python tests/benchmarks/bench_quantile.py [rows]        (10^7 by default)

Plain and private plans alternate in one process; ratios are medians over the rounds.
Aim: at most 2 x the plain group-by, and at most 65,537 rows at home.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import polars as pl
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

import dpframe as dpf
from dpframe.noise.ordered_choice import OrderedChoice, Runs

ROUNDS = 7
BOUNDS = (0, 100)
STEPS = 512  # a unit: 51,200 steps between the bounds
Task = Callable[[], object]


def make_frame(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "x": rng.normal(50, 15, rows),
            "age": rng.integers(0, 101, rows),
            "key": rng.integers(0, 50, rows),
        }
    )


def on_grid(frame: pl.DataFrame, *keys: str) -> pl.DataFrame:
    step = ((pl.col("x").clip(*BOUNDS)) * STEPS + 0.5).floor().cast(pl.Int64)
    return frame.lazy().group_by(*keys, step).agg(pl.len()).collect(engine="streaming")


def tasks(frame: pl.DataFrame) -> dict[str, tuple[Task, Task]]:
    session = dpf.Session(epsilon=10**6, unit="row")
    people = dpf.private(frame, session)
    by_key = people.group_by("key", keys=list(range(50)))

    def by_age() -> object:
        return frame.lazy().group_by("age").agg(pl.len()).collect(engine="streaming")

    return {
        "median of floats": (
            lambda: on_grid(frame),
            lambda: people.median("x", 1, bounds=BOUNDS),
        ),
        "five quantiles": (
            lambda: on_grid(frame),
            lambda: people.quantile("x", [0, 0.25, 0.5, 0.75, 1], 1, bounds=BOUNDS),
        ),
        "median of integers": (
            by_age,
            lambda: people.median("age", 1, bounds=BOUNDS),
        ),
        "median of floats by 50 keys": (
            lambda: on_grid(frame, "key"),
            lambda: by_key.median("x", 1, bounds=BOUNDS),
        ),
    }


def report(rows: int = 10**7, rounds: int = ROUNDS) -> None:
    print(f"\nquantiles of {rows:,} rows: seconds plain, private, and their ratio")
    for name, pair in tasks(make_frame(rows)).items():
        spent: list[list[float]] = [[], []]
        for _ in range(rounds):
            for times, task in zip(spent, pair, strict=True):
                start = perf_counter()
                task()
                times.append(perf_counter() - start)
        plain, private = map(median, spent)
        ratio = median(b / a for a, b in zip(*spent, strict=True))
        print(f"  {name:30} {plain:7.3f} {private:7.3f} {ratio:7.2f}")


def report_choices() -> None:
    """The draw alone: many runs, and many choices."""
    print("\nchoices among runs: milliseconds")
    rng = np.random.default_rng(2)
    for choices, runs in [(1, 2**20), (1_000, 1_000), (100_000, 10)]:
        scores = -rng.integers(0, 100, choices * runs)
        lengths = rng.integers(1, 50, choices * runs)
        line = Runs(lengths, np.arange(choices) * runs)
        for rule in ("permute_and_flip", "exponential"):
            law = OrderedChoice(1, 1, rule)
            start = perf_counter()
            law.choose(scores, line)
            spent = 1000 * (perf_counter() - start)
            print(f"  {choices:8,} of {runs:10,} runs, {rule:17} {spent:8.1f}")


@pytest.mark.benchmark
@pytest.mark.filterwarnings("ignore::dpframe.PrivacyWarning")
def test_speed_of_quantiles() -> None:
    report(rows=10**6, rounds=3)
    report_choices()


if __name__ == "__main__":
    report(*map(int, sys.argv[1:2]))
    report_choices()
