"""Steps 1 to 3 of the bounded frame: what a row says, before rows are limited.

Prepared rows have columns ``unit`` (unless the unit is the row), ``key0``, … and
``value0``, …: codes or listed values, and lattice integers, null where unusable.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from dpframe.domain.coding import Codes
from dpframe.domain.keys import Keys
from dpframe.engines.codes import read_codes
from dpframe.engines.columns import by_value, coded, lattice_integers
from dpframe.engines.needs import Needs
from dpframe.queries.reduction import Reduction

__all__ = ["prepare", "read_cells"]


def prepare(
    frame: nw.LazyFrame[Any], reduction: Reduction, needs: Needs
) -> nw.LazyFrame[Any]:
    """Code the keys and measure the values of each row; drop rows that say nothing."""
    dtypes = frame.collect_schema()
    columns: dict[str, nw.Expr] = {}
    if not reduction.unit.is_row:
        place = needs.places[reduction.unit.column]
        frame = frame.filter(~nw.col(place).is_null())
        columns["unit"] = by_value(nw.col(place), dtypes[place])
    keys = reduction.keys
    if keys is not None:
        for i, (name, coding) in enumerate(
            zip(keys.columns, keys.codings, strict=True)
        ):
            place = needs.places[name]
            frame = coded(frame, place, needs.types[name], coding, f"key{i}")
            columns[f"key{i}"] = nw.col(f"key{i}")
    for i, measure in enumerate(reduction.measures):
        place = needs.places[measure.column]
        value = lattice_integers(nw.col(place), dtypes[place], measure.lattice)
        columns[f"value{i}"] = value
    # Not by select alone: a column of nothing but null is a literal, one row long.
    rows = frame.with_columns(**columns).select(*columns) if columns else frame
    limited = not reduction.unit.is_row  # else no place is used up
    if reduction.rows or reduction.units or not (limited and reduction.measures):
        return rows
    usable = [~nw.col(f"value{i}").is_null() for i in range(len(reduction.measures))]
    return rows.filter(nw.any_horizontal(*usable, ignore_nulls=False))


def read_cells(rows: nw.DataFrame[Any], keys: Keys, needs: Needs) -> Codes:
    """Return the public cell of each prepared row, -1 where it has none."""
    return keys.cell_index(
        [
            read_codes(rows[f"key{i}"], needs.types[name], coding)
            for i, (name, coding) in enumerate(
                zip(keys.columns, keys.codings, strict=True)
            )
        ]
    )
