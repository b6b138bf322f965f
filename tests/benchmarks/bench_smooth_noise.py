"""Nanoseconds a draw of smooth noise on a grid, for 2^16 keys in one call.

python tests/benchmarks/bench_smooth_noise.py
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from dpframe.noise.smooth import SmoothNoise

KEYS = 1 << 16
NOISES = {
    "lomax": SmoothNoise.read("lomax", 1),
    "student_t, 2 degrees": SmoothNoise.read("student_t", 1, degrees=2),
    "student_t, 3 degrees": SmoothNoise.read("student_t", 1),
    "laplace": SmoothNoise.read("laplace", 1, delta="1e-6"),
}
GRIDS = {"a 2^20th of the range": Fraction(120, 2**20), "integers": Fraction(1)}


def main() -> None:
    rng = np.random.default_rng()
    values = rng.integers(0, 121, KEYS)
    smooth = np.exp(rng.uniform(-8, 3, KEYS))
    for name, noise in NOISES.items():
        for label, grid in GRIDS.items():
            best = np.inf
            for _ in range(5):
                start = time.perf_counter()
                noise.draw(values, smooth, 0, 120, grid)
                best = min(best, time.perf_counter() - start)
            tracemalloc.start()
            noise.draw(values, smooth, 0, 120, grid)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            cost = f"{best / KEYS * 1e9:5.0f} ns a draw, {peak / 1e6:.1f} MB"
            print(f"{name:22} {label:22} {cost}")


@pytest.mark.benchmark
def test_speed() -> None:
    main()


if __name__ == "__main__":
    main()
