"""A domain as text and as a small HTML table: public facts, one line a column."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from dpframe.domain.kinds import (
    Booleans,
    Bounds,
    Categories,
    ColumnKind,
    Dates,
    Edges,
)
from dpframe.domain.serial import Facts

__all__ = ["as_html", "as_text"]

_SHOWN = 6
_LONGEST = 60
_STYLE = "border-collapse:collapse;text-align:left"


def as_text(facts: Facts, size: int | None) -> str:
    """Return a heading and an aligned line for each column."""
    rows = [(repr(name), *_row(*fact)) for name, fact in facts.items()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
    return "\n  ".join([_heading(facts, size), *lines])


def as_html(facts: Facts, size: int | None) -> str:
    """Return the same as a table, all text escaped."""
    head = _tr("th", ("column", "kind", "cells", "values"))
    body = "".join(_tr("td", (name, *_row(*fact))) for name, fact in facts.items())
    return (
        f'<div class="dpframe-domain"><strong>{escape(_heading(facts, size))}</strong>'
        f'<table style="{_STYLE}"><thead>{head}</thead><tbody>{body}</tbody></table>'
        "</div>"
    )


def _heading(facts: Facts, size: int | None) -> str:
    columns = f"{len(facts)} column{'' if len(facts) == 1 else 's'}"
    return f"Domain: {columns}" + ("" if size is None else f", {size:,} cells")


def _row(kind: ColumnKind, other: bool) -> tuple[str, str, str]:
    """Return kind, number of cells, and values."""
    name = type(kind).__name__.lower()
    cells = "" if isinstance(kind, Bounds) else f"{kind.size + other:,}"
    return name, cells, _values(kind) + (", other" if other else "")


def _values(kind: ColumnKind) -> str:
    if isinstance(kind, Categories):
        return _list(map(_plain, kind.values), len(kind.values))
    if isinstance(kind, Edges):
        return _list(map(str, kind.edges), len(kind.edges))
    if isinstance(kind, Booleans):
        return "False, True"
    if isinstance(kind, Dates):
        return f"{kind.start} to {kind.end}, every {kind.every}"
    return f"{kind.lower} to {kind.upper}"


def _plain(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)


def _list(items: Iterable[str], count: int) -> str:
    shown: list[str] = []
    for item in items:
        if len(shown) == _SHOWN or len(", ".join([*shown, item])) > _LONGEST:
            break
        shown.append(item)
    more = ["…"] if len(shown) < count else []
    return ", ".join(shown + more)


def _tr(tag: str, cells: tuple[str, ...]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
