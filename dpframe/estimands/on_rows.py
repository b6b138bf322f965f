"""Calling a user's function on many rows of counts, vectorized or not."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError
from dpframe.estimands.pointwise import NOT_VECTORIZED

__all__ = ["on_rows"]


def on_rows(f: Callable[[Any], Any], rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Return f of every row of ``rows``, shape (m,), float64 or object.

    ``f`` is first called once on the whole array (m, n). If it fails, or does not
    return one value per row, it is called on each row. What is known exactly (ints,
    Fractions, truth values) comes back as objects, so that differences lose nothing.
    """
    block = rows
    if len(rows) == rows.shape[1]:  # n values would pass for m: make m differ
        block = np.concatenate([rows, rows[:1]])
    block.flags.writeable = False
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(f(block))
    except NOT_VECTORIZED:
        values = np.empty(0)
    if values.shape != (len(block),):
        values = np.array([f(row) for row in block], dtype=object)
        if values.shape != (len(block),):
            raise _no_number()
    return _exact(values[: len(rows)])


def _exact(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return float64 where floats were given, else Python's exact numbers."""
    if values.dtype.kind == "f":
        return values.astype(np.float64)
    plain = [_plain(value) for value in values.tolist()]
    if not all(isinstance(value, (Real, Decimal)) for value in plain):
        raise _no_number()
    if all(isinstance(value, float) for value in plain):
        return np.array(plain, dtype=np.float64)
    return np.array(plain, dtype=object)


def _plain(value: Any) -> Any:
    """Take numpy's integers, which wrap around, out of an exact number."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Fraction):
        return Fraction(int(value.numerator), int(value.denominator))
    return value


def _no_number() -> ParameterError:
    return ParameterError(
        "a function of all counts must return one real number for each row of counts: "
        "f(array of shape (m, n)) -> array of shape (m,), or f(one row) -> float. For "
        "the sum over bins of a function of one count write separable(f)."
    )
