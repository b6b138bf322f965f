"""From noisy counts and an estimand to an `Estimate`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from inspect import isfunction, signature
from statistics import NormalDist
from typing import Any, Literal, final, get_args

from dpframe.errors import ParameterError, UnstableEstimateError, shown
from dpframe.estimands.black_boxes import black_box
from dpframe.estimands.estimand import Debiased, Estimand, PlugInRisk
from dpframe.estimands.known_total import given_total
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.noisy_numbers import NoisyNumbers
from dpframe.privacy.amounts import Amount, as_fraction

__all__ = ["Estimate", "Method", "estimate"]

Method = Literal["unbiased", "plugin", "auto"]

_UNSTABLE = "no unbiased estimate is stable here: nothing is known about the bias."
_NO_RISK = "the plug-in's bias and variance could not be estimated."
_NEGATIVE = (
    "the unbiased estimate of the variance is negative, so std_error is 0, which says "
    "nothing of the true error: no figure can be given."
)


@final
@dataclass(frozen=True)
class Estimate:
    """A statistic of the true counts, estimated from noisy ones.

    ``float(e)`` is ``e.value``. Post-processing of a release: free of charge.

    Attributes
    ----------
    estimand : str
        What was estimated.
    value : float
        The estimate, by ``method``.
    plug_in : float
        The statistic of the noisy counts themselves, cut to the domain.
    variance : float
        Estimated variance of ``value`` over the noise, not cut at 0; NaN if unknown.
    method : {"unbiased", "plugin"}
        What ``value`` is; ``"auto"`` names here what it chose.
    warnings : tuple of str
        Why the numbers may be worth less than they look.
    unit : str
        Unit of ``value``; empty for a plain number.
    """

    estimand: str
    value: float
    plug_in: float
    variance: float
    method: Literal["unbiased", "plugin"]
    warnings: tuple[str, ...] = ()
    unit: str = ""

    def __float__(self) -> float:
        return self.value

    @property
    def std_error(self) -> float:
        """Square root of ``variance`` cut at 0, in the unit of ``value``."""
        return math.sqrt(self.variance) if not self.variance < 0 else 0.0

    def interval(self, level: Amount = 0.95) -> tuple[float, float]:
        """Return the normal interval, value ± z std_error.

        Parameters
        ----------
        level : number
            Nominal coverage, inside (0, 1). It covers the noise; a plug-in's bias
            is not in it.

        Returns
        -------
        tuple of float
            Lower and upper end; NaN where the variance is not known.

        Raises
        ------
        ParameterError
            If ``level`` is not inside (0, 1).
        """
        coverage = as_fraction(level, "level")
        if not 0 < coverage < 1:
            msg = f"level must be inside (0, 1), for example 0.95; got {shown(level)}."
            raise ParameterError(msg)
        missed = max(float((1 - coverage) / 2), 1e-300)  # on either side
        half = -NormalDist().inv_cdf(missed) * self.std_error
        return (self.value - half, self.value + half)

    def __repr__(self) -> str:
        count = len(self.warnings)
        warned = f", {count} warning{'s' * (count > 1)}" if count else ""
        return f"Estimate({self.estimand} = {self._figure()}, {self.method}{warned})"

    def _repr_html_(self) -> str:
        low, high = self.interval()
        rows = {
            self.estimand: self._figure(),
            "95 % interval": f"{low:.6g} to {high:.6g}",
            "method": self.method,
            "plug-in": f"{self.plug_in:.6g}",
        }
        body = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            f"<td>{escape(shown)}</td></tr>"
            for name, shown in rows.items()
        )
        notes = "".join(f"<li>{escape(text)}</li>" for text in self.warnings)
        return f"<table>{body}</table>" + (f"<ul>{notes}</ul>" if notes else "")

    def _figure(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.value:.6g} ± {self.std_error:.2g}{unit}"


def estimate(
    noisy: NoisyCounts | NoisyNumbers,
    estimand: Estimand | Callable[[Any], Any],
    *,
    method: Method = "unbiased",
    total: int | None = None,
) -> Estimate:
    """Estimate a statistic of the true counts behind ``noisy``.

    Parameters
    ----------
    noisy : NoisyCounts or NoisyNumbers
        The released integers, the rates of their noise, and the domain; or numbers
        with other noise, for which ``"auto"`` is ``"unbiased"``.
    estimand : Estimand or callable
        For example `entropy` or `power_sum(2)`. A bare function of all counts is taken
        as `black_box`; a function of one count is made an estimand by `separable`.
    method : {"unbiased", "plugin", "auto"}
        ``"unbiased"``: expectation over the noise is the statistic. ``"plugin"``:
        the statistic of the noisy counts. ``"auto"``: the one with the smaller
        estimated mean squared error; no longer unbiased, for it looks at the noise,
        and it errs near the break-even. Where the plug-in's error cannot be
        estimated ``"auto"`` is ``"unbiased"``; where the unbiased estimate is
        unstable or beyond 1e300 it is ``"plugin"``.
    total : int, optional
        The sum of the true counts of all bins, if it is a public fact: no number of
        rows is public by itself. For entropy, `tsallis`, `gini_simpson`, `chi_square`,
        `variance`, `moment` and sums over bins; ``"auto"`` is then ``"unbiased"``.

    Returns
    -------
    Estimate
        The value, its variance over the noise, and warnings.

    Raises
    ------
    ParameterError
        If ``estimand`` or ``method`` is none of these, or ``total`` of no use or
        contrary to the domain.
    NoInverseError
        If the estimand has no exact unbiased estimate under the noise; a
        ParameterError and a ProvenanceError.
    UnstableEstimateError
        If an unbiased estimate was asked for and is beyond 1e300.

    Notes
    -----
    With squared bias B and variances V of both, all estimated without bias where
    the estimand is separable, ``"auto"`` keeps the unbiased estimate when
    B > V(unbiased) - V(plug-in).
    """
    estimand = _read(estimand, method)
    if total is not None:
        estimand = given_total(estimand, total)
    if isinstance(noisy, NoisyNumbers):
        plug_in, unbiased = estimand.debias_numbers(noisy)
        return _choose(estimand, method, plug_in, unbiased, None)
    plug_in = estimand.plug_in(noisy)
    try:
        unbiased = estimand.debias(noisy)
    except UnstableEstimateError:
        if method == "unbiased":
            raise
        return _from_plug_in(estimand, Debiased(plug_in, math.nan, (_UNSTABLE,)))
    risk = None if method == "unbiased" else estimand.plug_in_risk(noisy, unbiased)
    return _choose(estimand, method, plug_in, unbiased, risk)


def _choose(
    estimand: Estimand,
    method: Method,
    plug_in: float,
    unbiased: Debiased,
    risk: PlugInRisk | None,
) -> Estimate:
    """Return the estimate by ``method``, with what is to be said about it."""
    if method == "unbiased":
        return _record(estimand, unbiased, plug_in, "unbiased")
    unknown = () if risk else (_NO_RISK,)
    if method == "auto" and not _plug_in_wins(risk, unbiased):
        unbiased = unbiased._replace(warnings=(*unbiased.warnings, *unknown))
        return _record(estimand, unbiased, plug_in, "unbiased")
    bias = (
        f"biased by about {plug_in - unbiased.value:.2g}, which std_error leaves out."
        if unbiased.stable
        else _UNSTABLE
    )
    variance = risk.variance if risk else math.nan
    return _from_plug_in(estimand, Debiased(plug_in, variance, (bias, *unknown)))


def _plug_in_wins(risk: PlugInRisk | None, unbiased: Debiased) -> bool:
    if risk is None or not unbiased.stable:
        return not unbiased.stable
    return risk.bias_squared <= unbiased.variance - risk.variance


def _from_plug_in(estimand: Estimand, found: Debiased) -> Estimate:
    return _record(estimand, found, found.value, "plugin")


def _record(
    estimand: Estimand,
    found: Debiased,
    plug_in: float,
    method: Literal["unbiased", "plugin"],
) -> Estimate:
    warnings = found.warnings
    if found.variance < 0:
        warnings = (*warnings, _NEGATIVE)
    return Estimate(
        estimand=estimand.name,
        value=found.value,
        plug_in=plug_in,
        variance=found.variance,
        method=method,
        warnings=warnings,
        unit=estimand.unit,
    )


def _read(estimand: Any, method: Any) -> Estimand:
    if not isinstance(method, str) or method not in get_args(Method):
        msg = f"method must be 'unbiased', 'plugin' or 'auto'; got {shown(method)}."
        raise ParameterError(msg)
    if isinstance(estimand, Estimand):
        return estimand
    module = getattr(estimand, "__module__", None) or ""  # None in exec'd code
    if isfunction(estimand) and module.startswith("dpframe.estimands."):
        given = ", ".join(signature(estimand).parameters)
        name = estimand.__name__
        msg = f"{name} makes estimands: call it first, as in {name}({given})."
        raise ParameterError(msg)
    if callable(estimand):
        return black_box(estimand)
    msg = (
        f"an estimand was expected, not {type(estimand).__name__}: for example "
        "entropy, power_sum(2) or separable(f), from dpframe.estimands, or a function "
        "of all counts."
    )
    raise ParameterError(msg)
