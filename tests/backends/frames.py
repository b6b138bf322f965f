"""One table, as every kind of frame that dpframe reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

#: Column name -> its Polars type and its values; None is null.
Table = Mapping[str, tuple[Any, Sequence[Any]]]

ENGINES = (
    "pandas numpy",
    "pandas nullable",
    "pandas arrow",
    "polars eager",
    "polars lazy",
    "pyarrow",
)


def build(engine: str, table: Table) -> Any:
    """Return the table as a frame of ``engine``."""
    polars = pl.DataFrame(
        {
            name: pl.Series(values, dtype=dtype)
            for name, (dtype, values) in table.items()
        }
    )
    if engine == "polars eager":
        return polars
    if engine == "polars lazy":
        return polars.lazy()
    if engine == "pyarrow":
        return polars.to_arrow()
    if engine == "pandas arrow":
        columns = polars.to_arrow()
        return pd.DataFrame(
            {
                name: pd.Series(columns[name], dtype=pd.ArrowDtype(columns[name].type))
                for name in columns.column_names
            }
        )
    column = numpy_column if engine == "pandas numpy" else nullable_column
    frame = pd.DataFrame({name: column(*spec) for name, spec in table.items()})
    # An index that repeats and is out of order must not matter.
    return frame.set_axis(np.arange(len(frame))[::-1] // 2, axis=0)


def numpy_column(dtype: Any, values: Sequence[Any]) -> pd.Series:
    """As plain pandas would hold it: text and dates are objects."""
    dtype = dtype() if isinstance(dtype, type) else dtype
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        unused = ["never in the data"]
        known = sorted({v for v in values if v is not None}) + unused
        return pd.Series(pd.Categorical(values, categories=known))
    if isinstance(dtype, pl.Datetime):
        naive = [None if v is None else v.replace(tzinfo=None) for v in values]
        times = pd.Series(np.array(naive, dtype=f"datetime64[{dtype.time_unit}]"))
        return times.dt.tz_localize(dtype.time_zone) if dtype.time_zone else times
    if isinstance(dtype, pl.Duration):
        return pd.Series(np.array(values, dtype=f"timedelta64[{dtype.time_unit}]"))
    missing = any(v is None for v in values)
    if dtype.is_integer() and not missing:
        return pd.Series(values, dtype=str(dtype).lower())
    if dtype.is_integer() or dtype.is_float():
        floats = [np.nan if v is None else v for v in values]
        return pd.Series(floats, dtype="float32" if dtype == pl.Float32 else "float64")
    if dtype == pl.Boolean and not missing:
        return pd.Series(values, dtype=bool)
    return pd.Series(values, dtype=object)


def nullable_column(dtype: Any, values: Sequence[Any]) -> pd.Series:
    """In pandas' own nullable types, where it has them."""
    dtype = dtype() if isinstance(dtype, type) else dtype
    if dtype.is_integer() or dtype in (pl.Float32, pl.Float64):
        return pd.Series(values, dtype=str(dtype))
    if dtype == pl.Boolean:
        return pd.Series(values, dtype="boolean")
    if dtype == pl.String:
        return pd.Series(values, dtype="string")
    return numpy_column(dtype, values)


def take(table: Table, order: Sequence[int]) -> Table:
    """Return the rows of a table in another order."""
    return {
        name: (t, [values[i] for i in order]) for name, (t, values) in table.items()
    }


def days(*iso: str | None) -> list[date | None]:
    return [None if day is None else date.fromisoformat(day) for day in iso]
