"""Sums over bins of one function of the count: the linear case of debiasing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Polynomial

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands.estimand import Debiased, Estimand, PlugInRisk, swamped
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.noisy_numbers import NoisyNumbers
from dpframe.estimands.plug_in_risk import plug_in_risk
from dpframe.estimands.smooth_functions import (
    SmoothFunction,
    TwiceDifferentiable,
    UnivariatePolynomial,
)
from dpframe.estimands.stencil import LocalValues, Stencil
from dpframe.privacy.amounts import as_fraction

__all__ = ["Separable", "add_up", "separable", "smooth"]


@final
@dataclass(frozen=True, repr=False)
class Separable(Estimand):
    """The sum of f(x_i) over bins; made by `separable` and its special cases."""

    f: Callable[[Any], Any]
    name: str
    unit: str = ""

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the sum of f over the noisy counts, cut to the domain."""
        distinct, numbers = noisy.tally
        here = Stencil.of(distinct).evaluate(self.f).here
        return add_up(here * numbers)

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the sum of T f(y_i) and its unbiased variance, never negative."""
        distinct, numbers = noisy.tally
        stencil = Stencil.of(distinct)
        local = stencil.evaluate(self.f)
        with np.errstate(over="ignore"):
            terms = stencil.apply(local) * numbers
            variance = add_up(stencil.variance(local) * numbers)
        size = add_up(np.abs(local.here) * numbers)
        return Debiased(add_up(terms), variance, swamped(variance, size))

    def given_total(self, stencil: Stencil, total: int) -> LocalValues:
        """Return the terms f(z): they are a sum over bins without the total."""
        return stencil.evaluate(self.f)

    def debias_numbers(self, noisy: NoisyNumbers) -> tuple[float, Debiased]:
        """Return the plug-in and the estimate, if f is known to be smooth."""
        f = self.f
        if not (isinstance(f, SmoothFunction) and noisy.inverts(f)):
            raise noisy.refuse(self.name)
        with np.errstate(over="ignore", invalid="ignore"):
            terms, variances = noisy.apply(f), noisy.covariance(f, f)
            plug_in = f.derivatives(noisy.clip(noisy.values))[0]
        variance, size = add_up(variances), add_up(np.abs(plug_in))
        found = Debiased(add_up(terms), variance, swamped(variance, size))
        return add_up(plug_in), found

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
    f : callable or numpy Polynomial
        ``f(counts) -> values`` of the same shape, or ``f(int) -> float``; which of
        the two is found out by calling it. It is asked for no count outside the
        domain, and for ``method="unbiased"`` only at the noisy counts and their two
        neighbors. Arrays come as float64. Exact results (ints, Fractions) are kept
        exact until differences are taken. A ``numpy.polynomial.Polynomial`` is
        taken by its coefficients, so that other noise than discrete Laplace can be
        undone; for other smooth functions of that kind see `smooth`.
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
    if isinstance(f, Polynomial):
        return Separable(_exact(f), name or "separable")
    if not callable(f):
        msg = f"separable needs a function of one count, not {type(f).__name__}."
        raise ParameterError(msg)
    own_name = getattr(f, "__name__", "<lambda>")
    return Separable(f, name or ("separable" if own_name == "<lambda>" else own_name))


def smooth(
    f: Callable[[Any], Any],
    first: Callable[[Any], Any],
    second: Callable[[Any], Any],
    name: str | None = None,
) -> Separable:
    """Make an estimand of the sum over bins of a smooth ``f`` of the true value.

    Like `separable`, and also for numbers with continuous Laplace noise of scale b,
    where the estimate is the sum of f(y_i) - b² f''(y_i).

    Parameters
    ----------
    f, first, second : callable
        The function and its first and second derivative, f' continuous over the
        whole domain, f and f' growing more slowly than e^(|x|/b): neither is
        checked. Each is vectorized or takes one number, as in `separable`.
    name : str, optional
        What the estimate is called; the function's own name by default.

    Raises
    ------
    ParameterError
        If one of them cannot be called.

    References
    ----------
    .. [1] docs/proofs/debias_polynomials.rst, theorem 5.

    Examples
    --------
    >>> import numpy as np
    >>> from dpframe.estimands import debias, smooth
    >>> waves = smooth(np.sin, np.cos, lambda x: -np.sin(x), name="waves")
    >>> noise = {"epsilon": 2, "noise": "continuous_laplace", "domain": "integers"}
    >>> e = debias([0.25, 1.5], waves, **noise)
    >>> round(e.value / e.plug_in, 12)  # 1 + b²
    1.25
    """
    for what, given in (("f", f), ("first", first), ("second", second)):
        if not callable(given):
            msg = (
                f"smooth needs a function and its two derivatives; {what} is "
                f"{type(given).__name__}."
            )
            raise ParameterError(msg)
    own_name = getattr(f, "__name__", "<lambda>")
    chosen = name or ("smooth" if own_name == "<lambda>" else own_name)
    return Separable(TwiceDifferentiable(f, first, second), chosen)


def _exact(f: Polynomial) -> UnivariatePolynomial:
    coefficients = f.convert(domain=[-1, 1], window=[-1, 1]).coef
    return UnivariatePolynomial(
        tuple(as_fraction(each, "a coefficient") for each in coefficients.tolist())
    )


def add_up(terms: npt.NDArray[np.float64]) -> float:
    """Add up without rounding between the terms."""
    if terms.size and not np.abs(terms).max() * terms.size < 1e300:
        msg = (
            "the estimate or its variance is beyond 1e300: the estimand grows too fast "
            "for these counts. Use a smaller power, or scale the function down."
        )
        raise UnstableEstimateError(msg)
    return math.fsum(terms.tolist())
