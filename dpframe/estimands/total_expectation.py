r"""Debiased functions of the total, as integrals of one smooth lobe.

Writing v(N) as an integral of e^(-tN) turns the alternating sum over totals,
whose weights may have an l1 norm of 1e1000, into an integral of G(t) without any
cancellation (docs/proofs/debias.rst, theorem 4; debias_totals.rst, theorem 1):

    T[log N]             = ∫ ((1 - w0) e^-t - (G(t) - w0)) / t dt,
    T[log(N + a)]        = ∫ (e^-t - e^(-at) G(t)) / t dt,      a > 0,
    T[sum_i u(z_i) v(N)] = ∫ V(t) G(t) sum_i h_i(t)/g_i(t) dt,      u(0) = 0,

over t > 0, with log 0 read as 0, w0 the weight of N = 0, and V as total_kernels.py
has it. All need a domain without negative values; or, the last one, weights on
totals N >= 1 only.
"""

from __future__ import annotations

import math
from typing import final

import numpy as np
import numpy.typing as npt

from dpframe.errors import UnstableEstimateError
from dpframe.estimands.quadrature import gauss_legendre, panel_edges
from dpframe.estimands.stencil import LocalValues
from dpframe.estimands.total_kernels import Kernel
from dpframe.estimands.total_transform import TotalTransform

__all__ = ["SCAN", "TotalExpectation", "unscaled"]

Floats = npt.NDArray[np.float64]

SCAN = np.geomspace(1e-24, 200.0, 2_500)  # totals up to 2**53 in 100,000 bins

_PANELS = 60
_LOBE_DEPTH = 45.0  # e^-45 of the peak is where the integral ends
_ROUNDING = 34.0  # G - w0 is known to e^-34 of its parts
_LARGEST_LOG = math.log(1e300)


@final
class TotalExpectation:
    """Integrates against G(t) of one transform, on one grid for all terms.

    Everything is kept divided by e^scale, the largest value of |G|, so that only an
    estimate that is itself huge overflows.

    Parameters
    ----------
    transform : TotalTransform
        The bins, whose total is N.
    power : float
        The largest q of kernels 1/N^q: V = t^(q-1) puts the end of integrals off.
    shift : float
        What is added to N, at least 0: G is multiplied by e^(-shift t).
    """

    def __init__(
        self, transform: TotalTransform, *, power: float = 1.0, shift: float = 0.0
    ) -> None:
        self._transform, self._shift = transform, shift
        self._log_zero, self._zero_sign = transform.log_zero_weight()
        log_abs, sign, log_falling = self._log_abs_at(SCAN)
        limit = -np.inf if shift else self._log_zero
        self._scale = max(0.0, float(log_abs.max()), limit)
        self._end = self._last(log_abs, sign, max(power - 1, 0.0) * np.log(SCAN))
        lobe = log_abs[log_falling > 0]
        self._second_lobe = float(lobe.max()) if lobe.size else -np.inf
        self._t, self._dt = self._grid()
        self._log_abs, self._sign, _ = self._log_abs_at(self._t)

    def log_total(self) -> float:
        """Return T[log(N + shift)] in nats, log 0 being 0."""
        from scipy.special import exp1  # a quarter of a second, for this alone

        zero = 0.0 if self._shift else self._zero_weight()
        one = math.exp(-self._scale)
        transform = self._sign * np.exp(self._log_abs - self._scale)
        lobe = (one - zero) * np.exp(-self._t) - (transform - zero)
        body = float((self._dt * lobe / self._t).sum())
        rest = (one - zero) * float(exp1(self._end))
        # e^(-shift t) G ends as e^(-shift t) w0; if that is slow, its tail counts.
        decayed = self._shift * self._end
        if 0 < decayed < _LOBE_DEPTH:
            rest -= self._zero_weight() * float(exp1(decayed))
        return self._unscale(body + rest)

    def sum_over_bins(self, u: LocalValues, kernel: Kernel) -> float:
        """Return T[sum_i u(z_i) v(N)] for the v of ``kernel``; u(0) must be 0."""
        lobe = self._transform.weigh(
            u, self._t, self._log_abs - self._scale, self._sign
        )
        weights = self._dt * kernel.density(self._t)
        weights[0] = kernel.head(float(self._t[0]))
        return self._unscale(float((weights * lobe).sum()))

    def second_lobe_alive(self, value: float) -> bool:
        """Whether nearby noise would have made an estimate of ``value`` huge.

        Beyond the point where the factors r_i multiply to more than 1, |G| rises to
        a second lobe. Above e^-30 of the value, or of 1 for a value below 1, it is
        too near to be ignored.
        """
        return self._second_lobe > math.log(max(abs(value), 1.0)) - 30

    def _zero_weight(self) -> float:
        return self._zero_sign * math.exp(self._log_zero - self._scale)

    def _log_abs_at(self, t: Floats) -> tuple[Floats, Floats, Floats]:
        log_abs, sign, log_falling = self._transform.log_abs(t)
        return log_abs - self._shift * t, sign, log_falling

    def _last(self, log_abs: Floats, sign: Floats, log_kernel: Floats) -> float:
        """Return the t beyond which G has reached its limit, the weight of N = 0."""
        if self._log_zero == -np.inf:
            alive = _high(log_abs + log_kernel)
        else:
            limit = np.minimum(self._log_zero - self._scale - self._shift * SCAN, 700)
            left = sign * np.exp(log_abs - self._scale)
            left -= self._zero_sign * np.exp(limit)
            alive = np.abs(left) > math.exp(-_ROUNDING)
            alive |= _high(log_kernel - (1 + self._shift) * SCAN)  # where N = 1
        return float(SCAN[np.flatnonzero(alive)[-1]])

    def _grid(self) -> tuple[Floats, Floats]:
        """Return nodes and weights: panels with edges at the zeros of G too.

        The first panel has one node, its upper edge: a kernel may be singular at 0.
        """
        edges = panel_edges(self._end, even=_PANELS, geometric=_PANELS, least=1e-16)
        zeros = np.unique(self._transform.rate)
        if zeros.size <= _PANELS:
            edges = np.union1d(edges, zeros[(zeros > edges[1]) & (zeros < self._end)])
        t, dt = gauss_legendre(edges[1:])
        return np.append(edges[1], t), np.append(edges[1], dt)

    def _unscale(self, scaled: float) -> float:
        return unscaled(scaled, self._scale)


def unscaled(scaled: float, scale: float) -> float:
    """Return ``scaled`` times e^scale.

    Raises
    ------
    UnstableEstimateError
        If it is beyond 1e300.
    """
    size = math.log(abs(scaled)) + scale if scaled else -math.inf
    if size > _LARGEST_LOG:
        msg = (
            f"the unbiased estimate is about 1e{size / math.log(10):.0f} in size: "
            "it exists, but says nothing. Use method='plugin', more epsilon, or "
            "fewer bins."
        )
        raise UnstableEstimateError(msg)
    return math.copysign(math.exp(size), scaled)


def _high(log: Floats) -> npt.NDArray[np.bool_]:
    alive: npt.NDArray[np.bool_] = log > log.max() - _LOBE_DEPTH
    return alive
