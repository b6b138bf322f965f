"""The smallest, largest, middle or k-th smallest of the counts of a histogram."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from dpframe.errors import ParameterError, shown
from dpframe.estimands.estimand import Debiased, Estimand
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.order_law import noisy_orders, order_moments
from dpframe.estimands.stencil import Stencil, inverse_weights
from dpframe.privacy.amounts import Amount, as_fraction

__all__ = [
    "OrderStatistics",
    "maximum",
    "median",
    "minimum",
    "order_statistic",
    "quantile",
    "quantile_range",
    "read_level",
]

Ranks = dict[int, Fraction]  # weight of the k-th smallest, by k from 1

_CROWDED = (
    "the standard error is more than 10 times the noise of one bin: too many bins have "
    "noisy counts within 1 of this order statistic. Use method='auto' or 'plugin', or "
    "average several releases."
)
_UNKNOWN = (
    "the standard error is not known: too many bins have noisy counts near both order "
    "statistics to work out how they vary together."
)


@final
@dataclass(frozen=True, repr=False)
class OrderStatistics(Estimand):
    """A weighted sum of order statistics; made by `quantile` and its relatives.

    `minimum`, `maximum` and `median` are instances; the median of an even number of
    counts is the mean of the middle two. ``ranks`` gives the weight of each rank for
    the number of bins.
    """

    ranks: Callable[[int], Ranks]
    name: str

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the order statistic of the noisy counts, cut to the domain."""
        weights = self._weights(noisy)
        orders = noisy_orders(noisy.clip(noisy.values.ravel()), weights)
        return float(sum(weight * orders[k] for k, weight in weights.items()))

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the unbiased estimate and its unbiased variance.

        It is not ``stable`` where its standard error is more than 10 times the noise
        of the plug-in.
        """
        weights = self._weights(noisy)
        stencil = Stencil.of(noisy)
        value, variance = order_moments(stencil, weights)
        warnings = (_UNKNOWN,) if math.isnan(variance) else ()
        # A variance far below 0 is a large one badly estimated; without any, the
        # distance from the plug-in shows what the noise can do.
        spread = (value - self.plug_in(noisy)) ** 2 if warnings else abs(variance)
        crowded = spread > 100 * _noise_scale(stencil, weights) ** 2
        return Debiased(
            value,
            variance,
            (*warnings, _CROWDED) if crowded else warnings,
            stable=not crowded,
        )

    def _weights(self, noisy: NoisyCounts) -> Ranks:
        if not noisy.values.size:
            msg = f"{self.name} needs at least one bin."
            raise ParameterError(msg)
        return self.ranks(noisy.values.size)


def order_statistic(k: int) -> OrderStatistics:
    r"""Make the estimand: the ``k``-th smallest count.

    The smallest noisy count is below the smallest count, on average, the more so the
    more bins are near it. The estimate has no such bias; only the bins whose noisy
    counts are within 1 of the noisy order statistic act on it. Exact for every domain,
    with one rate (O(n)) or one per bin (O(w²), w the number of those bins); of least
    variance where the domain has an end.

    Parameters
    ----------
    k : int
        The rank, counted from 1, the smallest.

    Raises
    ------
    ParameterError
        If ``k`` is no integer or below 1; when estimating, if there are fewer bins.

    Notes
    -----
    For equal counts the variance grows like (1 + 2c)^(2w), 2c being the noise
    variance, while the plug-in's error stays near that of one bin: take it for counts
    that are spread out against the noise, or to average over many releases. A warning
    is given at 10 times the noise of one bin, `UnstableEstimateError` raised when the
    weights have a norm beyond 1e300. ``method="auto"`` takes the plug-in in both cases.

    References
    ----------
    .. [1] docs/proofs/debias_orders.rst, theorem 1.

    Examples
    --------
    >>> from dpframe.estimands import debias, order_statistic
    >>> e = debias([9, 4, 30, 4, 17], order_statistic(1), epsilon=1.0)
    >>> e.plug_in, e.value  # of two bins at 4, one tends to be too low
    (4.0, 7.536...)
    """
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        msg = (
            "order_statistic needs a rank k >= 1, order_statistic(1) being the "
            f"smallest; got {shown(k)}."
        )
        raise ParameterError(msg)
    rank = int(k)

    def ranks(bins: int) -> Ranks:
        if rank > bins:
            msg = f"order_statistic({rank}) was asked of {bins} bins: take k <= {bins}."
            raise ParameterError(msg)
        return {rank: Fraction(1)}

    return OrderStatistics(ranks, f"order_statistic({rank})")


def quantile(q: Amount) -> OrderStatistics:
    """Make the estimand: the ``q``-quantile of the counts, one count per bin.

    Between two order statistics it interpolates linearly, as `numpy.quantile` does.
    This is about how the counts are spread, whatever the order of the bins; for the
    quantile of the rows that were counted, over ordered bins, see `data_quantile`.

    Parameters
    ----------
    q : number
        Level in [0, 1]; a float means its shortest decimal.

    Raises
    ------
    ParameterError
        If ``q`` is no number or not in [0, 1].

    See Also
    --------
    order_statistic : what the estimates are worth.

    Examples
    --------
    >>> from dpframe.estimands import debias, quantile
    >>> e = debias([3, 5, 2, 8, 0, 1, 4], quantile(0.25), epsilon=2.0)
    >>> e.plug_in, e.value
    (1.5, 1.497...)
    """
    level = read_level(q, "quantile")
    return OrderStatistics(
        lambda bins: _quantile_ranks(level, bins), f"quantile({_text(level)})"
    )


def quantile_range(a: Amount, b: Amount) -> OrderStatistics:
    """Make the estimand: ``quantile(b)`` less ``quantile(a)`` of the counts.

    Parameters
    ----------
    a, b : number
        Levels in [0, 1], ``a`` below ``b``; 0.25 and 0.75 give the interquartile range.

    Raises
    ------
    ParameterError
        If ``a`` or ``b`` is no number or not in [0, 1], or ``a`` is not below ``b``.

    Notes
    -----
    Order statistics whose noisy values are 3 or more apart are uncorrelated. The
    variance is NaN where they are closer than that though more than about a thousand
    ranks apart (a hundred, with a rate per bin).

    Examples
    --------
    >>> from dpframe.estimands import debias, quantile_range
    >>> e = debias([3, 5, 2, 8, 0, 1, 4], quantile_range(0.25, 0.75), epsilon=2.0)
    >>> e.plug_in, e.value
    (3.0, 3.018...)
    """
    low, high = read_level(a, "quantile_range"), read_level(b, "quantile_range")
    if not low < high:
        msg = (
            "quantile_range needs the lower level first, as in quantile_range(0.25, "
            f"0.75); got {_text(low)} and {_text(high)}."
        )
        raise ParameterError(msg)

    def ranks(bins: int) -> Ranks:
        weights = _quantile_ranks(high, bins)
        for k, weight in _quantile_ranks(low, bins).items():
            weights[k] = weights.get(k, Fraction(0)) - weight
        return weights

    return OrderStatistics(ranks, f"quantile_range({_text(low)}, {_text(high)})")


def read_level(q: Amount, name: str) -> Fraction:
    """Read a level in [0, 1], for the estimand called ``name``."""
    level = as_fraction(q, "q")
    if not 0 <= level <= 1:
        msg = f"{name} needs levels from 0 to 1; got {shown(q)}."
        raise ParameterError(msg)
    return level


def _quantile_ranks(level: Fraction, bins: int) -> Ranks:
    place = level * (bins - 1)
    below = math.floor(place)
    part = place - below
    return {below + 1: 1 - part, below + 2: part} if part else {below + 1: Fraction(1)}


def _text(level: Fraction) -> str:
    return f"{float(level):.6g}"


def _noise_scale(stencil: Stencil, weights: Ranks) -> float:
    """Return the noise of the bins at the noisy order statistics, in rows.

    At least 1/10: an estimate that is off by less than 1 is not drowned in noise.
    """
    orders = noisy_orders(stencil.center, weights)
    c, _ = inverse_weights(stencil.rate)
    noise = sum(
        abs(weight) * math.sqrt(2 * c[stencil.center == orders[k]].max())
        for k, weight in weights.items()
    )
    return max(float(noise), 0.1)


minimum = OrderStatistics(lambda bins: {1: Fraction(1)}, "minimum")
maximum = OrderStatistics(lambda bins: {bins: Fraction(1)}, "maximum")
median = OrderStatistics(lambda bins: _quantile_ranks(Fraction(1, 2), bins), "median")
