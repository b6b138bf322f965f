"""Privacy amounts as exact rationals: what the user wrote is what is charged.

A float means its shortest decimal (0.1 is 1/10, so ten charges of 0.1 spend
exactly 1). Sums and comparisons are rational; there is no tolerance anywhere.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real

from dpframe.errors import ParameterError, warn

__all__ = ["Amount", "as_amount", "as_delta", "as_fraction", "show_amount", "text"]

Amount = int | float | str | Decimal | Fraction

# Checked on the text before a number is built: "1e-999999999" would hang.
_MAX_BITS = 4096
_MAX_DIGITS = 1234  # 10**1233 < 2**4096 < 10**1234
_NUMBER = re.compile(
    r"\s*[+-]?(?P<whole>\d*)(?:\.(?P<part>\d*))?(?:[eE](?P<exp>[+-]?\d+))?"
    r"(?:/(?P<den>\d+))?\s*"
)


def as_fraction(value: object, name: str) -> Fraction:
    """Read ``value`` as the decimal or fraction that the user wrote.

    Raises
    ------
    ParameterError
        For bool, NaN, infinity, text that is no number, other types, and amounts
        of more than 4,096 bits.
    """
    if isinstance(value, Fraction):
        result = Fraction(value.numerator, value.denominator)  # no subclass's sums
    elif isinstance(value, bool) or not isinstance(value, (Real, Decimal, str)):
        msg = f"{name} must be a number, not {type(value).__name__}."
        raise ParameterError(msg)
    elif isinstance(value, Integral):
        result = Fraction(int(value))
    else:
        result = _from_text(_shortest(value), name)
    if max(abs(result.numerator), result.denominator).bit_length() > _MAX_BITS:
        raise _too_long(name)
    return result


def as_amount(value: object, name: str) -> Fraction:
    """Read a positive, finite privacy amount (epsilon or rho).

    Warns with `PrivacyWarning` above 20: legal, but hardly private.
    """
    amount = as_fraction(value, name)
    if amount <= 0:
        msg = f"{name} must be positive; got {show_amount(amount)}."
        raise ParameterError(msg)
    if amount > 20:
        warn(
            f"{name}={show_amount(amount)} is above 20: such a release hides "
            "almost nothing about a unit. Usual values are 0.01 to 5."
        )
    return amount


def as_delta(value: object, name: str = "delta") -> Fraction:
    """Read a delta in [0, 1)."""
    delta = as_fraction(value, name)
    if not 0 <= delta < 1:
        msg = f"{name} must be in [0, 1); got {show_amount(delta)}."
        raise ParameterError(msg)
    if delta > Fraction(1, 10_000):
        warn(
            f"{name}={show_amount(delta)} is above 1e-4: with that chance a unit "
            "may be exposed outright. Usual values are far below 1/n."
        )
    return delta


def text(amount: Fraction) -> str:
    """Return the canonical "a/b" (or "a") of a ledger amount."""
    return str(amount)


def show_amount(amount: Fraction, digits: int = 6) -> str:
    """Return a short decimal for people; exact amounts are in `text`."""
    if amount and not Fraction(1, 10**300) < abs(amount) < 10**300:
        return "below 1e-300" if abs(amount) < 1 else "above 1e300"
    return f"{float(amount):.{digits}g}"


def _shortest(value: object) -> str:
    """Return the shortest decimal text of a float, or the text itself."""
    if isinstance(value, (str, Decimal)):
        return str(value)
    # numpy floats print their own shortest decimal (np.float32(0.1) is 0.1).
    shown = value.item() if type(value).__name__ == "float64" else value  # type: ignore[attr-defined]
    return repr(shown) if isinstance(shown, float) else str(shown)


def _from_text(text_: str, name: str) -> Fraction:
    match = _NUMBER.fullmatch(text_)
    if match is None or not (match["whole"] or match["part"]):
        hint = "" if not re.search("nan|inf", text_, re.I) else " It must be finite."
        msg = f"{name} must be a number such as 0.5 or '1/3'.{hint}"
        raise ParameterError(msg)
    if match["den"] and (match["part"] is not None or match["exp"]):
        msg = f"{name} must be a decimal or a fraction of integers, not both."
        raise ParameterError(msg)
    digits = len(match["whole"] or "") + len(match["part"] or "")
    exponent = match["exp"] or "0"
    if (
        len(exponent) > 7
        or digits + abs(int(exponent)) > _MAX_DIGITS
        or len(match["den"] or "") > _MAX_DIGITS
    ):
        raise _too_long(name)
    if match["den"] and not int(match["den"]):
        msg = f"{name} has a zero denominator."
        raise ParameterError(msg)
    return Fraction(text_)


def _too_long(name: str) -> ParameterError:
    return ParameterError(f"{name} has more than {_MAX_BITS} bits; write it shorter.")
