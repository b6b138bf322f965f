"""Native Polars: where the plan runs, and the few things narwhals has no word for.

Whatever the frame was, the columns of a call reach the plan in one of four storage
types: Int64, Int128 (what may pass 63 bits), Float64 without NaN, and text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from polars import selectors

from dpframe.domain.coding import Codes
from dpframe.domain.schema import ColumnType
from dpframe.engines.dtypes import column_type
from dpframe.engines.physical import INT64, INT128

__all__ = [
    "collect",
    "column_types",
    "columns_frame",
    "count_below",
    "hash_rows",
    "look_up",
    "look_up_rows",
    "look_up_whole",
    "run_starts",
    "scan",
]

_NARROW = frozenset(
    {pl.Boolean, pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32}
)


def column_types(frame: pl.LazyFrame) -> dict[str, ColumnType]:
    """Read names and types; a column typed Null has none."""
    native = frame.collect_schema()
    return {
        name: ColumnType("null") if native[name] == pl.Null else column_type(dtype)
        for name, dtype in nw.from_native(frame).collect_schema().items()
    }


def scan(
    frame: pl.LazyFrame, places: Mapping[str, str]
) -> Iterator[nw.LazyFrame[pl.LazyFrame]]:
    """Yield the columns of a call, each under its name in the plan.

    Parameters
    ----------
    frame : polars.LazyFrame
        The private frame.
    places : mapping of str to str
        Column of the frame -> name in the plan.
    """
    if not places:  # rows are counted, and no column is read
        yield nw.from_native(frame.with_columns(row=pl.lit(0, pl.Int8)).select("row"))
        return
    # By position: names such as "*" and "^…$" are read as patterns.
    at = {name: i for i, name in enumerate(frame.collect_schema())}
    yield _widen(
        frame.select(
            selectors.by_index(at[name]).alias(place) for name, place in places.items()
        )
    )


def columns_frame(
    columns: Mapping[str, pl.Series], rows: int
) -> nw.LazyFrame[pl.LazyFrame]:
    """Return columns of ``rows`` rows in the storage types; of none, rows alone."""
    if not columns:
        columns = {"row": pl.repeat(0, rows, dtype=pl.Int8, eager=True)}
    return _widen(pl.LazyFrame(columns))


def _widen(frame: pl.LazyFrame) -> nw.LazyFrame[pl.LazyFrame]:
    """Bring every column to a storage type of the plan.

    Points in time and durations become ticks since 1970, decimals their digits;
    NaN becomes null.
    """
    schema = frame.collect_schema()
    return nw.from_native(
        frame.select(_widened(pl.col(name), dtype) for name, dtype in schema.items())
    )


def _widened(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    if dtype.is_float():
        return pl.when(column.is_not_nan()).then(column.cast(pl.Float64))
    if dtype.is_decimal():
        return column.to_physical()
    if dtype.is_temporal():
        return column.to_physical().cast(pl.Int64)
    if dtype in _NARROW:
        return column.cast(pl.Int64)
    if dtype in (pl.UInt64, pl.Int128):
        return column.cast(pl.Int128)
    if dtype.is_integer():  # UInt128
        return column.clip(upper_bound=INT128[1]).cast(pl.Int128)
    return column.cast(pl.String) if dtype == pl.Null else column


def count_below(
    frame: nw.LazyFrame[pl.LazyFrame],
    column: str,
    edges: Sequence[int] | Sequence[float],
    name: str,
) -> nw.LazyFrame[pl.LazyFrame]:
    """Add column ``name``: how many of ``edges`` are <= x, null of null."""
    native = frame.to_native()
    x = pl.col(column)
    if native.collect_schema()[column] == pl.Float64:
        below = _search(x, np.array(edges, dtype=np.float64))
    else:
        below = _count_whole_below(x, [int(edge) for edge in edges])
    counted = pl.when(x.is_not_null()).then(below)
    return nw.from_native(native.with_columns(counted.alias(name)))


def _count_whole_below(x: pl.Expr, edges: Sequence[int]) -> pl.Expr:
    """Search among the edges within int64; compare with the rest one by one."""
    near = [edge for edge in edges if INT64[0] < edge <= INT64[1]]
    below = _search(x.clip(*INT64).cast(pl.Int64), np.array(near, dtype=np.int64))
    for edge in set(edges) - set(near):
        literal = pl.lit(min(max(edge, INT128[0]), INT128[1]), dtype=pl.Int128)
        below = below + (x.cast(pl.Int128) >= literal).cast(pl.Int64)
    return below


def _search(x: pl.Expr, edges: np.ndarray[tuple[int], np.dtype[np.generic]]) -> pl.Expr:
    """Binary search row by row, in numpy: the same speed for 3 edges and for 65,536."""
    return x.fill_null(0).map_batches(
        lambda batch: pl.Series(np.searchsorted(edges, batch.to_numpy(), side="right")),
        return_dtype=pl.Int64,
        is_elementwise=True,
    )


def look_up(
    values: nw.Series[pl.Series], code_of: Mapping[Any, int], unlisted: int
) -> Codes:
    """Return the code of each value, shape (n,); each distinct value is met once."""
    native = values.to_native()
    distinct = native.unique()
    categorical = isinstance(native.dtype, (pl.Categorical, pl.Enum))
    seen = distinct.cast(pl.String) if categorical else distinct
    codes = pl.Series(
        [code_of.get(value, unlisted) for value in seen.to_list()], dtype=pl.Int64
    )
    # Every value is mapped; the default serves empty columns, which have none.
    found = native.replace_strict(
        distinct, codes, default=unlisted, return_dtype=pl.Int64
    )
    return found.to_numpy()


def look_up_whole(values: nw.Series[pl.Series], listed: Codes, unlisted: int) -> Codes:
    """Return the position of each Int64 among ``listed``, all at once."""
    found = values.to_native().replace_strict(
        pl.Series(listed),
        pl.Series(np.arange(len(listed))),
        default=unlisted,
        return_dtype=pl.Int64,
    )
    return found.to_numpy()


def look_up_rows(
    rows: nw.DataFrame[pl.DataFrame], listed: nw.DataFrame[pl.DataFrame]
) -> Codes:
    """Return the place of each row among ``listed`` distinct ones, -1 of others.

    Compared in the columns of ``listed``; null equals null.
    """
    places = listed.to_native().with_row_index("place")
    found = rows.to_native().join(
        places,
        on=listed.columns,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return found["place"].cast(pl.Int64).fill_null(-1).to_numpy()


def hash_rows(
    rows: nw.DataFrame[pl.DataFrame], columns: Sequence[str], key: bytes, purpose: str
) -> nw.Series[pl.Series]:
    """Hash each row of ``columns`` by value to 64 bits, for ordering only.

    A key serves one release, so the hash need not be stable between versions.

    Parameters
    ----------
    rows : narwhals.DataFrame
        Any rows; nulls have a hash as other values do.
    columns : sequence of str
        What to hash, in this order.
    key : bytes
        128 bits.
    purpose : str
        Separates hashes under one key.
    """
    seeds = blake2b(key, digest_size=16, person=purpose.encode()).digest()
    first, second = (int.from_bytes(seeds[i : i + 8]) for i in (0, 8))
    hashed = pl.struct(columns).hash(first).hash(second)
    return nw.from_native(rows.to_native().select(hashed).to_series(), series_only=True)


def run_starts(
    rows: nw.DataFrame[pl.DataFrame], columns: Sequence[str]
) -> nw.Series[pl.Series]:
    """Tell the rows that differ from the one before in ``columns``; null equals null.

    The first row differs from null: one column at least must have none.
    """
    differs = [pl.col(name).ne_missing(pl.col(name).shift(1)) for name in columns]
    starts = rows.to_native().select(pl.any_horizontal(*differs)).to_series()
    return nw.from_native(starts, series_only=True)


def collect(frame: nw.LazyFrame[pl.LazyFrame]) -> nw.DataFrame[pl.DataFrame]:
    """Run the plan in the streaming engine."""
    return nw.from_native(
        frame.to_native().collect(engine="streaming"), eager_only=True
    )
