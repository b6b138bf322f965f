"""The classes into which queries divide one column, and what is true in each.

Public facts all of it: a partition is made of conditions and codings, and says of each
class where a condition holds and which code it has. Rows of one class are alike to all
of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpframe.domain.coding import DROPPED, Codes, Coding, Lookup
from dpframe.domain.schema import ColumnType
from dpframe.engines.cuts import (
    ALWAYS,
    Cut,
    above,
    as_array,
    at_least,
    code_cuts,
    has_order,
    interval,
)
from dpframe.queries.predicates import Condition
from dpframe.queries.reduction import Cuts, Listed

__all__ = ["Partition", "divide", "marks"]

Mask = NDArray[np.bool_]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """Classes between cuts; the last class is missing."""

    type: ColumnType
    points: NDArray[Any]

    @property
    def classes(self) -> Cuts:
        """What the engine is told."""
        return Cuts(tuple(self.points.tolist()))

    @property
    def size(self) -> int:
        """Number of classes."""
        return len(self.points) + 2

    def outcome(self, condition: Condition, wanted: bool) -> Mask:
        """Tell the classes where a condition is true (or false), shape (size,)."""
        true = np.zeros(self.size, dtype=bool)
        for low, high in _intervals(condition, self.type):
            true[self._start(low) : self._start(high)] = True
        return _outcome(true, condition, wanted)

    def codes(self, coding: Coding) -> Codes:
        """Return the code of each class, shape (size,)."""
        unusable = coding.size - 1 if coding.other else DROPPED
        codes = np.full(self.size, unusable, dtype=np.int64)
        if isinstance(coding, Lookup):
            for code, value in enumerate(coding.values):
                low, high = interval(value, self.type)
                codes[self._start(low) : self._start(high)] = code
                if value is None:
                    codes[-1] = code
        elif (cuts := code_cuts(coding, self.type)) is not None:
            starts = np.searchsorted(self.points, cuts, side="right")
            codes[:-1] = np.searchsorted(starts, np.arange(self.size - 1), side="right")
        return codes

    def onto(self, coarser: Partition) -> Codes:
        """Return the class of a coarser partition that holds each class."""
        assert isinstance(coarser, Ordered)
        places = np.searchsorted(coarser.points, self.points, side="right")
        return np.array([0, *places, coarser.size - 1], dtype=np.int64)

    def _start(self, cut: Cut) -> int:
        """Return the first class beyond a cut of this partition."""
        if cut is None:
            return self.size - 1
        return 0 if cut == ALWAYS else int(self.points.searchsorted(cut, side="right"))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Unordered:
    """Classes of listed values, then of all others; the last class is missing."""

    places: dict[object, int]

    @property
    def classes(self) -> Listed:
        """What the engine is told."""
        return Listed(tuple(self.places))

    @property
    def size(self) -> int:
        """Number of classes."""
        return len(self.places) + 2

    def outcome(self, condition: Condition, wanted: bool) -> Mask:
        """Tell the classes where a condition is true (or false), shape (size,)."""
        true = np.zeros(self.size, dtype=bool)
        true[[self.places[value] for value in _values(condition)]] = True
        if condition.operator == "!=":
            true = ~true
        return _outcome(true, condition, wanted)

    def codes(self, coding: Coding) -> Codes:
        """Return the code of each class, shape (size,)."""
        unusable = coding.size - 1 if coding.other else DROPPED
        codes = np.full(self.size, unusable, dtype=np.int64)
        if isinstance(coding, Lookup):
            for code, value in enumerate(coding.values):
                codes[-1 if value is None else self.places[value]] = code
        return codes

    def onto(self, coarser: Partition) -> Codes:
        """Return the class of a coarser partition that holds each class."""
        assert isinstance(coarser, Unordered)
        others = coarser.size - 2
        places = [coarser.places.get(value, others) for value in self.places]
        return np.array([*places, others, coarser.size - 1], dtype=np.int64)


Partition = Ordered | Unordered


def divide(
    type: ColumnType, marked: Iterable[object], codings: Iterable[Coding] = ()
) -> Partition:
    """Divide a column so that all `marks` and codings are told apart."""
    if not has_order(type):
        values = dict.fromkeys(marked)
        for coding in codings:
            if isinstance(coding, Lookup):
                values |= dict.fromkeys(coding.values)
        values.pop(None, None)
        return Unordered({value: place for place, value in enumerate(values)})
    cuts = [as_array(list(marked), type)]
    for coding in codings:
        if isinstance(coding, Lookup):
            ends = [cut for v in coding.values for cut in interval(v, type)]
            cuts.append(as_array(_real(ends), type))
        elif (found := code_cuts(coding, type)) is not None:
            cuts.append(found)
    return Ordered(type, np.unique(np.concatenate(cuts)))


def marks(condition: Condition, type: ColumnType) -> list[Any]:
    """Return what a partition must tell apart for a condition: cuts, or values."""
    if not has_order(type):
        return _values(condition)
    return _real([end for ends in _intervals(condition, type) for end in ends])


def _real(cuts: Sequence[Cut]) -> list[Any]:
    return [cut for cut in cuts if cut is not None and cut != ALWAYS]


def _values(condition: Condition) -> list[Any]:
    return [True] if condition.operator == "true" else list(condition.values)


def _intervals(condition: Condition, type: ColumnType) -> list[tuple[Cut, Cut]]:
    """Return the intervals of cuts where a condition is true."""
    operator = condition.operator
    if operator == "null":
        return []
    if operator in ("==", "in", "true"):
        return [interval(value, type) for value in _values(condition)]
    (value,) = condition.values
    if operator == "!=":
        low, high = interval(value, type)
        return [(ALWAYS, None)] if low is None else [(ALWAYS, low), (high, None)]
    cut = above(value, type) if operator in ("<=", ">") else at_least(value, type)
    return [(ALWAYS, cut)] if operator in ("<", "<=") else [(cut, None)]


def _outcome(true: Mask, condition: Condition, wanted: bool) -> Mask:
    """Turn the classes that fulfil a condition into those of an outcome."""
    if condition.operator == "null":
        true[-1] = True
        return true if wanted else ~true
    found = true if wanted else ~true
    found[-1] = False  # what is missing is neither
    return found
