"""Sparse vector algorithms that are NOT private, kept as targets for audits.

Each was published or taught, or is an easy slip. All share one form, so that an audit
takes any of them in place of the right one:

    f(answers, threshold, epsilon, *, max_above, sensitivity, runs) -> outputs

``answers`` are integers, ``outputs`` an array with a row for each of so many
independent runs and a column for each answer: 1 above, 0 below, -1 not examined.
Every docstring says what is wrong and what it really costs for queries that need not
be monotone. What is right: `dpframe.mechanisms.sparse_vector`.

    >>> from functools import partial
    >>> from dpframe.testing import audit, broken
    >>> mechanism = partial(broken.no_query_noise, threshold=1, epsilon=1)
    >>> audit(mechanism, ([1, 0], [0, 1]), epsilon=1, vectorized=True).violated
    True
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpframe.noise import DiscreteLaplace
from dpframe.noise.law import as_positive
from dpframe.privacy.amounts import Amount, as_fraction

__all__ = [
    "BROKEN",
    "budget_for_each_above",
    "compared_values",
    "monotone_noise",
    "no_limit",
    "no_query_noise",
    "noise_without_c",
]

Outputs = NDArray[np.int64] | NDArray[np.float64]


def compared_values(
    answers: ArrayLike,
    threshold: Amount,
    epsilon: Amount,
    *,
    max_above: int = 1,
    sensitivity: int = 1,
    runs: int = 1,
) -> NDArray[np.float64]:
    """Show the very number q + nu that was compared, for each answer above.

    Wrong: the number bounds the noisy threshold from above, and then every "below"
    tells about its own answer. Costs more with every query, without bound. In the
    outputs, numbers stand for above and NaN for all else.

    Source: Roth (2011), lecture notes; Lyu, Su and Li (2017), Algorithm 3. Right: fresh
    noise for the value, or the gap to the noisy threshold.
    """
    half = as_positive(epsilon, "epsilon") / 2
    scales = sensitivity / half, 2 * max_above * sensitivity / half
    noisy, above = _compare(answers, threshold, scales, runs)
    return np.where(_stopped(above, max_above) == 1, noisy, np.nan)


def noise_without_c(
    answers: ArrayLike,
    threshold: Amount,
    epsilon: Amount,
    *,
    max_above: int = 1,
    sensitivity: int = 1,
    runs: int = 1,
) -> NDArray[np.int64]:
    """Give a quarter of epsilon to the threshold, the rest to queries, whatever c is.

    Wrong: each of the c answers above costs 3/2 epsilon. Costs (1 + 6c)/4 epsilon.

    Source: Lee and Clifton (2014); Lyu, Su and Li (2017), Algorithm 4. Right: noise of
    the queries in proportion to c.
    """
    whole = as_positive(epsilon, "epsilon")
    scales = sensitivity / (whole / 4), sensitivity / (3 * whole / 4)
    _, above = _compare(answers, threshold, scales, runs)
    return _stopped(above, max_above)


def no_query_noise(
    answers: ArrayLike,
    threshold: Amount,
    epsilon: Amount,
    *,
    max_above: int = 1,
    sensitivity: int = 1,
    runs: int = 1,
) -> NDArray[np.int64]:
    """Add noise to the threshold alone.

    Wrong: of two answers the smaller one is never above where the larger is below, on
    one input, and may be so on its neighbor. Infinite, at two queries.

    Source: Stoddard, Chen and Machanavajjhala (2014); Lyu, Su and Li (2017), Algorithm
    5. Right: fresh noise for each query.
    """
    half = as_positive(epsilon, "epsilon") / 2
    _, above = _compare(answers, threshold, (sensitivity / half, None), runs)
    return _stopped(above, max_above)


def no_limit(
    answers: ArrayLike,
    threshold: Amount,
    epsilon: Amount,
    *,
    max_above: int = 1,
    sensitivity: int = 1,
    runs: int = 1,
) -> NDArray[np.int64]:
    """Calibrate the noise for c answers above, and go on after them.

    Wrong: each further answer above costs epsilon/2c. Costs more with every query,
    without bound.

    Source: Chen, Xiao, Zhang and Xu (2015); Lyu, Su and Li (2017), Algorithm 6. Right:
    stop at the c-th.
    """
    half = as_positive(epsilon, "epsilon") / 2
    scales = sensitivity / half, 2 * max_above * sensitivity / half
    _, above = _compare(answers, threshold, scales, runs)
    return above.astype(np.int64)


def budget_for_each_above(
    answers: ArrayLike,
    threshold: Amount,
    epsilon: Amount,
    *,
    max_above: int = 1,
    sensitivity: int = 1,
    runs: int = 1,
) -> NDArray[np.int64]:
    """Deduct epsilon/2c for each answer above, until epsilon is gone.

    Wrong: noise of scales 2/epsilon and 4/epsilon makes the threshold cost epsilon/2
    and each answer above as much, whatever c is, and there may be 2c of them. Costs
    (c + 1/2) epsilon.

    Source: a flow chart of "NumericSparse" in lecture notes. Right: noise of the
    queries in proportion to c, and a stop at the c-th.
    """
    half = as_positive(epsilon, "epsilon") / 2
    scales = sensitivity / half, 2 * sensitivity / half
    _, above = _compare(answers, threshold, scales, runs)
    return _stopped(above, 2 * max_above)


def monotone_noise(
    answers: ArrayLike,
    threshold: Amount,
    epsilon: Amount,
    *,
    max_above: int = 1,
    sensitivity: int = 1,
    runs: int = 1,
) -> NDArray[np.int64]:
    """Take the noise for monotone queries where some may rise and others fall.

    Wrong: an answer above moves its noise by twice the sensitivity. Costs 3/2 epsilon;
    epsilon if the queries are monotone after all.

    Source: an easy slip, as with counts under "replace". Right: twice the scale.
    """
    half = as_positive(epsilon, "epsilon") / 2
    scales = sensitivity / half, max_above * sensitivity / half
    _, above = _compare(answers, threshold, scales, runs)
    return _stopped(above, max_above)


#: All of them, for tests that take each in turn.
BROKEN: tuple[Callable[..., Outputs], ...] = (
    compared_values,
    noise_without_c,
    no_query_noise,
    no_limit,
    budget_for_each_above,
    monotone_noise,
)


def _compare(
    answers: ArrayLike,
    threshold: Amount,
    scales: tuple[Fraction, Fraction | None],
    runs: int,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return noisy answers, and which pass one noisy threshold for each run."""
    exact = np.asarray(answers, dtype=np.int64)
    noisy = np.tile(exact, (runs, 1))
    of_threshold, of_queries = scales
    if of_queries is not None:
        noise = DiscreteLaplace(of_queries).sample(noisy.size)
        noisy += noise.reshape(noisy.shape)
    rho = DiscreteLaplace(of_threshold).sample(runs)
    bar = math.ceil(as_fraction(threshold, "threshold"))
    return noisy, noisy - rho[:, None] >= bar


def _stopped(above: NDArray[np.bool_], most: int) -> NDArray[np.int64]:
    """Return -1 for all that comes after the last answer above."""
    before: NDArray[np.int64] = np.cumsum(above, axis=1) - above
    return np.where(before < most, above.astype(np.int64), -1)
