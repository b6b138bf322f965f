"""Values of untyped columns as bytes that are equal exactly where the values are."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpframe.domain.values import family, infinite, plain

__all__ = ["label"]

#: Never begins UTF-8, so that no text is mistaken for something else.
_NOT_TEXT = b"\xff"


def label(value: object) -> bytes | None:
    """Return a value's label; None of null and NaN. It never fails.

    Numbers are equal across types, as in Python: 1, 1.0 and True are one value.
    """
    value = plain(value)
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    try:
        shown = _show(value)
    except Exception:  # an object that cannot say what it is: like no listed value
        shown = ""
    return _NOT_TEXT + shown.encode("utf-8", "backslashreplace")


def _show(value: Any) -> str:
    if family(value) not in ("boolean", "number", "Decimal"):
        return repr(value)
    if infinite(value):
        return str(float(value))
    exact = Fraction(value)
    return f"{exact.numerator:x}/{exact.denominator:x}"  # decimal text has a limit
