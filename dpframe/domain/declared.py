"""What a frame's schema declares about its columns; rows are never read.

A Boolean, and an Enum, whose members the type itself lists, are declared. A pandas
category list may come from the rows or from a person, so the caller has to say. A
list kept beside the rows (Polars Categorical, Arrow dictionary pages) is data.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpframe.domain.kinds import Booleans, Categories, ColumnKind
from dpframe.domain.missing import about
from dpframe.domain.values import listed
from dpframe.errors import (
    ColumnNotFoundError,
    DomainError,
    UnsupportedFrameError,
)

__all__ = ["from_schema"]


@dataclass(frozen=True, slots=True)
class _Declared:
    """What was found: kinds that are declared, and lists that may be."""

    columns: tuple[Any, ...]
    kinds: dict[str, ColumnKind] = field(default_factory=dict)
    lists: dict[str, Sequence[object]] = field(default_factory=dict)


def from_schema(
    frame: Any, categories: str | Sequence[str] | None
) -> dict[str, ColumnKind]:
    """Return the kinds that the schema of ``frame`` declares, in column order."""
    import narwhals.stable.v2 as nw

    frame = nw.to_native(frame, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(frame):
        found = _from_pandas(frame)
    elif nw.dependencies.is_pyarrow_table(frame):
        found = _from_arrow(frame.schema)
    else:
        found = _from_types(frame)
    vouched = _vouched(found, categories)
    kinds: dict[str, ColumnKind] = {}
    for name in found.columns:
        if name in found.kinds:
            kinds[name] = found.kinds[name]
        elif name in vouched:
            with about(name):
                kinds[name] = Categories(tuple(found.lists[name]))
    return kinds


def _from_pandas(frame: Any) -> _Declared:
    # Types only: asking narwhals would look at the values of object columns.
    import pandas as pd

    found = _Declared(tuple(frame.columns))
    for name, dtype in frame.dtypes.items():
        if isinstance(dtype, pd.CategoricalDtype):
            found.lists[name] = list(dtype.categories)
        elif pd.api.types.is_bool_dtype(dtype):
            found.kinds[name] = Booleans()
    return found


def _from_arrow(schema: Any) -> _Declared:
    # Polars writes the members of an Enum into the field and reads them back; an
    # empty table holds the fields and no dictionary page.
    import polars as pl
    import pyarrow as pa

    told = [
        item
        for item in schema
        if pa.types.is_boolean(item.type) or pa.types.is_dictionary(item.type)
    ]
    typed = _from_types(pl.from_arrow(pa.schema(told).empty_table()))
    return _Declared(tuple(schema.names), typed.kinds)


def _from_types(frame: Any) -> _Declared:
    import narwhals.stable.v2 as nw

    try:
        native = nw.from_native(frame)
    except TypeError:
        native = None
    if native is None:
        msg = f"{type(frame).__name__} is no frame whose schema dpframe can read."
        raise UnsupportedFrameError(msg)
    # Frames that only resemble pandas show ordered categories as an Enum.
    with_enums = (nw.Implementation.POLARS, nw.Implementation.DUCKDB)
    schema = native.collect_schema()
    found = _Declared(tuple(schema))
    for name, dtype in schema.items():
        if isinstance(dtype, nw.Boolean):
            found.kinds[name] = Booleans()
        elif isinstance(dtype, nw.Enum) and native.implementation in with_enums:
            with about(name):
                found.kinds[name] = Categories(tuple(dtype.categories))
    return found


def _vouched(
    found: _Declared, categories: str | Sequence[str] | None
) -> Collection[str]:
    """Return the columns whose category lists the caller calls public."""
    if categories is None:
        if found.lists:
            raise _ambiguous(next(iter(found.lists)))
        return ()
    if categories == "declared":
        return found.lists.keys()
    names = [str(name) for name in listed(categories, "categories=")]
    for name in names:
        if name not in found.columns:
            raise ColumnNotFoundError.named(name, map(str, found.columns))
        if name not in found.lists and name not in found.kinds:
            msg = (
                f"the schema lists no categories of column {name!r}. Cast it to an "
                f"Enum, or list them: dpf.Domain({{{name!r}: [...]}})."
            )
            raise DomainError(msg)
    return names


def _ambiguous(name: str) -> DomainError:
    return DomainError(
        f"column {name!r} is a pandas Categorical: its list may have been taken from "
        'the rows, as astype("category") does, and rows are private. If you declared '
        'the lists yourself, pass categories="declared" (or the names of those '
        "columns); else list the values in dpf.Domain."
    )
