"""Debiasing numbers that somebody has published, with no session and no charge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError, shown
from dpframe.estimands.divergence import HasNoisyCounts
from dpframe.estimands.estimand import Estimand
from dpframe.estimands.estimation import Estimate, Method, estimate
from dpframe.estimands.gaussian_numbers import GaussianNumbers
from dpframe.estimands.laplace_numbers import LaplaceNumbers
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.noisy_numbers import NoisyNumbers, RealDomain
from dpframe.estimands.rates import positive_amounts
from dpframe.privacy.amounts import Amount

__all__ = ["Noise", "debias"]

Noise = Literal["laplace", "continuous_laplace", "gaussian", "continuous_gaussian"]


def debias(
    counts: npt.ArrayLike,
    estimand: Estimand | Callable[[Any], Any],
    *,
    epsilon: Amount | Sequence[Amount] | npt.ArrayLike | None = None,
    sensitivity: Amount | Sequence[Amount] | npt.ArrayLike = 1,
    domain: RealDomain = "counts",
    method: Method = "unbiased",
    noise: Noise = "laplace",
    sigma2: Amount | Sequence[Amount] | npt.ArrayLike | None = None,
    total: int | None = None,
) -> Estimate:
    """Estimate a statistic of the true counts behind published noisy ones.

    The counts must be independent releases y = x + noise, by default discrete Laplace:
    integers, Pr[noise = k] proportional to exp(-epsilon |k| / sensitivity). Nothing may
    have been done to them but clipping to ``domain``. Post-processing: costs nothing.

    Parameters
    ----------
    counts : array of int, shape (n,)
        The published counts, in rows; floats if the noise was continuous.
    estimand : Estimand or callable
        For example ``dpframe.estimands.entropy``, ``power_sum(2)``, ``separable(f)``;
        a bare function of all counts is taken as ``black_box(f)``.
    epsilon : number, or array of shape (n,)
        Epsilon that the Laplace noise was made with, in all or bin by bin; if the
        sampler rounded it, the rounded value.
    sensitivity : number, or array of shape (n,)
        L1 sensitivity that the noise was made with.
    domain : {"counts", "integers"} or (lo, hi)
        What is public about the true values: at least 0; any integer; from ``lo`` to
        ``hi``, both included, with ``None`` for an open end. Fractional ones count as
        integers if the noise was continuous. Gaussian noise gains nothing from a
        domain, and must not have been clipped to it.
    method : {"unbiased", "plugin", "auto"}
        See `dpframe.estimands.estimate`.
    noise : {"laplace", "continuous_laplace", "gaussian", "continuous_gaussian"}
        The law: on the integers, unless continuous. Any estimand can be debiased from
        ``"laplace"``; polynomials (`power_sum`, `k_stars`, `moment`, `variance`,
        `polynomial`) and `partition_function` from all four; `smooth` from both
        Laplace laws.
    sigma2 : number, or array of shape (n,)
        For Gaussian noise, in place of epsilon and sensitivity: the parameter of
        Pr[noise = k] proportional to exp(-k² / (2 sigma2)), in squared rows. A release
        of l2 sensitivity D at rho-zCDP has sigma2 = D² / (2 rho).
    total : int, optional
        The public sum of all true counts; see `dpframe.estimands.estimate`.

    Returns
    -------
    Estimate
        ``float(e)``, ``e.std_error``, ``e.interval()``, ``e.plug_in``, ``e.warnings``.

    Raises
    ------
    ParameterError
        If a count is no integer (no number), epsilon, sensitivity or sigma2 is not
        positive or of no use to this noise, or the domain, method, noise or estimand is
        none of these.
    NoInverseError
        If the estimand has no exact unbiased estimate under this noise; a
        ParameterError.
    UnstableEstimateError
        If the unbiased estimate is beyond 1e300.

    Notes
    -----
    Counts that were published only from a threshold tau on ("y if y >= tau, else
    missing") are clipped at tau - 1: enter missing ones as tau - 1 and say
    ``domain=(tau - 1, None)``. The estimate is unbiased if all true counts are at least
    tau - 1; if tau >= 2 no estimate is for all counts from 0 on.

    References
    ----------
    .. [1] docs/proofs/debias.rst, docs/proofs/debias_polynomials.rst.

    Examples
    --------
    >>> from dpframe.estimands import debias, entropy
    >>> e = debias([310, 95, 41, 7, 0, -2, 1], entropy, epsilon=0.5)
    >>> e.plug_in
    0.8827...
    >>> low, high = e.interval(0.95)
    >>> low < float(e) < high
    True

    Squares of numbers with Gaussian noise:

    >>> from dpframe.estimands import power_sum
    >>> debias([310, 95], power_sum(2), noise="gaussian", sigma2=4).value
    105117.0
    """
    if isinstance(counts, HasNoisyCounts):
        msg = (
            "this is a release, which knows its own noise: write "
            "release.debias(estimand), with no epsilon=."
        )
        raise ParameterError(msg)
    if not isinstance(noise, str) or noise not in get_args(Noise):
        msg = (
            "noise must be 'laplace', 'continuous_laplace', 'gaussian' or "
            f"'continuous_gaussian'; got {shown(noise)}."
        )
        raise ParameterError(msg)
    noisy: NoisyCounts | NoisyNumbers
    if noise in ("laplace", "continuous_laplace"):
        noisy = _laplace(counts, noise, epsilon, sensitivity, sigma2, domain)
    else:
        noisy = _gaussian(counts, noise, epsilon, sigma2, domain)
    return estimate(noisy, estimand, method=method, total=total)


def _laplace(
    counts: Any, noise: str, epsilon: Any, sensitivity: Any, sigma2: Any, domain: Any
) -> NoisyCounts | NoisyNumbers:
    if sigma2 is not None or epsilon is None:
        msg = (
            f"noise={noise!r} is described by the epsilon and the sensitivity that it "
            "was made with: pass epsilon= and no sigma2=."
        )
        raise ParameterError(msg)
    amount, reach = (
        positive_amounts(epsilon, "epsilon"),
        positive_amounts(sensitivity, "sensitivity"),
    )
    with np.errstate(all="ignore"):  # a rate that leaves float64 is refused below
        if noise == "laplace":
            return NoisyCounts(np.asarray(counts), amount / reach, domain)
        return LaplaceNumbers(np.asarray(counts), reach / amount, domain)


def _gaussian(
    counts: Any, noise: str, epsilon: Any, sigma2: Any, domain: Any
) -> NoisyNumbers:
    if sigma2 is None or epsilon is not None:
        msg = (
            f"noise={noise!r} is described by sigma2 alone, sensitivity² / (2 rho) "
            "under zCDP: pass sigma2= and no epsilon=."
        )
        raise ParameterError(msg)
    return GaussianNumbers(
        np.asarray(counts),
        positive_amounts(sigma2, "sigma2"),
        domain,
        noise == "gaussian",
    )
