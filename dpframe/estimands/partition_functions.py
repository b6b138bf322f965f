r"""Partition functions Σ e^(t x_i): exponentials are eigenfunctions of the inverse.

T e^(tx) = e^(ty) (1 - p e^t)(1 - p e^-t)/(1 - p)² with p = e^-rate, the reciprocal of
the noise's transform; of the two factors only the first is left at a lower end of the
domain, only the second at an upper one. Written with expm1, for they cancel near
|t| = rate, and kept as logarithms, for e^(ty) soon leaves float64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError, UnstableEstimateError, shown
from dpframe.estimands.estimand import Debiased, Estimand, PlugInRisk, swamped
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.noisy_numbers import ExponentialTerms, NoisyNumbers
from dpframe.estimands.plug_in_risk import plug_in_risk
from dpframe.estimands.stencil import Stencil

__all__ = ["PartitionFunction", "partition_function"]

Floats = npt.NDArray[np.float64]

_LARGEST_T = 1e300
_LOG_LARGEST = math.log(1e300)
_HEAVY = (
    "2 |t| is not below epsilon / sensitivity: the estimate is unbiased, but its "
    "variance is infinite. Use a smaller t."
)
_HUGE = "the estimated variance is beyond 1e300, so std_error is not given."


@final
@dataclass(frozen=True, repr=False)
class PartitionFunction(Estimand):
    """The sum of e^(t x_i) over bins; made by `partition_function`."""

    t: float
    name: str

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the sum over the noisy counts, cut to the domain."""
        return _total(self.t * noisy.clip(noisy.values.ravel()).astype(np.float64))

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the unbiased estimate and its unbiased variance."""
        reach = float(noisy.rate.min(initial=np.inf))
        heavy = self._check(reach, noisy.ends, noisy.domain)
        terms = _exponential(Stencil.of(noisy), self.t)
        return self._estimate(terms, self.plug_in(noisy), heavy=heavy)

    def debias_numbers(self, noisy: NoisyNumbers) -> tuple[float, Debiased]:
        """Return the plug-in and the unbiased estimate."""
        heavy = self._check(noisy.reach, noisy.ends, noisy.domain)
        plug_in = _total(self.t * noisy.clip(noisy.values))
        terms = noisy.exponential(self.t)
        return plug_in, self._estimate(terms, plug_in, heavy=heavy)

    def plug_in_risk(self, noisy: NoisyCounts, unbiased: Debiased) -> PlugInRisk | None:
        """Estimate the plug-in's risk, where it is finite and within float64."""
        steepest = abs(self.t) * (np.abs(noisy.values).max(initial=0) + 1.0)
        if steepest > _LOG_LARGEST:
            return None
        bias = self.plug_in(noisy) - unbiased.value
        return plug_in_risk(lambda x: np.exp(self.t * x), noisy, bias)

    def _check(self, reach: float, ends: tuple[Any, Any], domain: object) -> bool:
        """Refuse a t without expectation; return whether the variance is infinite."""
        low, high = ends
        # Noise runs off to an open end; at a closed one every estimate is bounded.
        steepest = max(self.t if high is None else 0.0, -self.t if low is None else 0.0)
        if steepest < reach:
            return 2 * steepest >= reach
        bounds = [f"t > {-reach:.6g}"] * (low is None) + [f"t < {reach:.6g}"] * (
            high is None
        )
        msg = (
            f"{self.name} has no unbiased estimate: domain={shown(domain)} needs "
            f"{' and '.join(bounds)}, the least epsilon / sensitivity of all bins."
        )
        raise ParameterError(msg)

    def _estimate(
        self, terms: ExponentialTerms, plug_in: float, *, heavy: bool
    ) -> Debiased:
        value = _total(terms.exponent + terms.log_factor, terms.sign)
        if heavy:
            return Debiased(value, math.inf, (_HEAVY,))
        try:
            variance = _total(2 * terms.exponent + terms.log_spread)
        except UnstableEstimateError:
            return Debiased(value, math.nan, (_HUGE,))
        return Debiased(value, variance, swamped(variance, plug_in))


