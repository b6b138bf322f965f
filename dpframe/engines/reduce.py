"""The plan: from the columns of a call to exact integers under its public keys.

`reduce_units` reads like ``design: units`` §3, whose steps its comments number. Where
the unit is the row nothing is limited, and one group-by does it all.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from dpframe.domain.coding import Codes
from dpframe.domain.lattice import Per
from dpframe.engines.alike import count_alike, lay_alike
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
from dpframe.secret import Aggregates, Occurrences

__all__ = [
    "add_units_up",
    "limit_units",
    "reduce_rows",
    "reduce_units",
    "row_sums",
    "tabulated",
    "unit_totals",
    "with_cells",
]

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
    names = [] if keys is None else [f"key{i}" for i in range(len(keys.columns))]
    laid: Laid = {}
    if reduction.rows or reduction.units or reduction.measures:
        sums = row_sums(reduction)
        plan = rows.group_by(*names).agg(*sums) if names else rows.select(*sums)
        grouped = collect(plan)
        cells = _cells(grouped, reduction, needs)
        laid = lay(grouped.drop(*names), cells, 1 if keys is None else keys.size)
        laid["units"] = laid["rows"]
    occurrences = []
    for value in tabulated(reduction):
        alike = count_alike(rows, names, value)
        occurrences.append(lay_alike(alike, value, _cells(alike, reduction, needs)))
    return gather(reduction, laid, occurrences)


def _cells(grouped: Rows, reduction: Reduction, needs: Needs) -> Codes:
    """Return the public cell of each group."""
    if reduction.keys is None:
        return np.zeros(len(grouped), dtype=np.int64)
    return read_cells(grouped, reduction.keys, needs)


def row_sums(reduction: Reduction) -> list[nw.Expr]:
    """Return what is counted and summed of rows that are all units of their own."""
    sums = [count_rows()]
    for i, measure in enumerate(reduction.measures):
        sums += measure_sums(i, measure)
    return sums


def tabulated(reduction: Reduction) -> list[str]:
    """Name the columns of prepared rows that are tabulated."""
    places = range(len(reduction.measures), len(reduction.valued))
    return [f"value{i}" for i in places]


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
    # 1 to 3: drop rows without a unit; code; drop rows that no aggregate depends on.
    rows = nw.concat([collect(prepare(f, reduction, needs)) for f in frames])
    if reduction.keys is None:
        rows, totals = limit_units(rows, [], reduction, needs, hash_key)
        return add_units_up(rows, totals, reduction, 1)
    rows = with_cells(rows, reduction, needs)
    rows, totals = limit_units(rows, ["cell"], reduction, needs, hash_key)
    return add_units_up(rows, totals, reduction, reduction.keys.size)


def limit_units(
    rows: Rows,
    groups: Sequence[str],
    reduction: Reduction,
    needs: Needs,
    hash_key: bytes,
) -> tuple[Rows, Rows]:
    """Limit the rows of each unit; beside them, totals of units that lose no row.

    Parameters
    ----------
    rows : narwhals.DataFrame
        Prepared rows.
    groups : sequence of str
        Their columns that tell the groups apart; none of a frame without keys.
    reduction, needs, hash_key
        As in `reduce_units`.
    """
    unit = reduction.unit
    # 4: units are all that is asked, so one row for each unit and key is enough.
    if not reduction.rows and not reduction.valued:
        rows = collect(rows.lazy().unique(["unit", *groups]))
    # 5: groups before rows, so that no row is spent on a group that goes.
    if groups and unit.max_groups is not None:
        rows = keep_groups(rows, groups, hash_key, unit.max_groups)
    by_unit, by_row = _measures(reduction, "unit"), _measures(reduction, "row")
    totals = unit_totals(rows, groups, by_unit) if by_unit else rows
    # 6: rows, all aggregates of the call the same ones.
    chosen = by_row or (groups and (reduction.rows or reduction.units))
    if unit.max_rows is not None and chosen:
        content = _content(reduction, needs, groups)
        rows = keep_rows(rows, content, hash_key, unit.max_rows)
    return rows, totals


def add_units_up(
    rows: Rows, totals: Rows, reduction: Reduction, size: int
) -> Aggregates:
    """Aggregate by ``cell``, if rows have one, and lay over all cells: step 7."""
    by_unit, by_row = _measures(reduction, "unit"), _measures(reduction, "row")
    cell = [name for name in rows.columns if name == "cell"]
    of_totals = _sums(reduction, by_unit)
    laid = tally(totals, of_totals, size) if of_totals else {}
    if not cell and not by_row:
        laid |= _count_whole(rows, reduction.unit.max_rows)
        return gather(reduction, laid, _alike(reduction, rows, totals))
    laid |= tally(rows, [count_rows(), *_sums(reduction, by_row)], size)
    if reduction.units:
        pairs = collect(rows.lazy().unique(["unit", *cell]))
        laid["units"] = tally(pairs, [count_rows()], size)["rows"]
    return gather(reduction, laid, _alike(reduction, rows, totals))


def _measures(reduction: Reduction, per: Per) -> dict[int, Measure]:
    """Return the measures whose bounds are for rows, or for totals of units."""
    return {i: m for i, m in enumerate(reduction.valued) if m.lattice.per == per}


def _sums(reduction: Reduction, measures: Mapping[int, Measure]) -> list[nw.Expr]:
    """Return the sums of those of the measures that are summed."""
    summed = range(len(reduction.measures))
    return [s for i in summed if i in measures for s in measure_sums(i, measures[i])]


def _alike(reduction: Reduction, rows: Rows, totals: Rows) -> list[Occurrences]:
    """Tabulate bounded rows, or the totals of units."""
    found = []
    by_row = [measure.lattice.per == "row" for measure in reduction.tabulated]
    for value, per_row in zip(tabulated(reduction), by_row, strict=True):
        source = rows if per_row else totals
        cell = ["cell"] if "cell" in source.columns else []
        counted = count_alike(source.lazy(), cell, value)
        cells = np.zeros(len(counted), dtype=np.int64)
        if cell:
            cells = counted["cell"].to_numpy()
        found.append(lay_alike(counted, value, cells))
    return found


def _content(reduction: Reduction, needs: Needs, groups: Sequence[str]) -> list[str]:
    """Name what tells rows of one unit apart; what enters by value needs no code."""
    keys = reduction.keys
    content = [f"also{i}" for i in range(len(needs.also))]
    if keys is not None and not needs.by_value(keys.columns):
        content += groups
    for i, measure in enumerate(reduction.valued):
        if not needs.by_value([measure.column]):
            content.append(f"value{i}")
    return content


def with_cells(rows: Rows, reduction: Reduction, needs: Needs) -> Rows:
    """Put the public cell of each row in place of its keys; drop rows of none."""
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


def unit_totals(
    rows: Rows, groups: Sequence[str], measures: Mapping[int, Measure]
) -> Rows:
    """Sum within each unit and key and clip that to the bounds: one row for each.

    No row is dropped (step 6 is not for them). Units without a usable row under a key
    have null there.
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
    by_unit = rows.lazy().group_by("unit", *groups).agg(*sums)
    return collect(by_unit.select(*groups, *totals))
