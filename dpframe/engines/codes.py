"""The last step to a public code, at home: on few groups, or on the rows to bound."""

from __future__ import annotations

import builtins
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from dpframe.domain.coding import DROPPED, Codes, Coding, Linear, Lookup
from dpframe.domain.schema import ColumnType
from dpframe.engines.labels import label
from dpframe.engines.physical import INT64, equal_to, in_microseconds, is_narrow
from dpframe.engines.polars import look_up, look_up_whole

__all__ = ["read_codes"]


def read_codes(values: nw.Series[Any], type: ColumnType, coding: Coding) -> Codes:
    """Return the code of each row, from what `columns.coded` left in the plan.

    Parameters
    ----------
    values : narwhals.Series
        What `columns.coded` left: values, integers or codes.
    type : ColumnType
        The column's type.
    coding : Coding
        How the key is coded.

    Returns
    -------
    ndarray of int64, shape (rows,)
        -1 is a row that has no cell.
    """
    unlisted = coding.size - 1 if coding.other else DROPPED
    if isinstance(coding, Lookup):
        listed = _whole_numbers(coding, type)
        if listed is not None and values.dtype == nw.Int64:
            return look_up_whole(values, listed, unlisted)
        code_of = _table(coding, type, binary=values.dtype == nw.Binary)
        return look_up(values, code_of, unlisted)
    missing = values.is_null().to_numpy()
    codes = values.fill_null(0).to_numpy()
    if isinstance(coding, Linear) and is_narrow(coding.lower, coding.upper):
        codes = codes.clip(coding.lower, coding.upper) - coding.lower
    return np.where(missing, unlisted, codes)


def _whole_numbers(coding: Lookup, type: ColumnType) -> Codes | None:
    """Return the listed values if they are integers of an integer column."""
    if type.kind != "integer" or set(map(builtins.type, coding.values)) != {int}:
        return None
    values: tuple[Any, ...] = coding.values
    if not INT64[0] <= min(values) <= max(values) <= INT64[1]:
        return None
    return np.array(values, dtype=np.int64)


def _table(coding: Lookup, type: ColumnType, *, binary: bool) -> dict[object, int]:
    """Map each listed value, as the plan holds it, to its code."""
    table: dict[object, int] = {}
    for code, value in enumerate(coding.values):
        if value is None or (type.kind == "text" and isinstance(value, str)):
            table[label(value) if binary else value] = code
        elif binary:
            table[label(value)] = code
        elif (place := equal_to(value, in_microseconds(type))) is not None:
            table[place] = code
    return table
