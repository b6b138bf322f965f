"""Native pandas: its types and columns, for the plan. The index is never read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from dpframe.domain.schema import ColumnType
from dpframe.engines import pyarrow
from dpframe.engines.dtypes import column_type
from dpframe.engines.labels import label
from dpframe.engines.polars import columns_frame

__all__ = ["column_types", "scan"]


def column_types(frame: pd.DataFrame) -> dict[str, ColumnType]:
    """Read names and types; categories have the type of their values.

    An object column is text whatever it holds: telling more would need a look.
    """
    return {str(name): _column_type(dtype) for name, dtype in frame.dtypes.items()}


def _column_type(dtype: Any) -> ColumnType:
    if isinstance(dtype, pd.DatetimeTZDtype):
        return ColumnType("datetime", unit=dtype.unit, zone=str(dtype.tz))
    if isinstance(dtype, pd.ArrowDtype):
        return pyarrow.type_of(dtype.pyarrow_dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        # Without categories there is nothing but missing values.
        known = dtype.categories is not None
        return _column_type(dtype.categories.dtype) if known else ColumnType("text")
    if _is_untyped(dtype):
        return ColumnType("text")
    empty = pd.Series(dtype=dtype)
    return column_type(nw.from_native(empty, series_only=True).dtype)


def _is_untyped(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def scan(
    frame: pd.DataFrame, places: Mapping[str, str]
) -> Iterator[nw.LazyFrame[pl.LazyFrame]]:
    """Yield the columns of a call, each under its name in the plan, in chunks."""
    for start in range(0, max(len(frame), 1), pyarrow.CHUNK_ROWS):
        rows = slice(start, start + pyarrow.CHUNK_ROWS)
        columns = {
            place: _as_series(frame[name].iloc[rows]) for name, place in places.items()
        }
        yield columns_frame(columns, min(len(frame) - start, pyarrow.CHUNK_ROWS))


def _as_series(column: pd.Series[Any]) -> pl.Series:
    dtype: Any = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        categories = _as_series(pd.Series(dtype.categories))
        codes = pl.Series(column.cat.codes.to_numpy())
        return categories.gather(codes.replace(-1, None))
    if _is_untyped(dtype) or getattr(dtype, "storage", None) == "python":
        return _labels(column)
    array = pa.array(column)
    return pyarrow.as_series(
        array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    )


def _labels(column: pd.Series[Any]) -> pl.Series:
    """Label untyped values; strings in one stroke, a mixture one by one."""
    if pd.api.types.infer_dtype(column, skipna=True) in ("string", "empty"):
        try:
            text = pa.array(column, type=pa.large_string(), from_pandas=True)
            return pl.Series(pl.from_arrow(text.cast(pa.large_binary())))
        except (UnicodeError, TypeError, ValueError, pa.ArrowException):
            pass  # a lone surrogate, or not all text: one by one
    return pl.Series([label(value) for value in column], dtype=pl.Binary)
