"""Global sensitivities of the additive releases, in exact lattice steps.

This is the table of ``design: units`` §5. Neighboring bounded frames differ by one
unit's at most ``m`` rows in at most ``G`` groups. Under "replace" those rows are
exchanged for any others, *none included*, because a filter, a null or an unlisted
key turns an exchange into a removal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from dpframe.errors import ParameterError
from dpframe.privacy.unit import Neighboring, Unit

__all__ = ["Adjacency", "Sensitivity"]


@final
@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How far a vector of integers may move between neighbors.

    ``l1`` and ``l2_squared`` calibrate Laplace and Gaussian noise; ``l0`` is the
    number of coordinates that may change and ``linf`` the most that one may.
    """

    l1: int
    l2_squared: int
    l0: int
    linf: int


@final
@dataclass(frozen=True, slots=True)
class Adjacency:
    """The difference between neighboring bounded frames, under public keys.

    Parameters
    ----------
    unit : Unit
        The privacy unit with its bounds.
    neighboring : {"add_remove", "replace"}
        The relation.
    keys : int or None
        Number of public keys; None (or one) is a release without keys.
    """

    unit: Unit
    neighboring: Neighboring
    keys: int | None = None

    @property
    def _replace(self) -> bool:
        return self.neighboring == "replace"

    @property
    def _keyed(self) -> bool:
        return self.keys is not None and self.keys > 1

    @property
    def rows(self) -> int:
        """``m``: rows of one unit, over all groups."""
        if self.unit.max_rows is None:
            msg = (
                "this verb counts or sums rows, so it needs to know how many one "
                f"unit may have: give max_rows, as in dpf.Unit({self.unit.column!r}, "
                "max_rows=10)."
            )
            raise ParameterError(msg)
        return self.unit.max_rows

    @property
    def groups(self) -> int:
        """``G = min(g, m)``: groups of one unit; one of the two bounds suffices."""
        bounds = [b for b in (self.unit.max_rows, self.unit.max_groups) if b]
        if not bounds:
            msg = (
                "this verb needs max_rows or max_groups, as in "
                f"dpf.Unit({self.unit.column!r}, max_groups=3)."
            )
            raise ParameterError(msg)
        return min(bounds) if self.keys is None else min(*bounds, self.keys)

    @property
    def total_groups(self) -> int:
        """``g`` for ``per="unit"``: one total for each of a unit's groups."""
        if not self._keyed:
            return 1
        if self.unit.max_groups is None:
            msg = (
                "per='unit' with keys needs max_groups, as in "
                f"dpf.Unit({self.unit.column!r}, max_groups=3)."
            )
            raise ParameterError(msg)
        assert self.keys is not None
        return min(self.unit.max_groups, self.keys)

    def count(self) -> Sensitivity:
        """Row counts, one for each key: disjoint cells."""
        m = self.rows
        if not self._keyed:
            return Sensitivity(m, m * m, 1, m)
        times = 2 if self._replace else 1
        return Sensitivity(times * m, times * m * m, self._changed(self.groups), m)

    def sum(self, low: int, high: int) -> Sensitivity:
        """Sums of lattice integers in [low, high], one for each key."""
        m, big, span = self.rows, _largest(low, high), _span(low, high)
        if not self._keyed:
            step = m * (span if self._replace else big)
            return Sensitivity(step, step * step, 1, step)
        if not self._replace:
            return Sensitivity(m * big, (m * big) ** 2, self.groups, m * big)
        return Sensitivity(
            2 * m * big,
            m * m * max(span**2, 2 * big**2),
            self._changed(self.groups),
            m * span,
        )

    def parts(self, width: int, parts: int) -> Sensitivity:
        """Non-negative parts that add up to exactly ``width`` for each row.

        Two parts (k, W − k) are a mean, three a variance (`Adjacency.pair`): one
        row moves all of them together by ``width``, so nothing is split.
        """
        step = self.rows * width
        times = 2 if self._replace else 1
        cells = self._changed(self.groups) if self._keyed else 1
        return Sensitivity(times * step, times * step * step, parts * cells, step)

    def unit_sum(self, low: int, high: int) -> Sensitivity:
        """Sums of unit totals in [low, high], one total for each unit and key."""
        g, big, span = self.total_groups, _largest(low, high), _span(low, high)
        if not self._replace:
            return Sensitivity(g * big, g * big**2, g, big)
        if not self._keyed:
            return Sensitivity(span, span**2, 1, span)
        shared = g - (self._changed(g) - g)  # keys old and new rows cannot avoid
        apart = 2 * (g - shared)
        return Sensitivity(
            apart * big + shared * span,
            max(g * span**2, apart * big**2 + shared * span**2),
            self._changed(g),
            span,
        )

    def unit_parts(self, width: int, parts: int) -> Sensitivity:
        """`parts`, for unit totals instead of rows."""
        g = self.total_groups
        times = 2 if self._replace else 1
        cells = self._changed(g) if self._keyed else 1
        return Sensitivity(
            times * g * width, times * g * width**2, parts * cells, width
        )

    def ranks(self, below: int, above: int, *, by_unit: bool = False) -> Sensitivity:
        """Scores ``-|below #{x < y} - above #{x > y}|``: of one y under each key.

        A row that comes or goes moves the score under its key by ``below`` or ``above``
        at most, one that is exchanged by both: it may cross y. ``by_unit``: of the
        totals of units instead of rows.
        """
        m = self.total_groups if by_unit else self.rows
        moved = below + above if self._replace else max(below, above)
        one = moved if by_unit else m * moved  # a unit has one total under each key
        if not self._keyed:
            return Sensitivity(one, one * one, 1, one)
        total = m * max(below, above) * (2 if self._replace else 1)
        cells = self._changed(m if by_unit else self.groups)
        return Sensitivity(total, total * one, cells, one)

    def units(self) -> Sensitivity:
        """Units per key: a unit is counted once under each of its keys."""
        changed = self._changed(self.groups) if self._keyed else 1
        return Sensitivity(changed, changed, changed, 1)

    def distinct(self) -> Sensitivity:
        """Distinct values of a column: the values are the groups."""
        g = self.groups
        return Sensitivity(g, g * g, 1, g)

    def _changed(self, groups: int) -> int:
        """Cells that may change: old and new ones under "replace", all at most."""
        assert self.keys is not None
        return min(2 * groups, self.keys) if self._replace else groups


def _largest(low: int, high: int) -> int:
    return max(abs(low), abs(high))


def _span(low: int, high: int) -> int:
    """Width of [low, high] with 0 joined: a replaced row may contribute nothing."""
    return max(high, 0) - min(low, 0)
