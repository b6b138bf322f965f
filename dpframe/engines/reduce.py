"""The plan: from the columns of a call to exact integers under its public keys.

`reduce_units` reads like ``design: units`` §3, whose steps its comments number. Where
the unit is the row nothing is limited, and one group-by does it all.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from dpframe.engines.bounding import keep_groups, keep_rows
from dpframe.engines.columns import LARGEST_STEPS, second_stage
from dpframe.engines.needs import Needs
from dpframe.engines.polars import collect
from dpframe.engines.prepare import prepare, read_cells
from dpframe.engines.sums import ExactSum
from dpframe.engines.tally import (
    Laid,
    add,
    count_rows,
    gather,
    lay,
    measure_sums,
    tally,
)
from dpframe.queries.reduction import Measure, Reduction
from dpframe.secret import Aggregates

__all__ = ["reduce_rows", "reduce_units"]

Frames = Iterable[nw.LazyFrame[Any]]
Rows = nw.DataFrame[Any]


def reduce_rows(frames: Frames, reduction: Reduction, needs: Needs) -> Aggregates:
    """Reduce with ``unit="row"``: every row counts."""
    parts = (
        _reduce_chunk(prepare(frame, reduction, needs), reduction, needs)
        for frame in frames
    )
    return functools.reduce(add, parts)


def _reduce_chunk(
    rows: nw.LazyFrame[Any], reduction: Reduction, needs: Needs
) -> Aggregates:
    """Group by the keys as the frame holds them; code them once they are few."""
    keys = reduction.keys
    sums = [count_rows()]
    for i, measure in enumerate(reduction.measures):
        sums += measure_sums(i, measure)
    if keys is None:
        grouped = collect(rows.select(*sums))
        laid = lay(grouped, np.zeros(1, dtype=np.int64), 1)
    else:
        names = [f"key{i}" for i in range(len(keys.columns))]
        grouped = collect(rows.group_by(*names).agg(*sums))
        cells = read_cells(grouped, keys, needs)
        laid = lay(grouped.drop(*names), cells, keys.size)
    return gather(reduction, laid | {"units": laid["rows"]})


def reduce_units(
    frames: Frames, reduction: Reduction, needs: Needs, hash_key: bytes
) -> Aggregates:
    """Reduce the bounded frame of a unit that is a column.

    Parameters
    ----------
    frames : iterable of narwhals.LazyFrame
        The columns of the call, in chunks.
    reduction : Reduction
        What is asked.
    needs : Needs
        The columns and their places.
    hash_key : bytes
        The key of this release; empty where no hash is needed.
    """
    unit, keys, measures = reduction.unit, reduction.keys, reduction.measures
    # 1 to 3: drop rows without a unit; code; drop rows that no aggregate depends on.
    rows = nw.concat([collect(prepare(f, reduction, needs)) for f in frames])
    cell = [] if keys is None else ["cell"]
    size = 1 if keys is None else keys.size
    if keys is not None:
        rows = _with_cells(rows, reduction, needs)
    # 4: units are all that is asked, so one row for each unit and key is enough.
    if not reduction.rows and not measures:
        rows = collect(rows.lazy().unique(["unit", *cell]))
    # 5: groups before rows, so that no row is spent on a group that goes.
    if keys is not None and unit.max_groups is not None:
        rows = keep_groups(rows, "cell", hash_key, unit.max_groups)
    by_unit = {i: m for i, m in enumerate(measures) if m.lattice.per == "unit"}
    by_row = {i: m for i, m in enumerate(measures) if m.lattice.per == "row"}
    laid = _tally_totals(rows, cell, by_unit, size) if by_unit else {}
    if keys is None and not by_row:
        return gather(reduction, laid | _count_whole(rows, unit.max_rows))
    # 6: rows, all aggregates of the call the same ones.
    if unit.max_rows is not None and (reduction.rows or reduction.units or by_row):
        rows = keep_rows(rows, _content(reduction, needs), hash_key, unit.max_rows)
    # 7: aggregate by key and lay over the public keys.
    sums = [count_rows()]
    for i, measure in by_row.items():
        sums += measure_sums(i, measure)
    laid |= tally(rows, sums, size)
    if reduction.units:
        pairs = collect(rows.lazy().unique(["unit", *cell]))
        laid["units"] = tally(pairs, [count_rows()], size)["rows"]
    return gather(reduction, laid)


def _content(reduction: Reduction, needs: Needs) -> list[str]:
    """Name what tells rows of one unit apart; what enters by value needs no code."""
    keys = reduction.keys
    content = [f"also{i}" for i in range(len(needs.also))]
    if keys is not None and not needs.by_value(keys.columns):
        content.append("cell")
    for i, measure in enumerate(reduction.measures):
        if not needs.by_value([measure.column]):
            content.append(f"value{i}")
    return content


def _with_cells(rows: Rows, reduction: Reduction, needs: Needs) -> Rows:
    keys = reduction.keys
    assert keys is not None
    cells = nw.new_series(
        "cell", read_cells(rows, keys, needs), nw.Int64, backend=rows.implementation
    )
    names = [f"key{i}" for i in range(len(keys.columns))]
    return rows.drop(*names).with_columns(cells).filter(nw.col("cell") >= 0)


def _count_whole(rows: Rows, bound: int | None) -> Laid:
    """Count a frame without keys: sum of min(m, rows of the unit), and units."""
    per_unit = rows.lazy().group_by("unit").agg(count_rows())
    sizes = collect(per_unit)["rows"].to_numpy()
    limited = sizes if bound is None else np.minimum(sizes, min(bound, 2**62))
    return {
        "rows": np.array([limited.sum()], dtype=np.int64),
        "units": np.array([len(sizes)], dtype=np.int64),
    }


def _tally_totals(
    rows: Rows, cell: list[str], measures: dict[int, Measure], size: int
) -> Laid:
    """Sum within each unit and key, clip that to the bounds, then aggregate.

    No row is dropped (step 6 is not for them). Units without a usable row under a key
    add nothing there.
    """
    sums = []
    totals = []
    for i, measure in measures.items():
        steps, lattice = ExactSum(f"steps{i}", LARGEST_STEPS), measure.lattice
        sums.append(nw.col(f"value{i}").count().alias(f"usable{i}"))
        sums += steps.expressions(nw.col(f"value{i}"))
        total = steps.clipped(lattice.low_steps, lattice.high_steps)
        usable = nw.col(f"usable{i}") > 0
        integer = second_stage(total, lattice)
        totals.append(nw.when(usable).then(integer).alias(f"value{i}"))
    by_unit = rows.lazy().group_by("unit", *cell).agg(*sums).select(*cell, *totals)
    of_totals = [s for i, m in measures.items() for s in measure_sums(i, m)]
    return tally(collect(by_unit), of_totals, size)
