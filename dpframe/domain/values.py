"""Public values as exact Python values: what a key, an edge or a bound may be.

NaN, NaT and null are one value, ``None``. Aware datetimes are moved to UTC; the
nanoseconds of numpy and pandas times are cut to whole microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from dpframe.errors import ParameterError

__all__ = [
    "comparable",
    "distinct",
    "family",
    "infinite",
    "listed",
    "ordered",
    "plain",
    "uniform",
]

#: bool is an int and datetime a date in Python, so the narrower type comes first.
_FAMILIES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "number"),
    (float, "number"),
    (Decimal, "Decimal"),
    (str, "text"),
    (datetime, "datetime"),
    (date, "date"),
    (timedelta, "timedelta"),
)
_ORDERED = ("number", "Decimal", "date", "datetime", "timedelta")


def plain(value: object) -> Any:
    """Return ``value`` as an exact Python value; null, NaN and NaT are ``None``.

    Scalars of numpy and pandas and subclasses (``StrEnum``, ``Timestamp``) become
    the plain type. What is no scalar comes back as it is: `family` knows it not.
    """
    if isinstance(value, np.generic):
        value = _from_numpy(value)
    if _missing(value):
        return None
    for kind, exact in _EXACT:
        if isinstance(value, kind):
            return exact(value)
    return value


def family(value: object) -> str | None:
    """Name the family of a plain value, within which values can be compared."""
    return next((name for kind, name in _FAMILIES if isinstance(value, kind)), None)


def infinite(value: object) -> bool:
    """Tell whether a plain value is an infinite number."""
    if isinstance(value, Decimal):
        return value.is_infinite()  # abs() would round, or overflow
    return isinstance(value, float) and abs(value) == float("inf")


def listed(values: object, what: str) -> list[object]:
    """Read an ordered collection of values."""
    flat = getattr(values, "ndim", 1) == 1  # a table would list its column names
    shapeless = isinstance(values, (str, bytes, Mapping, set, frozenset))
    if shapeless or not flat or not isinstance(values, Iterable):
        msg = (
            f"{what} must be a list, in the order you want; "
            f"got {type(values).__name__}."
        )
        raise ParameterError(msg)
    return list(values)


def uniform(values: Iterable[object], what: str) -> tuple[Any, ...]:
    """Make ``values`` plain and of one family; integers beside floats become floats.

    Raises
    ------
    ParameterError
        For a value that no column of scalars holds, and for mixed families.
    """
    raw = list(values)
    if set(map(type, raw)) in ({int}, {str}):
        return tuple(raw)  # plain already, and a million of them soon told
    exact = [plain(value) for value in raw]
    known = {family(value): value for value in reversed(exact) if value is not None}
    if None in known:
        msg = (
            f"{what} must be text, numbers, booleans, dates, datetimes, timedeltas "
            f"or Decimals, or None; got {type(known[None]).__name__}."
        )
        raise ParameterError(msg)
    if len(known) > 1:
        msg = (
            f"{what} must be of one kind, as a column's values are; "
            f"got {' and '.join(sorted(filter(None, known)))}."
        )
        raise ParameterError(msg)
    types = {type(value) for value in exact}
    if {int, float} <= types:
        exact = [value if value is None else _as_float(value, what) for value in exact]
    return tuple(exact)


def distinct(values: tuple[Any, ...], what: str) -> None:
    """Refuse a value that is listed twice, in whatever spelling."""
    seen: dict[Any, Any] = {}
    for value in values:
        if value not in seen:
            seen[value] = value
            continue
        first = seen[value]
        twice = (
            f"{value!r} twice"
            if repr(first) == repr(value)
            else f"{first!r} and {value!r}, which are equal"
        )
        hint = " (null and NaN are the one key None)" if value is None else ""
        msg = f"{what} list {twice}{hint}. List each once."
        raise ParameterError(msg)


def ordered(values: Iterable[object], what: str) -> tuple[Any, ...]:
    """Make ``values`` plain, of one ordered family, with none missing."""
    raw = list(values)
    exact = tuple(plain(value) for value in raw)
    if any(value is None for value in exact):
        msg = f"{what} must not hold a missing value or NaN."
        raise ParameterError(msg)
    kinds = {family(value) for value in exact}
    unordered = kinds - set(_ORDERED)
    if unordered:
        culprit = next(value for value in exact if family(value) in unordered)
        msg = (
            f"{what} must be numbers, dates, datetimes, timedeltas or Decimals; "
            f"got {type(culprit).__name__}."
        )
        raise ParameterError(msg)
    if kinds == {"datetime"} and len({value.tzinfo is None for value in exact}) == 2:
        msg = f"{what} mix datetimes with and without a time zone; give all one."
        raise ParameterError(msg)
    return uniform(exact, what)


def comparable(value: object, to: str) -> Any:
    """Return ``value`` ready for comparison within family ``to``, else ``None``.

    Times are compared in UTC, naive ones taken as UTC. A datetime falls on its day
    where edges are dates; a date is its midnight where they are datetimes.
    """
    exact = plain(value)
    own = family(exact)
    if own == "datetime":
        return _AS_TIME[to](exact.replace(tzinfo=None)) if to in _AS_TIME else None
    if own == "date" and to == "datetime":
        return datetime(exact.year, exact.month, exact.day)
    numeric = own in ("boolean", "number", "Decimal") and to in ("number", "Decimal")
    return exact if own == to or numeric else None


def _from_numpy(value: np.generic) -> object:
    """Turn a numpy scalar into Python's; numpy's own way makes integers of ns."""
    if not isinstance(value, (np.datetime64, np.timedelta64)):
        return value.item()
    unit, _ = np.datetime_data(value.dtype)
    if isinstance(value, np.datetime64) and unit in ("Y", "M", "W", "D"):
        return value.astype("datetime64[D]").item()
    return value.astype(f"{value.dtype.kind}8[us]").item()


def _missing(value: object) -> bool:
    if value is None or type(value).__name__ == "NAType":  # pandas.NA, not imported
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, (float, date)) and bool(value != value)


def _as_float(value: int | float, what: str) -> float:
    if abs(value) < 2**53 or isinstance(value, float):
        return float(value)
    msg = (
        f"{what} mix floats with integers beyond 2**53, which no float column "
        "tells apart; give all as integers, or all as Decimals."
    )
    raise ParameterError(msg)


def _exact_datetime(value: datetime) -> datetime:
    moment = datetime.combine(value.date(), value.time(), value.tzinfo)
    aware = moment.tzinfo is not None
    return moment.astimezone(UTC) if aware else moment.replace(fold=0)


def _exact_date(value: date) -> date:
    return date(value.year, value.month, value.day)


def _exact_timedelta(value: timedelta) -> timedelta:
    return timedelta(value.days, value.seconds, value.microseconds)


_EXACT: tuple[tuple[type, Callable[[Any], object]], ...] = (
    (bool, bool),
    (int, int),
    (float, float),
    (str, str.__str__),
    (datetime, _exact_datetime),
    (date, _exact_date),
    (timedelta, _exact_timedelta),
)
_AS_TIME: dict[str, Callable[[datetime], date]] = {
    "date": datetime.date,
    "datetime": lambda moment: moment,
}
