r"""The Laplace transform of the inverse's weights, as a function of the total.

The inverse of n bins puts a signed weight on each of up to 3^n vectors z near the
noisy counts. Statistics of the form sum_i u(z_i) v(sum z) need only the transform

    G(t) = sum over z of weight(z) e^(-t sum(z)) = product of g_i(t),
    g_i(t) = e^(-t z_i) r_i(t),    r_i = 1 - up (e^-t - 1) - down (e^t - 1),

because e^(-tz) is an eigenfunction of the one-bin operator. Bins of the same rate
and the same kind (inside the domain, at its lower end, at its upper end) share
r_i and are counted together. Inside, c = d(1 + d) splits r_i into the two edge
factors 1 - d(e^-t - 1) and 1 - d(e^t - 1); only the second one changes sign, at
t = rate. docs/proofs/debias.rst, lemma 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import numpy as np
import numpy.typing as npt

from dpframe.estimands.stencil import LocalValues, Stencil

__all__ = ["TotalTransform"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_BLOCK = 2_000_000  # floats held at once: kinds of bins times values of t
_NOT_ZERO = 1e-300  # stands for an exact zero of r_i, under a logarithm


@final
class TotalTransform:
    """G(t) of a stencil, with the sums over bins that its quotients need.

    Parameters
    ----------
    stencil : Stencil
        The bins.
    numbers : array of int, optional
        How many bins are like each of these; one by default.

    Attributes
    ----------
    total : int
        Sum of the stencil's centers z_i.
    least : int
        Smallest total with a non-zero weight.
    sizes : array, shape (kinds,)
        Number of bins of each kind; likewise their ``rate``, ``d``, ``up``, ``down``.
    """

    def __init__(self, stencil: Stencil, numbers: Integers | None = None) -> None:
        if numbers is None:
            numbers = np.ones(stencil.center.size, dtype=np.int64)
        self._stencil, self._numbers = stencil, numbers
        self.total = int(stencil.center @ numbers)
        self.least = self.total - int(stencil.falls @ numbers)
        _, rate_code = np.unique(stencil.rate, return_inverse=True)
        code = 4 * rate_code + 2 * stencil.rises + stencil.falls
        _, first, self._kind = np.unique(code, return_index=True, return_inverse=True)
        self.sizes = np.zeros(first.size, dtype=np.int64)
        np.add.at(self.sizes, self._kind, numbers)
        self.rate, self.d = stencil.rate[first], stencil.d[first]
        self.up, self.down = stencil.up[first], stencil.down[first]

    def log_zero_weight(self) -> tuple[float, float]:
        """Return ln |w| and the sign of w, the weight of the total 0.

        For domains without negative values, where a total of 0 means that every
        bin is 0. The logarithm is -inf where no weight falls there.
        """
        s = self._stencil
        weight = np.where(s.center == 0, 1 + s.up + s.down, 0.0)
        weight = np.where(s.center == 1, -s.down, weight)
        if not weight.all():
            return -np.inf, 1.0
        negative = int((weight < 0) @ self._numbers)
        return float(np.log(np.abs(weight)) @ self._numbers), (-1.0) ** negative

    def log_abs(self, t: Floats) -> tuple[Floats, Floats, Floats]:
        """Return ln |G(t)|, the sign of G(t), and ln |product of the falling r_i|.

        Only factors of bins that step down change sign and then grow without bound.
        """
        log_product, log_falling = np.zeros((2, t.size))
        sign = np.ones(t.size)
        for part, log_r, negative in self._factors(t):
            sizes = self.sizes[part]
            log_product += sizes @ log_r
            log_falling += (sizes * (self.down[part] > 0)) @ log_r
            sign *= np.where((sizes @ negative) % 2, -1.0, 1.0)
        return log_product - t * self.total, sign, log_falling

    def weigh(self, u: LocalValues, t: Floats, log_abs: Floats, sign: Floats) -> Floats:
        """Return sum_i h_i(t) G(t)/g_i(t), h_i the transform of u over bin i.

        Equal to G(t) sum_i [u(z_i) - (up e^-t Δup u + down e^t Δdown u) / r_i(t)].
        Where u(z_i - 1) = 0 the last term would cancel the first one, at large t to
        the last digit: there both are u(z_i) (r_i + down e^t), which is
        u(z_i) (1 + down - up (e^-t - 1)).
        ``log_abs`` and ``sign`` describe G at ``t``. The quotient is taken between
        logarithms of the same floats, so that a zero of r_i cancels.
        """
        u = u.scaled(self._numbers)
        ends = np.where(u.here + u.down == 0, u.here, 0.0)
        kept = (1 + self.down) * self._per_kind(ends)
        risen = self.up * self._per_kind(ends)
        up = self.up * self._per_kind(u.up)
        down = self.down * self._per_kind(u.down + ends)
        result = float((u.here - ends).sum()) * np.exp(log_abs)
        rise, lost, fall = np.exp(-t), -np.expm1(-t), np.exp(t)
        for part, log_r, negative in self._factors(t):
            quotient = np.where(negative, -1.0, 1.0) * np.exp(log_abs - log_r)
            result += kept[part] @ quotient + lost * (risen[part] @ quotient)
            result -= rise * (up[part] @ quotient) + fall * (down[part] @ quotient)
        return sign * result

    def _per_kind(self, values: Floats) -> Floats:
        sums = np.zeros(self.sizes.size)
        np.add.at(sums, self._kind, values)
        return sums

    def _factors(
        self, t: Floats
    ) -> Iterator[tuple[slice, Floats, npt.NDArray[np.bool_]]]:
        """Yield kinds of bins in blocks, with ln |r| and whether r < 0 at each t."""
        step = max(1, _BLOCK // max(1, t.size))
        for start in range(0, self.sizes.size, step):
            part = slice(start, start + step)
            d_up = np.where(self.up[part] > 0, self.d[part], 0.0)[:, None]
            d_down = np.where(self.down[part] > 0, self.d[part], 0.0)[:, None]
            fallen = d_down * np.expm1(t)
            log_r = np.log1p(-d_up * np.expm1(-t)) + _log_abs_one_minus(fallen)
            yield part, log_r, fallen > 1


def _log_abs_one_minus(x: Floats) -> Floats:
    """Return ln |1 - x| for x >= 0, accurate near x = 0."""
    near = np.log1p(-np.minimum(x, 0.5))
    return np.where(x < 0.5, near, np.log(np.maximum(np.abs(1 - x), _NOT_ZERO)))