def partition_function(t: float) -> PartitionFunction:
    """Make the estimand: sum over bins of e^(t x_i).

    The noise alone multiplies e^(t y) by 1/(1 - 4c sinh²(t/2)) on average, whatever
    the data; the estimate takes that back. It has an expectation for |t| below the
    least epsilon / sensitivity, and a finite variance for |t| below half of it; on
    domain "counts" this limits positive t only, on (lo, hi) neither. Gaussian noise
    sets no limit.

    Parameters
    ----------
    t : float
        The exponent, per row; finite.

    Raises
    ------
    ParameterError
        If ``t`` is no finite number; when it is estimated, if ``t`` is beyond the
        limit, which the message names.

    Notes
    -----
    Where 2 |t| is at or beyond the limit the estimate warns and its ``variance`` is
    infinite; beyond 1e300 it is NaN. Sums beyond 1e300 raise UnstableEstimateError.

    References
    ----------
    .. [1] docs/proofs/debias_polynomials.rst, theorem 9.

    Examples
    --------
    >>> from dpframe.estimands import debias, partition_function
    >>> e = debias([3, 5, 2, 8], partition_function(0.25), epsilon=1.0)
    >>> e.plug_in / e.value - 1  # the bias of the plug-in away from 0
    0.06139...
    """
    if isinstance(t, bool) or not isinstance(t, (int, float, np.integer, np.floating)):
        msg = f"partition_function needs a number t, for example 0.25; got {shown(t)}."
        raise ParameterError(msg)
    if not abs(t) <= _LARGEST_T:
        msg = (
            f"partition_function needs a finite t, up to 1e300 in size; got {shown(t)}."
        )
        raise ParameterError(msg)
    exponent = float(t)
    return PartitionFunction(exponent, f"partition_function({exponent:g})")


def _exponential(stencil: Stencil, t: float) -> ExponentialTerms:
    """Return T e^(tx) of every bin under discrete Laplace noise."""
    rate, rises, falls = stencil.rate, stencil.rises, stencil.falls
    lost = _log_expm1(-rate)
    rising, falling = t - rate, -t - rate
    log_factor = np.where(rises, _log_expm1(rising) - lost, 0.0)
    log_factor = log_factor + np.where(falls, _log_expm1(falling) - lost, 0.0)
    sign = np.where(rises, -np.sign(rising), 1.0) * np.where(
        falls, -np.sign(falling), 1.0
    )
    # The steps e^t - 1 and e^-t - 1 over e^|t|, which alone may leave float64.
    grown = -math.expm1(-abs(t))
    shrunk = -grown * math.exp(-abs(t))
    up, down = (grown, shrunk) if t > 0 else (shrunk, grown)
    mean = stencil.up * up + stencil.down * down
    spread = mean**2 + stencil.up * up**2 + stencil.down * down**2
    with np.errstate(divide="ignore"):
        log_spread = 2 * abs(t) + np.log(spread)
    exponent = t * stencil.center.astype(np.float64)
    return ExponentialTerms(exponent, sign, log_factor, log_spread)


def _log_expm1(u: Floats) -> Floats:
    """Return log |e^u - 1|."""
    with np.errstate(divide="ignore"):
        return np.maximum(u, 0.0) + np.log(-np.expm1(-np.abs(u)))


def _total(logs: Floats, signs: Floats | None = None) -> float:
    """Return the sum of sign e^log, whatever the size of single terms."""
    largest = float(logs.max(initial=-np.inf))
    if largest == -np.inf:
        return 0.0
    terms = np.exp(logs - largest) * (1.0 if signs is None else signs)
    total = math.fsum(terms.tolist())
    if total == 0:
        return 0.0
    size = largest + math.log(abs(total))
    if not size < _LOG_LARGEST:
        msg = (
            "the sum of e^(t x) is beyond 1e300. Use a smaller t, or count from a "
            "number near the largest count."
        )
        raise UnstableEstimateError(msg)
    return (
        total * math.exp(largest)
        if largest < 700
        else math.copysign(math.exp(size), total)
    )
