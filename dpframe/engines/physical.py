"""Public values (keys, edges) on the scale in which the plan holds a column.

The plan holds points in time as ticks since 1970 in UTC, decimals as digits, booleans
as 0 and 1, floats as they are.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from dpframe.domain.schema import ColumnType
from dpframe.domain.values import family, infinite, plain
from dpframe.domain.zones import midnight

__all__ = [
    "INT64",
    "INT128",
    "NUMERIC",
    "equal_to",
    "float_around",
    "float_from",
    "in_microseconds",
    "is_narrow",
    "position",
    "thresholds",
    "value_at",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PER_SECOND = {
    "s": Fraction(1),
    "ms": Fraction(10**3),
    "us": Fraction(10**6),
    "ns": Fraction(10**9),
    "d": Fraction(1, 86400),
}
#: What the whole storage types of the plan can hold.
INT64 = (-(2**63), 2**63 - 1)
INT128 = (-(2**127), 2**127 - 1)

#: Kinds that hold numbers.
NUMERIC = ("boolean", "integer", "float", "decimal")
_FAMILIES = {
    **dict.fromkeys(NUMERIC, ("boolean", "number", "Decimal")),
    "date": ("date",),
    "datetime": ("datetime",),
    "duration": ("timedelta",),
}


def in_microseconds(type: ColumnType) -> ColumnType:
    """Return the type whose ticks are the keys': nanoseconds are cut to micro."""
    return replace(type, unit="us") if type.unit == "ns" else type


def equal_to(value: object, type: ColumnType) -> Fraction | float | None:
    """Return what the plan holds for rows equal to ``value``; None if no row can be.

    Equality is Python's: across numbers, but not between a date and a datetime, nor
    between a datetime with and without a zone.
    """
    value = plain(value)
    if family(value) not in _FAMILIES.get(type.kind, ()):
        return None
    if isinstance(value, datetime) and (value.tzinfo is None) != (type.zone is None):
        return None
    return position(value, type)


def thresholds(
    edges: Iterable[object], type: ColumnType
) -> Sequence[int] | Sequence[float] | None:
    """Return for each inner edge the least number of the column that reaches it.

    Here a date is its first moment, in the column's zone. None if the column is of a
    kind that the edges say nothing about.
    """
    places = [position(plain(edge), type) for edge in edges]
    known = [place for place in places if place is not None]
    if len(known) < len(places):
        return None
    if type.kind == "float":
        return [float_from(place) for place in known[1:-1]]
    return [math.ceil(place) for place in known[1:-1]]


def is_narrow(lower: int, upper: int) -> bool:
    """Tell whether integers of this range, and their differences, fit 64 bits."""
    return -(2**62) <= lower <= upper <= 2**62


def float_around(lower: int, upper: int) -> tuple[float, float]:
    """Return the nearest floats that enclose [lower, upper]."""
    return -float_from(Fraction(-lower)), float_from(Fraction(upper))


def position(value: object, type: ColumnType) -> Fraction | float | None:
    """Place a plain value on the column's scale."""
    kind = type.kind
    if isinstance(value, (bool, int, float, Decimal)) and kind in NUMERIC:
        if infinite(value):
            return float(value)
        return Fraction(value) * (10**type.scale if kind == "decimal" else 1)
    unit = _PER_SECOND["d" if kind == "date" else type.unit or "s"]
    if isinstance(value, date) and kind in ("date", "datetime"):
        return _seconds(_moment(value, type) - _EPOCH) * unit
    if isinstance(value, timedelta) and kind == "duration":
        return _seconds(value) * unit
    return None


def value_at(number: int, type: ColumnType) -> object:
    """Return the plain value that `position` places there, of a whole number.

    Times must lie within Python's. A moment has the time zone UTC if its column has
    one.
    """
    if type.kind == "boolean":
        return bool(number)
    if type.kind == "decimal":
        digits = tuple(map(int, str(abs(number))))
        return Decimal((int(number < 0), digits, -type.scale))
    if type.kind == "date":
        return date.fromordinal(_EPOCH.toordinal() + number)
    microseconds = number * 10**6 / _PER_SECOND[type.unit]
    span = timedelta(microseconds=int(microseconds))
    if type.kind == "duration":
        return span
    return _EPOCH.replace(tzinfo=None if type.zone is None else UTC) + span


def _moment(value: date, type: ColumnType) -> datetime:
    if not isinstance(value, datetime):
        return midnight(value, type.zone)
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value


def _seconds(span: timedelta) -> Fraction:
    return Fraction(span // timedelta(microseconds=1), 10**6)


def float_from(number: Fraction | float) -> float:
    """Return the least float >= ``number``."""
    try:
        near = float(number)
    except OverflowError:
        return math.inf if number > 0 else -sys.float_info.max
    return near if near >= number else math.nextafter(near, math.inf)
