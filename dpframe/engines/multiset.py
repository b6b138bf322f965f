"""How often each lattice integer occurs: what statistics of order are computed from.

Rows of one value are counted in the engine, so that what comes home has at most as
many entries as there are cells times steps, and no order of rows is left in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from dpframe.engines.bounding import keep_groups, keep_rows
from dpframe.engines.needs import Needs
from dpframe.engines.polars import collect
from dpframe.engines.prepare import prepare
from dpframe.engines.reduce import unit_totals, with_cells
from dpframe.queries.reduction import Multiset
from dpframe.secret import Occurrences

__all__ = ["count_rows_alike", "count_units_alike"]

Frames = Iterable[nw.LazyFrame[Any]]
Rows = nw.DataFrame[Any]

_ROWS = "rows"  # of one entry


def count_rows_alike(frames: Frames, query: Multiset, needs: Needs) -> Occurrences:
    """Tabulate with ``unit="row"``: every usable row counts."""
    reduction, keys = query.reduction, query.keys
    names = [] if keys is None else [f"key{i}" for i in range(len(keys.columns))]
    values = _values(query)
    chunks = [
        collect(
            _usable(prepare(frame, reduction, needs), values)
            .group_by(*names, *values)
            .agg(nw.len().cast(nw.Int64).alias(_ROWS))
        )
        for frame in frames
    ]
    rows = nw.concat(chunks)
    return _gather(rows if keys is None else with_cells(rows, reduction, needs), values)


def count_units_alike(
    frames: Frames, query: Multiset, needs: Needs, hash_key: bytes
) -> Occurrences:
    """Tabulate the bounded frame of a unit that is a column.

    Parameters
    ----------
    frames : iterable of narwhals.LazyFrame
        The columns of the call, in chunks.
    query : Multiset
        What is asked.
    needs : Needs
        The columns and their places.
    hash_key : bytes
        The key of this release; empty where no hash is needed.
    """
    unit, keys, reduction, values = (
        query.unit, query.keys, query.reduction, _values(query),
    )  # fmt: skip
    chunks = [_usable(prepare(f, reduction, needs), values) for f in frames]
    rows = nw.concat([collect(chunk) for chunk in chunks])
    cell = [] if keys is None else ["cell"]
    if keys is not None:
        rows = with_cells(rows, reduction, needs)
        if unit.max_groups is not None:
            rows = keep_groups(rows, cell, hash_key, unit.max_groups)
    if query.measures[0].lattice.per == "unit":
        rows = unit_totals(rows, cell, dict(enumerate(query.measures)))
    elif unit.max_rows is not None:
        rows = keep_rows(rows, [*cell, *values], hash_key, unit.max_rows)
    return _gather(rows.with_columns(nw.lit(1, nw.Int64).alias(_ROWS)), values)


def _values(query: Multiset) -> list[str]:
    return [f"value{i}" for i in range(len(query.measures))]


def _usable(rows: nw.LazyFrame[Any], values: list[str]) -> nw.LazyFrame[Any]:
    """Drop rows without a value in any of the columns."""
    return rows.filter(*(~nw.col(name).is_null() for name in values))


def _gather(rows: Rows, values: list[str]) -> Occurrences:
    """Add up the rows of each cell and value, and put them in order."""
    order = ["cell", *values] if "cell" in rows.columns else values
    alike = rows.lazy().group_by(*order).agg(nw.col(_ROWS).sum())
    counted = collect(alike.sort(*order))
    n = len(counted)
    cells = counted["cell"].to_numpy() if "cell" in order else np.zeros(n, np.int64)
    columns = [counted[name].cast(nw.Int64).to_numpy() for name in values]
    return Occurrences(
        cells.astype(np.int64, copy=False),
        np.stack(columns, axis=1).astype(np.int64, copy=False),
        counted[_ROWS].to_numpy().astype(np.int64, copy=False),
    )
