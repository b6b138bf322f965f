"""Whether a column can hold these keys, or fall into these bins, at all.

Decided from public facts, the keys and the column's type, before anything is charged:
text keys of a number column would be counted as 0 with nobody told.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime

from dpframe.domain.coding import Bins, Coding, Linear
from dpframe.domain.schema import ColumnType
from dpframe.domain.values import family
from dpframe.domain.zones import midnight
from dpframe.errors import ParameterError

__all__ = ["check_fit"]

_NUMBERS = frozenset({"boolean", "number", "Decimal"})
_KEYS = {
    **dict.fromkeys(("boolean", "integer", "float", "decimal"), _NUMBERS),
    "text": frozenset({"text"}),
    "date": frozenset({"date"}),
    "datetime": frozenset({"datetime"}),
    "duration": frozenset({"timedelta"}),
}
_EDGES = _KEYS | {
    "text": frozenset(),
    "date": frozenset({"date", "datetime"}),
    "datetime": frozenset({"date", "datetime"}),
}


def check_fit(
    column: str,
    coding: Coding,
    type: ColumnType,
    *,
    untyped: bool = False,
    what: str | None = None,
) -> None:
    """Refuse keys or bins of a kind that the column cannot hold.

    Parameters
    ----------
    column : str
        The key column.
    coding : Coding
        Its keys or bins.
    type : ColumnType
        Its type; "null" holds nothing and fits everything.
    untyped : bool
        Values may be of any kind, as in an object column of pandas: any keys fit,
        but no bins.
    what : str, optional
        A word for the values in the message: "keys" or "bins" if not given.

    Raises
    ------
    ParameterError
        If no value of the column could ever be counted.
    """
    if type.kind == "null":
        return
    binned = isinstance(coding, (Bins, Linear))
    if untyped and not binned:
        return
    wanted = (_EDGES if binned else _KEYS)[type.kind]
    for value in _examples(coding):
        if value is not None and family(value) not in wanted:
            what = what or ("bins" if binned else "keys")
            held = "untyped values" if untyped else f"values of kind {type.kind!r}"
            msg = (
                f"column {column!r} holds {held}, and its {what} are of kind "
                f"{family(value)!r}, such as {value!r}: none would ever be counted. "
                f"Give {what} of the column's kind, or cast the column before .dp."
            )
            raise ParameterError(msg)
        if isinstance(value, datetime):
            _check_zone(column, value, type)
        elif isinstance(value, date) and type.kind == "datetime":
            midnight(value, type.zone)  # this machine knows the zone, or says so now


def _examples(coding: Coding) -> Iterable[object]:
    """Return values that speak for all: one of each type, but every datetime."""
    if isinstance(coding, Linear):
        return (coding.lower,)
    values = coding.edges if isinstance(coding, Bins) else coding.values
    by_type = {type(value): value for value in reversed(values)}
    return values if datetime in by_type else by_type.values()


def _check_zone(column: str, value: datetime, type: ColumnType) -> None:
    if type.kind == "datetime" and (value.tzinfo is None) != (type.zone is None):
        has = "no time zone" if type.zone is None else f"the time zone {type.zone!r}"
        msg = (
            f"column {column!r} has {has}, and its keys or bins are "
            f"{'without one' if value.tzinfo is None else 'with one'}. Give both or "
            "neither a zone; dates work with either."
        )
        raise ParameterError(msg)
