"""The number of triangles of a graph, where neighbors differ in one edge.

For nodes i < j let a_ij be the number of their common neighbors, and b_ij that of the
nodes adjacent to exactly one of them. Adding or removing the edge ij changes a_ij
triangles; k other changes raise a_ij most by turning the b_ij nodes first, one change
each, then others, two changes each:

    edge   A(k) = max over i < j of min(a_ij + ⌊(k + min(k, b_ij)) / 2⌋, n - 2)

Exact [1]_. Only pairs (a, b) that no other pair dominates matter.
Proof: docs/proofs/sensitivity, theorem 14.

References
----------
.. [1] Nissim, Raskhodnikova and Smith (2007), Smooth sensitivity and sampling in
   private data analysis, claim 3.13.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from dpframe.errors import ParameterError
from dpframe.noise.law import Floats
from dpframe.sensitivity.ordered import Integers
from dpframe.sensitivity.profile import Profile
from dpframe.sensitivity.statistic import Statistic

__all__ = ["Graph", "TriangleProfile", "triangles"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A simple graph, as a symmetric matrix of zeros and ones; its nodes are public."""

    adjacent: Floats

    def __len__(self) -> int:
        return len(self.adjacent)

    @cached_property
    def common(self) -> Floats:
        """Common neighbors of each pair of nodes, whole numbers."""
        return self.adjacent @ self.adjacent


@final
@dataclass(frozen=True, eq=False, repr=False)
class TriangleProfile(Profile):
    """The exact profile under "edge"."""

    graph: Graph

    @property
    def last(self) -> int:
        """Two changes for each other node make every node a common neighbor."""
        return 2 * self._most

    @property
    def exact(self) -> bool:
        """True."""
        return True

    @property
    def _most(self) -> int:
        return max(len(self.graph) - 2, 0)

    def _at(self, ks: Integers) -> Floats:
        common, single = self._front
        best = np.zeros(ks.size)
        for a, b in zip(common.tolist(), single.tolist(), strict=True):
            np.maximum(best, a + (ks + np.minimum(ks, b)) // 2, out=best)
        return np.minimum(best, self._most)

    @cached_property
    def _front(self) -> tuple[Integers, Integers]:
        """The pairs (a, b) that no other pair has at least as much of both of."""
        first, second = np.triu_indices(len(self.graph), k=1)
        degrees = self.graph.adjacent.sum(axis=0)
        a = self.graph.common[first, second]
        edge = self.graph.adjacent[first, second]
        b = degrees[first] + degrees[second] - 2 * edge - 2 * a
        pairs = np.unique(np.stack([a, b], axis=1).astype(np.int64), axis=0)[::-1]
        before = np.maximum.accumulate(np.append(-1, pairs[:-1, 1]))
        return tuple(pairs[pairs[:, 1] > before[: len(pairs)]].T)


def triangles() -> Statistic[Graph]:
    """Make the number of triangles."""
    return Statistic(
        "triangles",
        _read_graph,
        lambda graph: int((graph.common * graph.adjacent).sum()) // 6,
        {"edge": TriangleProfile},
    )


def _read_graph(values: Any, bounds: object) -> Graph:
    given = np.asarray(values)
    if (
        given.ndim != 2
        or given.shape[0] != given.shape[1]
        or given.dtype.kind not in "biuf"
        or not np.isin(given, (0, 1)).all()
        or (given != given.T).any()
        or given.diagonal().any()
    ):
        msg = (
            "triangles needs a square adjacency matrix of zeros and ones that is "
            "symmetric, with zeros on its diagonal."
        )
        raise ParameterError(msg)
    return Graph(given.astype(np.float64))
