"""Counts and sums under the keys that the bounded frame holds.

Rows are limited as under public keys (``design: units`` §3), but a key enters the hash
by its value: a code that stood for its place among the keys there are would depend on
other units' rows. Once rows are bounded, keys are numbered in the order of their values
and all goes on as if they had been listed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import narwhals.stable.v2 as nw

from dpframe.engines.alike import count_alike, lay_alike
from dpframe.engines.key_values import in_order, named, shown
from dpframe.engines.needs import Needs
from dpframe.engines.polars import collect, look_up_rows
from dpframe.engines.prepare import prepare
from dpframe.engines.reduce import add_units_up, limit_units, row_sums, tabulated
from dpframe.engines.tally import add, gather, lay
from dpframe.queries.reduction import Census
from dpframe.secret import Aggregates, Found

__all__ = ["find_rows", "find_units"]

Frames = Iterable[nw.LazyFrame[Any]]
Rows = nw.DataFrame[Any]


def find_rows(frames: Frames, census: Census, needs: Needs) -> Found:
    """Reduce with ``unit="row"``: every row counts."""
    reduction, names = census.reduction, _names(census)
    values = tabulated(reduction)
    chunks = []
    for frame in frames:
        rows = prepare(frame, reduction, needs)
        counted = collect(rows.group_by(*names).agg(*row_sums(reduction)))
        alike = [count_alike(rows, names, value) for value in values]
        chunks.append([named(each, census.keys, needs) for each in (counted, *alike)])
    found = in_order(nw.concat([counted.select(names) for counted, *_ in chunks]))
    parts = []
    for counted, *alike in chunks:
        cells = look_up_rows(counted, found)
        laid = lay(counted.drop(*names), cells, len(found))
        laid["units"] = laid["rows"]
        occurrences = [
            lay_alike(each, value, look_up_rows(each, found))
            for each, value in zip(alike, values, strict=True)
        ]
        parts.append(gather(reduction, laid, occurrences))
    return _found(found, functools.reduce(add, parts), census, needs)


def find_units(frames: Frames, census: Census, needs: Needs, hash_key: bytes) -> Found:
    """Reduce the bounded frame of a unit that is a column.

    Parameters
    ----------
    frames : iterable of narwhals.LazyFrame
        The columns of the call, in chunks.
    census : Census
        What is asked.
    needs : Needs
        The columns and their places.
    hash_key : bytes
        The key of this release; empty where no hash is needed.
    """
    reduction, names = census.reduction, _names(census)
    chunks = [collect(prepare(frame, reduction, needs)) for frame in frames]
    rows = nw.concat([named(chunk, census.keys, needs) for chunk in chunks])
    rows, totals = limit_units(rows, names, reduction, needs, hash_key)
    found = in_order(rows.select(names))
    aggregates = add_units_up(
        _numbered(rows, found), _numbered(totals, found), reduction, len(found)
    )
    return _found(found, aggregates, census, needs)


def _names(census: Census) -> list[str]:
    return [f"key{i}" for i in range(len(census.keys.columns))]


def _numbered(rows: Rows, found: Rows) -> Rows:
    """Put the number of each row's keys in their place, -1 of keys not found."""
    cells = nw.new_series(
        "cell", look_up_rows(rows, found), nw.Int64, backend=rows.implementation
    )
    return rows.drop(*found.columns).with_columns(cells)


def _found(found: Rows, aggregates: Aggregates, census: Census, needs: Needs) -> Found:
    keys = census.keys
    columns = zip(found.columns, keys.columns, keys.codings, strict=True)
    return Found(
        tuple(
            shown(found[key], needs.types[name], coded=coding is not None)
            for key, name, coding in columns
        ),
        aggregates,
    )
