"""When float64 is too short for the sum that an estimate is."""

from __future__ import annotations

import math

__all__ = ["cancelled"]

_ROUNDING = 2.0**-53
_MOST = 1e-6


def cancelled(size: float, value: float, variance: float) -> tuple[str, ...]:
    """Return a warning if rounding may show in an estimate, else none.

    ``size`` is the sum of the absolute values of the terms. An error below a millionth
    of the standard error shows nowhere, however small the value.
    """
    matters = max(abs(value), math.sqrt(max(variance, 0.0)))
    if size * _ROUNDING <= _MOST * matters:
        return ()
    ratio = f"{size / abs(value):.1g}" if value else "infinite"
    return (
        f"terms of both signs cancel (condition number {ratio}): rounding alone may "
        "be off by more than a millionth. Let f return ints or Fractions, or take "
        "fewer bins.",
    )
