"""Points in a public box, in an order of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpframe.errors import ParameterError, shown
from dpframe.sensitivity.ordered import Ordered, read_bounds, read_numbers

__all__ = ["Points", "read_points"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """Distinct points and how often each occurs, from the lower corner of the box.

    Parameters
    ----------
    places : ndarray of int64 or float64, shape (d, dimensions)
        In lexicographic order: what the places alone decide, no row number does.
    times : ndarray of int64, shape (d,)
        Rows at each place.
    unit : float
        Length of one step of ``places``, a power of two.
    diameter : float
        Of the box, public.
    """

    places: NDArray[Any]
    times: NDArray[np.int64]
    unit: float
    diameter: float

    def __len__(self) -> int:
        return int(self.times.sum())


def read_points(values: ArrayLike, bounds: object) -> Ordered | Points:
    """Read points: a flat list is on a line, shape (n, dimensions) in a box.

    ``bounds`` is one pair for all coordinates, or a pair for each.
    """
    given = np.asarray(values)
    if given.ndim != 2 or given.shape[1] == 1:
        return Ordered.read(given.ravel() if given.ndim == 2 else given, bounds)
    if not given.shape[1]:
        msg = "points must have a coordinate."
        raise ParameterError(msg)
    pairs = _pair_for_each(bounds, given.shape[1])
    columns = []
    for column, pair in zip(given.T, pairs, strict=True):
        clamped, lower, _ = read_numbers(column, *read_bounds(pair))
        columns.append(clamped - lower)
    sides = [float(high - low) for low, high in map(read_bounds, pairs)]
    diameter = math.hypot(*sides)
    whole = all(column.dtype == np.int64 for column in columns)
    if whole and 4 * len(sides) * max(sides) ** 2 < 2**63:  # exact squared distances
        return _counted(np.stack(columns, axis=1), 1.0, diameter)
    unit = math.ldexp(1.0, math.frexp(diameter)[1])
    scaled = np.stack(columns, axis=1).astype(np.float64) / unit  # squares stay finite
    return _counted(scaled, unit, diameter)


def _counted(places: NDArray[Any], unit: float, diameter: float) -> Points:
    distinct, times = np.unique(places, axis=0, return_counts=True)
    return Points(distinct, times, unit, diameter)


def _pair_for_each(bounds: object, dimensions: int) -> Sequence[object]:
    nested = isinstance(bounds, Sequence) and any(
        isinstance(pair, Sequence) and not isinstance(pair, str) for pair in bounds
    )
    if not nested:
        return [bounds] * dimensions
    assert isinstance(bounds, Sequence)
    if len(bounds) != dimensions:
        msg = (
            "bounds of points must be one pair, or a pair for each of the "
            f"{dimensions} coordinates; got {shown(bounds)}."
        )
        raise ParameterError(msg)
    return bounds
