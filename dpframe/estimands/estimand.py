"""What an estimand is: a number that can be estimated from noisy counts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

from dpframe.errors import ParameterError
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.noisy_numbers import NoisyNumbers
from dpframe.estimands.stencil import LocalValues, Stencil

__all__ = ["Debiased", "Estimand", "PlugInRisk", "swamped"]

_SWAMPED = (
    "the standard error is more than 10 times the plug-in: the estimate is mostly "
    "noise. Use method='auto' or 'plugin', or average several releases."
)


class Debiased(NamedTuple):
    """An unbiased estimate, an estimate of its variance, and what to know of it.

    ``variance`` is not cut at 0, and NaN where none is known. ``stable`` is False
    where noise near the noise that was drawn would have made the value huge, so that
    no variance estimated here means anything.
    """

    value: float
    variance: float
    warnings: tuple[str, ...] = ()
    stable: bool = True


class PlugInRisk(NamedTuple):
    """Estimated squared bias and variance of the plug-in; either may be negative."""

    bias_squared: float
    variance: float


class Estimand(ABC):
    """A statistic f of the true counts x, to be estimated from noisy ones.

    Attributes
    ----------
    name : str
        How the estimand is called in an `Estimate`.
    unit : str
        The unit of its value, for example ``"nats"``; empty for a plain number.
    """

    name: str
    unit: str = ""

    @abstractmethod
    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return f of the noisy counts, cut to the domain: simple, and biased."""

    @abstractmethod
    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return an estimate whose expectation over the noise is f(x)."""

    def debias_numbers(self, noisy: NoisyNumbers) -> tuple[float, Debiased]:
        """Return the plug-in and an unbiased estimate under another law of noise.

        Raises
        ------
        NoInverseError
            If there is no exact one: so for all estimands that do not say otherwise.
        """
        raise noisy.refuse(self.name)

    def given_total(self, stencil: Stencil, total: int) -> LocalValues:
        """Return the terms of the sum over bins that f is once the total is known.

        Raises
        ------
        ParameterError
            If it is not known as one: so for all estimands that do not say otherwise.
        """
        msg = (
            f"total= is not put to use for {self.name}: leave it out. It serves sums "
            "over bins, such as separable(f), power_sum and moment, and what is one "
            "once the total is known: entropy, tsallis, gini_simpson, chi_square and "
            "variance."
        )
        raise ParameterError(msg)

    def plug_in_risk(self, noisy: NoisyCounts, unbiased: Debiased) -> PlugInRisk | None:
        """Return the plug-in's estimated risk, or None where it is not known."""
        return None

    def __repr__(self) -> str:
        return self.name


def swamped(variance: float, size: float) -> tuple[str, ...]:
    """Return a warning if the noise is 10 times the plug-in's ``size``, else none."""
    noisy = variance > 0 and math.sqrt(variance) > 10 * size
    return (_SWAMPED,) if noisy else ()
