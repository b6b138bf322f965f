"""Keys that are found in the data: as the plan holds them, and as a release shows them.

What no release could show is no key, and its rows are dropped as those of unlisted keys
are: whole numbers beyond 64 bits, times beyond Python's, and in an untyped column of
pandas whatever is neither text nor a whole number nor a date. Null is a key, None.
"""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from dpframe.domain.open_keys import OpenKeys
from dpframe.domain.schema import ColumnType
from dpframe.engines.codes import read_codes
from dpframe.engines.columns import by_value
from dpframe.engines.labels import unlabel
from dpframe.engines.needs import Needs
from dpframe.engines.physical import INT64, in_microseconds, position, value_at

__all__ = ["in_order", "named", "shown"]

Rows = nw.DataFrame[Any]

#: Least and greatest of Python's times.
_ENDS: dict[str, tuple[date, date] | tuple[timedelta, timedelta]] = {
    "date": (date.min, date.max),
    "datetime": (datetime.min, datetime.max),
    "duration": (timedelta.min, timedelta.max),
}
_KINDS = (str, int, date)  # of values in untyped columns, in their order
_WHOLE = (-(2**63), 2**64 - 1)  # int64 and uint64


def named(rows: Rows, keys: OpenKeys, needs: Needs) -> Rows:
    """Give each row its keys, and drop the rows that lack one.

    Parameters
    ----------
    rows : narwhals.DataFrame
        Columns ``key0``, ``key1``, … as `columns.coded` left them.
    keys : OpenKeys
        Which of them have public codes.
    needs : Needs
        The columns and their types.

    Returns
    -------
    narwhals.DataFrame
        In these columns the public code, or the value itself.
    """
    for i, (name, coding) in enumerate(zip(keys.columns, keys.codings, strict=True)):
        key, type_ = f"key{i}", needs.types[name]
        if coding is None:
            rows = _with_values(rows, key, type_)
            continue
        codes = read_codes(rows[key], type_, coding)
        column = nw.new_series(key, codes, nw.Int64, backend=rows.implementation)
        rows = rows.with_columns(column).filter(nw.col(key) >= 0)
    return rows


def _with_values(rows: Rows, key: str, type: ColumnType) -> Rows:
    dtype = rows.schema[key]
    if dtype == nw.Binary:
        distinct = rows[key].drop_nulls().unique().to_list()
        nameless = [label for label in distinct if unlabel(label) is None]
        return rows.filter(nw.col(key).is_null() | ~nw.col(key).is_in(nameless))
    rows = rows.with_columns(by_value(nw.col(key), dtype))
    if type.kind in _ENDS:
        low, high = _ticks(type)
    elif dtype == nw.Int128 and type.kind == "integer":
        low, high = _WHOLE
    else:
        return rows
    return rows.filter(nw.col(key).is_null() | nw.col(key).is_between(low, high))


def _ticks(type: ColumnType) -> tuple[int, int]:
    """Return the least and the greatest tick that Python has a time for."""
    first, last = (position(end, in_microseconds(type)) for end in _ENDS[type.kind])
    assert first is not None
    assert last is not None
    return max(math.ceil(first), INT64[0]), min(math.floor(last), INT64[1])


def in_order(rows: Rows) -> Rows:
    """Return the distinct keys in the order of their values, None last."""
    distinct = rows.unique().with_row_index("nth")
    ranks = {name: _ranks(distinct[name]) for name in rows.columns}
    order = distinct.select("nth").with_columns(**ranks)
    nth = order.sort(*rows.columns, nulls_last=True)["nth"]
    return distinct.drop("nth")[nth.to_list()]


def _ranks(values: nw.Series[Any]) -> nw.Series[Any]:
    """Return numbers in place of labels: text first, then numbers, then dates."""
    if values.dtype != nw.Binary:
        return values
    value_of = {label: unlabel(label) for label in values.drop_nulls().unique()}
    ordered = sorted(
        value_of, key=lambda v: (_KINDS.index(type(value_of[v])), value_of[v])
    )
    rank_of = {label: rank for rank, label in enumerate(ordered)}
    ranks = [rank_of.get(label) for label in values.to_list()]
    return nw.new_series(values.name, ranks, nw.Int64, backend=values.implementation)


def shown(values: nw.Series[Any], type: ColumnType, *, coded: bool) -> NDArray[Any]:
    """Return keys as plain Python values, or as codes, in an array of objects."""
    held = values.to_list()
    if values.dtype == nw.Binary:
        held = [None if label is None else unlabel(label) for label in held]
    elif not coded and type.kind not in ("text", "integer", "null"):
        ticks = in_microseconds(type)
        held = [None if number is None else value_at(number, ticks) for number in held]
    array = np.empty(len(held), dtype=object)
    array[:] = held
    return array
