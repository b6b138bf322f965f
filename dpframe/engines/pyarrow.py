"""Native pyarrow: its types and columns, for the plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import polars as pl
import pyarrow as pa

from dpframe.domain.schema import ColumnType
from dpframe.engines.dtypes import column_type
from dpframe.engines.polars import columns_frame

__all__ = ["CHUNK_ROWS", "as_series", "column_types", "scan", "type_of"]

#: Rows that are summed at once: at most 2**32 steps of 2**30 stay below 2**63, and
#: Polars counts no further. Sums of chunks are added as Python integers.
CHUNK_ROWS = 2**31


def column_types(frame: pa.Table) -> dict[str, ColumnType]:
    """Read names and types; a dictionary has the type of its values."""
    return {field.name: type_of(field.type) for field in frame.schema}


def type_of(type: pa.DataType) -> ColumnType:
    """Translate an Arrow type."""
    if pa.types.is_null(type):
        return ColumnType("null")
    empty: Any = pa.chunked_array([], type=_value_type(type))
    return column_type(nw.from_native(empty, series_only=True).dtype)


def _value_type(type: pa.DataType) -> pa.DataType:
    """Return the type of a column's values."""
    if pa.types.is_dictionary(type):
        return _value_type(type.value_type)
    return type


def scan(
    frame: pa.Table, places: Mapping[str, str]
) -> Iterator[nw.LazyFrame[pl.LazyFrame]]:
    """Yield the columns of a call, each under its name in the plan, in chunks."""
    for start in range(0, max(frame.num_rows, 1), CHUNK_ROWS):
        chunk = frame.slice(start, CHUNK_ROWS)
        columns = {
            place: as_series(chunk.column(name)) for name, place in places.items()
        }
        yield columns_frame(columns, chunk.num_rows)


def as_series(column: pa.ChunkedArray) -> pl.Series:
    """Hand a column to Polars, without a copy where the layout is the same.

    Dictionaries are decoded: a physical code means nothing. Points in time become
    ticks, as Polars would multiply seconds to milliseconds, and may overflow.
    """
    values = _value_type(column.type)
    if values != column.type:
        column = column.cast(values)
    if pa.types.is_date32(values):
        column = column.cast(pa.int32())
    elif pa.types.is_timestamp(values) or pa.types.is_duration(values):
        column = column.cast(pa.int64())
    return pl.Series(pl.from_arrow(column))
