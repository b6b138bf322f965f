"""The answers of a block, by number: how many, their labels and texts, and back.

No list of all labels is made: a block may have millions of cells.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from dpframe.domain.coding import Bins, Coding, Linear, Lookup
from dpframe.domain.keys import Keys
from dpframe.queries.blocks import Block, Prefixes, Ranges, SumBy
from dpframe.queries.wording import show_name, show_value

__all__ = ["count_cells", "label_of", "ordered_cells", "position_of", "text_of"]


def count_cells(block: Block, keys: Keys | None) -> int:
    """Return the number of answers of a block over its public cells."""
    if keys is None:
        return 1
    if isinstance(block, Prefixes):
        return ordered_cells(keys)
    if isinstance(block, Ranges):
        return _ranges_before(ordered_cells(keys), ordered_cells(keys))
    return keys.size


def ordered_cells(keys: Keys) -> int:
    """Return the number of codes of the one column, the ``other`` cell left out."""
    return keys.codings[0].size - keys.codings[0].other


def label_of(block: Block, keys: Keys, i: int) -> Any:
    """Return the public key of answer ``i``.

    The key of a cell; of `Prefixes` that of the last cell, of `Ranges` those of the
    first and the last.
    """
    if isinstance(block, Ranges):
        first, last = _run(ordered_cells(keys), i)
        return (_label(keys.codings[0], first), _label(keys.codings[0], last))
    labels = tuple(map(_label, keys.codings, _codes(keys, i)))
    return labels if len(labels) > 1 else labels[0]


def text_of(block: Block, keys: Keys, i: int) -> str:
    """Return answer ``i`` in a few words."""
    if isinstance(block, (Prefixes, Ranges)):
        first, last = 0, i
        if isinstance(block, Ranges):
            first, last = _run(ordered_cells(keys), i)
        lower = isinstance(block, Ranges)
        return _run_text(block.column, keys.codings[0], first, last, lower=lower)
    cell = ", ".join(map(_text, keys.columns, keys.codings, _codes(keys, i)))
    if isinstance(block, SumBy):
        return f"sum of {show_name(block.column)}, {cell}"
    return cell


def position_of(block: Block, keys: Keys, label: Any) -> int | None:
    """Return the number of the answer with this label, None if there is none."""
    if isinstance(block, Ranges):
        ends = label if isinstance(label, tuple) and len(label) == 2 else (None, None)
        first, last = (_code(keys.codings[0], end) for end in ends)
        i = _ranges_before(ordered_cells(keys), first) + last - first
    else:
        labels = label if len(keys.columns) > 1 else (label,)
        if not isinstance(labels, tuple) or len(labels) != len(keys.columns):
            return None
        codes = [c.code([part]) for c, part in zip(keys.codings, labels, strict=True)]
        i = int(keys.cell_index(codes)[0])
    inside = 0 <= i < count_cells(block, keys)
    return i if inside and label_of(block, keys, i) == label else None


def _codes(keys: Keys, i: int) -> tuple[int, ...]:
    """Return the code of each column in cell ``i``."""
    if keys.cells is not None:
        return keys.cells[i]
    codes = []
    for size in reversed(keys.radix):
        i, code = divmod(i, size)
        codes.append(code)
    return tuple(reversed(codes))


def _label(coding: Coding, code: int) -> Any:
    """Return the key of one code, without a list of all."""
    if coding.other and code == coding.size - 1:
        return None
    if isinstance(coding, Linear):
        return coding.lower + code
    return (coding.values if isinstance(coding, Lookup) else coding.edges)[code]


def _code(coding: Coding, label: Any) -> int:
    return int(coding.code([label])[0])


def _text(column: str, coding: Coding, code: int) -> str:
    name, label = show_name(column), _label(coding, code)
    if coding.other and code == coding.size - 1:
        return f"{name} is other"
    if isinstance(coding, Bins):
        return _run_text(column, coding, code, code, lower=True)
    return f"{name} is null" if label is None else f"{name} = {show_value(label)}"


def _run_text(
    column: str, coding: Coding, first: int, last: int, *, lower: bool
) -> str:
    """Show a run of cells as a range, such as ``17 <= age <= 40``."""
    name, top, closed = show_name(column), _label(coding, last), True
    if isinstance(coding, Bins):
        top, closed = coding.edges[last + 1], last + 2 == len(coding.edges)
    start = f"{show_value(_label(coding, first))} <= " if lower else ""
    return f"{start}{name} {'<=' if closed else '<'} {show_value(top)}"


def _ranges_before(cells: int, first: int) -> int:
    """Return how many runs begin before cell ``first``."""
    return first * cells - first * (first - 1) // 2


def _run(cells: int, i: int) -> tuple[int, int]:
    """Return the first and the last cell of run ``i``."""
    starts = range(cells)
    first = bisect_right(starts, i, key=lambda cell: _ranges_before(cells, cell)) - 1
    return first, first + i - _ranges_before(cells, first)
