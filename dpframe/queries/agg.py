"""The aggregates of ``group_by(...).agg(...)``: what is asked of each group.

Examples
--------
>>> import dpframe as dpf
>>> dpf.agg.mean("age", bounds=(17, 90))
agg.mean('age', bounds=(17, 90))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeGuard, final, get_args

from numpy.typing import NDArray

from dpframe.domain.lattice import Per
from dpframe.errors import ParameterError, shown
from dpframe.privacy.amounts import Amount, as_fraction

__all__ = [
    "RANKS",
    "Aggregate",
    "Several",
    "Statistic",
    "count",
    "iqr",
    "is_list",
    "max",
    "mean",
    "median",
    "min",
    "n_unique",
    "quantile",
    "read_q",
    "read_several",
    "std",
    "sum",
    "variance",
]

Statistic = Literal[
    "count", "sum", "mean", "variance", "std", "n_unique",
    "quantile", "median", "min", "max", "iqr",
]  # fmt: skip

#: Which quantiles an aggregate chooses; of "quantile" those that it is asked for.
RANKS: dict[Statistic, tuple[Fraction, ...]] = {
    "quantile": (),
    "median": (Fraction(1, 2),),
    "min": (Fraction(0),),
    "max": (Fraction(1),),
    "iqr": (Fraction(1, 4), Fraction(3, 4)),
}

#: Several q; a text is one number.
Several = list[Any] | tuple[Any, ...] | NDArray[Any]

#: Scores stay whole numbers: q is the nearest fraction of so great a denominator.
_FINEST_Q = 10**6


@final
@dataclass(frozen=True, slots=True)
class Aggregate:
    """One number for each group; made by the functions of this module."""

    statistic: Statistic
    column: str | None = None
    bounds: object = None
    per: Per = "row"
    q: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.per, str) or self.per not in get_args(Per):
            msg = f"per must be 'row' or 'unit'; got {shown(self.per)}."
            raise ParameterError(msg)
        if self.column is not None and not isinstance(self.column, str):
            msg = f"{self.statistic} needs a column name; got {shown(self.column)}."
            raise ParameterError(msg)

    def __repr__(self) -> str:
        parts = [] if self.column is None else [repr(self.column)]
        parts += [f"{float(q):.6g}" for q in self.q]
        if self.bounds is not None:
            parts.append(f"bounds={self.bounds!r}")
        if self.per != "row":
            parts.append(f"per={self.per!r}")
        return f"agg.{self.statistic}({', '.join(parts)})"

    @property
    def ranks(self) -> tuple[Fraction, ...]:
        """The quantiles that it chooses; none where it counts or sums."""
        return self.q or RANKS.get(self.statistic, ())

    def describe(self) -> dict[str, object]:
        """Return the arguments as text, for ledgers and digests."""
        asked: dict[str, object] = {
            "statistic": self.statistic,
            "column": self.column,
            "bounds": None if self.bounds is None else repr(self.bounds),
            "per": self.per,
        }
        return asked | {"q": [str(q) for q in self.q]} if self.q else asked


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


def quantile(
    column: str, q: Amount, *, bounds: object = None, per: Per = "row"
) -> Aggregate:
    """Quantile ``q`` of the usable values, chosen among public candidates."""
    return Aggregate("quantile", column, bounds, per, (read_q(q),))


def median(column: str, *, bounds: object = None, per: Per = "row") -> Aggregate:
    """Quantile 1/2."""
    return Aggregate("median", column, bounds, per)


def min(column: str, *, bounds: object = None, per: Per = "row") -> Aggregate:
    """A value below which only few of the usable values lie."""
    return Aggregate("min", column, bounds, per)


def max(column: str, *, bounds: object = None, per: Per = "row") -> Aggregate:
    """A value above which only few of the usable values lie."""
    return Aggregate("max", column, bounds, per)


def iqr(column: str, *, bounds: object = None, per: Per = "row") -> Aggregate:
    """Distance of the quartiles, each chosen with half of the share."""
    return Aggregate("iqr", column, bounds, per)


def read_q(q: object) -> Fraction:
    """Read one q, as the nearest fraction with a denominator up to a million.

    Raises
    ------
    ParameterError
        Unless it is a number between 0 and 1.
    """
    if is_list(q):
        msg = (
            "q must be one number here, such as 0.9; ask for each of several with a "
            "dpf.agg.quantile of its own, or for a list of them with .quantile(...)."
        )
        raise ParameterError(msg)
    read = as_fraction(q, "q")
    if not 0 <= read <= 1:
        msg = f"q must lie between 0 and 1, such as 0.5 for a median; got {shown(q)}."
        raise ParameterError(msg)
    return read.limit_denominator(_FINEST_Q)


def read_several(q: Iterable[object]) -> tuple[Fraction, ...]:
    """Read a list of q.

    Raises
    ------
    ParameterError
        If it is empty, or a q is wrong or stands there twice.
    """
    read = tuple(map(read_q, q))
    if not read or len(set(read)) < len(read):
        msg = f"q must list numbers from 0 to 1, each once; got {shown(q)}."
        raise ParameterError(msg)
    return read


def is_list(q: object) -> TypeGuard[Several]:
    """Tell whether several q are asked for."""
    return isinstance(q, Iterable) and not isinstance(q, str)


def __dir__() -> list[str]:
    return __all__
