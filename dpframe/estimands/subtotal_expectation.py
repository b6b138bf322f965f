r"""T[R log(R)/N] of a subtotal R of the bins, as an integral over two variables.

With A(t) the transform of the bins of R and B(t) that of the others,

    T[R log(R)/N] = ∫ B(t) ∫ (A'(t+u) - e^-u A'(t)) / u du dt,      t, u > 0,

for R e^(-Rt) has the transform -A' and log R = ∫ (e^-u - e^(-Ru))/u du
(docs/proofs/debias_totals.rst, theorem 3).
"""

from __future__ import annotations

from typing import final

import numpy as np
import numpy.typing as npt

from dpframe.estimands.quadrature import gauss_legendre, panel_edges
from dpframe.estimands.stencil import Stencil
from dpframe.estimands.total_expectation import SCAN, unscaled
from dpframe.estimands.total_transform import TotalTransform

__all__ = ["subtotal_log_subtotal"]

Floats = npt.NDArray[np.float64]

_LOBE_DEPTH = 45.0


def subtotal_log_subtotal(stencil: Stencil, bins: npt.NDArray[np.bool_]) -> float:
    """Return T[R log(R)/N], R the sum of ``bins``, N that of all; both >= 0."""
    from scipy.special import exp1  # a quarter of a second, for this alone

    lobe = _Lobe(stencil.part(bins), stencil.part(~bins))
    t_end, u_end = lobe.ends()
    t, dt = _nodes(t_end)
    u, du = _nodes(u_end)
    here, ahead = lobe(t, np.zeros(1)), lobe(t, u)
    inner = (np.exp(-u) * here - ahead) @ (du / u) + here[:, 0] * float(exp1(u_end))
    return unscaled(float(dt @ inner), lobe.scale)


def _nodes(end: float) -> tuple[Floats, Floats]:
    return gauss_legendre(panel_edges(end, even=8, geometric=6, least=1e-4))


@final
class _Lobe:
    """-A'(t + u) B(t), divided by e^scale."""

    def __init__(self, own: Stencil, others: Stencil) -> None:
        self._own, self._others = TotalTransform(own), TotalTransform(others)
        self._identity = own.evaluate(np.positive)
        log_own, _, _ = self._own.log_abs(SCAN)
        log_others, _, _ = self._others.log_abs(SCAN)
        self.scale = max(0.0, float((log_own + log_others).max()))

    def __call__(self, t: Floats, u: Floats) -> Floats:
        """Return the values on the grid, shape (t, u)."""
        log_others, others_sign, _ = self._others.log_abs(t)
        place = (t[:, None] + u).ravel()
        log_own, sign, _ = self._own.log_abs(place)
        log_abs = log_own + np.repeat(log_others - self.scale, u.size)
        lobe = self._own.weigh(self._identity, place, log_abs, sign)
        return others_sign[:, None] * lobe.reshape(t.size, u.size)

    def ends(self) -> tuple[float, float]:
        """Return the t and the u beyond which nothing is left."""
        along_t = self(SCAN, np.zeros(1))[:, 0]
        t_end = _last(SCAN, np.abs(along_t))
        t = np.append(0.0, np.geomspace(1e-3 * t_end, t_end, 24))
        u = SCAN[::10]
        return t_end, _last(u, np.abs(self(t, u)).max(axis=0))


def _last(place: Floats, size: Floats) -> float:
    alive = np.flatnonzero(size > np.exp(-_LOBE_DEPTH) * size.max())
    return float(place[min(alive[-1] + 1, place.size - 1)]) if alive.size else 1.0
