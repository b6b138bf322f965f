r"""Smooth sensitivity of statistics that move on two sides, in linear time once sorted.

With u_b not falling and l_a not rising, such as u_b = x_{m+b}, l_a = x_{m-a} for the
order statistic of rank m, it is

    S = max over a, b >= 0, a + b >= 1 of exp(-β (a + b - 1)) (u_b - l_a).

1. Subtract l_0 from all u and l: the height r_b = u_b - l_0 and the depth f_a = l_0 -
   l_a are then not negative, and u_b - l_a = r_b + f_a.
2. The best pair with a = 0 or b = 0 is a lower bound S0, in one pass.
3. Only a, b <= ln((U - L) / S0) / β + 1 can win: the others are cut.
4. For a fixed a the best b maximizes w_b r_b + w_b f_a, with w_b = exp(-β b): lines in
   f_a >= 0, whose slopes fall with b. Lines whose intercept is not above all earlier
   ones never win, nor do those below a chord of their neighbors; of the others the
   upper envelope is built once, and every a looked up in it.

Step 1 is no cosmetics: with f_a < 0 step 4 would drop lines that win.
Proof: docs/proofs/sensitivity, theorem 3.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpframe.noise.law import Floats
from dpframe.sensitivity.ordered import widths

__all__ = ["two_sided_smooth"]

_FEW = 1_000  # lines for which a loop is quick


def two_sided_smooth(upper: NDArray[Any], lower: NDArray[Any], rate: float) -> float:
    """Return S for u_0 <= u_1 <= ... and l_0 >= l_1 >= ..., which end in U and L.

    Parameters
    ----------
    upper, lower : ndarray of float64 or int64, at least one entry each
        u_b for b = 0, 1, ... and l_a for a = 0, 1, ..., with u_0 >= l_0.
    rate : float
        β > 0.
    """
    rises, falls = widths(upper, lower[0]), widths(lower[0], lower)
    best = max(_one_sided(rises, rate), _one_sided(rises[0] + falls, rate))
    if best == 0:  # no width at all, or all of it damped below the least float
        return 0.0
    # Not the logarithm of the ratio: that may be beyond the floats.
    reach = (math.log(rises[-1] + falls[-1]) - math.log(best)) / rate + 1
    most = int(min(reach, rises.size + falls.size)) + 2  # one more against rounding
    rises, falls = rises[:most], falls[1:most]
    if not falls.size:
        return best
    b = _best_lines(rises, falls, rate)
    a = np.arange(1, falls.size + 1)
    return max(best, float((np.exp(-rate * (a + b - 1)) * (rises[b] + falls)).max()))


def _one_sided(heights: Floats, rate: float) -> float:
    """Return the best of exp(-β (b - 1)) h_b over b >= 1; 0 if there is none."""
    steps = np.arange(heights.size - 1)
    return float((np.exp(-rate * steps) * heights[1:]).max(initial=0.0))


def _best_lines(rises: Floats, falls: Floats, rate: float) -> NDArray[np.int64]:
    """Return for each fall f the b with the highest line w_b (r_b + f)."""
    slopes = np.exp(-rate * np.arange(rises.size))
    intercepts = slopes * rises
    before = np.maximum.accumulate(np.append(-1.0, intercepts[:-1]))
    rising = (intercepts > before).nonzero()[0]
    rising = _without_hollows(rising, slopes, intercepts)
    hull, starts = _envelope(slopes[rising], intercepts[rising])
    # Line i is the highest from starts[i] up to starts[i - 1].
    place = np.searchsorted(-starts, -falls, side="left")
    return np.asarray(rising[hull[place]])


def _without_hollows(
    kept: NDArray[np.int64], slopes: Floats, intercepts: Floats
) -> NDArray[np.int64]:
    """Drop lines that lie below their two neighbors, all at once, again and again.

    As a point (slope, intercept) such a line is below a chord, and never wins. This
    leaves few of a million lines to the loop of `_envelope`.
    """
    while kept.size > _FEW:
        fall, rise = -np.diff(slopes[kept]), np.diff(intercepts[kept])
        hollow = rise[:-1] * fall[1:] < rise[1:] * fall[:-1]
        if 8 * np.count_nonzero(hollow) < kept.size:
            break
        kept = kept[np.append(True, np.append(~hollow, True))]
    return kept


def _envelope(slopes: Floats, intercepts: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the lines of the upper envelope over f >= 0, and where each begins.

    Slopes fall and intercepts rise, so each new line is the highest near f = 0.
    """
    hull: list[int] = []
    starts: list[float] = []  # falls along the hull
    lines = list(zip(slopes.tolist(), intercepts.tolist(), strict=True))
    for new, (slope, intercept) in enumerate(lines):
        while hull:
            steeper, below = lines[hull[-1]]
            ahead, fall = intercept - below, steeper - slope
            start = ahead / fall if fall else math.inf  # where the last line catches up
            if len(hull) == 1 or start < starts[-2]:
                break
            hull.pop()
            starts.pop()
        if hull:
            starts[-1] = start
        hull.append(new)
        starts.append(0.0)
    return np.array(hull), np.array(starts)
