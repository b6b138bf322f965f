"""A public total put to use: as a control variate of a sum over bins."""

from __future__ import annotations

import math
from typing import final

import numpy as np

from dpframe.errors import ParameterError, shown
from dpframe.estimands.estimand import Debiased, Estimand, swamped
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.noisy_numbers import NoisyNumbers
from dpframe.estimands.separable_sums import add_up
from dpframe.estimands.stencil import Stencil

__all__ = ["KnownTotal", "given_total"]

_LARGEST = 2**53  # exact in float64

_FAR = (
    "the noisy counts are more than 6 standard errors from total=: is it the total of "
    "these bins, and of all of them?"
)


@final
class KnownTotal(Estimand):
    """An estimand that is a sum over bins of f_i(x_i) once the total N is known.

    The estimate is g - beta (sum T id - N), g = sum T f_i: the second term has
    expectation 0, and takes from g what its noise has in common with that of the
    noisy total, with beta = sum cov_i / sum var_i and cov_i, var_i the unbiased
    estimates of the covariance of T f_i and T id and of the variance of T id in bin i.
    As beta looks at the noise there is a bias: at most 0.05 standard errors in
    measurements from 60 to 12,373 bins.

    References
    ----------
    .. [1] docs/proofs/debias_totals.rst, theorem 4.
    """

    def __init__(self, estimand: Estimand, total: int) -> None:
        self.name, self.unit = estimand.name, estimand.unit
        self.estimand, self.total = estimand, total

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the sum of f_i over the noisy counts, cut to the domain."""
        return add_up(self.estimand.given_total(Stencil.of(noisy), self.total).here)

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the estimate and the variance that its control variate leaves."""
        self._check(noisy)
        stencil = Stencil.of(noisy)
        terms = self.estimand.given_total(stencil, self.total)
        counts = stencil.evaluate(np.positive)
        with np.errstate(over="ignore"):
            own, shared = stencil.variance(terms), stencil.covariance(terms, counts)
        common, of_total = add_up(shared), add_up(stencil.variance(counts))
        beta = common / of_total if of_total else 0.0
        missed = add_up(stencil.apply(counts)) - self.total
        value = add_up(stencil.apply(terms)) - beta * missed
        variance = max(add_up(own) - beta * common, 0.0)
        warnings = swamped(variance, add_up(np.abs(terms.here)))
        if abs(missed) > 6 * math.sqrt(of_total):
            warnings += (_FAR,)
        return Debiased(value, variance, warnings)

    def debias_numbers(self, noisy: NoisyNumbers) -> tuple[float, Debiased]:
        """Refuse: the public total is used with discrete Laplace noise only."""
        msg = "total= needs noise='laplace', on integers: leave it out for other noise."
        raise ParameterError(msg)

    def _check(self, noisy: NoisyCounts) -> None:
        low, high = noisy.ends
        n = noisy.values.size
        if (low is not None and self.total < n * low) or (
            high is not None and self.total > n * high
        ):
            msg = (
                f"total={self.total} cannot be: each of the {n} true counts is in the "
                f"domain {shown(noisy.domain)}."
            )
            raise ParameterError(msg)


def given_total(estimand: Estimand, total: int) -> KnownTotal:
    """Make the same estimand where the sum of the true counts is public.

    Raises
    ------
    ParameterError
        If ``total`` is no integer, or beyond 2**53 in size.
    """
    whole = isinstance(total, (int, np.integer)) and not isinstance(total, bool)
    if not whole or abs(int(total)) > _LARGEST:
        msg = (
            "total must be an integer up to 2**53: the publicly known sum of the true "
            f"counts of all bins; got {shown(total)}."
        )
        raise ParameterError(msg)
    return KnownTotal(estimand, int(total))
