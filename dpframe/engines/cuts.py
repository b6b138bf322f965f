"""Public values as cuts: ``x >= v`` and ``x > v`` on the scale of a stored column.

A cut is the least stored number that fulfils the comparison, found exactly, so that
the plan compares integers with integers and floats with floats. Times of nanoseconds
are compared as whole microseconds, as keys are. A date among datetimes is a whole day.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpframe.domain.coding import Bins, Linear
from dpframe.domain.schema import ColumnType
from dpframe.engines.physical import (
    INT64,
    INT128,
    NUMERIC,
    equal_to,
    float_from,
    in_microseconds,
    position,
    thresholds,
)

__all__ = ["ALWAYS", "Cut", "above", "at_least", "code_cuts", "has_order", "interval"]

#: The least stored number; ``ALWAYS`` where all fulfil, None where none can.
Cut = int | float | None

ALWAYS = -math.inf

_ORDERED = (*NUMERIC, "date", "datetime", "duration")
_PER_MICROSECOND = 1000


def has_order(type: ColumnType) -> bool:
    """Whether the plan holds the column as numbers."""
    return type.kind in _ORDERED


def at_least(value: object, type: ColumnType) -> Cut:
    """Return the cut of ``x >= value``."""
    place = position(value, in_microseconds(type))
    if place is None:
        return None
    if type.kind == "float":
        return float_from(place)
    if isinstance(place, float):  # an infinity
        return None if place > 0 else ALWAYS
    return _whole(math.ceil(place), type)


def above(value: object, type: ColumnType) -> Cut:
    """Return the cut of ``x > value``."""
    if _is_day(value) and type.kind == "datetime":
        assert isinstance(value, date)
        return None if value == date.max else at_least(value + timedelta(1), type)
    place = position(value, in_microseconds(type))
    if place is None:
        return None
    if type.kind == "float":
        near = float_from(place)
        if near != place:
            return near
        return None if near == math.inf else math.nextafter(near, math.inf)
    if isinstance(place, float):
        return None if place > 0 else ALWAYS
    return _whole(math.floor(place) + 1, type)


def interval(value: object, type: ColumnType) -> tuple[Cut, Cut]:
    """Return the cuts between which rows equal ``value``; equality is Python's."""
    if equal_to(value, in_microseconds(type)) is None:
        return None, None
    return at_least(value, type), above(value, type)


def code_cuts(coding: Linear | Bins, type: ColumnType) -> NDArray[Any] | None:
    """Return for each code but the first the cut at which it begins, shape (n,).

    None if the column is of a kind that the coding says nothing about.
    """
    if isinstance(coding, Bins):
        inner = thresholds(coding.edges, type)
        return None if inner is None else as_array(inner, type)
    if type.kind not in NUMERIC:
        return None
    if type.kind == "float":
        return _half_steps(coding)
    digits = 10**type.scale
    codes = range(coding.lower + 1, coding.upper + 1)
    # x >= digits (k - 1/2), which is x >= k where there are no digits
    cuts = codes if digits == 1 else [digits // 2 * (2 * k - 1) for k in codes]
    return as_array(cuts, type)


def as_array(cuts: Sequence[Any], type: ColumnType) -> NDArray[Any]:
    """Return cuts as float64, int64 or, where these are too narrow, as objects."""
    if type.kind == "float":
        return np.array(cuts, dtype=np.float64)
    narrow = not cuts or (INT64[0] <= min(cuts) and max(cuts) <= INT64[1])
    return np.array(cuts, dtype=np.int64 if narrow else object)


def _half_steps(coding: Linear) -> NDArray[np.float64]:
    """Return for each k the least float x with floor(x + 1/2) >= k, as floats add."""
    codes = range(coding.lower + 1, coding.upper + 1)
    if max(abs(coding.lower), abs(coding.upper)) > 2**52:
        return np.array([_half_step(k) for k in codes])
    k = np.arange(codes.start, codes.stop, dtype=np.float64)
    before = np.nextafter(k - 0.5, -math.inf)
    return np.where(np.floor(before + 0.5) >= k, before, k - 0.5)


def _half_step(k: int) -> float:
    near = float_from(k - Fraction(1, 2))
    before = math.nextafter(near, -math.inf)
    return before if math.floor(before + 0.5) >= k else near


def _is_day(value: object) -> bool:
    return isinstance(value, date) and not isinstance(value, datetime)


def _whole(number: int, type: ColumnType) -> Cut:
    if type.unit == "ns":
        number *= _PER_MICROSECOND
    if number > INT128[1]:
        return None
    return number if number > INT128[0] else ALWAYS
