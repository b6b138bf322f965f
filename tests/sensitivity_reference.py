"""All data sets on a small grid, and sensitivities by their definitions alone."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from dpframe.sensitivity.catalog import as_statistic
from dpframe.sensitivity.ordered import Ordered

GRID = (0, 1, 3, 7)  # its ends are the bounds; all gaps are different
BOUNDS = (0, 7)


def data_sets(sizes, grid=GRID):
    """Every multiset of these sizes, sorted."""
    return [x for n in sizes for x in itertools.combinations_with_replacement(grid, n)]


@functools.cache
def neighbors(x, relation, grid=GRID):
    fewer = {x[:i] + x[i + 1 :] for i in range(len(x))}
    if relation == "replace":
        found = {tuple(sorted((*rest, y))) for rest in fewer for y in grid}
    else:
        found = fewer | {tuple(sorted((*x, y))) for y in grid}
    return sorted(found - {x})


@functools.cache
def within(x, relation, changes, grid=GRID):
    """The data sets that so many changes or fewer lead to."""
    if not changes:
        return frozenset([x])
    near = within(x, relation, changes - 1, grid)
    return near.union(*(neighbors(y, relation, grid) for y in near))


def ordered(x, dtype=np.float64, bounds=BOUNDS):
    return Ordered.of_sorted(np.array(x, dtype=dtype), *bounds)


class Enumerated:
    """A statistic under a relation: its profiles, and the truth, on every data set."""

    def __init__(self, statistic, relation, dtype=np.float64):
        self.statistic, self.relation = as_statistic(statistic), relation
        self.value = functools.cache(lambda x: self.statistic.value(ordered(x, dtype)))
        self.profile = functools.cache(
            lambda x: self.statistic.profile(ordered(x, dtype), relation)
        )
        self.exact = functools.cache(self._exact)

    def near(self, x):
        return neighbors(x, self.relation)

    def _exact(self, x, k):
        """The greatest local sensitivity within k changes."""
        if not k:
            moves = (abs(self.value(x) - self.value(y)) for y in self.near(x))
            return max(moves, default=0.0)
        return max(self.exact(y, k - 1) for y in [x, *self.near(x)])


def closest_distance(points, diameter):
    """By the definition; points are tuples, and the diameter is for less than two."""
    pairs = itertools.combinations(points, 2)
    return min((math.dist(p, q) for p, q in pairs), default=diameter)


def removal_curve(points, most, diameter):
    """g(j): the best closest distance after deleting at most j points."""
    return [
        max(
            closest_distance(kept, diameter)
            for size in range(max(len(points) - j, 0), len(points) + 1)
            for kept in itertools.combinations(points, size)
        )
        for j in range(most + 1)
    ]
