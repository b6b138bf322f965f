"""Values of untyped columns as bytes that are equal exactly where the values are."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np

from dpframe.domain.values import family, infinite, plain

__all__ = ["label", "unlabel"]

#: Never begins UTF-8, so that no text is mistaken for something else.
_NOT_TEXT = b"\xff"
#: A decimal with more zeros than this is written by its digits: it equals no integer
#: or float, and as a fraction it would fill the memory.
_MOST_ZEROS = 5000
#: No scalars to compare with, but their representation is their value.
_IDENTIFIERS = (bytes, UUID)

_WHOLE = re.compile("(-?[0-9a-f]{1,16})/1")
_DATE = re.compile(r"datetime\.date\((\d+), (\d+), (\d+)\)")


def label(value: object) -> bytes | None:
    """Return a value's label; None of what is missing or no scalar. It never fails.

    Numbers are equal across types, as in Python: 1, 1.0 and True are one value. What
    is no scalar of a known kind has no value that could tell it apart from another:
    it is missing.
    """
    try:
        return _label(value)
    except Exception:
        return None


def unlabel(label: bytes) -> str | int | date | None:
    """Return the text, the whole number or the date that has this label.

    None where it is anything else: text that is no UTF-8, a number beyond 64 bits or
    with a fraction, a moment, a span.
    """
    text = label.removeprefix(_NOT_TEXT)
    if len(text) == len(label):
        try:
            return text.decode()
        except UnicodeDecodeError:
            return None
    words = text.decode(errors="replace")
    if whole := _WHOLE.fullmatch(words):
        number = int(whole[1], 16)
        return number if number >= -(2**63) else None
    if day := _DATE.fullmatch(words):
        return date(*map(int, day.groups()))
    return None


def _label(value: Any) -> bytes | None:
    exact = plain(value)
    if type(exact) in _IDENTIFIERS:
        return _NOT_TEXT + repr(exact).encode()
    if exact is None or family(exact) is None:
        return None
    if isinstance(exact, str):
        return exact.encode("utf-8", "surrogatepass")
    shown = _number(exact) if _is_number(exact) else repr(exact)
    return _NOT_TEXT + (shown + _below_microseconds(value)).encode()


def _is_number(value: object) -> bool:
    return family(value) in ("boolean", "number", "Decimal")


def _number(value: Any) -> str:
    if infinite(value):
        return str(float(value))
    if isinstance(value, Decimal):
        sign, digits, exponent = value.as_tuple()
        if value and abs(int(exponent)) > _MOST_ZEROS:
            text = "".join(map(str, digits)).strip("0")
            return f"{sign}:{text}:{value.adjusted()}"
    exact = Fraction(value)
    return f"{exact.numerator:x}/{exact.denominator:x}"  # decimal text has a limit


def _below_microseconds(value: Any) -> str:
    """What a plain time has cut off: keys have none, so such a row matches none."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        nanoseconds = int(
            value.astype(value.dtype.str.split("[")[0] + "[ns]").astype(int)
        )
        return f"+{nanoseconds % 1000}" if nanoseconds % 1000 else ""
    rest = getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0) % 1000
    return f"+{rest}" if rest else ""
