"""From values to public integer steps, row by row, and back.

No private value is a float once it may be added. A row is clipped to public bounds,
sent to the integer ``floor(v + 1/2)`` of a public grid, and only then summed; every
step is monotone, so a row lies between the integers of its bounds.

A lattice has two stages. ``steps``: the clipped value in grid steps (floats divide by
a power of two, other types are integers already). ``k = (steps >> shift) - base``:
coarser and shifted to start at 0 where a mean or a variance asks for it; to the nearest
one, and not down, where k is an answer, as a quantile is. For
``per="unit"`` the steps of a unit are summed, clipped to the bounds, then sent to k.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, final

from dpframe.domain.schema import ColumnType
from dpframe.domain.zones import midnight
from dpframe.errors import ParameterError, shown

__all__ = ["Lattice", "Per", "Use", "fit_lattice"]

Per = Literal["row", "unit"]

#: What a grid is for. Of "values" none is added: their order counts, and distances. For
#: a "quantile" they are the candidates to choose from.
Use = Literal["sum", "mean", "variance", "values", "quantile"]

#: Grid width of each use. Squares of a variance are summed, hence its 15 bits.
_BITS = {"sum": 30, "mean": 30, "variance": 15, "values": 20, "quantile": 16}
_WHOLE_BITS = {**_BITS, "quantile": 20}  # of integers, which should stay what they are
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_LARGEST_FLOAT = 2.0**1000
_EXTRA_PLACES = 6  # below the last digit of a decimal column, for means


@final
@dataclass(frozen=True, slots=True)
class Lattice:
    """A public integer grid over one column.

    Parameters
    ----------
    type : ColumnType
        The column's kind: the declared one first, then the engine's. It decides the
        grid and how an answer is shown.
    lower, upper : int or float
        Bounds in the engine's own numbers: floats for float columns, else integers
        (digits of a decimal, days or ticks since 1970, 0 and 1 of a boolean).
    inverse : float or None
        Float columns: steps = floor((x - offset) * inverse + 1/2), a power of two.
    offset : float
        Subtracted from floats first (means and variances); 0 for sums.
    low_steps, high_steps : int
        The steps of the bounds.
    shift, base : int
        Second stage: k = (steps >> shift) - base.
    per : {"row", "unit"}
        Whether the bounds hold for each row or for a unit's total.
    half : int
        Added to the steps before the shift: half of it where k is the nearest.
    """

    type: ColumnType
    lower: int | float
    upper: int | float
    inverse: float | None
    offset: float
    low_steps: int
    high_steps: int
    shift: int
    base: int
    per: Per
    half: int = 0

    @property
    def integral(self) -> bool:
        """Whether answers are integers."""
        return self.type.kind in ("integer", "boolean")

    @property
    def low(self) -> int:
        """The k of the lower bound."""
        return self.second_stage(self.low_steps)

    @property
    def high(self) -> int:
        """The k of the upper bound."""
        return self.second_stage(self.high_steps)

    def second_stage(self, steps: int) -> int:
        """Return the k of a number of steps."""
        return ((steps + self.half) >> self.shift) - self.base

    @property
    def width(self) -> int:
        """Steps between the bounds."""
        return self.high - self.low

    @property
    def step(self) -> Fraction:
        """Engine numbers per step of k."""
        grid = Fraction(1) if self.inverse is None else 1 / Fraction(self.inverse)
        return grid * Fraction(2**self.shift)

    def describe(self) -> dict[str, object]:
        """Return the public facts of the grid, for metadata and digests."""
        return {
            "lower": str(self.lower),
            "upper": str(self.upper),
            "step": str(self.step),
            "offset": str(self.lower if self.base or self.offset else 0),
            "per": self.per,
        }

    def answer(self, amount: Fraction | float) -> Any:
        """Show an amount in engine numbers as a value of the column's own kind."""
        return _ANSWERS[self.type.kind](amount, self)

    def length(self, amount: Fraction | float) -> Any:
        """Show a difference: a duration where values are points in time."""
        if self.type.kind in ("date", "datetime"):
            return _timedelta(amount, self)
        return self.answer(amount)


