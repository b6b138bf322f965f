"""The greedy disjoint pairing of points, nearest pairs first.

Of all pairs of points that are still free, the nearest is taken, again and again. Pairs
at one distance are taken in the order of the coordinates of their ends, never of row
numbers or of a search tree: four points 0, 1, 2, 3 pair at distances 1, 1 or 1, 3, so
another order of the same rows would give another sequence.

Once all pairs within a radius r have been looked at, the free points are more than r
apart; within 2r of each then lie a bounded number of them. So the radius doubles, and
each round looks at few pairs for each free point.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpframe.noise.law import Floats
from dpframe.sensitivity.points import Points

__all__ = ["disjoint_distances"]

_SLACK = 1 + 1e-9  # of the tree's own rounding; distances are compared exactly after it


def disjoint_distances(points: Points) -> Floats:
    """Return the distances of the greedy disjoint pairs, in ascending order."""
    # Equal points pair first, at distance 0; whichever they are, one or none is left.
    distances = [0.0] * int((points.times // 2).sum())
    free = points.places[points.times % 2 == 1]
    while len(free) > 1:
        pairs, squares = _near_pairs(free)
        taken = np.zeros(len(free), dtype=bool)
        for (i, j), square in zip(pairs.tolist(), squares.tolist(), strict=True):
            if not (taken[i] or taken[j]):
                taken[i] = taken[j] = True
                distances.append(math.sqrt(square) * points.unit)
        free = free[~taken]
    return np.array(distances)


def _near_pairs(free: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the pairs within twice the least distance, nearest first, and d²."""
    from scipy.spatial import cKDTree

    tree = cKDTree(free.astype(np.float64))
    _, nearest = tree.query(free.astype(np.float64), k=2)
    least = _squares(free, np.sort(nearest, axis=1)).min()
    most = max(4 * least, np.finfo(np.float64).tiny)
    pairs = tree.query_pairs(math.sqrt(most) * _SLACK, output_type="ndarray")
    pairs = np.sort(pairs, axis=1)
    squares = _squares(free, pairs)
    near = squares <= most
    pairs, squares = pairs[near], squares[near]
    # Points are in the order of their coordinates, and so are pairs of their numbers.
    order = np.lexsort((pairs[:, 1], pairs[:, 0], squares))
    return pairs[order], squares[order]


def _squares(free: NDArray[Any], pairs: NDArray[np.int64]) -> NDArray[Any]:
    """Return squared distances: of integers exact, of floats the same both ways."""
    apart = free[pairs[:, 0]] - free[pairs[:, 1]]
    return np.asarray((apart * apart).sum(axis=1))
