"""Row by row: a value to its lattice integer, a key to its public code.

The second step of the bounded frame (``design: units`` §3). Columns come in the
plan's storage types; null stands for null and NaN alike.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from dpframe.domain.coding import Coding, Linear, Lookup
from dpframe.domain.lattice import Lattice
from dpframe.domain.schema import ColumnType
from dpframe.engines.labels import label
from dpframe.engines.physical import (
    INT128,
    NUMERIC,
    float_around,
    is_narrow,
    thresholds,
)
from dpframe.engines.polars import count_below

__all__ = ["LARGEST_STEPS", "by_value", "coded", "lattice_integers", "second_stage"]

#: A row of a ``per="unit"`` measure is clamped to so many steps, far beyond any bound.
LARGEST_STEPS = 2**61

_PER_MICROSECOND = 1000


def by_value(column: nw.Expr, dtype: Any) -> nw.Expr:
    """Return a column by value: a categorical's own codes depend on other rows."""
    return column.cast(nw.String) if isinstance(dtype, _CATEGORICAL) else column


def lattice_integers(column: nw.Expr, dtype: Any, lattice: Lattice) -> nw.Expr:
    """Send a column to its integers, null where a row is not usable.

    With bounds per row: clipped, then k. With bounds per unit: steps, to be summed
    and clipped unit by unit.
    """
    if dtype == nw.Binary and lattice.type.kind == "boolean":
        return column.replace_strict(_TRUTH, default=None, return_dtype=nw.Int64)
    if not dtype.is_numeric():
        return nw.lit(None, dtype=nw.Int64)
    by_row = lattice.per == "row"
    low, high = lattice.low_steps, lattice.high_steps
    if not by_row:
        low, high = -LARGEST_STEPS, LARGEST_STEPS
    if lattice.inverse is None:
        steps = _nearest(column, dtype, low, high)
    else:
        steps = _grid_steps(column.cast(nw.Float64), lattice)
    return second_stage(steps, lattice) if by_row else steps


def second_stage(steps: nw.Expr, lattice: Lattice) -> nw.Expr:
    """Return k = ((steps + half) >> shift) - base; the division rounds down."""
    if lattice.half:
        steps = steps + lattice.half
    if lattice.shift:
        steps = steps // 2**lattice.shift
    return steps - lattice.base if lattice.base else steps


def _grid_steps(number: nw.Expr, lattice: Lattice) -> nw.Expr:
    """Return floor((x - offset) / grid + 1/2) of clipped floats."""
    by_row = lattice.per == "row"
    if by_row:
        number = number.clip(lattice.lower, lattice.upper)
    if lattice.offset:
        number = number - lattice.offset
    scaled = number * lattice.inverse
    if not by_row:
        scaled = scaled.clip(-float(LARGEST_STEPS), float(LARGEST_STEPS))
    # Never the engine's own round: halves go to even here and away from 0 there.
    return (scaled + 0.5).floor().cast(nw.Int64)


def _nearest(
    x: nw.Expr, dtype: Any, lower: int, upper: int, digits: int = 1
) -> nw.Expr:
    """Return clip(floor(x / digits + 1/2), lower, upper)."""
    narrow = is_narrow(lower, upper)
    if dtype == nw.Float64:
        # Clipped first, to floats around the ends: an infinity is no integer.
        near = (x.clip(*float_around(lower, upper)) + 0.5).floor()
        x = near.cast(nw.Int64 if narrow else nw.Int128)
    elif digits > 1:
        x = x.clip(max(lower * digits, INT128[0]), min(upper * digits, INT128[1]))
        x = x // digits + ((x % digits) * 2 >= digits).cast(nw.Int64)
    elif not narrow:
        x = x.cast(nw.Int128)
    x = x.clip(lower, upper)
    return x.cast(nw.Int64) if narrow else x


def coded(
    frame: nw.LazyFrame[Any], column: str, type: ColumnType, coding: Coding, name: str
) -> nw.LazyFrame[Any]:
    """Add a key as column ``name``, as far as `codes.read_codes` needs it.

    Of a list the value itself, of integers the nearest one, of bins the code.
    """
    x, key = nw.col(column), nw.lit(None, dtype=nw.Int64)
    if isinstance(coding, Lookup):
        key = x // _PER_MICROSECOND if type.unit == "ns" else x
    elif isinstance(coding, Linear):
        if type.kind in NUMERIC:
            dtype = frame.collect_schema()[column]
            key = _nearest_key(x, dtype, coding, 10**type.scale)
    elif (inner := thresholds(coding.edges, type)) is not None:
        return count_below(frame, column, inner, name)
    return frame.with_columns(key.alias(name))


def _nearest_key(x: nw.Expr, dtype: Any, coding: Linear, digits: int) -> nw.Expr:
    """Return the nearest whole number in 64 bits; the code, where the ends have more.

    Whole numbers of 64 bits are clipped at home, once for each group.
    """
    narrow = is_narrow(coding.lower, coding.upper)
    if narrow and dtype == nw.Int64 and digits == 1:
        return x
    number = _nearest(x, dtype, coding.lower, coding.upper, digits)
    return number if narrow else (number - coding.lower).cast(nw.Int64)


_CATEGORICAL = (nw.Categorical, nw.Enum)
#: Booleans beside a null are objects in pandas, hence labels in the plan.
_TRUTH = {label(True): 1, label(False): 0}
