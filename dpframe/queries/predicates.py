"""Predicates: public conditions on the columns of a row, which count rows.

`dpframe.queries.column.col` starts one. They are read as three-valued logic (Kleene):
a missing value makes a comparison neither true nor false, ``&``, ``|`` and ``~`` carry
that through, and only rows where the whole is true are counted. NaN is missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Any, Literal, NoReturn, final

import numpy as np
from numpy.typing import NDArray

from dpframe.domain.serial import dump_value
from dpframe.queries.wording import show_name, show_value, show_values

__all__ = ["Condition", "Join", "Masks", "Not", "Operator", "Predicate", "no_truth"]

Operator = Literal["==", "!=", "<", "<=", ">", ">=", "in", "null", "true"]
Mask = NDArray[np.bool_]
Masks = Callable[["Condition", bool], Mask]


class Predicate(ABC):
    """A condition on a row; its answer is the number of rows where it is true.

    Joined by ``&``, ``|`` and ``~``. Immutable and hashable, and it holds no data.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions on single columns that it is made of, in order."""

    @abstractmethod
    def where(self, masks: Masks, outcome: bool = True) -> Mask:
        """Tell where the predicate is true (or, with ``outcome=False``, false).

        Parameters
        ----------
        masks : callable
            Condition and outcome -> where it has that outcome, a boolean array.
        outcome : bool
            Which of the two; what is unknown is neither.
        """

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return the predicate as canonical, JSON-able values."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that are read, each once, in the order of first use."""
        return tuple(dict.fromkeys(condition.column for condition in self.conditions))

    def __and__(self, other: Predicate) -> Predicate:
        if not isinstance(other, Predicate):
            return NotImplemented
        return _join(True, self, other)

    def __or__(self, other: Predicate) -> Predicate:
        if not isinstance(other, Predicate):
            return NotImplemented
        return _join(False, self, other)

    def __invert__(self) -> Predicate:
        return self.part if isinstance(self, Not) else Not(self)

    def __bool__(self) -> NoReturn:
        raise no_truth()


@final
@dataclass(frozen=True, slots=True, repr=False)
class Condition(Predicate):
    """One column against public values: what predicates are made of.

    Parameters
    ----------
    column : str
        The column.
    operator : str
        "in" is equal to one of several values; "null" is missing and "true" is true,
        of no values.
    values : tuple
        One for a comparison; plain Python values, none of them missing.
    """

    column: str
    operator: Operator
    values: tuple[Any, ...] = ()

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Itself."""
        return (self,)

    def where(self, masks: Masks, outcome: bool = True) -> Mask:
        """Ask ``masks``."""
        return masks(self, outcome)

    def describe(self) -> dict[str, object]:
        """Return column, operator and values."""
        return {
            "column": self.column,
            "test": self.operator,
            "values": dump_value(self.values),
        }

    def __repr__(self) -> str:
        name = show_name(self.column)
        if self.operator == "true":
            return name
        if self.operator == "null":
            return f"{name} is null"
        if self.operator == "in":
            return f"{name} in {show_values(self.values)}"
        return f"{name} {self.operator} {show_value(self.values[0])}"


@final
@dataclass(frozen=True, slots=True, repr=False)
class Join(Predicate):
    """Parts joined by ``&`` (``every``) or ``|``."""

    every: bool
    parts: tuple[Predicate, ...]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Those of the parts."""
        return tuple(condition for part in self.parts for condition in part.conditions)

    def where(self, masks: Masks, outcome: bool = True) -> Mask:
        """Join the parts: "all" is false where one is, "one" where all are."""
        joined = and_ if self.every == outcome else or_
        return reduce(joined, (part.where(masks, outcome) for part in self.parts))

    def describe(self) -> dict[str, object]:
        """Return the parts."""
        return {"all" if self.every else "any": [p.describe() for p in self.parts]}

    def __repr__(self) -> str:
        return (" & " if self.every else " | ").join(map(_bracketed, self.parts))


@final
@dataclass(frozen=True, slots=True, repr=False)
class Not(Predicate):
    """True where the part is false; where it is unknown, unknown."""

    part: Predicate

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Those of the part."""
        return self.part.conditions

    def where(self, masks: Masks, outcome: bool = True) -> Mask:
        """Ask the part for the opposite."""
        return self.part.where(masks, not outcome)

    def describe(self) -> dict[str, object]:
        """Return the part."""
        return {"not": self.part.describe()}

    def __repr__(self) -> str:
        return f"~{_bracketed(self.part)}"


def no_truth() -> TypeError:
    """Say how queries are joined: ``and``, ``or``, ``not`` and chains ask for truth."""
    return TypeError(
        "a query has no truth of its own. Join queries by & (and), | (or), ~ (not), "
        "each in brackets, and write a range as dpf.col('age').between(17, 40)."
    )


def _join(every: bool, *predicates: Predicate) -> Predicate:
    """Join, and keep a long chain flat."""
    parts: list[Predicate] = []
    for predicate in predicates:
        if isinstance(predicate, Join) and predicate.every == every:
            parts += predicate.parts
        else:
            parts.append(predicate)
    return Join(every, tuple(parts))


def _bracketed(part: Predicate) -> str:
    bare = isinstance(part, Not) or (
        isinstance(part, Condition) and part.operator == "true"
    )
    return repr(part) if bare else f"({part!r})"
