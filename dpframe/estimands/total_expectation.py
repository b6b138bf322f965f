r"""Debiased functions of the total, as integrals of one smooth lobe.

Writing v(N) as an integral of e^(-tN) turns the alternating sum over totals,
whose weights may have an l1 norm of 1e1000, into an integral of G(t) without any
cancellation (docs/proofs/debias.rst, theorem 4):

    T[log N]             = ∫ ((1 - w0) e^-t - (G(t) - w0)) / t dt,
    T[sum_i u(z_i) v(N)] = ∫ V(t) G(t) sum_i h_i(t)/g_i(t) dt,      u(0) = 0,

over t > 0, with log 0 read as 0, w0 the weight of N = 0, and V = 1 for
v = 1/N, V = -(gamma + ln t) for v = log(N)/N. The second needs weights on totals
N >= 1 only, or a domain without negative values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import final

import numpy as np
import numpy.typing as npt

from dpframe.errors import UnstableEstimateError
from dpframe.estimands.stencil import LocalValues
from dpframe.estimands.total_transform import TotalTransform

__all__ = ["TotalExpectation", "kernel_inverse", "kernel_log_over_total"]

Floats = npt.NDArray[np.float64]
Kernel = Callable[[Floats], Floats]

_SCAN = np.geomspace(1e-24, 200.0, 2_500)  # totals up to 2**53 in 100,000 bins
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_PANELS = 60
_LOBE_DEPTH = 45.0  # e^-45 of the peak is where the integral ends
_ROUNDING = 34.0  # G - w0 is known to e^-34 of its parts
_LARGEST_LOG = math.log(1e300)


def kernel_inverse(t: Floats) -> Floats:
    """V of v(N) = 1/N."""
    return np.ones_like(t)


def kernel_log_over_total(t: Floats) -> Floats:
    """V of v(N) = log(N)/N."""
    return -(np.euler_gamma + np.log(t))


@final
class TotalExpectation:
    """Integrates against G(t) of one transform, on one grid for all terms.

    Everything is kept divided by e^scale, the largest value of |G|, so that only an
    estimate that is itself huge overflows.
    """

    def __init__(self, transform: TotalTransform) -> None:
        self._transform = transform
        self._log_zero, self._zero_sign = transform.log_zero_weight()
        log_abs, sign, log_falling = transform.log_abs(_SCAN)
        self._scale = max(0.0, float(log_abs.max()), self._log_zero)
        self._end = self._last(log_abs, sign)
        lobe = log_abs[log_falling > 0]
        self._second_lobe = float(lobe.max()) if lobe.size else -np.inf
        self._t, self._dt = self._grid()
        self._log_abs, self._sign, _ = transform.log_abs(self._t)

    def log_total(self) -> float:
        """Return T[log N] in nats, log 0 being 0; domains without negatives only."""
        from scipy.special import exp1  # a quarter of a second, for this alone

        zero = self._zero_weight()
        one = math.exp(-self._scale)
        transform = self._sign * np.exp(self._log_abs - self._scale)
        lobe = (one - zero) * np.exp(-self._t) - (transform - zero)
        body = float((self._dt * lobe / self._t).sum())
        return self._unscale(body + (one - zero) * float(exp1(self._end)))

    def sum_over_bins(self, u: LocalValues, kernel: Kernel) -> float:
        """Return T[sum_i u(z_i) v(N)] for the v of ``kernel``; u(0) must be 0."""
        lobe = self._transform.weigh(
            u, self._t, self._log_abs - self._scale, self._sign
        )
        return self._unscale(float((self._dt * kernel(self._t) * lobe).sum()))

    def second_lobe_alive(self, value: float) -> bool:
        """Whether nearby noise would have made an estimate of ``value`` huge.

        Beyond the point where the factors r_i multiply to more than 1, |G| rises to
        a second lobe. Above e^-30 of the value, or of 1 for a value below 1, it is
        too near to be ignored.
        """
        return self._second_lobe > math.log(max(abs(value), 1.0)) - 30

    def _zero_weight(self) -> float:
        return self._zero_sign * math.exp(self._log_zero - self._scale)

    def _last(self, log_abs: Floats, sign: Floats) -> float:
        """Return the t beyond which G has reached its limit, the weight of N = 0."""
        if self._log_zero == -np.inf:
            alive = log_abs > max(0.0, float(log_abs.max())) - _LOBE_DEPTH
        else:
            left = sign * np.exp(log_abs - self._scale) - self._zero_weight()
            alive = np.abs(left) > math.exp(-_ROUNDING)
            alive |= np.exp(-_SCAN) > math.exp(-_LOBE_DEPTH)
        return float(_SCAN[np.flatnonzero(alive)[-1]])

    def _grid(self) -> tuple[Floats, Floats]:
        """Return nodes and weights: panels of 16, even, geometric, and at zeros of G.

        The geometric ones reach down to 1e-16 of the end, for the kernel of
        log(N)/N is singular at 0.
        """
        zeros = np.unique(self._transform.rate)
        inside = zeros[zeros < self._end] if zeros.size <= _PANELS else zeros[:0]
        edges = np.unique(
            np.concatenate(
                [
                    np.linspace(0, self._end, _PANELS + 1),
                    np.geomspace(1e-16 * self._end, self._end, _PANELS),
                    inside,
                ]
            )
        )
        half = np.diff(edges)[:, None] / 2
        middle = (edges[:-1] + edges[1:])[:, None] / 2
        return (middle + half * _NODES).ravel(), (half * _WEIGHTS).ravel()

    def _unscale(self, scaled: float) -> float:
        size = math.log(abs(scaled)) + self._scale if scaled else -math.inf
        if size > _LARGEST_LOG:
            msg = (
                f"the unbiased estimate is about 1e{size / math.log(10):.0f} in size: "
                "it exists, but says nothing. Use method='plugin', more epsilon, or "
                "fewer bins."
            )
            raise UnstableEstimateError(msg)
        return math.copysign(math.exp(size), scaled)
