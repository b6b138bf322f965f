"""The variance as a public formula over a noisy triple (``design: units`` §5.1).

For x in [0, 1] the parts (T0, T1, T2) = (Σ(1 − x)², Σ2x(1 − x), Σx²) give
n = T0 + T1 + T2, Σx = T1/2 + T2 and Σx² = T2. The variance is
(Σx² − (Σx)²/n) / (n − 1); both divisors are cut to at least 1, and the result to
[0, n/(n − 1)/4].

Written in the parts it is V = (T0 T2 − T1²/4) / (n(n − 1)). With u = T0 − T2 the same
is (n − 2T1 − u²/n) / (4(n − 1)): concave over positive and linear, so V is
quasi-concave for n > 1. Over a box its least value is at a corner, and along a line
it has one peak. V falls in T1 wherever it is positive.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from dpframe.releases.parts import ROUNDING, Box, Floats, Parts

__all__ = [
    "deviation",
    "deviation_bounds",
    "deviation_error",
    "variance",
    "variance_bounds",
    "variance_error",
]

#: Two rows at opposite ends: no sample variance is greater.
_GREATEST = 0.5


def variance(parts: Parts) -> Floats:
    """Return the sample variance of x."""
    _, cross, inner = parts.values
    n = np.maximum(parts.rows, 1.0)
    free = np.maximum(n - 1.0, 1.0)
    raw = (inner - (cross / 2 + inner) ** 2 / n) / free
    return np.clip(raw, 0.0, parts.ceiling * n / free)


def variance_error(parts: Parts) -> Floats:
    """Return the standard error by the delta method, at most 1/4.

    With F = T0 T2 − T1²/4 and G = n(n − 1), dV = dF/G − F (2n − 1)/G² dn.
    """
    outer, cross, inner = parts.values
    n = np.maximum(parts.rows, 2.0)
    g = n * (n - 1.0)
    common = (outer * inner - cross**2 / 4) * (2 * n - 1.0) / g
    slopes = (inner - common, -cross / 2 - common, outer - common)
    error = parts.std * np.sqrt(sum(s**2 for s in slopes)) / g
    error = np.where(parts.rows < 2.0, np.inf, error)
    return np.minimum(error, _GREATEST / 2)


def variance_bounds(parts: Parts, half: float) -> tuple[Floats, Floats]:
    """Return the least and the greatest variance over the box of half-width ``half``.

    True numbers of rows are integers, and below 2 the variance is 0; where the box
    reaches there, only the general bounds [0, 1/2] are left.
    """
    box = parts.box(half)
    few = np.sum(box.low, axis=0) < 2.0
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(few, 0.0, _least(box))
        high = np.where(few, _GREATEST, _greatest(box))
    v = variance(parts)
    low, high = np.minimum(low - ROUNDING, v), np.maximum(high + ROUNDING, v)
    return np.maximum(low, 0.0), np.minimum(high, _GREATEST)


def deviation(parts: Parts) -> Floats:
    """Return the standard deviation of x, the root of the variance."""
    root: Floats = np.sqrt(variance(parts))
    return root


def deviation_error(parts: Parts) -> Floats:
    """Return the standard error by the delta method, at most half the range."""
    twice = 2 * deviation(parts)
    half_range = np.full(twice.shape, np.sqrt(_GREATEST) / 2)
    error: Floats = half_range.copy()
    np.divide(variance_error(parts), twice, out=error, where=twice > 0)
    return np.asarray(np.minimum(error, half_range))


def deviation_bounds(parts: Parts, half: float) -> tuple[Floats, Floats]:
    """Return the roots of the variance's bounds."""
    low, high = variance_bounds(parts, half)
    return np.sqrt(low), np.sqrt(high)


def _least(box: Box) -> Floats:
    ends = product((box.low[0], box.high[0]), (box.low[2], box.high[2]))
    corners = [_formula(outer, box.high[1], inner) for outer, inner in ends]
    least: Floats = np.min(corners, axis=0)
    return least


def _greatest(box: Box) -> Floats:
    """The peak of V over T0 and T2, at the least T1.

    Inside the rectangle the slope in u vanishes only at u = 0, where V is monotone in
    n. So the peak is on an edge, where one of T0, T2 is fixed (they are alike).
    """
    cross = box.low[1]
    peaks = []
    for moving, fixed in ((0, 2), (2, 0)):
        for held in (box.low[fixed], box.high[fixed]):
            peak = _peak(held, cross)
            at = np.clip(peak, box.low[moving], box.high[moving])
            peaks.append(_formula(at, cross, held))
    greatest: Floats = np.max(peaks, axis=0)
    return greatest


def _peak(held: Floats, cross: Floats) -> Floats:
    """Where V peaks along T0 for fixed T2 = ``held`` > 0 and T1 = ``cross``.

    With m = T1 + T2 and K = m T2 + T1²/4 the slope has the sign of
    −(T2 n² − 2Kn + K), hence the peak at n = (K + √(K² − K T2)) / T2.
    """
    m = cross + held
    k = m * held + cross**2 / 4
    n = (k + np.sqrt(np.maximum(k * (k - held), 0.0))) / held
    return np.where(held > 0, n - m, 0.0)


def _formula(outer: Floats, cross: Floats, inner: Floats) -> Floats:
    n = outer + cross + inner
    return (outer * inner - cross**2 / 4) / (n * (n - 1.0))
