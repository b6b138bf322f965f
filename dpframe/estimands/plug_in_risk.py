r"""What the plug-in would cost: its squared bias and its variance, both estimated.

For a sum of f over bins let K f(x) = E f(x + noise), f being constant outside the
domain. The plug-in's bias in a bin is beta = K f - f = c K(f'') with f'' the second
difference, because K is the inverse of 1 - c(second difference). Unbiased estimates
from the noisy counts y, with b_i = f(y_i) - T f(y_i):

    squared bias    (sum b_i)² - sum [b_i² - T(beta²)(y_i)],
    variance        sum [f(y_i)² - T((K f)²)(y_i)].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands.estimand import PlugInRisk
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.pointwise import difference, pointwise
from dpframe.estimands.stencil import LocalValues, Stencil, inverse_weights

__all__ = ["plug_in_risk"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Function = Callable[[Any], Any]

_REACH = 60.0  # noise scales after which an expectation is cut off
_TAIL = 1e-6  # what may be left there, relative to the largest term
_MOST_POINTS = 1_000_000


class _UnknownRisk(Exception):
    """An expectation diverges, or costs too much."""


def plug_in_risk(f: Function, noisy: NoisyCounts, bias: float) -> PlugInRisk | None:
    """Estimate the risk of the plug-in of the sum of ``f`` over bins.

    ``bias`` is the plug-in minus the unbiased estimate. None if the plug-in's
    variance does not converge within 60 noise scales, if ``f`` leaves float64 that
    far out, if it were needed at more than a million integers, or if the risk is beyond
    float64.
    """
    distinct, numbers = noisy.tally
    stencil = Stencil.of(distinct)
    local = stencil.evaluate(f)
    try:
        with np.errstate(all="ignore"):
            beta = _bias_near(f, distinct, stencil)
    except (_UnknownRisk, ParameterError, UnstableEstimateError):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        own = local.here - stencil.apply(local)
        spread = (own**2 - stencil.apply(_local(beta).square)) @ numbers
        # K f less the constant f(y_i), which leaves the variance as it is.
        smooth = beta + np.stack([np.zeros_like(own), local.up, local.down])
        variance = -stencil.apply(_local(smooth).square) @ numbers
    risk = PlugInRisk(bias * bias - float(spread), float(variance))
    return risk if all(map(math.isfinite, risk)) else None


def _local(values: Floats) -> LocalValues:
    here, up, down = values
    return LocalValues(here, up - here, down - here)


def _bias_near(f: Function, noisy: NoisyCounts, stencil: Stencil) -> Floats:
    """Return beta at the stencil's points, shape (3, n)."""
    points = stencil.points
    beta = np.empty(points.shape)
    left = _MOST_POINTS
    for rate in np.unique(stencil.rate):
        reach = math.ceil(_REACH / rate)
        bins = stencil.rate == rate
        distinct, place = np.unique(points[:, bins], return_inverse=True)
        runs = np.split(distinct, np.flatnonzero(np.diff(distinct) > 2 * reach) + 1)
        left -= sum(int(run[-1] - run[0]) + 2 * reach for run in runs)
        if left < 0:
            raise _UnknownRisk
        known = np.concatenate([_bias_on(f, noisy, run, rate, reach) for run in runs])
        beta[:, bins] = known[place].reshape(3, -1)
    return beta


def _bias_on(
    f: Function, noisy: NoisyCounts, run: Integers, rate: float, reach: int
) -> Floats:
    """Return beta = c K(f'') at the sorted points of ``run``."""
    grid = np.arange(run[0] - reach - 1, run[-1] + reach + 2)
    values = pointwise(f, noisy.clip(grid))
    _check_tails(difference(values, values[reach + 1]), rate, reach)
    curvature = np.diff(difference(values[1:], values[:-1]))
    below = _decayed_sums(curvature, rate, reach)
    above = _decayed_sums(curvature[::-1], rate, reach)[::-1]
    c, _ = inverse_weights(np.array([rate]))
    smooth = c * math.tanh(rate / 2) * (below + above - curvature)
    at_run: Floats = smooth[run - run[0] + reach]
    return at_run


def _check_tails(values: Floats, rate: float, reach: int) -> None:
    """Refuse an f whose square the noise's tails do not outweigh."""
    outside = np.arange(values.size, dtype=np.float64)
    outside = np.maximum(reach - outside, outside - (values.size - 1 - reach))
    term = values**2 * np.exp(-rate * np.maximum(outside, 0.0))
    if not max(term[0], term[-1]) <= _TAIL * term.max():
        raise _UnknownRisk


def _decayed_sums(values: Floats, rate: float, reach: int) -> Floats:
    """Return sum over j >= 0 of e^(-rate j) values[k - j], by doubling."""
    sums, step = values.copy(), 1
    while step < min(2 * reach, values.size):
        sums[step:] += math.exp(-rate * step) * sums[:-step].copy()
        step *= 2
    return sums
