"""Kullback-Leibler divergence between the distributions behind two histograms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError
from dpframe.estimands.counts_and_total import (
    CountsAndTotal,
    EstimatedTotal,
    linear_term,
)
from dpframe.estimands.estimand import Debiased, Estimand
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.rates import positive_amounts
from dpframe.estimands.shannon_entropy import sum_of_z_log_z, z_log_z
from dpframe.estimands.stencil import Stencil
from dpframe.estimands.total_expectation import TotalExpectation
from dpframe.estimands.total_kernels import kernel_inverse
from dpframe.estimands.total_transform import TotalTransform
from dpframe.privacy.amounts import Amount, as_fraction

__all__ = ["Divergence", "HasNoisyCounts", "kl_divergence"]

Floats = npt.NDArray[np.float64]


@runtime_checkable
class HasNoisyCounts(Protocol):
    """A release of counts with discrete Laplace noise, such as a histogram."""

    def noisy_counts(self) -> NoisyCounts:
        """Return the counts and the rates of their noise, domain "counts"."""
        ...


@final
@dataclass(frozen=True, eq=False, repr=False)
class Divergence(Estimand):
    """KL(x/N || (w + a)/(M + n a)), n bins, N = sum x, M = sum w; by `kl_divergence`.

    0 for an empty x. The estimate is of least variance; O(n) by integrals, with one
    rate or one per bin in either release.

    Notes
    -----
    The variance is that of the sum of psi_i(x_i) and chi_i(w_i), with the slopes of
    the divergence D: psi_i(z) = (z/N)(log(z/(N q_i)) - D - 1), q = (w + a)/(M + n a),
    and chi_i(w) = -(x_i/N) log(w + a) + w/(M + n a), the rest held at estimates.

    References
    ----------
    .. [1] docs/proofs/debias_totals.rst, theorem 2.
    """

    other: NoisyCounts
    pseudo_count: float
    release: HasNoisyCounts | None = None  # where ``other`` comes from
    name = "kl_divergence"
    unit = "nats"

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the divergence of the noisy counts, negative ones read as 0."""
        self._check(noisy)
        counts = np.maximum(noisy.values.ravel(), 0.0)
        if not counts.sum() > 0:
            return 0.0
        share = counts / counts.sum()
        smoothed = np.maximum(self.other.values.ravel(), 0.0) + self.pseudo_count
        log_ratio = np.log(smoothed / smoothed.sum())
        return float((z_log_z(share) - share * log_ratio).sum())

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the unbiased estimate and its delta-method variance."""
        self._check(noisy)
        if not noisy.values.size:
            return Debiased(0.0, 0.0)
        bins, other = CountsAndTotal.of(noisy), Stencil.of(self.other)
        total = TotalExpectation(TotalTransform(other), shift=self._added)
        per_row = total.log_total() - other.apply(other.evaluate(self._log))
        cross = linear_term(kernel_inverse, per_row)
        assert bins.expectation is not None  # there are no negative counts
        value = bins.add_up(sum_of_z_log_z(1), cross) - bins.expectation.log_total()
        variance = self._variance(bins.stencil, other, value)
        return bins.judge(value, variance, self.plug_in(noisy), total)

    @property
    def _added(self) -> float:
        """What the pseudo-counts add up to."""
        return self.pseudo_count * self.other.values.size

    def _log(self, w: Any) -> Any:
        return np.log(w + self.pseudo_count)

    def _variance(self, stencil: Stencil, other: Stencil, value: float) -> float:
        """Return the variance of the sum of psi and chi, estimated."""
        total = EstimatedTotal.of(stencil).value
        smoothed_total = EstimatedTotal.of(other).value + self._added
        share = stencil.center / total
        log_q = np.log((other.center + self.pseudo_count) / smoothed_total)
        z = stencil.evaluate(lambda z: z / total)
        psi = stencil.evaluate(lambda z: z_log_z(z / total))
        psi = psi.plus(z.scaled(-log_q - value - 1))
        chi = other.evaluate(self._log).scaled(-share)
        chi = chi.plus(other.evaluate(lambda w: w / smoothed_total))
        with np.errstate(over="ignore"):
            return float(stencil.variance(psi).sum() + other.variance(chi).sum())

    def _check(self, noisy: NoisyCounts) -> None:
        if noisy.ends != (0, None):
            msg = (
                "kl_divergence is estimated for counts: use domain='counts'. Neither "
                "true counts below 0 nor upper ends are allowed for."
            )
            raise ParameterError(msg)
        if noisy.values.size != self.other.values.size:
            msg = (
                f"kl_divergence compares bin with bin: {noisy.values.size} bins here, "
                f"and {self.other.values.size} in other."
            )
            raise ParameterError(msg)


def kl_divergence(
    other: HasNoisyCounts | npt.ArrayLike,
    *,
    pseudo_count: Amount,
    epsilon: Amount | Sequence[Amount] | npt.ArrayLike | None = None,
    sensitivity: Amount | Sequence[Amount] | npt.ArrayLike = 1,
) -> Divergence:
    """Make the Kullback-Leibler divergence of a histogram from another one, in nats.

    sum p_i log(p_i / q_i) with p = x/N and q = (w + a)/(M + n a): x are the true counts
    of the histogram that is debiased, w those of the other one, a the pseudo-count.
    The noise in the two must be independent.

    Parameters
    ----------
    other : HistogramRelease, or array of int, shape (n,)
        The other release, over the same keys in the same order.
    pseudo_count : number
        a, positive, in rows: without it the divergence is infinite where the other
        histogram has an empty bin, and has no unbiased estimate.
    epsilon, sensitivity : number, or array of shape (n,)
        What the noise in an array ``other`` was made with. A release knows it.

    Raises
    ------
    ParameterError
        If an argument is none of these; when estimating, if the domain is not "counts"
        or the numbers of bins, or the keys of two releases, differ.
    ProvenanceError
        If ``other`` is a release without plain discrete Laplace noise; when estimating,
        if it is the very release that is debiased, or a copy.

    Examples
    --------
    >>> from dpframe.estimands import debias, kl_divergence
    >>> last_year = kl_divergence([290, 120, 31, 9], pseudo_count=0.5, epsilon=1)
    >>> e = debias([310, 95, 41, 7], last_year, epsilon=0.5)
    >>> e.unit, e.plug_in > e.value
    ('nats', True)
    """
    added = as_fraction(pseudo_count, "pseudo_count")
    if not 1e-100 < added < 1e100:
        msg = (
            "pseudo_count must be positive, for example 0.5 rows in every bin: without "
            "it the divergence from a histogram with an empty bin is infinite."
        )
        raise ParameterError(msg)
    noisy = _read_other(other, epsilon, sensitivity)
    release = other if isinstance(other, HasNoisyCounts) else None
    return Divergence(noisy, float(added), release)


def _read_other(other: Any, epsilon: Any, sensitivity: Any) -> NoisyCounts:
    if isinstance(other, HasNoisyCounts):
        if epsilon is not None:
            msg = "other is a release, which knows its noise: leave epsilon= out."
            raise ParameterError(msg)
        return other.noisy_counts()
    if epsilon is None:
        msg = (
            "other must be a HistogramRelease, or an array of noisy ones with the "
            "epsilon of its noise: kl_divergence(counts, pseudo_count=0.5, epsilon=1)."
        )
        raise ParameterError(msg)
    amount = positive_amounts(epsilon, "epsilon")
    reach = positive_amounts(sensitivity, "sensitivity")
    with np.errstate(all="ignore"):  # a rate that leaves float64 is refused
        return NoisyCounts(np.asarray(other), amount / reach)
