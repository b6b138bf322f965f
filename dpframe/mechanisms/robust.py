"""Statistics with a sensitivity profile, from the columns of a frame to exact numbers.

Everything that can be wrong with a question is found here, from arguments, domain and
schema. What is read of the data is how often each lattice integer occurs; the value and
the profile of it are worked out by `dpframe.sensitivity`, in steps of the lattice.

Nulls and filters change the number of rows, so no verb knows it: profiles are those of
add_remove under both relations, for units of s rows, s = m, or 2m under "replace"
(``design: units`` §5.5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import Any, final

import numpy as np

from dpframe.domain.lattice import Lattice, Per, fit_lattice
from dpframe.domain.resolve import resolve_bounds
from dpframe.domain.schema import ColumnType, Schema
from dpframe.errors import ParameterError, shown
from dpframe.mechanisms.request import Setting
from dpframe.mechanisms.terms import column_type
from dpframe.privacy.amounts import as_fraction
from dpframe.privacy.sensitivity import Adjacency
from dpframe.queries.reduction import Measure, Multiset
from dpframe.releases.numbers import Form
from dpframe.secret import Occurrences
from dpframe.sensitivity.order_statistics import iqr, median, quantile, quartile_ranks
from dpframe.sensitivity.ordered import Ordered, exact_sum
from dpframe.sensitivity.profile import Profile
from dpframe.sensitivity.statistic import Statistic
from dpframe.sensitivity.trimmed_mean import trimmed_mean
from dpframe.sensitivity.variance import variance

__all__ = [
    "Column",
    "Robust",
    "changed_rows",
    "finest_grid",
    "numeric",
    "ordered",
    "read_column",
    "read_length",
]

_GRID_BITS = 20  # of the width of an answer that is not a whole number of steps
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@final
@dataclass(frozen=True, slots=True)
class Column:
    """One column of numbers on its lattice.

    Parameters
    ----------
    name : str
        In the frame.
    lattice : Lattice
        Its public grid and bounds.
    """

    name: str
    lattice: Lattice

    @property
    def width(self) -> int:
        """Steps between the bounds."""
        return self.lattice.width

    def query(self, setting: Setting) -> Multiset:
        """What the engine is told."""
        return Multiset(setting.unit, (Measure(self.name, self.lattice),))


@final
@dataclass(frozen=True, slots=True)
class Robust:
    """A statistic of a frame, with what is proved of it.

    Numbers are in steps of the lattice of its columns, squared for a variance.

    Parameters
    ----------
    name : str
        The statistic with its parameters.
    columns : tuple of str
        What it is about.
    query : Multiset
        What the engine is told.
    lattice : Lattice
        In whose steps numbers are.
    form : {"point", "length", "square"}
        What the answer is.
    low, high : Fraction
        Between which it lies, whatever the data are.
    whole : bool
        Whether it is a whole number of steps.
    read : callable
        What the engine counted, as data of `dpframe.sensitivity`.
    value : callable
        The exact statistic of such data.
    profile : callable
        The sensitivity profile for one unit at such data.
    """

    name: str
    columns: tuple[str, ...]
    query: Multiset
    lattice: Lattice
    form: Form
    low: Fraction
    high: Fraction
    whole: bool
    read: Callable[[Occurrences], Any]
    value: Callable[[Any], Fraction]
    profile: Callable[[Any], Profile]

    @property
    def grid(self) -> Fraction:
        """The step to which a smooth answer is rounded."""
        return Fraction(1) if self.whole else finest_grid(self.high - self.low)

    @property
    def exact(self) -> bool:
        """Whether it is a whole number in the unit of the column, or a tick."""
        return self.whole and self.lattice.inverse is None

    @property
    def start(self) -> int:
        """Where the grid begins: at 0, or at the lower end, which may be far from 0."""
        return 0 if self.whole else int(self.low)

    def describe(self) -> dict[str, object]:
        """Return columns, bounds and statistic as canonical JSON values."""
        return {
            "statistic": self.name,
            "columns": [m.column for m in self.query.measures],
            "lattices": [m.lattice.describe() for m in self.query.measures],
        }


def finest_grid(width: Fraction) -> Fraction:
    """Return the least power of two of which ``width`` > 0 has at most 2^20 steps."""
    target = width / 2**_GRID_BITS
    exponent = target.numerator.bit_length() - target.denominator.bit_length() - 1
    grid: Fraction = Fraction(2) ** exponent
    while grid < target:
        grid *= 2
    return grid


def read_column(
    column: str,
    bounds: object,
    setting: Setting,
    schema: Schema,
    *,
    per: Per = "row",
) -> Column:
    """Resolve a column of numbers with its bounds.

    Raises
    ------
    ColumnNotFoundError, DomainError, ParameterError
        If the column, its bounds or its type do not fit; from public facts alone.
    """
    type_, domain = column_type(column, setting, schema), setting.domain
    undeclared = domain is None or column not in domain
    if bounds is None and undeclared and type_.kind == "boolean":
        pair: tuple[Any, Any] = (0, 1)
    else:
        pair = resolve_bounds(column, domain=domain, bounds=bounds)
    if type_.kind == "null":  # nothing but missing values
        type_ = ColumnType("float")
    if per == "unit" and setting.unit.is_row:
        msg = (
            "per='unit' needs a session whose unit is a column, dpf.Unit('person_id')."
        )
        raise ParameterError(msg)
    return Column(column, fit_lattice(column, type_, pair, "values", per=per))


def numeric(statistic: object, column: Column, setting: Setting) -> Robust:
    """Resolve a statistic of one column by its name.

    Parameters
    ----------
    statistic : str or tuple
        "median", "iqr", "variance", ("quantile", q), or ("trimmed_mean", trim).
    column : Column
        On its lattice.
    setting : Setting
        Unit and relation.

    Raises
    ------
    ParameterError
        For any other statistic, and columns that have no such statistic.
    """
    found, exact, form, whole = _named(statistic)
    lattice, width = column.lattice, Fraction(column.width)
    if form == "square" and lattice.type.kind in ("date", "datetime"):
        msg = f"{column.name!r} holds points in time, which have no {found.name}."
        raise ParameterError(msg)
    ends = {
        "point": (Fraction(lattice.low), Fraction(lattice.high)),
        "length": (Fraction(0), width),
        "square": (Fraction(0), width**2 / 4),
    }
    rows = changed_rows(setting, per=lattice.per)
    return Robust(
        found.name,
        (column.name,),
        column.query(setting),
        lattice,
        form,
        *ends[form],
        whole,
        lambda occurrences: ordered(occurrences, lattice),
        exact,
        lambda data: found.profile(data, "add_remove").of_unit(rows),
    )


def changed_rows(setting: Setting, *, per: Per = "row") -> int:
    """Return s: rows of the bounded frame that come or go with one unit, at most.

    Under "replace" a unit's m rows go and m others come; n is not public there either.
    """
    adjacency = Adjacency(setting.unit, setting.neighboring)
    m = 1 if per == "unit" else adjacency.rows
    return 2 * m if setting.neighboring == "replace" else m


def ordered(occurrences: Occurrences, lattice: Lattice) -> Ordered:
    """Return the values of a multiset of one measure, sorted, with their bounds."""
    values = np.repeat(occurrences.values[:, 0], occurrences.times)
    return Ordered.of_sorted(values, lattice.low, lattice.high)


def read_length(bound: object, lattice: Lattice, form: Form) -> Fraction:
    """Read a proposed sensitivity, in the unit of the answer, as lattice steps.

    Raises
    ------
    ParameterError
        Unless it is a positive number; a timedelta where values are times.
    """
    type_ = lattice.type
    timed = type_.kind in ("date", "datetime", "duration")
    if timed and form != "square":
        if not isinstance(bound, timedelta):
            msg = (
                "bound must be a timedelta, such as timedelta(days=1), as differences "
                f"of {type_.kind}s are; got {shown(bound)}."
            )
            raise ParameterError(msg)
        seconds = Fraction(bound // timedelta(microseconds=1), 10**6)
        day = type_.kind == "date"
        engine = seconds / 86_400 if day else seconds * _PER_SECOND[type_.unit]
    else:
        engine = as_fraction(bound, "bound")
        power = 2 if form == "square" else 1
        digits: int = 10 ** (type_.scale * power)
        engine *= digits
        if timed:
            engine *= _PER_SECOND[type_.unit] ** 2
    if engine <= 0:
        msg = (
            "bound is the sensitivity that is proposed, and must be positive; got "
            f"{shown(bound)}."
        )
        raise ParameterError(msg)
    return engine / lattice.step ** (2 if form == "square" else 1)


_Value = Callable[[Ordered], Fraction]


def _named(statistic: object) -> tuple[Statistic[Ordered], _Value, Form, bool]:
    """Return profiles, exact value, form, and whether it is a whole number of steps."""
    name, parameter = statistic, None
    if isinstance(statistic, (tuple, list)) and len(statistic) == 2:
        name, parameter = statistic
    if parameter is None and isinstance(name, str):
        if name == "median":
            found = median()
            return found, lambda data: Fraction(found.value(data)), "point", True
        if name == "iqr":
            return iqr(), _iqr, "length", True
        if name == "variance":
            return variance(), _variance, "square", False
    if parameter is not None and name == "quantile":
        found = quantile(parameter)
        return found, lambda data: Fraction(found.value(data)), "point", True
    if parameter is not None and name == "trimmed_mean":
        cut = _read_trim(parameter)
        return trimmed_mean(parameter), lambda x: _trimmed(x, cut), "point", False
    msg = (
        "statistic must be 'median', 'iqr', 'variance', ('quantile', 0.9) or "
        f"('trimmed_mean', 0.1); got {shown(statistic)}."
    )
    raise ParameterError(msg)


def _iqr(data: Ordered) -> Fraction:
    first, third = quartile_ranks(len(data))
    return Fraction(int(data[third]) - int(data[first]) if len(data) else 0)


def _read_trim(trim: Any) -> int | Fraction:
    """Rows off each end, or their share; `trimmed_mean` has its errors."""
    whole = isinstance(trim, (int, np.integer)) and not isinstance(trim, bool)
    return int(trim) if whole else as_fraction(trim, "trim")


def _trimmed(data: Ordered, cut: int | Fraction) -> Fraction:
    n = len(data)
    trim = int(cut * n) if isinstance(cut, Fraction) else int(cut)
    kept = data.values[trim : max(n - trim, trim)]
    return exact_sum(kept) / len(kept) if len(kept) else Fraction(int(data[0]))


def _variance(data: Ordered) -> Fraction:
    n = len(data)
    if not n:
        return Fraction(0)
    # Of distinct values: the squares may need more than 64 bits.
    distinct, times = np.unique(data.values, return_counts=True)
    pairs = list(zip(distinct.tolist(), times.tolist(), strict=True))
    total = sum(x * count for x, count in pairs)
    squares = sum(x * x * count for x, count in pairs)
    return Fraction(n * squares - total**2, n * n)
