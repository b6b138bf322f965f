"""Statistical assertions without flakes, shared by the tests of every room.

A right law rings falsely with probability 1e-9 a test. That a law off by five per
cent is noticed is itself tested, by `assert_not_law` beside each `assert_law`; with
100,000 samples it always was (style: chi-square, both sides).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammaincc, kolmogorov

FALSE_ALARM = 1e-9

Pmf = Callable[[np.ndarray], np.ndarray]


def assert_law(samples: np.ndarray, law: Any) -> None:
    """Integer samples follow ``law``: a pmf, or an object that has one."""
    p = chi_square(samples, law)
    assert p >= FALSE_ALARM, f"samples do not follow the law: p = {p:.2e}"


def assert_not_law(samples: np.ndarray, law: Any) -> None:
    """Integer samples visibly do not follow ``law``."""
    p = chi_square(samples, law)
    assert p < FALSE_ALARM, f"the samples pass for another law: p = {p:.2e}"


def assert_uniform(counts: np.ndarray) -> None:
    """Occurrences of equally likely outcomes look it."""
    p = _tail(counts, np.full(counts.size, counts.sum() / counts.size))
    assert p >= FALSE_ALARM, f"outcomes are not equally likely: p = {p:.2e}"


def assert_cdf(samples: np.ndarray, cdf: Pmf) -> None:
    """Kolmogorov-Smirnov, for laws so wide that each value is rare."""
    p = kolmogorov_smirnov(samples, cdf)
    assert p >= FALSE_ALARM, f"samples do not follow the cdf: p = {p:.2e}"


def chi_square(samples: np.ndarray, law: Any) -> float:
    """p-value of the samples against the law's exact probabilities.

    Neighboring values are merged into bins of at least 5 expected samples and at
    least half a per cent; the bins depend on the law only, never on the samples.
    """
    firsts, masses = _bins(getattr(law, "pmf", law), len(samples))
    places = np.searchsorted(firsts, samples, side="right") - 1
    seen = np.bincount(places.clip(min=0), minlength=firsts.size)
    return _tail(seen, masses * len(samples))


def kolmogorov_smirnov(samples: np.ndarray, cdf: Pmf) -> float:
    """Asymptotic p-value of the samples against a (nearly) continuous cdf."""
    n, levels = len(samples), cdf(np.sort(samples))
    ranks = np.arange(n + 1) / n
    distance = max((ranks[1:] - levels).max(), (levels - ranks[:-1]).max())
    return float(kolmogorov(np.sqrt(n) * distance))


def _bins(pmf: Pmf, n: int) -> tuple[np.ndarray, np.ndarray]:
    half = 8
    while (mass := pmf(np.arange(-half, half + 1))).sum() < 1 - 1e-9:
        half *= 2
        assert half < 2**20, "too wide for a table of its pmf: use assert_cdf"
    least = max(5 / n, 1 / 200)
    firsts, masses, gathered = [], [], np.inf
    for value, share in zip(range(-half, half + 1), mass.tolist(), strict=True):
        if gathered >= least:
            firsts.append(value)
            masses.append(0.0)
            gathered = 0.0
        gathered += share
        masses[-1] += share
    if masses[-1] < least:  # the last tail joins its neighbor
        firsts.pop()
        last = masses.pop()
        masses[-1] += last
    return np.array(firsts), np.array(masses) / sum(masses)


def _tail(seen: np.ndarray, expected: np.ndarray) -> float:
    statistic = ((seen - expected) ** 2 / expected).sum()
    return float(gammaincc((len(seen) - 1) / 2, statistic / 2))
