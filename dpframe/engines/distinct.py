"""The number of distinct values, or of units: a unit's values are its groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import narwhals.stable.v2 as nw

from dpframe.engines.bounding import keep_groups, keep_rows
from dpframe.engines.codes import read_codes
from dpframe.engines.columns import by_value, coded
from dpframe.engines.needs import Needs
from dpframe.engines.polars import collect
from dpframe.queries.reduction import Distinct

__all__ = ["count_distinct"]


def count_distinct(
    frames: Iterable[nw.LazyFrame[Any]], query: Distinct, needs: Needs, hash_key: bytes
) -> int:
    """Count the distinct values that the bounded frame holds.

    One row for each unit and value, then at most ``max_groups`` values and
    ``max_rows`` rows of each unit. Null and NaN are no value.
    """
    unit = query.unit
    chunks = [collect(_prepare(frame, query, needs).unique()) for frame in frames]
    rows = _keep_listed(nw.concat(chunks).unique(), query, needs)
    if needs.hashed and unit.max_groups is not None:
        rows = keep_groups(rows, ["value"], hash_key, unit.max_groups)
    if needs.hashed and unit.max_rows is not None:
        rows = keep_rows(rows, ["value"], hash_key, unit.max_rows)
    return len(rows.select("value").unique())


def _prepare(
    frame: nw.LazyFrame[Any], query: Distinct, needs: Needs
) -> nw.LazyFrame[Any]:
    """Keep the units and values of the rows that have both, and a listed value's code.

    When units are counted, or the unit is the row, the value stands alone.
    """
    dtypes = frame.collect_schema()
    names = {"value": needs.places[query.column]}
    if needs.hashed:
        names["unit"] = needs.places[query.unit.column]
    present = [~nw.col(place).is_null() for place in names.values()]
    frame = frame.filter(*present)
    columns = [
        by_value(nw.col(place), dtypes[place]).alias(name)
        for name, place in names.items()
    ]
    if query.listed is not None:
        type_ = needs.types[query.column]
        frame = coded(frame, names["value"], type_, query.listed, "code")
        columns.append(nw.col("code"))
    return frame.select(*columns)


def _keep_listed(
    rows: nw.DataFrame[Any], query: Distinct, needs: Needs
) -> nw.DataFrame[Any]:
    """Drop values that the domain does not declare; ``other`` declares none."""
    if query.listed is None:
        return rows
    codes = read_codes(rows["code"], needs.types[query.column], query.listed)
    declared = (codes >= 0) & (codes < query.listed.size - query.listed.other)
    mask = nw.new_series("declared", declared, nw.Boolean, backend=rows.implementation)
    return rows.drop("code").filter(mask)
