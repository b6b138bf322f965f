"""Sums over bins of one function of the count: the linear case of debiasing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands.estimand import Debiased, Estimand, PlugInRisk, swamped
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.plug_in_risk import plug_in_risk
from dpframe.estimands.stencil import Stencil

__all__ = ["Separable", "separable"]


@final
@dataclass(frozen=True, repr=False)
class Separable(Estimand):
    """The sum of f(x_i) over bins; made by `separable` and its special cases."""

    f: Callable[[Any], Any]
    name: str
    unit: str = ""

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the sum of f over the noisy counts, cut to the domain."""
        return _total(Stencil.of(noisy).evaluate(self.f).here)

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the sum of T f(y_i) and its unbiased variance, never negative."""
        stencil = Stencil.of(noisy)
        local = stencil.evaluate(self.f)
        with np.errstate(over="ignore"):
            terms, variances = stencil.apply(local), stencil.variance(local)
        variance = _total(variances)
        size = _total(np.abs(local.here))
        return Debiased(_total(terms), variance, swamped(variance, size))

    def plug_in_risk(self, noisy: NoisyCounts, unbiased: Debiased) -> PlugInRisk | None:
        """Estimate the plug-in's risk; f must accept every integer of the domain."""
        return plug_in_risk(self.f, noisy, self.plug_in(noisy) - unbiased.value)


def separable(f: Callable[[Any], Any], name: str | None = None) -> Separable:
    """Make an estimand of the sum over bins of ``f`` of the true count.

    The estimate is the sum of T f(y_i), O(n), unbiased whatever ``f`` is (growing
    more slowly than e^(rate |x|)); of least variance where the domain is bounded
    below. `power_sum`, `k_stars`, `profile` and `at_least` are made of it.

    Parameters
    ----------
    f : callable
        ``f(counts) -> values`` of the same shape, or ``f(int) -> float``; which of
        the two is found out by calling it. It is asked for no count outside the
        domain, and for ``method="unbiased"`` only at the noisy counts and their two
        neighbors. Arrays come as float64. Exact results (ints, Fractions) are kept
        exact until differences are taken.
    name : str, optional
        What the estimate is called; the function's own name by default.

    Returns
    -------
    Separable
        For `dpframe.debias` or ``release.debias``.

    Examples
    --------
    >>> from dpframe.estimands import debias, separable
    >>> repeated = separable(lambda x: x >= 2, name="keys seen twice")
    >>> debias([4, 0, 1, 9], repeated, epsilon=2.0).plug_in
    2.0
    """
    if not callable(f):
        msg = f"separable needs a function of one count, not {type(f).__name__}."
        raise ParameterError(msg)
    own_name = getattr(f, "__name__", "<lambda>")
    return Separable(f, name or ("separable" if own_name == "<lambda>" else own_name))


def _total(terms: npt.NDArray[np.float64]) -> float:
    """Add up without rounding between the terms."""
    if terms.size and not np.abs(terms).max() * terms.size < 1e300:
        msg = (
            "the estimate or its variance is beyond 1e300: the estimand grows too fast "
            "for these counts. Use a smaller power, or scale the function down."
        )
        raise UnstableEstimateError(msg)
    return math.fsum(terms.tolist())
