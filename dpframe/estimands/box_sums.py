r"""Sums of constants over boxes of counts, f = Σ v · 1[low <= x_i <= high for bins i].

T of the indicator of a box is the product of its bins' T 1[low <= x_i <= high], and 0
unless a neighbor of the noisy counts is in the box. The variance sums, over pairs of
boxes, v v' times

    Π a_i a'_i - Π c_i,      a = T 1,  a' = T 1',  c = T (1 1')  in bin i,

which is built up bin by bin, with s = a a' - c a form in the differences of the
indicators that does not cancel: docs/proofs/debias_boxes.rst, theorem 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from dpframe.errors import UnstableEstimateError
from dpframe.estimands.conditioning import cancelled
from dpframe.estimands.estimand import Debiased, swamped
from dpframe.estimands.stencil import LocalValues, Stencil

__all__ = ["BoxSum", "Condition", "debias_box_sum"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_MOST_WORK = 200_000_000  # pairs of boxes times bins, about a second

_UNKNOWN = (
    "too many boxes near these counts overlap for the variance to be summed over their "
    "pairs: std_error is unknown."
)


class Condition(NamedTuple):
    """One side of one box: the count of ``bin`` lies from ``low`` to ``high``."""

    box: int
    bin: int
    low: int
    high: int


@final
@dataclass(frozen=True, eq=False)
class BoxSum:
    """A constant plus values over boxes.

    ``values`` has shape (boxes,), ``conditions`` shape (m, 4) with the fields of
    `Condition` as columns, one for each bin that a box constrains. ``disjoint`` is
    True where no two of the boxes have a vector of counts in common.
    """

    values: Floats
    conditions: Integers
    constant: float = 0.0
    disjoint: bool = False


def debias_box_sum(boxes: BoxSum, stencil: Stencil) -> Debiased:
    """Return T f(y) and its unbiased variance, NaN where it would take too long."""
    with np.errstate(over="ignore", invalid="ignore"):
        near = _Near(boxes, stencil)
        value, variance = near.value, near.variance
        size = abs(near.constant) + np.abs(near.terms).sum()
    if not abs(value) < 1e300 or abs(variance) > 1e300:
        msg = (
            "the estimate or its variance is beyond 1e300: too many bins are next to "
            "an end of a box. Take fewer bins, or noise of larger epsilon."
        )
        raise UnstableEstimateError(msg)
    largest = abs(near.constant) + np.abs(near.values).max(initial=0.0)
    warnings = cancelled(float(size), value, 0.0 if math.isnan(variance) else variance)
    warnings += (_UNKNOWN,) if math.isnan(variance) else swamped(variance, largest)
    return Debiased(value, variance, warnings)


@final
class _Near:
    """The boxes that hold a neighbor of the noisy counts."""

    def __init__(self, boxes: BoxSum, stencil: Stencil) -> None:
        box, self.bin, low, high = boxes.conditions.T
        self.up, self.down = stencil.up[self.bin], stencil.down[self.bin]
        here, above, below = (
            (low <= z) & (z <= high) for z in stencil.points[:, self.bin]
        )
        kept = np.ones(boxes.values.size, dtype=bool)
        kept[box[~(here | above | below)]] = False
        # What holds at all neighbors of the counts is no condition here.
        live = kept[box] & ~(here & above & below)
        local = (here * 1.0, above * 1.0 - here, below * 1.0 - here)
        self.local = LocalValues(*(part[live] for part in local))
        self.bin, self.up, self.down = (x[live] for x in (self.bin, self.up, self.down))
        self.box = (np.cumsum(kept) - 1)[box[live]]
        self.values = boxes.values[kept]
        self.constant, self.disjoint = boxes.constant, boxes.disjoint
        self.terms = self.values * self._products()

    @property
    def value(self) -> float:
        """T f(y), added up without rounding between the terms."""
        if not np.isfinite(self.terms).all():
            return math.inf
        return math.fsum([self.constant, *self.terms.tolist()])

    @property
    def variance(self) -> float:
        """(T f)² - T(f²), the constant left out of f."""
        bins = np.unique(self.bin)
        if self.values.size**2 * max(bins.size, 10) <= _MOST_WORK:
            return self._variance_over_pairs(bins)
        if not self.disjoint:
            return math.nan
        # f² has the values v² over the same boxes.
        mean = float(self.terms.sum())
        return mean * mean - float((self.values * self.terms).sum())

    def _products(self) -> Floats:
        """T of each box's indicator."""
        here, up, down = self.local
        products = np.ones(self.values.size)
        np.multiply.at(products, self.box, here - self.up * up - self.down * down)
        return products

    def _variance_over_pairs(self, bins: Integers) -> float:
        boxes = self.values.size
        before = np.ones(boxes)  # Π a over the bins so far
        pairs = np.zeros((boxes, boxes))  # Π a a' - Π c
        for i in bins:
            at = np.flatnonzero(self.bin == i)
            here, up, down = np.array([[1.0], [0.0], [0.0]]).repeat(boxes, axis=1)
            for row, part in zip((here, up, down), self.local, strict=True):
                row[self.box[at]] = part[at]
            w_up, w_down = self.up[at[0]], self.down[at[0]]
            mean = w_up * up + w_down * down
            spread = np.outer(mean, mean)
            spread += w_up * np.outer(up, up) + w_down * np.outer(down, down)
            a = here - mean
            pairs *= np.outer(a, a) - spread
            pairs += np.outer(before, before) * spread
            before *= a
        return float(self.values @ pairs @ self.values)
