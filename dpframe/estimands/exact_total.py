r"""Debiased functions of the total, summed over its exact signed law in decimals.

For domains with negative values and so small a noisy sum that weight falls on
totals N <= 0, where the integrals of total_expectation.py do not converge. The sum
alternates, and its weights may have an l1 norm of 1e300: every number, logarithms
included, is taken to as many more digits. O(n²), up to a few seconds.

In one bin, c = d(1 + d) makes the weights the product of ((1+d) - d s) and
((1+d) - d/s), s marking a step up, so that a law is built from, and freed of, one
two-term factor after another. Both directions of that division are stable, for
d/(1+d) = e^-rate < 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal, localcontext
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dpframe.errors import UnstableEstimateError
from dpframe.estimands.stencil import Stencil

__all__ = ["ExactTerm", "exact_sum_over_bins"]

_MOST_BINS = 1_000
_MOST_DIGITS = 300  # of the weights' l1 norm

Law = list[Decimal]  # weights of consecutive totals, in ascending order
DecimalFunction = Callable[[int], Decimal]


class ExactTerm(NamedTuple):
    """The sum over bins of weights[i] u(z_i) v(N), in the current decimal context."""

    u: DecimalFunction
    v: DecimalFunction
    weights: npt.NDArray[np.float64] | None = None  # shape (n,); all 1 by default


class _Kind(NamedTuple):
    """What bins must share to have the same weights."""

    rate: float
    rises: bool
    falls: bool

    @property
    def d(self) -> Decimal:
        kept = (-Decimal(self.rate)).exp()
        return kept / (1 - kept)

    @property
    def weights(self) -> dict[int, Decimal]:
        step = self.d * (1 + self.d if self.rises and self.falls else 1)
        up, down = step * self.rises, step * self.falls
        return {0: 1 + up + down, 1: -up, -1: -down}


def exact_sum_over_bins(stencil: Stencil, terms: Sequence[ExactTerm]) -> float:
    """Return the sum of T of the ``terms``; v(N) is asked for N <= 0 too.

    Raises
    ------
    UnstableEstimateError
        For more than 1,000 bins, or a norm of the weights beyond 1e300.
    """
    norm = float(np.log10(1 + 2 * (stencil.up + stencil.down)).sum())
    if norm > _MOST_DIGITS or stencil.center.size > _MOST_BINS:
        msg = (
            f"the noisy total of {stencil.center.size} bins is so small that it may "
            f"be 0, and the estimate's weights have a norm of 1e{norm:.0f}: not "
            f"computed beyond 1e{_MOST_DIGITS} or {_MOST_BINS:,} bins. Use "
            "domain='counts' if the true values are counts, or method='plugin'."
        )
        raise UnstableEstimateError(msg)
    digits = 40 + math.ceil(1.2 * norm)
    with localcontext(Context(prec=digits, Emax=10**6, Emin=-(10**6))):
        return float(_sum_over_kinds(stencil, terms))


def _sum_over_kinds(stencil: Stencil, terms: Sequence[ExactTerm]) -> Decimal:
    kinds = [
        _Kind(*bin_)
        for bin_ in zip(
            stencil.rate.tolist(),
            stencil.rises.tolist(),
            stencil.falls.tolist(),
            strict=True,
        )
    ]
    law = _law_of_total(kinds)
    least = int(stencil.center.sum() - stencil.falls.sum())
    tables = [[term.v(least + k) for k in range(len(law))] for term in terms]
    result = Decimal(0)
    for kind in dict.fromkeys(kinds):
        others = _without(kind, law)
        bins = np.array([k == kind for k in kinds])
        centers = [_weight_of_centers(stencil, bins, term) for term in terms]
        for step, weight in kind.weights.items():
            if not weight:
                continue
            first = step + kind.falls
            for term, weights, table in zip(terms, centers, tables, strict=True):
                own = sum(m * term.u(z + step) for z, m in weights.items())
                rest = sum(map(Decimal.__mul__, others, table[first:]), Decimal(0))
                result += weight * own * rest
    return result


def _weight_of_centers(
    stencil: Stencil, bins: npt.NDArray[np.bool_], term: ExactTerm
) -> dict[int, Decimal]:
    centers, place = np.unique(stencil.center[bins], return_inverse=True)
    ones = np.ones(stencil.center.size)
    weights = (ones if term.weights is None else term.weights)[bins]
    total = [Decimal(0)] * centers.size
    for i, weight in zip(place.tolist(), weights.tolist(), strict=True):
        total[i] += Decimal(weight)
    return dict(zip(centers.tolist(), total, strict=True))


def _law_of_total(kinds: list[_Kind]) -> Law:
    law = [Decimal(1)]
    for (_, rises, falls), d in zip(kinds, _edge_weights(kinds), strict=True):
        law = _times(law, d) if rises else law
        law = _times(law[::-1], d)[::-1] if falls else law
    return law


def _edge_weights(kinds: list[_Kind]) -> list[Decimal]:
    known = {kind: kind.d for kind in dict.fromkeys(kinds)}
    return [known[kind] for kind in kinds]


def _without(kind: _Kind, law: Law) -> Law:
    """Return the law of the total of all bins but one of this kind."""
    law = _divided(law, kind.d) if kind.rises else law
    return _divided(law[::-1], kind.d)[::-1] if kind.falls else law


def _times(law: Law, d: Decimal) -> Law:
    """Multiply by (1 + d) - d s."""
    above, below = [*law, Decimal(0)], [Decimal(0), *law]
    return [(1 + d) * x - d * y for x, y in zip(above, below, strict=True)]


def _divided(law: Law, d: Decimal) -> Law:
    """Divide by (1 + d) - d s, without remainder."""
    quotient, previous = [], Decimal(0)
    for x in law[:-1]:
        previous = (x + d * previous) / (1 + d)
        quotient.append(previous)
    return quotient
