"""Moments of the counts: power sums over the number of bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy.typing as npt

from dpframe.errors import ParameterError
from dpframe.estimands.estimand import Debiased, Estimand, PlugInRisk
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.noisy_numbers import NoisyNumbers
from dpframe.estimands.power_sums import as_power, power_sum
from dpframe.estimands.separable_sums import Separable
from dpframe.estimands.stencil import LocalValues, Stencil

__all__ = ["Moment", "moment"]


@final
@dataclass(frozen=True, repr=False)
class Moment(Estimand):
    """The mean over bins of x_i^k, the number of bins being public; see `moment`."""

    total: Separable
    name: str

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the moment of the noisy counts, cut to the domain."""
        return self.total.plug_in(noisy) / _bins(noisy.values)

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the unbiased estimate and its unbiased variance."""
        n = _bins(noisy.values)
        return _over(self.total.debias(noisy), n)

    def given_total(self, stencil: Stencil, total: int) -> LocalValues:
        """Return the terms z^k / n: the sum over bins needs no total."""
        n = _bins(stencil.center)
        return self.total.given_total(stencil, total).scaled(1 / n)

    def debias_numbers(self, noisy: NoisyNumbers) -> tuple[float, Debiased]:
        """Return the plug-in and the unbiased estimate."""
        n = _bins(noisy.values)
        plug_in, found = self.total.debias_numbers(noisy)
        return plug_in / n, _over(found, n)

    def plug_in_risk(self, noisy: NoisyCounts, unbiased: Debiased) -> PlugInRisk | None:
        """Estimate the plug-in's risk from that of the power sum."""
        n = _bins(noisy.values)
        total = unbiased._replace(value=n * unbiased.value)
        risk = self.total.plug_in_risk(noisy, total)
        return risk and PlugInRisk(risk.bias_squared / n**2, risk.variance / n**2)


def moment(k: int) -> Moment:
    """Make the estimand: mean over bins of x_i^k, about 0.

    Parameters
    ----------
    k : int
        The power, 1 to 1,000.

    Raises
    ------
    ParameterError
        If ``k`` is no integer, below 1 or above 1,000; when it is estimated, if
        there is no bin.

    Examples
    --------
    >>> from dpframe.estimands import debias, moment
    >>> e = debias([102, 98], moment(2), epsilon=1.0)
    >>> e.plug_in
    10004.0
    >>> e.plug_in - e.value  # 2c, the noise variance
    1.84134...
    """
    power = as_power(k, "moment")
    return Moment(power_sum(power), f"moment({power})")


def _bins(values: npt.NDArray[Any]) -> int:
    if not values.size:
        msg = (
            "a moment is a mean over bins, and there are no counts: pass at least one."
        )
        raise ParameterError(msg)
    return int(values.size)


def _over(found: Debiased, n: int) -> Debiased:
    return found._replace(value=found.value / n, variance=found.variance / n**2)
