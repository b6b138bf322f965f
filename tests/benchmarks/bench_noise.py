"""Nanoseconds a draw, beside numpy's (inexact, unsafe) geometric difference.

    python tests/benchmarks/bench_noise.py

Samplers alternate within one process, so that a busy machine slows them alike.
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

from dpframe.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
    permute_and_flip,
)

SCALES = ["1/2", 1, 10, 100, 1_000, 10**6, 10**12]
Sampler = Callable[[int], object]


def numpy_difference(scale: float) -> Sampler:
    rng, p = np.random.default_rng(), -np.expm1(-1 / scale)
    return lambda n: rng.geometric(p, n) - rng.geometric(p, n)


def samplers() -> dict[str, Sampler]:
    chosen: dict[str, Sampler] = {
        f"numpy geometric difference, scale {s}": numpy_difference(s)
        for s in (1, 10, 1_000)
    }
    chosen |= {
        f"discrete Laplace, scale {s}": DiscreteLaplace(s).sample for s in SCALES
    }
    chosen |= {f"geometric, scale {s}": Geometric(s).sample for s in SCALES}
    chosen |= {
        f"discrete Gaussian, sigma {s}": DiscreteGaussian(s * s).sample
        for s in (1, 10, 1_000, 4 * 10**9)
    }
    return chosen


def best_times(chosen: dict[str, Sampler], n: int, rounds: int) -> dict[str, float]:
    """Least CPU nanoseconds a draw over alternating rounds."""
    best = dict.fromkeys(chosen, float("inf"))
    for _ in range(rounds + 1):  # the first fills the tables
        for name, sample in chosen.items():
            start = time.process_time_ns()
            sample(n)
            best[name] = min(best[name], (time.process_time_ns() - start) / n)
    return best


def report(n: int = 10**6, rounds: int = 5) -> None:
    times = best_times(samplers(), n, rounds)
    base = times["numpy geometric difference, scale 1000"]
    print(f"\n{n:,} draws: ns a draw, and against numpy's geometric difference")
    for name, spent in times.items():
        print(f"  {name:44} {spent:8.1f} {spent / base:6.2f}")


def report_small(rounds: int = 200) -> None:
    print("\nsmall calls: microseconds a call")
    laws = {
        "discrete Laplace, scale 1": DiscreteLaplace(1).sample,
        "discrete Laplace, scale 1000": DiscreteLaplace(1_000).sample,
        "discrete Gaussian, sigma 10": DiscreteGaussian(100).sample,
        "permute-and-flip": lambda n: permute_and_flip(np.arange(n), 1, 1),
    }
    for n in (1, 10, 100, 10_000):
        for name, spent in best_times(laws, n, rounds).items():
            print(f"  {name:32} {n:6} {spent * n / 1000:10.1f}")


@pytest.mark.benchmark
def test_speed_of_samplers() -> None:
    report(n=10**5, rounds=3)
    report_small(rounds=20)


if __name__ == "__main__":
    report()
    report_small()
