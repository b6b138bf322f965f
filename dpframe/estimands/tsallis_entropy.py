"""Tsallis entropy and Gini-Simpson index of the distribution behind a histogram."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, final

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError, shown
from dpframe.estimands.counts_and_total import (
    CountsAndTotal,
    EstimatedTotal,
    Term,
    divisor,
    linear_term,
)
from dpframe.estimands.estimand import Debiased, Estimand, PlugInRisk
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.plug_in_risk import plug_in_risk
from dpframe.estimands.stencil import LocalValues, Stencil
from dpframe.estimands.total_kernels import kernel_inverse, kernel_inverse_power
from dpframe.privacy.amounts import Amount, as_fraction

__all__ = ["Tsallis", "gini_simpson", "tsallis"]

Floats = npt.NDArray[np.float64]

_LEAST_ORDER = 1e-300
_NEAREST_TO_1 = 1e-6  # nearer, 1 - sum p^q loses half of its digits
_LARGEST_ORDER = 10  # beyond, float64 is lost between the least totals


@final
@dataclass(frozen=True, repr=False)
class Tsallis(Estimand):
    """(1 - sum (x_i/N)^q) / (q - 1), N = sum x; made by `tsallis`.

    The instance `gini_simpson`, of order 2, is 1 - sum (x_i/N)²: how likely it is that
    two rows, drawn with replacement, differ in their key.

    0 for an empty histogram. Domains, roads and variance are those of `Entropy`:
    on domains with negative values the terms of bins with x > 0 count, and the whole
    is 0 if N <= 0. The variance is that of sum psi(x_i),
    psi(z) = -((z/N)^q - q P z/N) / (q - 1), P the estimate of sum (x_i/N)^q.

    References
    ----------
    .. [1] docs/proofs/debias_totals.rst, theorem 1.

    Examples
    --------
    >>> from dpframe.estimands import debias, gini_simpson
    >>> debias([310, 95, 41, 7, 0, -2, 1], gini_simpson, epsilon=0.5).plug_in
    0.4815...
    """

    q: float
    name: str

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the index of the noisy counts, cut to the domain."""
        distinct, numbers = noisy.tally
        counts = noisy.clip(distinct.values.ravel()).astype(np.float64)
        total = counts @ numbers
        if total <= 0:
            return 0.0
        powers = _power(counts / total, self.q) @ numbers
        return float((1 - powers) / (self.q - 1)) + 0.0

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the unbiased estimate and its delta-method variance."""
        if not noisy.values.size:
            return Debiased(0.0, 0.0)
        bins = CountsAndTotal.of(noisy, power=self.q, alike=True)
        factor = 1 / (self.q - 1)
        powers = self._sum_of_powers(-factor)
        value = bins.add_up(linear_term(kernel_inverse, factor), powers)
        variance = bins.variance(self._tangent(bins.total, value))
        return bins.judge(value, variance, self.plug_in(noisy))

    def given_total(self, stencil: Stencil, total: int) -> LocalValues:
        """Return the terms (z/N - (z/N)^q) / (q - 1), N being known."""
        number, q = divisor(total, self.name), self.q
        return stencil.evaluate(
            lambda z: (z / number - _power(z / number, q)) / (q - 1)
        )

    def plug_in_risk(self, noisy: NoisyCounts, unbiased: Debiased) -> PlugInRisk | None:
        """Estimate the plug-in's risk through the sum of psi."""
        plug_in = self.plug_in(noisy)
        value = unbiased.value if unbiased.stable else plug_in
        psi = self._tangent(EstimatedTotal.behind(noisy), value)
        return plug_in_risk(psi, noisy, plug_in - value)

    def _sum_of_powers(self, factor: float) -> Term:
        """``factor`` times the sum of z^q / N^q."""
        order = Decimal(self.q)

        def exact(z: int) -> Decimal:
            return Decimal(z) ** order if z > 0 else Decimal(0)

        kernel = kernel_inverse_power(self.q)
        return Term(lambda z: _power(z, self.q), kernel, exact, factor)

    def _tangent(self, total: EstimatedTotal, value: float) -> Callable[[Any], Floats]:
        """psi: the function of one bin with the slope of the index."""
        q = self.q
        powers = 1 - (q - 1) * value

        def psi(z: Any) -> Floats:
            share = z / total.value
            tangent: Floats = (q * powers * share - _power(share, q)) / (q - 1)
            return tangent

        return psi


gini_simpson = Tsallis(2.0, "gini_simpson")


def tsallis(q: Amount) -> Tsallis:
    """Make the estimand (1 - sum p^q) / (q - 1), the p = x/N being shares of bins.

    `gini_simpson` is the order 2; at order 1 it tends to `entropy`. Rényi entropies
    and Hill numbers, logarithms and powers of it, have no exact unbiased estimate in
    this form: `black_box` has one for a few bins.

    Parameters
    ----------
    q : number
        The order, inside (0, 10] and not within a millionth of 1.

    Raises
    ------
    ParameterError
        If ``q`` is not.

    Examples
    --------
    >>> from dpframe.estimands import debias, tsallis
    >>> debias([310, 95, 41, 7, 0, -2, 1], tsallis(3), epsilon=0.5).plug_in
    0.3358...
    """
    order = as_fraction(q, "q")
    if abs(order - 1) < _NEAREST_TO_1:
        msg = (
            "the Tsallis entropy of order 1 is Shannon's, and order "
            f"{shown(q)} is too near to be told from it: use entropy."
        )
        raise ParameterError(msg)
    if not _LEAST_ORDER <= order <= _LARGEST_ORDER:
        msg = (
            f"q must be inside (0, {_LARGEST_ORDER}] and not 1, for example "
            f"tsallis(0.5); got {shown(q)}."
        )
        raise ParameterError(msg)
    return Tsallis(float(order), f"tsallis({float(order):g})")


def _power(share: Any, q: float) -> Floats:
    positive: Floats = np.maximum(share, 0.0) ** q
    return positive
