"""A few rows of one column behind no engine, for tests that ask thousands of times."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpframe.domain.schema import ColumnType, Schema
from dpframe.queries.reduction import Multiset, Reduction
from dpframe.secret import Aggregates, Occurrences, Secret


class TinySource:
    """Rows of a column "x", each of a unit of its own in the column "who"."""

    def __init__(self, x: Sequence[float]) -> None:
        self.x = x
        whole = all(isinstance(value, int) for value in x)
        kind = ColumnType("integer" if whole else "float")
        self.schema = Schema({"x": kind, "who": ColumnType("text")}, "polars")

    def multiset(self, query: Multiset) -> Secret[Occurrences]:
        lattice = query.measures[0].lattice
        steps = []
        for value in self.x:
            within = min(max(value, lattice.lower), lattice.upper)
            if lattice.inverse is not None:
                scaled = (within - lattice.offset) * lattice.inverse
                within = math.floor(scaled + 0.5)
            steps.append(int(within))
        values, times = np.unique(np.array(steps, dtype=np.int64), return_counts=True)
        cells = np.zeros(len(values), dtype=np.int64)
        return Secret(Occurrences(cells, values[:, None], times))

    def aggregate(self, reduction: Reduction) -> Secret[Aggregates]:
        """Rows of the keys 0, 1, … of a column of whole numbers."""
        assert reduction.keys is not None
        rows = np.bincount(self.x, minlength=reduction.keys.size).astype(np.int64)
        return Secret(Aggregates(rows, None, (), (), ()))