def fit_lattice(
    column: str,
    type: ColumnType,
    bounds: tuple[object, object],
    use: Use,
    *,
    per: Per = "row",
) -> Lattice:
    """Choose the grid for ``bounds`` on a column of ``type``.

    Raises
    ------
    ParameterError
        If the type has no such aggregate, or the bounds are not an ordered pair of
        finite values of the column's kind.
    """
    _check_use(column, type, use, per)
    low = _engine_number(bounds[0], column, type)
    high = _engine_number(_through(bounds[1], type), column, type)
    if low > high:
        msg = (
            f"bounds of {column!r} are swapped: {shown(bounds)}. Give (lower, upper), "
            "such as bounds=(0, 100)."
        )
        raise ParameterError(msg)
    if type.kind == "float":
        lattice = _float_lattice(type, low, high, use, per)
    else:
        lattice = _integer_lattice(type, int(low), int(high), use, per)
    if max(abs(lattice.low_steps), abs(lattice.high_steps)) > 2**62:
        msg = f"bounds of {column!r} exceed 2**62 steps; narrow them."
        raise ParameterError(msg)
    return lattice


def _integer_lattice(
    type: ColumnType, low: int, high: int, use: str, per: Per
) -> Lattice:
    """Integers are summed and ordered as they are; width rules the rest."""
    whole = use in ("sum", "values")
    shift = 0 if whole else _shift(low, high, _WHOLE_BITS[use])
    half = _half(shift, use)
    base = 0 if whole else (low + half) >> shift
    return Lattice(type, low, high, None, 0.0, low, high, shift, base, per, half)


def _float_lattice(
    type: ColumnType, low: float, high: float, use: str, per: Per
) -> Lattice:
    """The finest power-of-two grid on which the bounds fit the steps of ``use``."""
    anchored = use != "sum" and per == "row"
    offset = low if anchored else 0.0
    if anchored:
        inverse = _inverse(Fraction(high) - Fraction(low), _BITS[use])
    else:
        inverse = _inverse(max(abs(Fraction(low)), abs(Fraction(high))), _BITS["sum"])
    low_steps, high_steps = (
        math.floor((b - offset) * inverse + 0.5) for b in (low, high)
    )
    shift, base, half = 0, 0, 0
    if use != "sum":
        shift = _shift(low_steps, high_steps, _BITS[use])
        half = _half(shift, use)
        base = (low_steps + half) >> shift
    return Lattice(
        type, low, high, inverse, offset, low_steps, high_steps, shift, base, per, half
    )


def _shift(low: int, high: int, bits: int) -> int:
    """Return the least e with (high >> e) - (low >> e) <= 2**bits."""
    shift = max((high - low).bit_length() - bits - 1, 0)
    while (high >> shift) - (low >> shift) > 2**bits:
        shift += 1
    return shift


def _half(shift: int, use: str) -> int:
    """Return what is added before the shift."""
    return 1 << shift >> 1 if use == "quantile" and shift else 0


def _inverse(size: Fraction, bits: int) -> float:
    """Return 1/g, g the least power of two with size <= 2**bits * g."""
    if not size:
        return 1.0
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - bits - 1
    while size > Fraction(2) ** (bits + exponent):
        exponent += 1
    return 2.0 ** -max(exponent, -1000)


def _check_use(column: str, type: ColumnType, use: str, per: Per) -> None:
    kind = type.kind
    if kind in ("text", "other"):
        msg = (
            f"{_named(use)} needs a column of numbers, and {column!r} is of kind "
            f"{kind!r}. Cast it first, or count it with histogram()."
        )
        raise ParameterError(msg)
    ordered = use in ("mean", "values", "quantile")
    if kind in ("date", "datetime") and (not ordered or per == "unit"):
        msg = f"{column!r} holds points in time, which have a mean but no {use}."
        if per == "unit":
            msg = f"{column!r} holds points in time, which have no total per unit."
        raise ParameterError(msg)


def _named(use: str) -> str:
    return "this verb" if use == "values" else use


def _through(bound: object, type: ColumnType) -> object:
    """A last day of datetimes is meant whole: up to the next midnight."""
    if type.kind != "datetime" or not isinstance(bound, date):
        return bound
    whole = not isinstance(bound, datetime) and bound < date.max
    return bound + timedelta(days=1) if whole else bound


