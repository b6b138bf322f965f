"""What debiasing gains, and how its time grows.

    python tests/benchmarks/bench_debias.py DATA [RUNS]

DATA is a folder with ``facebook_degrees.csv`` (node, degree),
``shakespeare_word_counts.csv`` (word, count), and, if at hand,
``exac_site_frequency.csv`` (occurrences, variants): examples/data has the first two.
RUNS, 200 by default, is the number of noisy releases behind each figure. Tables of
errors come out, each beside its reference, with the distance z in standard errors:
below 3 is agreement. Then times.
"""

from __future__ import annotations

import csv
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from dpframe.estimands import (
    Estimate,
    NoisyCounts,
    Separable,
    debias,
    entropy,
    k_stars,
    order_statistic,
    power_sum,
    profile,
    variance,
)
from dpframe.estimands.laplace_numbers import LaplaceNumbers
from dpframe.estimands.stencil import Stencil
from dpframe.noise import DiscreteLaplace

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

STARS = [(2, 0.1), (2, 0.5), (2, 1.0), (2, 2.0), (2, 6.0), (3, 0.5), (3, 2.0)]

# Mean squared errors over 200 runs, 100 with empty bins: integers, counts, plug-in,
# and counts with a public total where that was measured.
WORDS = {
    (0.5, 0): (1.26e-4, 4.3e-5, 2.57e-3, 5.8e-6),
    (1.0, 0): (1.74e-5, 1.16e-5, 2.4e-5, math.nan),
    (1.5, 0): (5.4e-6, 4.6e-6, 1.5e-5, 5.1e-7),
    (0.5, 12_373): (3.4e-4, 8.4e-5, 0.113, math.nan),
    (1.5, 12_373): (1.4e-5, 7.1e-6, 6.9e-3, math.nan),
}


# Variants seen once: relative bias of the plug-in, relative deviation of the estimate.
SITES = {0.5: (-0.697, 0.0027), 1.0: (-0.482, 0.00095), 2.0: (-0.209, 0.00035)}


def column(path: Path, place: int = -1) -> Integers:
    """One column of a csv file with a header, the last one by default."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))[1:]
    return np.array([int(row[place]) for row in rows])


def exact_errors(degrees: Integers, stars: Separable, epsilon: float) -> list[float]:
    """Root mean squared errors, summed over the noise law of every degree.

    Of the unbiased estimate, the plug-in, and the unbiased one from continuous noise.
    """
    reach = math.ceil(40 / epsilon)
    k = np.arange(-reach, reach + 1)
    law = np.tanh(epsilon / 2) * np.exp(-epsilon * np.abs(k))
    far, far_law = np.polynomial.laguerre.laggauss(12)  # exact for these polynomials
    spread = bias = plug_in_spread = continuous = 0.0
    for degree, nodes in zip(*np.unique(degrees, return_counts=True), strict=True):
        stencil = Stencil.of(NoisyCounts(degree + k, epsilon, "integers"))
        local = stencil.evaluate(stars.f)
        spread += nodes * _variance(law, stencil.apply(local))
        plug_in_spread += nodes * _variance(law, local.here)
        bias += nodes * (law @ local.here - float(stars.f(np.array([degree]))[0]))
        near = np.concatenate([degree - far / epsilon, degree + far / epsilon])
        values = LaplaceNumbers(near, 1 / epsilon, "integers").apply(stars.f)
        continuous += nodes * _variance(np.tile(far_law / 2, 2), values)
    return [math.sqrt(e) for e in (spread, plug_in_spread + bias**2, continuous)]


def _variance(law: Floats, values: Floats) -> float:
    return float(law @ (values - law @ values) ** 2)


def distance(errors: Floats, reference: float, runs: float = math.inf) -> float:
    """Standard errors between the mean square of ``errors`` and its reference.

    The spread of the squares is that of the sample or, if larger, that of squared
    normal errors of that size, for by chance too few of the errors may be large.
    A reference that is itself a mean over runs has the same spread.
    """
    squares = errors**2
    normal = math.sqrt(2) * (reference - float(errors.mean()) ** 2)
    spread = max(float(squares.std(ddof=1)), normal)
    error = spread * math.sqrt(1 / errors.size + 1 / runs)
    return (float(squares.mean()) - reference) / error


def report_stars(degrees: Integers, runs: int) -> None:
    """Star counts of a graph whose nodes report noisy degrees."""
    print("\nk-stars, error relative to the true count: exact, of the runs, z")
    print(
        f"  {'k, epsilon':12}{'unbiased':>26}{'plug-in':>26}{'continuous':>26}", end=""
    )
    print(f"{'noisy star counts, degree capped / not':>42}")
    rng = np.random.default_rng()  # continuous noise, which dpframe never draws
    for k, epsilon in STARS:
        estimand = k_stars(k)
        true = float(sum(math.comb(int(d), k) for d in degrees))
        errors = np.empty((3, runs))
        for run in range(runs):
            noisy = degrees + DiscreteLaplace(1 / epsilon).sample(degrees.size)
            law = {"epsilon": epsilon, "domain": "integers"}
            found = debias(noisy, estimand, **law)
            reals = degrees + rng.laplace(scale=1 / epsilon, size=degrees.size)
            other = debias(reals, estimand, noise="continuous_laplace", **law)
            errors[:, run] = (found.value, found.plug_in, other.value)
        exact = exact_errors(degrees, estimand, epsilon)
        print(f"  {k}, {epsilon:<9}", end="")
        for error, reference in zip(errors, exact, strict=True):
            z = distance(error - true, reference**2)
            root = math.sqrt(((error - true) ** 2).mean())
            print(f"{reference / true:11.3e}{root / true:10.2e}{z:+5.1f}", end="")
        for cap in (int(degrees.max()), degrees.size - 1):
            scale = math.comb(cap, k - 1) / epsilon
            print(f"{math.sqrt(2 * degrees.size) * scale / true:21.3g}", end="")
        print()


def report_words(words: Integers, runs: int) -> None:
    """Entropy of a text's words, and with as many words that do not occur."""
    print("\nentropy of words, mean squared error in nats²: measured, then z")
    print(
        f"  {'epsilon, empty':18}{'integers':>18}{'counts':>18}{'plug-in':>18}"
        f"{'total=':>18}",
        end="",
    )
    print("   95 % intervals of counts hold")
    for (epsilon, empty), references in WORDS.items():
        counts = np.concatenate([words, np.zeros(empty, dtype=np.int64)])
        share = words / words.sum()
        true = -float(share @ np.log(share))
        errors, held = np.empty((4, runs)), 0
        for run in range(runs):
            noisy = counts + DiscreteLaplace(1 / epsilon).sample(counts.size)
            wide = debias(noisy, entropy, epsilon=epsilon, domain="integers")
            found = debias(noisy, entropy, epsilon=epsilon)
            known = debias(noisy, entropy, epsilon=epsilon, total=int(words.sum()))
            errors[:, run] = (wide.value, found.value, found.plug_in, known.value)
            low, high = found.interval()
            held += low < true < high
        print(f"  {epsilon}, {empty:<13}", end="")
        for error, reference in zip(errors, references, strict=True):
            z = distance(error - true, reference, runs=100 if empty else 200)
            print(f"{((error - true) ** 2).mean():11.2e} {z:+6.2f}", end="")
        print(f"{held / runs:12.3f}")


