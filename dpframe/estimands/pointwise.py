"""Calling a user's function on many integers, vectorized or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError, UnstableEstimateError

__all__ = ["NOT_VECTORIZED", "difference", "pointwise", "real"]

# What a function of one number raises when it is handed an array.
NOT_VECTORIZED = (TypeError, ValueError, IndexError, KeyError, AttributeError)


def pointwise(
    f: Callable[[Any], Any], points: npt.NDArray[np.int64] | npt.NDArray[np.float64]
) -> npt.NDArray[Any]:
    """Return f at every number of ``points``, shape (m,), float64 or object.

    ``f`` is first called once on the float64 array of all points (floats, for
    int64 powers wrap around). If it fails or does not return one value per point
    it is called on each distinct point as a Python number. Exact results (ints,
    Fractions) stay exact, so that differences of them lose nothing.
    """
    try:
        values = np.asarray(f(points.astype(np.float64)))
    except NOT_VECTORIZED:
        values = np.empty(0)
    if values.shape != points.shape:
        distinct, place = np.unique(points, return_inverse=True)
        each = np.array([f(point) for point in distinct.tolist()], dtype=object)
        if each.ndim != 1:
            raise _not_real()
        values = each[place]
    if values.dtype.kind not in "biufO":
        raise _not_real()
    return values if values.dtype.kind == "O" else values.astype(np.float64)


def difference(
    minuend: npt.NDArray[Any], subtrahend: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """Subtract before rounding to float64, so that exact values stay exact."""
    try:
        return real(minuend - subtrahend)
    except TypeError:
        raise _not_real() from None


def real(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return finite float64 values, or raise.

    Raises
    ------
    ParameterError
        If a value is NaN, infinite or no real number.
    UnstableEstimateError
        If an exact integer or fraction is beyond float64.
    """
    try:
        result = values.astype(np.float64)
    except OverflowError:
        msg = "the estimand's terms are beyond float64 at these counts."
        raise UnstableEstimateError(msg) from None
    except (TypeError, ValueError):
        raise _not_real() from None
    if not np.isfinite(result).all():
        msg = (
            "the function must be finite at every number of the domain, and it is "
            "not at one next to the noisy counts. Give it a finite value there, or "
            "name a narrower domain=(lo, hi) if one is public."
        )
        raise ParameterError(msg)
    return result


def _not_real() -> ParameterError:
    return ParameterError(
        "the function must return one real number per count: f(array of counts) -> "
        "array of the same shape, or f(int) -> float."
    )
