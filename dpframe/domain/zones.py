"""Where a calendar day begins in a column's time zone."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from dpframe.errors import ParameterError

__all__ = ["midnight"]

_OFFSET = re.compile(r"(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)")


def midnight(day: date, zone: str | None) -> datetime:
    """Return the first moment of ``day``, aware: in ``zone``, or UTC without one.

    Raises
    ------
    ParameterError
        If this machine does not know the zone.
    """
    return datetime(day.year, day.month, day.day, tzinfo=_zone(zone))


def _zone(name: str | None) -> tzinfo:
    if name is None:
        return UTC
    if offset := _OFFSET.fullmatch(name):
        span = timedelta(hours=int(offset["hours"]), minutes=int(offset["minutes"]))
        return timezone(-span if offset["sign"] == "-" else span)
    with suppress(KeyError, ValueError, OSError):
        return ZoneInfo(name)
    msg = (
        f"this machine does not know the time zone {name!r}; give datetimes with a "
        "zone of their own in place of dates."
    )
    raise ParameterError(msg)
