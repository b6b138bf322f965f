"""Steps 1 to 3 of the bounded frame: what a row says, before rows are limited.

Prepared rows have columns ``unit`` (unless the unit is the row), ``key0``, …,
``value0``, … and ``also0``, …: codes or listed values, lattice integers, null where
unusable, and what enters the tickets of rows by value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from dpframe.domain.coding import Codes
from dpframe.domain.keys import Keys
from dpframe.engines.codes import read_codes
from dpframe.engines.columns import by_value, coded, lattice_integers
from dpframe.engines.needs import Needs
from dpframe.privacy.unit import Unit
from dpframe.queries.reduction import Measure, Reduction

__all__ = ["measured", "owned", "prepare", "read_cells", "usable"]


def prepare(
    frame: nw.LazyFrame[Any], reduction: Reduction, needs: Needs
) -> nw.LazyFrame[Any]:
    """Code the keys and measure the values of each row; drop rows that say nothing."""
    frame, columns = owned(frame, reduction.unit, needs)
    columns |= measured(frame, reduction.valued, needs)
    keys = reduction.keys
    if keys is not None:
        for i, (name, coding) in enumerate(
            zip(keys.columns, keys.codings, strict=True)
        ):
            place = needs.places[name]
            frame = coded(frame, place, needs.types[name], coding, f"key{i}")
            columns[f"key{i}"] = nw.col(f"key{i}")
    # Not by select alone: a column of nothing but null is a literal, one row long.
    rows = frame.with_columns(**columns).select(*columns) if columns else frame
    limited = not reduction.unit.is_row  # else no place is used up
    if reduction.rows or reduction.units or not (limited and reduction.valued):
        return rows
    return usable(rows, reduction.valued)


def owned(
    frame: nw.LazyFrame[Any], unit: Unit, needs: Needs
) -> tuple[nw.LazyFrame[Any], dict[str, nw.Expr]]:
    """Drop rows without a unit; name the unit and what enters tickets by value."""
    if unit.is_row:
        return frame, {}
    dtypes = frame.collect_schema()
    by_name = {"unit": needs.places[unit.column]}
    by_name |= {f"also{i}": needs.places[name] for i, name in enumerate(needs.also)}
    columns = {
        name: by_value(nw.col(place), dtypes[place]) for name, place in by_name.items()
    }
    return frame.filter(~nw.col(by_name["unit"]).is_null()), columns


def measured(
    frame: nw.LazyFrame[Any], measures: Sequence[Measure], needs: Needs
) -> dict[str, nw.Expr]:
    """Return the lattice integers of the measures: ``value0``, ``value1``, …."""
    dtypes = frame.collect_schema()
    columns = {}
    for i, measure in enumerate(measures):
        place = needs.places[measure.column]
        value = lattice_integers(nw.col(place), dtypes[place], measure.lattice)
        columns[f"value{i}"] = value
    return columns


def usable(rows: nw.LazyFrame[Any], measures: Sequence[Measure]) -> nw.LazyFrame[Any]:
    """Drop rows that no measure can use."""
    found = [~nw.col(f"value{i}").is_null() for i in range(len(measures))]
    return rows.filter(nw.any_horizontal(*found, ignore_nulls=False))


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