def report_sites(counts: Integers, runs: int) -> None:
    """Variants of a genome project that were seen once, from noisy counts of each."""
    true = int((counts == 1).sum())
    print(f"\nvariants seen once, {true:,} of {counts.size:,}, relative to them")
    print(f"  {'epsilon':10}{'bias of plug-in':>24}{'std_error':>20}{'z of mean':>11}")
    for epsilon, (bias, deviation) in SITES.items():
        found = []
        for _ in range(runs):
            noisy = counts + DiscreteLaplace(1 / epsilon).sample(counts.size)
            found.append(debias(noisy, profile(1), epsilon=epsilon))
        error = np.mean([e.std_error for e in found])
        missed = np.mean([e.value for e in found]) - true
        plug_in = np.mean([e.plug_in for e in found]) / true - 1
        print(f"  {epsilon:<10}{plug_in:+14.4f} / {bias:+.3f}", end="")
        print(f"{error / true:11.5f} / {deviation:.5f}", end="")
        print(f"{missed / error * math.sqrt(runs):+10.2f}")


def report_growth() -> None:
    """Milliseconds of one estimate against the number of bins, at epsilon 1."""
    print("\nmilliseconds an estimate")
    jobs: dict[str, tuple[Callable[[Integers], object], list[int]]] = {
        "numpy.bincount of counts cut at 0": (_bincount, [10**5, 10**6]),
        "profile(1)": (_job(profile(1)), [10**5, 10**6]),
        "power_sum(2)": (_job(power_sum(2)), [10**5, 10**6]),
        "variance": (_job(variance), [10**5, 10**6]),
        "entropy": (_job(entropy), [12_373, 10**5, 10**6]),
        "order_statistic(n // 2)": (_median, [10**4, 10**5]),
    }
    for name, (job, sizes) in jobs.items():
        for n in sizes:
            counts = zipf(n)
            print(f"  {name:36}{n:10,}{best_milliseconds(job, counts):12.2f}")


def zipf(n: int) -> Integers:
    """Noisy counts that fall off like 1 / rank, with a mean of 20."""
    rank = np.arange(1, n + 1)
    counts = np.floor(20 * n / (rank * np.log(n)) + 0.5).astype(np.int64)
    return counts + DiscreteLaplace(1).sample(n)


def best_milliseconds(job: Callable[[Integers], object], counts: Integers) -> float:
    times: list[float] = []
    while sum(times) < 1000 or len(times) < 3:
        start = time.perf_counter()
        job(counts)
        times.append(1000 * (time.perf_counter() - start))
    return min(times)


def _job(estimand: Separable) -> Callable[[Integers], Estimate]:
    return lambda counts: debias(counts, estimand, epsilon=1)


def _median(counts: Integers) -> Estimate:
    # At the median counts are tied by the thousand; 30 apart they are not.
    spread = counts + 30 * np.arange(counts.size)
    return debias(spread, order_statistic(counts.size // 2), epsilon=1)


def _bincount(counts: Integers) -> Integers:
    return np.bincount(np.maximum(counts, 0))


@pytest.mark.benchmark
def test_time_of_estimates() -> None:
    report_growth()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    report_stars(column(folder / "facebook_degrees.csv"), repetitions)
    report_words(column(folder / "shakespeare_word_counts.csv"), repetitions)
    if (sites := folder / "exac_site_frequency.csv").exists():
        report_sites(np.repeat(column(sites, 0), column(sites, 1)), repetitions // 20)
    report_growth()
