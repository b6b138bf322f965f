"""Calendar steps: every day, week, month, quarter or year from a first day."""

from __future__ import annotations

import calendar
import re
from datetime import date, timedelta

from dpframe.errors import ParameterError, shown

__all__ = ["calendar_edges", "read_date", "read_step"]

_STEP = re.compile(r"([1-9]\d{0,5})(d|w|mo|q|y)")
_DAYS = {"d": 1, "w": 7}
_MONTHS = {"mo": 1, "q": 3, "y": 12}


def read_date(value: object, name: str) -> date:
    """Read an ISO text such as "2024-01-31"; other values pass unchanged."""
    if not isinstance(value, str):
        return value  # type: ignore[return-value]  # checked by the caller
    try:
        return date.fromisoformat(value)
    except ValueError:
        pass
    msg = f"{name} must be a date such as '2024-01-31'; got {shown(value)}."
    raise ParameterError(msg)


def read_step(every: object) -> tuple[int, str]:
    """Split "2w" into (2, "w"): d, w, mo, q and y are the units."""
    match = _STEP.fullmatch(every) if isinstance(every, str) else None
    if match is None:
        msg = (
            "every must be '1d', '1w', '1mo', '1q' or '1y', or a multiple such as "
            f"'2w'; got {shown(every)}."
        )
        raise ParameterError(msg)
    return int(match[1]), match[2]


def calendar_edges(start: date, end: date, every: str) -> tuple[date, ...]:
    """Return start, start + every, … up to the first one after ``end``.

    Steps are counted from ``start``: months from January 31 begin on the 31st, or on
    the month's last day where it has none.
    """
    edges = [start]
    while edges[-1] <= end:
        edges.append(_after(start, every, len(edges)))
    return tuple(edges)


def _after(start: date, every: str, times: int) -> date:
    """Return ``start`` plus ``times`` steps."""
    count, unit = read_step(every)
    try:
        if unit in _DAYS:
            return start + timedelta(days=count * times * _DAYS[unit])
        months = start.year * 12 + start.month - 1 + count * times * _MONTHS[unit]
        year, month = divmod(months, 12)
        last = calendar.monthrange(year, month + 1)[1]
        return date(year, month + 1, min(start.day, last))
    except (OverflowError, ValueError):
        pass
    msg = f"a step of {every!r} passes the year 9999; choose an earlier end."
    raise ParameterError(msg)
