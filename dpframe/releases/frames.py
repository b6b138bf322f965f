"""From an Arrow table to a frame of the caller's library."""

from __future__ import annotations

from typing import Any, get_args

import pyarrow as pa

from dpframe.domain.schema import Library
from dpframe.errors import ParameterError, shown

__all__ = ["to_library"]


def to_library(table: pa.Table, library: object) -> Any:
    """Return a new, independent frame.

    Raises
    ------
    ParameterError
        If ``library`` is none of "pandas", "polars", "pyarrow".
    """
    if not isinstance(library, str) or library not in get_args(Library):
        names = ", ".join(map(repr, get_args(Library)))
        msg = f"library must be one of {names}; got {shown(library)}."
        raise ParameterError(msg)
    if library == "pyarrow":
        return table
    if library == "polars":
        import polars as pl

        return pl.from_arrow(table.replace_schema_metadata(None))
    return _to_pandas(table)


def _to_pandas(table: pa.Table) -> Any:
    """Columns one by one: only those with a null key get a nullable type."""
    import pandas as pd

    nullable = {
        pa.int64(): pd.Int64Dtype(),
        pa.uint64(): pd.UInt64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
    columns = {
        field.name: column.to_pandas(
            types_mapper=nullable.get if field.nullable else None
        )
        for field, column in zip(table.schema, table.columns, strict=True)
    }
    return pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows))
