"""Shannon entropy of the distribution behind a histogram."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, final

import numpy as np
import numpy.typing as npt

from dpframe.estimands.counts_and_total import (
    CountsAndTotal,
    EstimatedTotal,
    Term,
    divisor,
)
from dpframe.estimands.estimand import Debiased, Estimand, PlugInRisk
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.plug_in_risk import plug_in_risk
from dpframe.estimands.stencil import LocalValues, Stencil
from dpframe.estimands.total_kernels import kernel_inverse, kernel_log_over_total

__all__ = ["Entropy", "entropy", "sum_of_z_log_z", "z_log_z"]

Floats = npt.NDArray[np.float64]


@final
class Entropy(Estimand):
    r"""Shannon entropy, in nats: H = log N - (1/N) sum x log x, N = sum x.

    Use the instance `dpframe.estimands.entropy`. H of an empty histogram is 0.
    The unbiased estimate is exact for every domain, with one rate or one per bin:
    in O(n) by an integral for domains without negative values ("counts" and (lo, hi)
    with lo >= 0), there the minimum-variance one. Other domains extend H by the
    terms -(x/N) log(x/N) of bins with x > 0, none if N <= 0; they take the same
    integral if the noisy sum exceeds the number of bins that may step down, else an
    exact decimal sum, O(n²), up to 1,000 bins and a norm of the weights of 1e300.

    Notes
    -----
    The variance is that of sum psi(x_i), psi(z) = -(z/N)(log(z/N) + H - 1) with N
    and H held at their estimates: psi has the slope of H in every bin (at z < 0 the
    logarithm is left out, z still acting on N). Measured on word counts, Zipf counts
    and equal bins: 95 % intervals cover in 94 to 97 % of cases.
    The same sum stands in for H where ``method="auto"`` estimates the plug-in's
    squared bias and variance; only the bias itself is that of H.

    References
    ----------
    .. [1] docs/proofs/debias.rst, theorem 4.
    """

    name = "entropy"
    unit = "nats"

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the entropy of the noisy counts, cut to the domain."""
        distinct, numbers = noisy.tally
        counts = noisy.clip(distinct.values.ravel()).astype(np.float64)
        total = counts @ numbers
        if total <= 0:
            return 0.0
        return float(-z_log_z(counts / total) @ numbers) + 0.0

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the unbiased estimate and its delta-method variance."""
        if not noisy.values.size:
            return Debiased(0.0, 0.0)
        bins = CountsAndTotal.of(noisy, alike=True)
        value = _entropy(bins)
        variance = bins.variance(_tangent(bins.total, value))
        return bins.judge(value, variance, self.plug_in(noisy))

    def given_total(self, stencil: Stencil, total: int) -> LocalValues:
        """Return the terms -(z/N) log(z/N) of the sum that H is if N is known."""
        number = divisor(total, self.name)
        return stencil.evaluate(lambda z: -z_log_z(z / number))

    def plug_in_risk(self, noisy: NoisyCounts, unbiased: Debiased) -> PlugInRisk | None:
        """Estimate the plug-in's risk through the sum of psi."""
        plug_in = self.plug_in(noisy)
        value = unbiased.value if unbiased.stable else plug_in
        psi = _tangent(EstimatedTotal.behind(noisy), value)
        return plug_in_risk(psi, noisy, plug_in - value)


entropy = Entropy()


def z_log_z(z: Any) -> Floats:
    """Return z log z, 0 for z <= 0."""
    return np.where(z > 0, z * np.log(np.where(z > 0, z, 1.0)), 0.0)


def sum_of_z_log_z(factor: float) -> Term:
    """Make the term ``factor`` times the sum of z log(z)/N."""

    def exact(z: int) -> Decimal:
        return z * Decimal(z).ln() if z > 1 else Decimal(0)

    return Term(z_log_z, kernel_inverse, exact, factor)


def _entropy(bins: CountsAndTotal) -> float:
    """Return T[H]."""
    if bins.nonnegative and bins.expectation is not None:
        return bins.expectation.log_total() + bins.add_up(sum_of_z_log_z(-1))
    log_total = Term(
        lambda z: np.maximum(z, 0), kernel_log_over_total, lambda z: Decimal(max(z, 0))
    )
    return bins.add_up(log_total, sum_of_z_log_z(-1))


def _tangent(total: EstimatedTotal, value: float) -> Callable[[Any], Floats]:
    """psi: the function of one bin with the slope of H at the estimated N and H."""

    def psi(z: Any) -> Floats:
        share = z / total.value  # negative ones act on N only
        tangent: Floats = -z_log_z(share) - share * (value - 1)
        return tangent

    return psi
