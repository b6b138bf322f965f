"""Counts, sums and means, where local sensitivity gains little or nothing.

    count                A(k) = 1
    sum, add_remove      A(k) = max(|L|, |U|)
    sum, replace         A(0) = max(U - x_1, x_n - L), then U - L
    mean, replace        the same over n
    mean, add_remove     A(k) = (U - L) / max(1, n - k), the mean of nothing being L

All are exact but the last. Proof: docs/proofs/sensitivity, theorem 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dpframe.errors import ParameterError
from dpframe.noise.law import Floats
from dpframe.sensitivity.ordered import Integers, Ordered, exact_sum
from dpframe.sensitivity.profile import Constant, Profile
from dpframe.sensitivity.statistic import Statistic

__all__ = ["Counted", "MeanProfile", "ReplacedTotalProfile", "count", "mean", "total"]


@final
@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Counted:
    """Rows, and how many of them a predicate admits."""

    rows: int
    counted: int

    def __len__(self) -> int:
        return self.rows


@final
@dataclass(frozen=True, eq=False, repr=False)
class ReplacedTotalProfile(Profile):
    """A sum over ``divisor`` = 1, or a mean over n, one value of which is replaced."""

    data: Ordered
    divisor: int

    @property
    def last(self) -> int:
        """One: some value is then at a bound and can move by U - L."""
        return 1

    @property
    def exact(self) -> bool:
        """True."""
        return True

    def _at(self, ks: Integers) -> Floats:
        n = len(self.data)
        now = float(np.max(self.data.gap(np.array([n + 1, n]), np.array([1, 0]))))
        return np.where(ks == 0, now, self.data.width) / self.divisor


@final
@dataclass(frozen=True, eq=False, repr=False)
class MeanProfile(Profile):
    """A mean of values that come and go."""

    data: Ordered

    @property
    def last(self) -> int:
        """Where a single value is left."""
        return max(len(self.data) - 1, 0)

    def _at(self, ks: Integers) -> Floats:
        return self.data.width / np.maximum(len(self.data) - ks, 1)

    def _smooth(self, rate: float) -> float:
        # exp(-rate k) / (n - k) is convex in k: its maximum is at an end.
        return max(self.local, math.exp(-rate * self.last) * self.limit)


def total() -> Statistic[Ordered]:
    """Make the sum; 0 for no values."""
    return Statistic(
        "sum",
        Ordered.read,
        lambda data: float(exact_sum(data.values)),
        {
            "add_remove": lambda data: Constant(float(max(map(abs, data.ends)))),
            "replace": lambda data: ReplacedTotalProfile(data, 1),
        },
    )


def mean() -> Statistic[Ordered]:
    """Make the mean; the lower bound for no values."""
    return Statistic(
        "mean",
        Ordered.read,
        lambda data: float(
            exact_sum(data.values) / len(data) if len(data) else data[0]
        ),
        {
            "add_remove": MeanProfile,
            "replace": lambda data: ReplacedTotalProfile(data, len(data)),
        },
    )


def count() -> Statistic[Counted]:
    """Make the number of values; of booleans, of the true ones."""
    return Statistic(
        "count",
        _read_counted,
        lambda data: data.counted,
        {
            "add_remove": lambda data: Constant(1.0),
            "replace": lambda data: Constant(1.0),
        },
    )


def _read_counted(values: Any, bounds: object) -> Counted:
    given = np.asarray(values)
    if given.ndim != 1:
        msg = "values must be a flat list."
        raise ParameterError(msg)
    counted = np.count_nonzero(given) if given.dtype == np.bool_ else given.size
    return Counted(given.size, int(counted))
