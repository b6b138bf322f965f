"""What an engine declares about a frame: names and types, never a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, final

from dpframe.errors import ColumnNotFoundError

__all__ = ["ColumnType", "Kind", "Library", "Schema"]

Library = Literal["pandas", "polars", "pyarrow"]

#: "null" holds missing values only; "other" is a type that no verb reads (lists,
#: structs). An object column of pandas is "text", whatever it holds.
Kind = Literal[
    "boolean",
    "integer",
    "float",
    "decimal",
    "date",
    "datetime",
    "duration",
    "text",
    "null",
    "other",
]


@final
@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of one column, alike on every engine.

    ``scale`` is the number of decimal digits, ``unit`` ("s", "ms", "us" or "ns") and
    ``zone`` are those of datetimes and durations.
    """

    kind: Kind
    scale: int = 0
    unit: str = ""
    zone: str | None = None


@final
@dataclass(frozen=True, slots=True)
class Schema:
    """The public shape of a private frame."""

    columns: Mapping[str, ColumnType]
    library: Library

    def __getitem__(self, column: object) -> ColumnType:
        if isinstance(column, str) and column in self.columns:
            return self.columns[column]
        raise ColumnNotFoundError.named(column, self.columns)
