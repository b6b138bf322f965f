"""The noisy parts of a mean or a variance, in rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = ["ROUNDING", "Box", "Floats", "Parts"]

Floats = NDArray[np.float64]

#: Covers the float rounding of an interval's ends, in widths of the bounds.
ROUNDING = 1e-14


@final
@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Non-negative sums over rows x in [0, 1] that add up to the number of rows.

    A pair is (Σx, Σ(1 − x)), a triple (Σ(1 − x)², Σ2x(1 − x), Σx²), where
    x = (value − lower) / (upper − lower) on the grid. All have independent noise.

    Parameters
    ----------
    values : tuple of ndarray of float64, shape (cells,)
        The noisy parts.
    std : float
        Standard deviation of the noise of each.
    ceiling : float
        No population variance exceeds it: ((upper − lower) / (grid width))² / 4,
        where the grid's own width may differ from the bounds' by half a step.
    """

    values: tuple[Floats, ...]
    std: float = 0.0
    ceiling: float = 0.25

    @property
    def rows(self) -> Floats:
        """The noisy number of rows."""
        total: Floats = np.sum(self.values, axis=0)
        return total

    def box(self, half: float) -> Box:
        """Where the true parts lie if no noise is beyond ``half``: none is negative."""
        low = tuple(np.maximum(v - half, 0.0) for v in self.values)
        high = tuple(np.maximum(v + half, 0.0) for v in self.values)
        return Box(low, high)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Least and greatest value of each part."""

    low: tuple[Floats, ...]
    high: tuple[Floats, ...]
