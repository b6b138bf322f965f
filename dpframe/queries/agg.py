"""The aggregates of ``group_by(...).agg(...)``: what is asked of each group.

Examples
--------
>>> import dpframe as dpf
>>> dpf.agg.mean("age", bounds=(17, 90))
agg.mean('age', bounds=(17, 90))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final, get_args

from dpframe.domain.lattice import Per
from dpframe.errors import ParameterError, shown

__all__ = [
    "Aggregate",
    "Statistic",
    "count",
    "mean",
    "n_unique",
    "std",
    "sum",
    "variance",
]

Statistic = Literal["count", "sum", "mean", "variance", "std", "n_unique"]


@final
@dataclass(frozen=True, slots=True)
class Aggregate:
    """One number for each group; made by the functions of this module."""

    statistic: Statistic
    column: str | None = None
    bounds: object = None
    per: Per = "row"

    def __post_init__(self) -> None:
        if self.per not in get_args(Per):
            msg = f"per must be 'row' or 'unit'; got {shown(self.per)}."
            raise ParameterError(msg)
        if self.column is not None and not isinstance(self.column, str):
            msg = f"{self.statistic} needs a column name; got {shown(self.column)}."
            raise ParameterError(msg)

    def __repr__(self) -> str:
        parts = [] if self.column is None else [repr(self.column)]
        if self.bounds is not None:
            parts.append(f"bounds={self.bounds!r}")
        if self.per != "row":
            parts.append(f"per={self.per!r}")
        return f"agg.{self.statistic}({', '.join(parts)})"

    def describe(self) -> dict[str, str | None]:
        """Return the arguments as text, for ledgers and digests."""
        return {
            "statistic": self.statistic,
            "column": self.column,
            "bounds": None if self.bounds is None else repr(self.bounds),
            "per": self.per,
        }


def count() -> Aggregate:
    """Rows of each group; noise of scale ``max_rows / epsilon``."""
    return Aggregate("count")


def sum(column: str, *, bounds: object = None, per: Per = "row") -> Aggregate:
    """Sum of ``column``, each row (or each unit's total) clamped to ``bounds``."""
    return Aggregate("sum", column, bounds, per)


def mean(column: str, *, bounds: object = None, per: Per = "row") -> Aggregate:
    """Mean of the usable values of ``column``, clamped to ``bounds``."""
    return Aggregate("mean", column, bounds, per)


def variance(column: str, *, bounds: object = None, per: Per = "row") -> Aggregate:
    """Variance (divisor n − 1) of the usable values, clamped to ``bounds``."""
    return Aggregate("variance", column, bounds, per)


def std(column: str, *, bounds: object = None, per: Per = "row") -> Aggregate:
    """Square root of the variance."""
    return Aggregate("std", column, bounds, per)


def n_unique(column: str) -> Aggregate:
    """Units in each group: ``column`` is the session's unit column."""
    return Aggregate("n_unique", column)


def __dir__() -> list[str]:
    return __all__
