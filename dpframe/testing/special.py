"""Special values of each column type: where implementations go wrong."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import polars as pl

__all__ = ["SPECIAL", "special"]


def special(kind: str, dtype: pl.DataType) -> list[Any]:
    """Return the special values of ``kind`` that a column of ``dtype`` may hold.

    Parameters
    ----------
    kind : str
        A name in `SPECIAL`.
    dtype : polars.DataType
        The column's type.
    """
    return SPECIAL[kind](dtype)


def _null(dtype: pl.DataType) -> list[Any]:
    return [None]


def _nan(dtype: pl.DataType) -> list[Any]:
    return [math.nan] if dtype.is_float() else []


def _infinity(dtype: pl.DataType) -> list[Any]:
    return [math.inf, -math.inf] if dtype.is_float() else []


def _negative_zero(dtype: pl.DataType) -> list[Any]:
    return [-0.0, 0.0] if dtype.is_float() else []


def _outlier(dtype: pl.DataType) -> list[Any]:
    """Far from ordinary values, not at the end of the type."""
    if dtype.is_float():
        return [1e30, -1e30, 2.0**53 + 2, 5e-324]
    if dtype.is_signed_integer():
        return [100, -100]
    if dtype.is_integer():
        return [100]
    if dtype.is_decimal():
        return [Decimal(9) * 10 ** (_whole_digits(dtype) - 1)]
    return _FAR.get(dtype.base_type(), [])


def _extreme(dtype: pl.DataType) -> list[Any]:
    """The least and greatest value, and one step inside."""
    if dtype.is_integer():
        bits = int(str(dtype).lstrip("UInt"))
        low = -(2 ** (bits - 1)) if dtype.is_signed_integer() else 0
        high = low + 2**bits - 1
        return [low, high, low + 1, high - 1]
    if dtype.is_float():
        return [sys.float_info.max, -sys.float_info.max]
    return _ENDS.get(dtype.base_type(), [])


def _rare_key(dtype: pl.DataType) -> list[Any]:
    """Keys that no list names."""
    if dtype.base_type() in (pl.String, pl.Categorical):
        return ["never seen", "", "\u2713 \u00f1 \U0001f986", "e\u0301", "a\x00b"]
    return []


def _whole_digits(dtype: pl.DataType) -> int:
    assert isinstance(dtype, pl.Decimal)
    return (dtype.precision or 38) - dtype.scale


_FAR: dict[Any, list[Any]] = {
    pl.Date: [date(1900, 1, 1), date(2200, 12, 31)],
    pl.Datetime: [datetime(1900, 1, 1), datetime(2200, 12, 31, 23, 59, 59)],
    pl.Duration: [timedelta(days=-30_000), timedelta(days=30_000)],
}
_ENDS: dict[Any, list[Any]] = {
    pl.Date: [date.min, date.max],
    pl.Duration: [timedelta(days=-100_000), timedelta(days=100_000)],
}

#: Values of each kind by column type; an empty list where the type has none.
SPECIAL: dict[str, Callable[[pl.DataType], list[Any]]] = {
    "null": _null,
    "NaN": _nan,
    "infinity": _infinity,
    "negative zero": _negative_zero,
    "far outlier": _outlier,
    "end of the type": _extreme,
    "rare key": _rare_key,
}
