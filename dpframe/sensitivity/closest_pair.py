"""The distance of the closest pair of points: the lecture notes' running example.

    add_remove   A(k) = g(k + 1), g(j) at most the closest distance after the best
                 deletion of j points, and the diameter once fewer than two are left

On a line g is exact, by bisection over distances. In the plane it is maximum
dispersion, NP-hard; the (j+1)-th distance of the greedy disjoint pairing is a valid
stand-in, since deleting j points leaves one of j + 1 disjoint pairs whole. For fewer
than two points the statistic is the diameter of the public box.

The notes call g(j) "the distance of the (k+1)-th nearest neighbor" and count deletions
only; it is not, and an added copy of a point already sends the statistic to 0. With a
dense cloud the smooth sensitivity is close to the diameter: an example to teach with,
no more.
Proof: docs/proofs/sensitivity, theorem 10.
"""

from __future__ import annotations

import struct
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpframe.noise.law import Floats
from dpframe.sensitivity.disjoint_pairs import disjoint_distances
from dpframe.sensitivity.ordered import Integers, Ordered
from dpframe.sensitivity.points import Points, read_points
from dpframe.sensitivity.profile import Profile, read_rows
from dpframe.sensitivity.statistic import Statistic

__all__ = ["LineProfile", "PlaneProfile", "closest_pair"]


@dataclass(frozen=True, eq=False, repr=False)
class _RemovalProfile(Profile):
    """A(k) = g(rows (k + 1))."""

    rows: int = field(default=1, kw_only=True)

    @abstractmethod
    def removal(self, j: int) -> float:
        """Return g(j), what the closest distance is at most after j deletions."""

    def _at(self, ks: Integers) -> Floats:
        return np.array([self.removal(self.rows * (k + 1)) for k in ks.tolist()])

    def of_unit(self, rows: int) -> Profile:
        """Return the profile for units of at most ``rows`` = m rows: g(m(k + 1)).

        One and the same under "add_remove" and "replace": what leaves may raise the
        statistic to g, what comes can only lower it.
        """
        return replace(self, rows=self.rows * read_rows(rows))


@final
@dataclass(frozen=True, eq=False, repr=False)
class LineProfile(_RemovalProfile):
    """Numbers; g is exact."""

    data: Ordered

    @property
    def last(self) -> int:
        """Where one point is left."""
        return -(-max(len(self.data) - 1, 1) // self.rows) - 1

    @property
    def exact_local(self) -> float | None:
        """max(f, g(1) - f): a copy of a point is added, or the best one leaves."""
        if self.rows > 1:
            return None
        closest = self.removal(0)
        return max(closest, self.removal(1) - closest) if len(self.data) else 0.0

    def removal(self, j: int) -> float:
        """Return the best closest distance after deleting at most j points."""
        if j not in self._known:
            self._known[j] = self._bisected(j)
        return self._known[j]

    @cached_property
    def _known(self) -> dict[int, float]:
        return {}

    @cached_property
    def _points(self) -> list[Any]:
        return list(self.data.values.tolist())

    @cached_property
    def _gaps(self) -> NDArray[Any]:
        """Differences of neighbors; unsigned for integers, which may be 2^63 apart."""
        x = self.data.values
        return np.diff(x.view(np.uint64) if x.dtype == np.int64 else x)

    def _bisected(self, j: int) -> float:
        x = self._points
        if len(x) - j < 2:
            return self.data.width
        # Floats >= 0 are ordered as their bits are: bisecting these ends in one float.
        code, number = _CODES[self.data.values.dtype.kind]
        low = max((code(d) for i, d in self._known.items() if i <= j), default=0)
        high = code(x[-1] - x[0])
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (
                (middle, high)
                if _can_keep_apart(x, self._gaps, number(middle), j)
                else (low, middle - 1)
            )
        return float(number(low))


@final
@dataclass(frozen=True, eq=False, repr=False)
class PlaneProfile(_RemovalProfile):
    """Points in the plane; g is the sequence of greedy disjoint distances."""

    data: Points

    @property
    def last(self) -> int:
        """Where the pairs are used up."""
        return -(-max(len(self._distances), 1) // self.rows) - 1

    def removal(self, j: int) -> float:
        """Return the distance of the (j + 1)-th greedy disjoint pair."""
        distances = self._distances
        return float(distances[j]) if j < len(distances) else self.data.diameter

    @cached_property
    def _distances(self) -> Floats:
        return disjoint_distances(self.data)


def closest_pair() -> Statistic[Ordered | Points]:
    """Make the distance of the closest pair; the diameter for fewer than two points."""
    return Statistic(
        "closest_pair",
        read_points,
        lambda data: _profile(data).removal(0),
        {"add_remove": _profile},
    )


def _profile(data: Ordered | Points) -> _RemovalProfile:
    return LineProfile(data) if isinstance(data, Ordered) else PlaneProfile(data)


def _can_keep_apart(
    x: list[Any], gaps: NDArray[Any], distance: Any, drops: int
) -> bool:
    """Whether deleting ``drops`` of the sorted points leaves gaps of ``distance``.

    Keeping a point whenever it is far enough from the last one kept deletes fewest. A
    point that is far from the one before it is kept; only the others are looked at.
    """
    near = (gaps < distance).nonzero()[0] + 1
    if near.size > 2 * drops:  # each is dropped, or kept just after one that is
        return False
    last, dropped = None, -1
    for i in near.tolist():
        if dropped != i - 1:
            last = x[i - 1]
        elif x[i] - last >= distance:
            continue
        if not drops:
            return False
        drops, dropped = drops - 1, i
    return True


def _bits(number: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


def _of_bits(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])


_CODES: dict[str, tuple[Callable[[Any], int], Callable[[int], Any]]] = {
    "i": (int, int),
    "f": (_bits, _of_bits),
}
