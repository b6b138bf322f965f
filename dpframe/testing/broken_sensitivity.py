"""Uses of local and smooth sensitivity that are NOT private: targets for audits.

Each was taught, or is an easy slip. All share one form:

    f(values, epsilon, *, bounds, ..., runs) -> outputs, shape (runs,)

on a flat list of numbers, with one row that comes or goes between neighbors. Every
docstring says what is wrong and what is right.

    >>> from functools import partial
    >>> from dpframe.testing import audit
    >>> from dpframe.testing.broken_sensitivity import noise_of_local
    >>> mechanism = partial(noise_of_local, epsilon=1, bounds=(0, 100))
    >>> pair = [0, 100], [0, 0, 100]
    >>> audit(mechanism, pair, 1, runs=1_000, vectorized=True).violated
    True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpframe.noise import DiscreteLaplace
from dpframe.noise.law import as_positive
from dpframe.privacy.amounts import Amount, as_fraction
from dpframe.sensitivity import evaluate, local, smooth

__all__ = [
    "BROKEN_SENSITIVITY",
    "count_of_violations",
    "noise_of_local",
    "smooth_laplace_as_pure",
]

_STEPS = 2**20  # of the grid on which all of them release, in the width of the bounds


def count_of_violations(
    values: ArrayLike,
    epsilon: Amount,
    *,
    bounds: tuple[float, float],
    bound: Amount,
    runs: int = 1,
) -> NDArray[np.float64]:
    """Propose a bound of the closest pair; test by counting rows that violate it.

    A row violates the bound if its deletion moves the closest distance by more. The
    count gets noise of half of epsilon, and up to 1/2 it passes; then the distance gets
    noise of bound / (epsilon/2). NaN stands for a refusal.

    Wrong: the count is no distance. It may jump from 0 to all rows between neighbors,
    and 0 does not mean far from a violation; the release is for a bound that need not
    hold. Costs more the farther apart the two answers are, without bound.

    Source: lecture notes. Right: `propose_test_release`, whose distance moves by 1 at
    most, at the price of a delta.
    """
    points = np.sort(np.asarray(values, dtype=np.float64))
    half, most = as_positive(epsilon, "epsilon") / 2, float(as_fraction(bound, "bound"))
    exact = _closest(points, bounds)
    moved = [
        abs(_closest(np.delete(points, i), bounds) - exact) for i in range(len(points))
    ]
    noisy = sum(move > most for move in moved) + DiscreteLaplace(1 / half).sample(runs)
    answers = _noised(exact, most / half, bounds, runs)
    return np.where(noisy <= 0, answers, np.nan)


def smooth_laplace_as_pure(
    values: ArrayLike,
    epsilon: Amount,
    *,
    bounds: tuple[float, float],
    runs: int = 1,
) -> NDArray[np.float64]:
    """Add Laplace noise of scale 2S/ε to a median, S with beta = ε/(2 ln(2/ε)).

    Wrong twice: no noise with exponential tails is pure under a scale that depends on
    the data, and the formula is that of a delta with epsilon in its place. Infinite; at
    the claimed epsilon of 1 its delta is 0.11.

    Source: lecture notes. Right: noise with polynomial tails, or beta = epsilon/(2
    ln(2/delta)) and (epsilon, delta).
    """
    whole = as_positive(epsilon, "epsilon")
    beta = Fraction(float(whole) / (2 * math.log(2 / float(whole))))
    width = smooth(values, "median", bounds=bounds, neighboring="add_remove", beta=beta)
    exact = evaluate(values, "median", bounds=bounds)
    return _noised(exact, 2 * width / whole, bounds, runs)


def noise_of_local(
    values: ArrayLike,
    epsilon: Amount,
    *,
    bounds: tuple[float, float],
    runs: int = 1,
) -> NDArray[np.float64]:
    """Add Laplace noise to a median, in proportion to its local sensitivity.

    Wrong: the scale itself tells of the data, down to no noise at all. Infinite.

    Source: the first idea that everybody has. Right: smooth sensitivity.
    """
    width = local(values, "median", bounds=bounds, neighboring="add_remove")
    exact = evaluate(values, "median", bounds=bounds)
    return _noised(exact, width / as_positive(epsilon, "epsilon"), bounds, runs)


#: All of them, for tests that take each in turn.
BROKEN_SENSITIVITY: tuple[Callable[..., NDArray[np.float64]], ...] = (
    count_of_violations,
    smooth_laplace_as_pure,
    noise_of_local,
)


def _closest(points: NDArray[Any], bounds: Sequence[float]) -> float:
    """Return the least difference of sorted numbers; of fewer than two the width."""
    lower, upper = bounds
    return float(np.diff(points).min(initial=upper - lower))


def _noised(
    exact: float, scale: float | Fraction, bounds: Sequence[float], runs: int
) -> NDArray[np.float64]:
    """Add Laplace noise on a fine grid; none where the scale is below a step."""
    step = (bounds[1] - bounds[0]) / _STEPS
    steps = Fraction(scale) / Fraction(step)
    noise = DiscreteLaplace(steps).sample(runs) if steps >= 1 else np.zeros(runs)
    return np.asarray((round(exact / step) + noise) * step)
