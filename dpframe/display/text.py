"""Numbers, names and tables as plain text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from dpframe.display.column import Column

__all__ = ["plural", "printable", "show", "show_moment", "show_spread", "text_table"]

_UNITS = (
    ("days", timedelta(days=1)),
    ("h", timedelta(hours=1)),
    ("min", timedelta(minutes=1)),
    ("s", timedelta(seconds=1)),
    ("ms", timedelta(milliseconds=1)),
    ("µs", timedelta(microseconds=1)),
)
_WIDEST = 40  # characters of one name or key


def show(value: object, error: float = 0.0) -> str:
    """Return a value for people, with thousands apart.

    Floats have six digits, or those down to the second one of a standard ``error``.

    Examples
    --------
    >>> show(48842), show(0.123456789), show(0.123456789, error=0.02), show(None)
    ('48,842', '0.123457', '0.123', 'None')
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return printable(str(value))
    if isinstance(value, int) or _is_short(value):
        return f"{value:,}"
    number = float(value)
    if 1e-9 < error < 1e15 and abs(number) < 1e15:
        return f"{number:,.{_places(error, 2)}f}"
    return _digits(number, 6)


def show_spread(value: object) -> str:
    """Return a standard error or a scale: two digits, and all before the point.

    A duration is shown in the largest unit that it fills.

    Examples
    --------
    >>> show_spread(14.1421), show_spread(123456.7), show_spread(timedelta(hours=1.5))
    ('14', '123,457', '1.5 h')
    """
    if isinstance(value, (int, float, Decimal)):
        return _digits(float(value), 2)
    if not isinstance(value, timedelta):
        return show(value)
    name, unit = next(
        ((name, unit) for name, unit in _UNITS if abs(value) >= unit), _UNITS[-1]
    )
    return f"{_digits(value / unit, 2)} {name}"


def show_moment(moment: datetime) -> str:
    """Return a time to the second, with its zone if it has one."""
    return f"{moment:%Y-%m-%d %H:%M:%S %Z}".rstrip()


def plural(number: int, noun: str) -> str:
    """Return "1 cell" or "2,000 cells"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def printable(text: str, width: int = _WIDEST) -> str:
    r"""Return ``text`` on one line, cut to ``width``, with escapes for what is no ink.

    Examples
    --------
    >>> print(printable("two\nlines"))
    two\nlines
    """
    cut = text if len(text) <= width else text[: width - 1] + "…"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut)


def text_table(columns: Sequence[Column]) -> str:
    """Lay out columns of one length under their names.

    Examples
    --------
    >>> keys = Column("key", ("a", "bb"), left=True)
    >>> print(text_table([keys, Column("n", ("10", "7"))]))
    key   n
    a    10
    bb    7
    """
    laid = []
    for column in columns:
        lines = [printable(column.name), *column.cells]
        width = max(map(len, lines))
        laid.append([s.ljust(width) if column.left else s.rjust(width) for s in lines])
    return "\n".join("  ".join(line).rstrip() for line in zip(*laid, strict=True))


def _is_short(value: float | Decimal) -> bool:
    """Whether a decimal has few enough digits to be shown whole."""
    return isinstance(value, Decimal) and len(value.as_tuple().digits) <= 15


def _digits(value: float, digits: int) -> str:
    """Show about so many digits, and always those before the point."""
    size = abs(value)
    if not math.isfinite(value) or (size and not 1e-4 <= size < 1e15):
        return f"{value:.{digits}g}"
    places = _places(size, digits) if size else 0
    shown = f"{value:,.{places}f}"
    return shown.rstrip("0").rstrip(".") if places else shown


def _places(size: float, digits: int) -> int:
    """Return how many places show so many digits of a number of this size."""
    return max(digits - 1 - math.floor(math.log10(size)), 0)
