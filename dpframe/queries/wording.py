"""Public names and values as the short text of a query."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from itertools import islice

__all__ = ["show_name", "show_value", "show_values"]

_MOST = 8


def show_name(column: str) -> str:
    """Show a column's name, in backticks where it could be misread."""
    return column if column.isidentifier() else f"`{column}`"


def show_value(value: object) -> str:
    """Show a public value: text in quotes, numbers and times as they are."""
    plain = isinstance(value, (date, timedelta, Decimal))
    return str(value) if plain else repr(value)


def show_values(values: Iterable[object]) -> str:
    """Show a list, the first few values of a long one."""
    texts = [show_value(value) for value in islice(values, _MOST + 1)]
    more = ["…"] if len(texts) > _MOST else []
    return f"[{', '.join(texts[:_MOST] + more)}]"
