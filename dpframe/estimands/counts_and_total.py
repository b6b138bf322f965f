"""T of sums over bins that are divided by functions of the total, by the open road.

Where every total that has a weight is at least 1, or no count can be negative, it
is an integral (total_expectation.py); if not, an exact sum (exact_total.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, Self, final

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError
from dpframe.estimands.estimand import Debiased, swamped
from dpframe.estimands.exact_total import ExactTerm, exact_sum_over_bins
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.stencil import Stencil
from dpframe.estimands.total_expectation import TotalExpectation
from dpframe.estimands.total_kernels import Kernel
from dpframe.estimands.total_transform import TotalTransform

__all__ = ["CountsAndTotal", "EstimatedTotal", "Term", "divisor", "linear_term"]

Integers = npt.NDArray[np.int64]

_LOBE = (
    "slightly other noise would have made this estimate astronomically large: its "
    "variance is far above what std_error says. Use method='plugin', or fewer bins."
)
_NO_TOTAL = "the total count is within 3 standard errors of 0: std_error is a guess."
_DECIMAL = (
    "the noisy total is so small that it may be 0: summed exactly in decimals. Use "
    "domain='counts' if the true values are counts."
)


class Term(NamedTuple):
    """The sum over bins of weights[i] u(z_i) v(N): 0 for N <= 0, and u(0) = 0."""

    u: Callable[[Any], Any]
    v: Kernel
    exact: Callable[[int], Decimal]  # u in the current decimal context
    weights: npt.NDArray[np.float64] | float = 1.0


def linear_term(v: Kernel, weights: npt.NDArray[np.float64] | float = 1.0) -> Term:
    """Make the sum of weights[i] z_i v(N): with v = 1/N, 1 for any N > 0."""
    return Term(np.positive, v, Decimal, weights)


class EstimatedTotal(NamedTuple):
    """The unbiased estimate of N, not below 1, and whether N may as well be 0."""

    value: float
    uncertain: bool

    @classmethod
    def of(cls, stencil: Stencil, numbers: Integers | int = 1) -> Self:
        """Estimate the total of the bins of ``stencil``, each so many times."""
        identity = stencil.evaluate(lambda z: z)
        total = float((stencil.apply(identity) * numbers).sum())
        error = math.sqrt(float((stencil.variance(identity) * numbers).sum()))
        return cls(max(total, 1.0), uncertain=total < max(3 * error, 1.0))

    @classmethod
    def behind(cls, noisy: NoisyCounts) -> Self:
        """Estimate the total of noisy counts."""
        distinct, numbers = noisy.tally
        return cls.of(Stencil.of(distinct), numbers)


@final
@dataclass(frozen=True, eq=False)
class CountsAndTotal:
    """The bins, and the road that their noisy total leaves open.

    Attributes
    ----------
    stencil : Stencil
        The noisy counts and their neighbors.
    numbers : array of int, shape (n,)
        How many bins are like each of these.
    nonnegative : bool
        Whether the domain has no negative values.
    expectation : TotalExpectation or None
        The integrals; None where only the exact sum is left.
    """

    stencil: Stencil
    numbers: Integers
    nonnegative: bool
    expectation: TotalExpectation | None

    @classmethod
    def of(cls, noisy: NoisyCounts, *, power: float = 1.0, alike: bool = False) -> Self:
        """Choose the road; ``power`` is the largest q of terms with 1/N^q.

        ``alike`` says that all bins enter in the same way: equal counts are then one
        bin of the stencil, except on the road of the exact sum.
        """
        one_each = np.ones(noisy.values.size, dtype=np.int64)
        distinct, numbers = noisy.tally if alike else (noisy, one_each)
        stencil = Stencil.of(distinct)
        transform = TotalTransform(stencil, numbers)
        low, _ = noisy.ends
        nonnegative = low is not None and low >= 0
        if not nonnegative and transform.least < 1:
            return cls(Stencil.of(noisy), one_each, nonnegative, None)
        expectation = TotalExpectation(transform, power=power)
        return cls(stencil, numbers, nonnegative, expectation)

    @property
    def total(self) -> EstimatedTotal:
        """The unbiased estimate of N."""
        return EstimatedTotal.of(self.stencil, self.numbers)

    def variance(self, psi: Callable[[Any], Any]) -> float:
        """Return the estimated variance of T of the sum of ``psi`` over bins."""
        with np.errstate(over="ignore"):  # a value of 1e200 has no finite variance
            variances = self.stencil.variance(self.stencil.evaluate(psi))
            return float((variances * self.numbers).sum())

    def add_up(self, *terms: Term) -> float:
        """Return T of the sum of ``terms``.

        Raises
        ------
        UnstableEstimateError
            If the result is beyond 1e300, or too many bins need the exact sum.
        """
        if self.expectation is None:
            return self._add_up_exactly(terms)
        value = 0.0
        for term in terms:
            local = self.stencil.evaluate(term.u).scaled(term.weights)
            value += self.expectation.sum_over_bins(local, term.v)
        return value

    def judge(
        self,
        value: float,
        variance: float,
        plug_in: float,
        *others: TotalExpectation,
    ) -> Debiased:
        """Return the estimate with all that is to be said about it.

        ``others`` are the integrals of a second release in it.
        """
        used = others if self.expectation is None else (self.expectation, *others)
        lobe = any(each.second_lobe_alive(value) for each in used)
        warnings = [_LOBE] if lobe else []
        if self.expectation is None:
            warnings.append(_DECIMAL)
        warnings += swamped(variance, plug_in)
        if self.total.uncertain:
            warnings.append(_NO_TOTAL)
        return Debiased(value, variance, tuple(warnings), stable=not lobe)

    def _add_up_exactly(self, terms: tuple[Term, ...]) -> float:
        def exact(term: Term) -> ExactTerm:
            weights = np.broadcast_to(term.weights, self.stencil.center.shape)
            return ExactTerm(term.exact, _positive(term.v), weights)

        return exact_sum_over_bins(self.stencil, [exact(term) for term in terms])


def divisor(total: int, name: str) -> int:
    """Return a public total by which ``name`` may be divided.

    Raises
    ------
    ParameterError
        If it is below 1.
    """
    if total < 1:
        msg = f"{name} divides by the total: total= must be at least 1, not {total}."
        raise ParameterError(msg)
    return total


def _positive(v: Kernel) -> Callable[[int], Decimal]:
    return lambda total: v.exact(Decimal(total)) if total > 0 else Decimal(0)
