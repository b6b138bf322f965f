"""Rows that are alike: how often each value occurs under each public key.

Counted in the engine, so that no more comes home than there are keys times values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from dpframe.domain.coding import Codes
from dpframe.engines.polars import collect
from dpframe.secret import Occurrences

__all__ = ["add_alike", "count_alike", "lay_alike"]

_TIMES = "times"


def count_alike(
    rows: nw.LazyFrame[Any], keys: Sequence[str], value: str
) -> nw.DataFrame[Any]:
    """Count the rows of each key and value, as column ``times``; no value, no row.

    Parameters
    ----------
    rows : narwhals.LazyFrame
        Prepared rows.
    keys : sequence of str
        The columns that hold the keys; may be empty.
    value : str
        The column of lattice integers, null where a row is not usable.
    """
    found = rows.filter(~nw.col(value).is_null())
    times = nw.len().cast(nw.Int64).alias(_TIMES)
    return collect(found.group_by(*keys, value).agg(times))


def lay_alike(counted: nw.DataFrame[Any], value: str, cells: Codes) -> Occurrences:
    """Put counts in the order of cells, then of values.

    Parameters
    ----------
    counted : narwhals.DataFrame
        Of `count_alike`.
    value : str
        The column of lattice integers.
    cells : ndarray of int64
        Public cell of each row, -1 for none; several rows may share one.
    """
    listed = cells >= 0
    values = counted[value].cast(nw.Int64).to_numpy()[listed]
    return _merged(cells[listed], values, counted[_TIMES].to_numpy()[listed])


def add_alike(first: Occurrences, second: Occurrences) -> Occurrences:
    """Add the counts of two chunks of one frame."""
    return _merged(
        np.concatenate([first.cells, second.cells]),
        np.concatenate([first.values[:, 0], second.values[:, 0]]),
        np.concatenate([first.times, second.times]),
    )


def _merged(cells: Codes, values: Codes, times: Codes) -> Occurrences:
    """Sort by cell and value, as one integer: `Needs` has seen to it that it fits."""
    low = int(values.min(initial=0))
    span = int(values.max(initial=0)) - low + 1
    order = np.argsort(cells * span + (values - low))
    cells, values, times = cells[order], values[order], times[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (cells[1:] != cells[:-1]) | (values[1:] != values[:-1])
    starts = new.nonzero()[0]
    added = np.add.reduceat(times, starts) if len(order) else times
    return Occurrences(cells[starts], values[starts, np.newaxis], added)
