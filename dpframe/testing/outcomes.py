"""Outputs of any kind as columns of numbers, and as cells that can be counted."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpframe.errors import ParameterError

__all__ = ["Column", "cells", "columns", "cut", "merged"]

_BINS = 64  # of a wide column
_FEW = 8  # levels of a column that is not worth merging


class Column(NamedTuple):
    """One part of every output: numbers, or other values by their number."""

    values: NDArray[Any]
    ordered: bool


def columns(outputs: Iterable[Any]) -> list[Column]:
    """Return outputs as columns: rows are equal where outputs are, and nowhere else.

    Parameters
    ----------
    outputs : ndarray or iterable, one item for each run
        Numbers, texts, None or other hashable values, and (nested) tuples, lists and
        arrays of them, of any length.

    Returns
    -------
    list of Column
        NaN where an output has no such part; integers beyond 2^53 beside it count as
        floats. Parts that are the same in all outputs are left out.

    Raises
    ------
    ParameterError
        If outputs cannot be compared.
    """
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "biuf":
        flat = outputs.reshape(len(outputs), -1)
        return [Column(values, ordered=True) for values in flat.T]
    rows = [tuple(_atoms(output)) for output in outputs]
    width = max(map(len, rows), default=0)
    padded = (row + (np.nan,) * (width - len(row)) for row in rows)
    found = [c for values in zip(*padded, strict=True) for c in _columns(values)]
    telling = [c for c in found if (c.values != c.values[0]).any()]
    return telling or found[:1]


def _atoms(output: Any) -> Iterator[Any]:
    """Yield what an output is made of; first of a sequence that it is one, how long."""
    if isinstance(output, np.ndarray):
        output = output.tolist()
    if isinstance(output, (tuple, list)):
        yield "sequence"
        yield len(output)
        for part in output:
            yield from _atoms(part)
    else:
        yield output


def _columns(values: Sequence[Any]) -> list[Column]:
    """Return numbers and other values apart, in one column or two."""
    numbers = [value if _is_number(value) else np.nan for value in values]
    numbered: dict[Hashable, int] = {}
    try:
        others = [
            -1 if _is_number(value) else numbered.setdefault(value, len(numbered))
            for value in values
        ]
    except TypeError:
        msg = (
            "the mechanism returned what cannot be compared; return numbers, texts, "
            "arrays or tuples of them, such as tuple(release.indices)."
        )
        raise ParameterError(msg) from None
    found = [Column(np.array(others), ordered=False)] if numbered else []
    if len(numbered) == 0 or -1 in others:
        found.append(Column(_as_array(numbers), ordered=True))
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_))


def _as_array(numbers: list[Any]) -> NDArray[Any]:
    """Return integers as they are where they fit, else floats."""
    found = np.array(numbers)
    return found if found.dtype.kind in "biuf" else found.astype(np.float64)


def cells(parts: Sequence[Column]) -> NDArray[np.int64]:
    """Return the number of each row's cell: that of all rows equal to it."""
    found = np.zeros(len(parts[0].values), dtype=np.int64)
    for part in parts:
        levels = _numbered(part.values)
        # Numbered anew after each column, so that the product stays small.
        found = _numbered(found * (int(levels.max()) + 1) + levels)
    return found


def _numbered(values: NDArray[Any]) -> NDArray[np.int64]:
    """Number the distinct values from 0 on; without sorting where they lie close."""
    if values.dtype.kind in "bi":
        least, most = int(values.min()), int(values.max())
        if most - least < 4 * values.size:
            places = values.astype(np.int64) - least
            there = np.zeros(most - least + 1, dtype=np.int64)
            there[places] = 1
            return (np.cumsum(there) - 1)[places]
    return np.unique(values, return_inverse=True)[1].reshape(-1)


def cut(part: Column, known: NDArray[np.bool_]) -> Column:
    """Cut a wide column into bins, at quantiles of the known rows alone."""
    if not part.ordered or len(np.unique(part.values[known])) <= _BINS:
        return part
    absent = np.isnan(part.values)
    steps = np.arange(1, _BINS) / _BINS
    edges = np.quantile(part.values[known & ~absent], steps, method="nearest")
    places = np.searchsorted(np.unique(edges), part.values, side="right")
    return Column(np.where(absent, -1, places), ordered=True)


def merged(
    parts: Sequence[Column], known: NDArray[np.bool_], most: int
) -> list[Column]:
    """Merge neighboring bins until the known rows fill at most ``most`` cells.

    Columns of few levels stay as they are; where they are many there may be more cells.
    """
    found = list(parts)
    while np.count_nonzero(np.bincount(cells(found)[known])) > most:
        wide = [p.ordered and len(np.unique(p.values[known])) > _FEW for p in found]
        if not any(wide):
            break
        found = [
            Column(np.floor_divide(part.values, 2), ordered=True) if is_wide else part
            for part, is_wide in zip(found, wide, strict=True)
        ]
    return found
