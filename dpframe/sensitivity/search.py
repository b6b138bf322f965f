"""Searches that look at few places of a non-decreasing sequence A(0), A(1), ..."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpframe.noise.law import Floats

__all__ = ["damped_maximum", "first_true"]

At = Callable[[NDArray[np.int64]], Floats]


def first_true(holds: Callable[[int], bool], last: int) -> float:
    """Return the least k <= last for which a condition holds from there on.

    Infinity if there is none. Strides double before they are halved, so that no k
    above twice the answer is looked at.
    """
    low, high = -1, 0  # it fails at `low`
    while not holds(high):
        if high >= last:
            return math.inf
        low, high = high, min(2 * high + 1, last)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def damped_maximum(at: At, last: int, limit: float, rate: float) -> float:
    """Return the maximum of exp(-rate k) A(k) over k; A is constant from ``last`` on.

    Strides double until not even ``limit`` could win. Then intervals are halved, all at
    once; inside (low, high) no value is above exp(-rate (low + 1)) A(high), and an
    interval goes as soon as that is no more than the best value seen.
    """

    def damped(k: NDArray[np.int64], height: Floats | float) -> Floats:
        return np.asarray(np.exp(-rate * k) * height)

    k, height = _doubling(at, last, limit, rate)
    best = float(damped(k, height).max())
    low, high, top = k[:-1], k[1:], height[1:]
    while True:
        may_win = (high - low > 1) & (damped(low + 1, top) > best)
        if not may_win.any():
            return best
        low, high, top = low[may_win], high[may_win], top[may_win]
        middle = (low + high) // 2
        height = at(middle)
        best = max(best, float(damped(middle, height).max()))
        low, high = np.append(low, middle), np.append(middle, high)
        top = np.append(height, top)


def _doubling(
    at: At, last: int, limit: float, rate: float
) -> tuple[NDArray[np.int64], Floats]:
    """Return k = 0, 1, 3, 7, ... up to the first that no later k can beat, and A."""
    places = [0]
    heights = [float(at(np.array([0]))[0])]
    best = heights[0]
    while places[-1] < last and math.exp(-rate * (places[-1] + 1)) * limit > best:
        places.append(min(2 * places[-1] + 1, last))
        heights.append(float(at(np.array(places[-1:]))[0]))
        best = max(best, math.exp(-rate * places[-1]) * heights[-1])
    return np.array(places), np.array(heights)
