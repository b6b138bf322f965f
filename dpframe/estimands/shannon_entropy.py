"""Shannon entropy of the distribution behind a histogram."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, final

import numpy as np
import numpy.typing as npt

from dpframe.estimands.estimand import Debiased, Estimand, PlugInRisk, swamped
from dpframe.estimands.exact_total import exact_sum_over_bins
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.plug_in_risk import plug_in_risk
from dpframe.estimands.stencil import Stencil
from dpframe.estimands.total_expectation import (
    TotalExpectation,
    kernel_inverse,
    kernel_log_over_total,
)
from dpframe.estimands.total_transform import TotalTransform

__all__ = ["Entropy", "entropy"]

Floats = npt.NDArray[np.float64]

_LOBE = (
    "slightly other noise would have made this estimate astronomically large: its "
    "variance is far above what std_error says. Use method='plugin', or fewer bins."
)
_NO_TOTAL = "the total count is within 3 standard errors of 0: std_error is a guess."
_DECIMAL = (
    "the noisy total is so small that it may be 0: summed exactly in decimals. Use "
    "domain='counts' if the true values are counts."
)


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
        counts = noisy.clip(noisy.values.ravel()).astype(np.float64)
        total = counts.sum()
        if total <= 0:
            return 0.0
        share = counts[counts > 0] / total
        return float(-(share * np.log(share)).sum()) + 0.0

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the unbiased estimate and its delta-method variance."""
        if not noisy.values.size:
            return Debiased(0.0, 0.0)
        stencil = Stencil.of(noisy)
        value, warnings = _entropy(stencil, noisy)
        psi = _Tangent.at(stencil, value)
        with np.errstate(over="ignore"):  # a value of 1e200 has no finite variance
            variance = float(stencil.variance(stencil.evaluate(psi)).sum())
        warnings += swamped(variance, self.plug_in(noisy))
        if psi.uncertain:
            warnings += (_NO_TOTAL,)
        return Debiased(value, variance, warnings, stable=_LOBE not in warnings)

    def plug_in_risk(self, noisy: NoisyCounts, unbiased: Debiased) -> PlugInRisk | None:
        """Estimate the plug-in's risk through the sum of psi."""
        plug_in = self.plug_in(noisy)
        value = unbiased.value if unbiased.stable else plug_in
        psi = _Tangent.at(Stencil.of(noisy), value)
        return plug_in_risk(psi, noisy, plug_in - value)


entropy = Entropy()


@final
class _Tangent:
    """psi: the function of one bin with the slope of H at the estimated N and H."""

    def __init__(self, total: float, value: float, *, uncertain: bool) -> None:
        self.total, self.value, self.uncertain = total, value, uncertain

    @classmethod
    def at(cls, stencil: Stencil, value: float) -> _Tangent:
        identity = stencil.evaluate(lambda z: z)
        total = float(stencil.apply(identity).sum())
        error = math.sqrt(float(stencil.variance(identity).sum()))
        return cls(max(total, 1.0), value, uncertain=total < max(3 * error, 1.0))

    def __call__(self, z: Floats) -> Floats:
        share = z / self.total
        log = np.log(np.where(share > 0, share, 1.0))  # negative z act on N only
        return -share * (log + self.value - 1)


def _entropy(stencil: Stencil, noisy: NoisyCounts) -> tuple[float, tuple[str, ...]]:
    """Return T[H] and what is to be said about it."""
    low, _ = noisy.ends
    transform = TotalTransform(stencil)
    if (low is None or low < 0) and transform.least < 1:
        return _exact_entropy(stencil), (_DECIMAL,)
    expectation = TotalExpectation(transform)
    if low is None or low < 0:
        positive = stencil.evaluate(lambda z: np.maximum(z, 0.0))
        log_total = expectation.sum_over_bins(positive, kernel_log_over_total)
    else:
        log_total = expectation.log_total()
    value = log_total - expectation.sum_over_bins(
        stencil.evaluate(_z_log_z), kernel_inverse
    )
    return value, (_LOBE,) if expectation.second_lobe_alive(value) else ()


def _exact_entropy(stencil: Stencil) -> float:
    """Return T[sum of z+ log(N)/N - z+ log(z+)/N], terms with N <= 0 being 0."""

    def positive(z: int) -> Decimal:
        return Decimal(max(z, 0))

    def minus_z_log_z(z: int) -> Decimal:
        return -z * Decimal(z).ln() if z > 1 else Decimal(0)

    def inverse(total: int) -> Decimal:
        return 1 / Decimal(total) if total > 0 else Decimal(0)

    def log_over_total(total: int) -> Decimal:
        return Decimal(total).ln() / total if total > 0 else Decimal(0)

    return exact_sum_over_bins(
        stencil, [(positive, log_over_total), (minus_z_log_z, inverse)]
    )


def _z_log_z(z: Any) -> Floats:
    return np.where(z > 0, z * np.log(np.maximum(z, 1.0)), 0.0)
