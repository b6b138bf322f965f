"""Public keys as Arrow columns; their types never depend on data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from dpframe.domain.coding import Codes, Coding
from dpframe.domain.keys import Keys
from dpframe.domain.schema import ColumnType
from dpframe.domain.values import family

__all__ = ["distinct_names", "key_columns", "key_labels"]

_DECIMAL_DIGITS = 38  # of Arrow's decimal128
_INT64_ENDS = (-(2**63), 2**63 - 1)


def distinct_names(taken: Sequence[str], names: Iterable[str]) -> list[str]:
    """Return ``names``, with trailing underscores where they clash with a key.

    Examples
    --------
    >>> distinct_names(["job", "count"], ["count", "pay"])
    ['count_', 'pay']
    """
    used, found = set(taken), []
    for name in names:
        while name in used:
            name += "_"
        used.add(name)
        found.append(name)
    return found


def key_columns(
    cells: Keys, types: Sequence[ColumnType] | None, at: Codes | None = None
) -> list[tuple[pa.Field[Any], pa.Array[Any]]]:
    """Return the key columns of all cells, in order, or of those ``at`` positions.

    Parameters
    ----------
    cells : Keys
        The public cells.
    types : sequence of ColumnType, optional
        Declared types of the key columns; they decide where the keys do not, as for
        an empty list.
    at : ndarray of int64, optional
        Positions of the cells wanted.
    """
    codes = _codes(cells, np.arange(cells.size) if at is None else at)
    columns = []
    for i, (name, coding) in enumerate(zip(cells.columns, cells.codings, strict=True)):
        labels = _arrow_labels(coding, None if types is None else types[i])
        field = pa.field(name, labels.type, nullable=None in coding.keys)
        columns.append((field, labels.take(pa.array(codes[i], pa.int64()))))
    return columns


def key_labels(cells: Keys, at: Codes) -> list[list[object]]:
    """Return the labels of the cells ``at`` positions, one list for each column."""
    codes = _codes(cells, at)
    labels = [coding.keys for coding in cells.codings]
    return [[label[c] for c in code] for label, code in zip(labels, codes, strict=True)]


def _codes(cells: Keys, at: Codes) -> list[Codes]:
    """Return the codes of the cells ``at`` positions, one array for each column."""
    if not len(at):
        return [np.zeros(0, dtype=np.int64) for _ in cells.columns]
    if cells.cells is not None:
        listed = [cells.cells[i] for i in at.tolist()]
        return list(np.array(listed, dtype=np.int64).T)
    return list(np.unravel_index(at, cells.radix))


def _arrow_labels(coding: Coding, declared: ColumnType | None) -> pa.Array[Any]:
    """Return the labels of a coding as an Arrow array of a fixed type."""
    values = list(coding.keys)
    listed: list[Any] = [value for value in values if value is not None]
    if not listed:
        return pa.array(values, _declared_type(declared))
    if len({family(value) for value in listed}) > 1:  # of an untyped column
        return _texts(values)
    kind = family(listed[0])
    if kind == "text":
        return _texts(values)
    if kind == "number":
        if any(isinstance(value, float) for value in listed):
            return _floats(values)
        return _integers(values, listed)
    if kind == "Decimal":
        if not all(value.is_finite() for value in listed):
            return _floats(values)  # Arrow's decimals have no infinity for outer edges
        return _decimals(values, listed, 0 if declared is None else declared.scale)
    if kind == "datetime":
        zone = None if listed[0].tzinfo is None else "UTC"
        return pa.array(values, pa.timestamp("us", zone))
    return pa.array(values, _TYPES[kind or "text"])


def _floats(values: Sequence[object]) -> pa.Array[Any]:
    floats = [None if value is None else float(value) for value in values]  # type: ignore[arg-type]
    return pa.array(floats, pa.float64())


def _texts(values: Sequence[object]) -> pa.Array[Any]:
    texts = [None if value is None else str(value) for value in values]
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:  # half a surrogate pair, shown escaped
        fit = [t and t.encode("utf-8", "backslashreplace").decode() for t in texts]
        return pa.array(fit, pa.string())


def _integers(values: Sequence[Any], listed: Sequence[int]) -> pa.Array[Any]:
    least, most = min(listed), max(listed)
    if _INT64_ENDS[0] <= least <= most <= _INT64_ENDS[1]:
        return pa.array(values, pa.int64())
    if 0 <= least <= most < 2**64:
        return pa.array(values, pa.uint64())
    exact = [None if value is None else Decimal(value) for value in values]
    return _decimals(exact, list(map(Decimal, listed)), 0)


def _decimals(
    values: Sequence[object], listed: Sequence[Decimal], scale: int
) -> pa.Array[Any]:
    """Keep Decimals that have the digits of Arrow's; longer ones are text."""
    exponents = [int(value.as_tuple().exponent) for value in listed]
    places = max(0, -min(exponents), scale)
    before = max(0, *(value.adjusted() + 1 for value in listed))
    if before + places > _DECIMAL_DIGITS:
        return _texts(values)
    return pa.array(values, pa.decimal128(_DECIMAL_DIGITS, places))


def _declared_type(declared: ColumnType | None) -> pa.DataType:
    """The type that keys of this column would have, for an empty list."""
    if declared is None:
        return pa.string()
    if declared.kind == "decimal":
        return pa.decimal128(_DECIMAL_DIGITS, max(declared.scale, 0))
    if declared.kind == "datetime":
        return pa.timestamp("us", None if declared.zone is None else "UTC")
    return _TYPES.get(_FAMILY_OF.get(declared.kind, "text"), pa.string())


_TYPES: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "float": pa.float64(),
    "text": pa.string(),
    "date": pa.date32(),
    "timedelta": pa.duration("us"),
}
_FAMILY_OF = {
    "boolean": "boolean",
    "integer": "integer",
    "float": "float",
    "date": "date",
    "duration": "timedelta",
}