def _engine_number(bound: object, column: str, type: ColumnType) -> int | float:
    """Read one bound as the engine stores the column's values."""
    expected, example, read = _BOUNDS.get(type.kind, _NUMERIC)
    try:
        number = read(bound, type)
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        number = None
    if number is None:
        msg = (
            f"bounds of {column!r} must be {expected}, both finite; got "
            f"{shown(bound)}. Give public facts, such as bounds={example}, never the "
            "data's own range."
        )
        raise ParameterError(msg)
    if type.kind == "float":
        value = float(number)
        if abs(value) > _LARGEST_FLOAT:
            msg = f"bounds of {column!r} exceed 2**1000; narrow them."
            raise ParameterError(msg)
        return value
    return math.floor(number + Fraction(1, 2))


def _number(bound: object, type: ColumnType) -> Fraction | None:
    if isinstance(bound, bool):
        return Fraction(bound) if type.kind == "boolean" else None
    if isinstance(bound, (str, bytes)):
        return None
    digits: int = 10**type.scale
    return Fraction(bound) * digits  # type: ignore[call-overload,no-any-return]


def _day(bound: object, type: ColumnType) -> Fraction | None:
    if not isinstance(bound, date) or isinstance(bound, datetime):
        return None
    return Fraction(bound.toordinal() - date(1970, 1, 1).toordinal())


def _tick(bound: object, type: ColumnType) -> Fraction | None:
    if not isinstance(bound, date):
        return None
    if not isinstance(bound, datetime):
        moment = midnight(bound, type.zone)
    elif (bound.tzinfo is None) != (type.zone is None):
        return None
    else:
        moment = bound.replace(tzinfo=UTC) if bound.tzinfo is None else bound
    return _ticks(moment - datetime(1970, 1, 1, tzinfo=UTC), type)


def _span(bound: object, type: ColumnType) -> Fraction | None:
    return _ticks(bound, type) if isinstance(bound, timedelta) else None


def _ticks(span: timedelta, type: ColumnType) -> Fraction:
    return Fraction(span // timedelta(microseconds=1), 10**6) * _PER_SECOND[type.unit]


_Bound = tuple[str, str, Callable[[object, ColumnType], Fraction | None]]
_NUMERIC: _Bound = ("numbers", "(0, 100)", _number)
_BOUNDS: dict[str, _Bound] = {
    "date": ("dates", "(date(2024, 1, 1), date(2024, 12, 31))", _day),
    "datetime": (
        "dates, or datetimes with a time zone just where the column has one",
        "(date(2024, 1, 1), date(2024, 12, 31))",
        _tick,
    ),
    "duration": ("timedeltas", "(timedelta(0), timedelta(hours=8))", _span),
}


def _plain(amount: Fraction | float, lattice: Lattice) -> int | float:
    if lattice.integral and isinstance(amount, Fraction) and amount.denominator == 1:
        return amount.numerator
    return float(amount)


def _decimal(amount: Fraction | float, lattice: Lattice) -> Decimal:
    exact = Fraction(amount) / 10**lattice.type.scale
    places = 10 ** (lattice.type.scale + _EXTRA_PLACES)
    digits = math.floor(exact * places + Fraction(1, 2))
    if digits * exact.denominator == exact.numerator * places:
        return Decimal(exact.numerator) / Decimal(exact.denominator)
    return Decimal(digits).scaleb(-lattice.type.scale - _EXTRA_PLACES)


def _date(amount: Fraction | float, lattice: Lattice) -> date:
    days = math.floor(Fraction(amount) + Fraction(1, 2))
    return date.fromordinal(date(1970, 1, 1).toordinal() + days)


def _datetime(amount: Fraction | float, lattice: Lattice) -> datetime:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + _timedelta(amount, lattice)
    return moment.replace(tzinfo=None) if lattice.type.zone is None else moment


def _timedelta(amount: Fraction | float, lattice: Lattice) -> timedelta:
    if lattice.type.kind == "date":
        return timedelta(days=float(amount))
    seconds = Fraction(amount) / _PER_SECOND[lattice.type.unit]
    return timedelta(microseconds=math.floor(seconds * 10**6 + Fraction(1, 2)))


_ANSWERS: dict[str, Callable[[Fraction | float, Lattice], Any]] = {
    "boolean": _plain,
    "integer": _plain,
    "float": _plain,
    "decimal": _decimal,
    "date": _date,
    "datetime": _datetime,
    "duration": _timedelta,
}
