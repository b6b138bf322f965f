"""Propose-test-release of a scale (Dwork and Lei): a stable bin of the IQR.

The bins are public, such as geometric ones with one for 0. With a, b the quartiles'
ranks at the present n, the IQR after k changes lies in

    replace      [max(0, min over t of x_{b-t} - x_{a+k-t}),
                  max over t of x_{b+t} - x_{a-k+t}],   0 <= t <= k: exact
    add_remove   [max(0, x_{b-k} - x_{a+k}), x_{b+k} - x_{a-k}]

D is the first k at which this range leaves the bin, less 1, and 0 at least. The bin
itself is what is released where the test passes, as an interval, without noise.
Proof: docs/proofs/sensitivity, theorem 13.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpframe.sensitivity.order_statistics import quartile_ranks
from dpframe.sensitivity.ordered import Ordered, widths
from dpframe.sensitivity.profile import read_rows
from dpframe.sensitivity.search import first_true
from dpframe.sensitivity.statistic import Relation

__all__ = ["iqr_bin", "iqr_bin_distance", "iqr_range"]


def iqr_bin(data: Ordered, edges: NDArray[np.float64]) -> int:
    """Return how many of the sorted edges are at or below the IQR."""
    return _bin(edges, iqr_range(data, 0, "add_remove")[0])


def iqr_range(data: Ordered, k: int, neighboring: Relation) -> tuple[float, float]:
    """Return the least and the greatest IQR that k changes may lead to."""
    a, b = quartile_ranks(len(data))
    if neighboring == "replace":
        t = np.arange(k + 1)
        first, third = data[a + k - t], data[b - t]
        widest = data.gap(b + t, a - k + t).max()
    else:
        first, third = data[np.array([a + k])], data[np.array([b - k])]
        widest = data.gap(b + k, a - k)
    return float(widths(np.maximum(third, first), first).min()), float(widest)


def iqr_bin_distance(
    data: Ordered,
    edges: NDArray[np.float64],
    neighboring: Relation = "add_remove",
    rows: int = 1,
) -> float:
    """Return D for units of ``rows`` rows; infinity where there is one bin only.

    For units of several rows ``neighboring`` must be "add_remove", with m rows or 2m.
    """
    here = iqr_bin(data, edges)

    def leaves(k: int) -> bool:
        low, high = iqr_range(data, k, neighboring)
        return not _bin(edges, low) == here == _bin(edges, high)

    first = first_true(leaves, len(data) + 1)
    return (
        max(0.0, math.ceil(first / read_rows(rows)) - 1) if first < math.inf else first
    )


def _bin(edges: NDArray[np.float64], value: float) -> int:
    return int(np.searchsorted(edges, value, side="right"))
