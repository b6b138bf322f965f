"""Chi-square distance of a histogram from public proportions or expected counts."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, final

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError
from dpframe.estimands.counts_and_total import (
    CountsAndTotal,
    Term,
    divisor,
    linear_term,
)
from dpframe.estimands.estimand import Debiased, Estimand, swamped
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.separable_sums import add_up
from dpframe.estimands.stencil import LocalValues, Stencil
from dpframe.estimands.total_kernels import kernel_inverse, kernel_one

__all__ = ["ChiSquare", "ChiSquareOfExpected", "chi_square"]

Floats = npt.NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False, repr=False)
class ChiSquare(Estimand):
    """sum (x_i - N p_i)²/(N p_i), N = sum x; made by `chi_square`.

    It is sum x_i²/(N p_i) - N, and 0 where N <= 0; on the roads of `Entropy`. The
    variance is that of sum psi_i(x_i), psi_i(z) = z²/(N p_i) - z (f/N + 2), with N
    and the statistic f held at their estimates.

    References
    ----------
    .. [1] docs/proofs/debias_totals.rst, theorem 1.
    """

    proportions: Floats
    name = "chi_square"

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the statistic of the noisy counts, cut to the domain."""
        _check_size(self.proportions, noisy.values.size)
        counts = noisy.clip(noisy.values.ravel()).astype(np.float64)
        total = counts.sum()
        if total <= 0:
            return 0.0
        expected = total * self.proportions
        return add_up((counts - expected) ** 2 / expected)

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the unbiased estimate and its delta-method variance."""
        plug_in = self.plug_in(noisy)
        bins = CountsAndTotal.of(noisy)
        squares = Term(_square, kernel_inverse, _exact_square, 1 / self.proportions)
        value = bins.add_up(squares, linear_term(kernel_one, -1))
        total = bins.total.value
        square, slope = 1 / (total * self.proportions), -value / total - 2
        with np.errstate(over="ignore"):
            psi = _combine(bins.stencil, square, slope)
            variance = float(bins.stencil.variance(psi).sum())
        return bins.judge(value, variance, plug_in)

    def given_total(self, stencil: Stencil, total: int) -> LocalValues:
        """Return the terms (z - N p_i)²/(N p_i), N being known."""
        expected = divisor(total, self.name) * self.proportions
        return ChiSquareOfExpected(expected).given_total(stencil, total)


@final
@dataclass(frozen=True, eq=False, repr=False)
class ChiSquareOfExpected(Estimand):
    """sum (x_i - E_i)²/E_i, a sum over bins; made by `chi_square`."""

    expected: Floats
    name = "chi_square"

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the statistic of the noisy counts, cut to the domain."""
        return add_up(self.given_total(Stencil.of(noisy)).here)

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the sum of T f_i(y_i) and its unbiased variance."""
        stencil = Stencil.of(noisy)
        terms = self.given_total(stencil)
        variance = add_up(stencil.variance(terms))
        size = add_up(terms.here)
        return Debiased(add_up(stencil.apply(terms)), variance, swamped(variance, size))

    def given_total(self, stencil: Stencil, total: int = 0) -> LocalValues:
        """Return the terms (z - E_i)²/E_i, whatever the total is."""
        _check_size(self.expected, stencil.center.size)
        terms = _combine(stencil, 1 / self.expected, -2.0)
        return terms._replace(
            here=(stencil.center - self.expected) ** 2 / self.expected
        )


def chi_square(
    proportions: npt.ArrayLike | None = None,
    *,
    expected: npt.ArrayLike | None = None,
) -> ChiSquare | ChiSquareOfExpected:
    """Make Pearson's statistic sum (x_i - E_i)²/E_i, against public expectations.

    Parameters
    ----------
    proportions : array, shape (n,)
        Public proportions of the bins, positive, adding up to 1: E_i = N times the
        i-th, N = sum x being estimated along.
    expected : array, shape (n,)
        Public expected counts, positive, in place of proportions.

    Raises
    ------
    ParameterError
        Unless one of the two is given and as described; when estimating, if there
        are not as many as bins.

    Notes
    -----
    Of the noisy counts the statistic is larger by the noise variance times
    sum 1/E_i. The estimate has not this bias, and may be negative; but it is no test
    statistic: the law that a test compares it with leaves the noise out.

    Examples
    --------
    >>> from dpframe.estimands import chi_square, debias
    >>> fair = chi_square([1 / 6] * 6)
    >>> e = debias([103, 98, 110, 95, 104, 91], fair, epsilon=0.5)
    >>> e.plug_in > e.value
    True
    """
    if (proportions is None) == (expected is None):
        msg = (
            "chi_square takes public proportions, chi_square([0.5, 0.5]), or expected "
            "counts, chi_square(expected=[20, 20]): one of the two."
        )
        raise ParameterError(msg)
    if expected is not None:
        return ChiSquareOfExpected(_read(expected, "expected"))
    shares = _read(proportions, "proportions")
    if not abs(shares.sum() - 1) < 1e-9:
        msg = (
            "proportions must add up to 1, over all bins of the histogram. Divide them "
            "by their sum, or pass expected counts as expected=."
        )
        raise ParameterError(msg)
    return ChiSquare(shares / shares.sum())


def _read(given: Any, name: str) -> Floats:
    try:
        numbers = np.array(given, dtype=np.float64).ravel()
    except (TypeError, ValueError, OverflowError):
        numbers = np.full(1, np.nan)
    if not ((numbers > 0) & (numbers < np.inf)).all():
        msg = (
            f"{name} must be public, positive and finite numbers, one for each bin: "
            "a bin in which nothing is expected has no distance."
        )
        raise ParameterError(msg)
    numbers.flags.writeable = False
    return numbers


def _check_size(given: Floats, bins: int) -> None:
    if given.size != bins:
        msg = f"chi_square has {given.size} expectations for {bins} bins."
        raise ParameterError(msg)


def _combine(
    stencil: Stencil, square: Floats | float, slope: Floats | float
) -> LocalValues:
    """The function square z² + slope z, with a factor for each bin."""
    linear = stencil.evaluate(lambda z: z).scaled(slope)
    return stencil.evaluate(_square).scaled(square).plus(linear)


def _square(z: Any) -> Any:
    return z * z


def _exact_square(z: int) -> Decimal:
    return Decimal(z * z)
