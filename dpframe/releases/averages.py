"""The mean as a public formula over noisy parts (``design: units`` §5.1).

With x in [0, 1], the pair (A, C) = (Σx, Σ(1 − x)) gives A/(A + C); the triple
(T0, T1, T2) = (Σ(1 − x)², Σ2x(1 − x), Σx²) gives (T1/2 + T2)/(T0 + T1 + T2). Either is
cut to [0, 1], and 1/2 where no row is left to divide by.
"""

from __future__ import annotations

import numpy as np

from dpframe.releases.parts import ROUNDING, Box, Floats, Parts

__all__ = ["mean", "mean_bounds", "mean_error"]

#: What one row of each part adds to Σx.
_WEIGHTS = {2: (1.0, 0.0), 3: (0.0, 0.5, 1.0)}


def mean(parts: Parts) -> Floats:
    """Return the mean of x, cut to [0, 1]."""
    return np.clip(_ratio(parts.values, 0.5), 0.0, 1.0)


def mean_error(parts: Parts) -> Floats:
    """Return the standard error by the delta method, at most 1/2.

    One more row in a part of weight w moves the mean r by (w − r)/n.
    """
    r, n = mean(parts), parts.rows
    slope = np.sqrt(sum((w - r) ** 2 for w in _WEIGHTS[len(parts.values)]))
    error = np.divide(parts.std * slope, n, out=np.full(n.shape, 0.5), where=n > 0)
    return np.asarray(np.minimum(error, 0.5))


def mean_bounds(parts: Parts, half: float) -> tuple[Floats, Floats]:
    """Return the least and the greatest mean over the box of half-width ``half``.

    On non-negative parts the mean falls in the part of weight 0 and rises in that of
    weight 1. The middle part draws it towards 1/2: one of its ends is the worst.
    """
    box = parts.box(half)
    if len(parts.values) == 2:
        (a_low, c_low), (a_high, c_high) = box.low, box.high
        low = _ratio((a_low, c_high), 0.0)
        high = _ratio((a_high, c_low), 1.0)
    else:
        low, high = _triple_bounds(box)
    r = mean(parts)
    low, high = np.minimum(low - ROUNDING, r), np.maximum(high + ROUNDING, r)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def _triple_bounds(box: Box) -> tuple[Floats, Floats]:
    middles = box.low[1], box.high[1]
    low = [_ratio((box.high[0], m, box.low[2]), 0.0) for m in middles]
    high = [_ratio((box.low[0], m, box.high[2]), 1.0) for m in middles]
    return np.minimum(*low), np.maximum(*high)


def _ratio(values: tuple[Floats, ...], empty: float) -> Floats:
    """Return Σx / rows, ``empty`` where there are no rows."""
    total = sum(w * v for w, v in zip(_WEIGHTS[len(values)], values, strict=True))
    rows = np.sum(values, axis=0)
    ratio: Floats = np.full(rows.shape, empty)
    np.divide(total, rows, out=ratio, where=rows > 0)
    return ratio
