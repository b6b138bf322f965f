"""Multiplicative weights: one step towards one answer, or towards one marginal.

p is multiplied by e^(eta q (y - q(p))) and normalized [1]_. Without eta the step is as
long as it takes: the projection, which is the distribution nearest to p in relative
entropy among those that answer y [2]_.

References
----------
.. [1] Hardt and Rothblum (2010), A multiplicative weights mechanism for
   privacy-preserving data analysis, figure 1.
.. [2] Csiszár (1975), I-divergence geometry of probability distributions, theorem 3.1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpframe.errors import ParameterError, shown
from dpframe.models.distribution import Distribution
from dpframe.models.linear_queries import LinearQuery, as_linear
from dpframe.models.table import Table

__all__ = ["update"]

_NEWTON_STEPS = 200


def update(
    distribution: Distribution, query: Any, y: ArrayLike, eta: float | None = None
) -> Distribution:
    """Move a distribution towards one answer, or towards one marginal.

    Parameters
    ----------
    distribution : Distribution
        Of at most 2**22 cells.
    query : query, array or tuple of str
        A query with one number for its answer; or columns, whose whole marginal moves.
    y : float or array
        The answer, as a proportion of rows; with columns, the proportion of each cell,
        last column fastest. It was measured with noise: read without, a true answer is
        not private at all (the lecture notes' code does so).
    eta : float, optional
        Length of the step; the projection onto ``y`` if not given. The textbook's
        exp(eta * (2 q - 1) * gap) is ``2 * eta`` here.

    Returns
    -------
    Distribution
        A new one over the same domain, with the same total.

    Raises
    ------
    DomainError, ParameterError
        If the query does not fit the domain, or no distribution that is positive only
        where this one is answers ``y``: take eta, or `fit`.

    Examples
    --------
    >>> from dpframe import Domain, col
    >>> from dpframe.multiplicative_weights import Distribution, update
    >>> p = Distribution(Domain({"a": [0, 1], "b": [0, 1]}))
    >>> update(p, col("a") == 1, 0.6).marginal("a").round(9)
    array([0.4, 0.6])
    >>> update(p, ("a", "b"), [0.1, 0.2, 0.3, 0.4]).cells.round(9)
    array([0.1, 0.2, 0.3, 0.4])
    """
    domain = distribution.domain
    if eta is not None and not math.isfinite(eta):
        msg = f"eta is a finite number, such as 0.5; got {shown(eta)}."
        raise ParameterError(msg)
    if isinstance(query, tuple):
        factor = LinearQuery(query, _marginal_factor(distribution, query, y, eta))
    else:
        linear = as_linear(query, domain)
        factor = LinearQuery(
            linear.columns, _factor(distribution, linear, _number(y), eta)
        )
    tilted = distribution.cells * factor.on_all(domain)
    return Distribution(domain, tilted / tilted.sum(), total=distribution.total)


def _factor(
    distribution: Distribution, query: LinearQuery, y: float, eta: float | None
) -> Table:
    """Return what each cell of the query's columns is multiplied by."""
    weights = query.weights
    p = distribution.table(query.columns)
    if eta is not None:
        return _exp(eta * (y - float((weights * p).sum())) * weights)
    possible = weights[p > 0]
    if not possible.min() < y < possible.max():
        raise _out_of_reach(y, float(possible.min()), float(possible.max()))
    return _exp(_tilt_towards(weights, p, y) * weights)


def _marginal_factor(
    distribution: Distribution,
    columns: tuple[str, ...],
    y: ArrayLike,
    eta: float | None,
) -> Table:
    p = distribution.table(columns)
    goal = np.asarray(y, dtype=np.float64)
    if goal.size != p.size or not np.isfinite(goal).all():
        msg = (
            f"the marginal of {', '.join(columns)} has {p.size:,} cells; y needs one "
            f"finite proportion for each, last column fastest. It has {goal.size:,}."
        )
        raise ParameterError(msg)
    goal = goal.reshape(p.shape)
    if eta is not None:
        return _exp(eta * (goal - p))
    if goal.min() < 0 or goal.sum() <= 0 or (goal[p == 0] > 0).any():
        msg = (
            "no distribution has this marginal: its cells must be >= 0, not all 0, and "
            "positive only where the distribution is. Noisy ones go to fit(...)."
        )
        raise ParameterError(msg)
    return np.divide(goal, p, out=np.zeros(p.shape), where=p > 0)


def _tilt_towards(weights: Table, p: Table, y: float) -> float:
    """Return the t at which the mean of weights under p e^(t weights) is y.

    The mean increases with t: Newton's steps, kept inside a bracket that halves.
    """
    low, high, t = -math.inf, math.inf, 0.0
    for _ in range(_NEWTON_STEPS):
        tilted = p * _exp(t * weights)
        tilted = tilted / tilted.sum()
        mean = float((tilted * weights).sum())
        slope = float((tilted * (weights - mean) ** 2).sum())
        low, high = (t, high) if mean < y else (low, t)
        step = t + (y - mean) / slope if slope > 0 else math.nan
        if not low < step < high:
            step = _between(low, high)
        if step == t or abs(mean - y) <= 1e-15:
            break
        t = step
    return t


def _between(low: float, high: float) -> float:
    if math.isinf(low) or math.isinf(high):
        end = low if math.isinf(high) else high
        return 2 * end + (1.0 if math.isinf(high) else -1.0)
    return (low + high) / 2


def _exp(exponents: Table) -> Table:
    """Return e to the exponents, up to one factor for all."""
    factors: Table = np.exp(exponents - exponents.max())
    return factors


def _number(y: ArrayLike) -> float:
    value = np.asarray(y, dtype=np.float64)
    if value.size != 1 or not np.isfinite(value).all():
        msg = f"y is the one answer of the query, a proportion; got {shown(y)}."
        raise ParameterError(msg)
    return float(value.reshape(()))


def _out_of_reach(y: float, least: float, most: float) -> ParameterError:
    return ParameterError(
        f"no distribution over these cells answers {y:.6g}: answers lie strictly "
        f"between {least:.6g} and {most:.6g}. y is a proportion, not a count; for a "
        "noisy one outside take a step with eta=, or fit(...)."
    )
