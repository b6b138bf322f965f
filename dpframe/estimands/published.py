"""Debiasing numbers that somebody has published, with no session and no charge."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError
from dpframe.estimands.estimand import Estimand
from dpframe.estimands.estimation import Estimate, Method, estimate
from dpframe.estimands.noisy_counts import CountDomain, NoisyCounts
from dpframe.privacy.amounts import Amount, as_fraction

__all__ = ["debias"]


def debias(
    counts: npt.ArrayLike,
    estimand: Estimand,
    *,
    epsilon: Amount | npt.ArrayLike,
    sensitivity: Amount | npt.ArrayLike = 1,
    domain: CountDomain = "counts",
    method: Method = "unbiased",
) -> Estimate:
    """Estimate a statistic of the true counts behind published noisy ones.

    The counts must be independent discrete Laplace releases: integers y = x + noise,
    Pr[noise = k] proportional to exp(-epsilon |k| / sensitivity), with nothing done
    to them afterwards but clipping to ``domain``. Post-processing: costs nothing.

    Parameters
    ----------
    counts : array of int, shape (n,)
        The published counts, in rows.
    estimand : Estimand
        For example ``dpframe.estimands.entropy``, ``power_sum(2)``, ``separable(f)``.
    epsilon : number, or array of shape (n,)
        Epsilon that the noise was made with, in all or bin by bin; if the sampler
        rounded it, the rounded value.
    sensitivity : number, or array of shape (n,)
        L1 sensitivity that the noise was made with.
    domain : {"counts", "integers"} or (lo, hi)
        What is public about the true values: at least 0; any integer; from ``lo`` to
        ``hi``, both included, with ``None`` for an open end.
    method : {"unbiased", "plugin", "auto"}
        See `dpframe.estimands.estimate`.

    Returns
    -------
    Estimate
        ``float(e)``, ``e.std_error``, ``e.interval()``, ``e.plug_in``, ``e.warnings``.

    Raises
    ------
    ParameterError
        If a count is no integer, epsilon or sensitivity is not positive, or the
        domain, method or estimand is none of these.
    UnstableEstimateError
        If the unbiased estimate is beyond 1e300.

    References
    ----------
    .. [1] docs/proofs/debias.rst.

    Examples
    --------
    >>> from dpframe.estimands import debias, entropy
    >>> e = debias([310, 95, 41, 7, 0, -2, 1], entropy, epsilon=0.5)
    >>> e.plug_in
    0.8827...
    >>> low, high = e.interval(0.95)
    >>> low < float(e) < high
    True
    """
    with np.errstate(all="ignore"):  # a rate that leaves float64 is refused below
        rate = _positive(epsilon, "epsilon") / _positive(sensitivity, "sensitivity")
    noisy = NoisyCounts(np.asarray(counts), rate, domain)
    return estimate(noisy, estimand, method=method)


def _positive(value: Any, name: str) -> npt.NDArray[np.float64]:
    given = np.asarray(value)
    amounts = [as_fraction(each, name) for each in given.ravel().tolist()]
    if not all(amount > 0 for amount in amounts):
        msg = f"{name} must be positive in every bin: the noise was made with it."
        raise ParameterError(msg)
    return np.array([_to_float(amount) for amount in amounts]).reshape(given.shape)


def _to_float(amount: Fraction) -> float:
    try:
        return float(amount)
    except OverflowError:
        return np.inf
