"""Column types of every library as dpframe's own, read from declarations alone."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from dpframe.domain.schema import ColumnType

__all__ = ["column_type"]


def column_type(dtype: Any) -> ColumnType:
    """Translate a narwhals dtype.

    What no verb can read (lists, structs, bytes, times of day, intervals) is "other".
    """
    if isinstance(dtype, nw.Decimal):
        return ColumnType("decimal", scale=dtype.scale)
    if isinstance(dtype, nw.Datetime):
        return ColumnType("datetime", unit=dtype.time_unit, zone=dtype.time_zone)
    if isinstance(dtype, nw.Duration):
        return ColumnType("duration", unit=dtype.time_unit)
    if isinstance(dtype, (nw.String, nw.Categorical, nw.Enum)):
        return ColumnType("text")
    if dtype == nw.Boolean:
        return ColumnType("boolean")
    if dtype == nw.Date:
        return ColumnType("date")
    if dtype.is_integer():
        return ColumnType("integer")
    return ColumnType("float") if dtype.is_float() else ColumnType("other")
