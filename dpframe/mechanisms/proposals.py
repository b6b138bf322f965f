"""What can be proposed and tested: numbers with a bound, a scale, a user's function."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpframe.domain.lattice import Lattice
from dpframe.domain.schema import ColumnType
from dpframe.errors import ParameterError, shown
from dpframe.mechanisms.ptr import Proposal
from dpframe.mechanisms.request import Setting
from dpframe.mechanisms.robust import (
    Column,
    Robust,
    changed_rows,
    ordered,
    read_length,
)
from dpframe.privacy.amounts import as_fraction
from dpframe.releases.rounded import Rounded
from dpframe.sensitivity.iqr_scale import iqr_bin, iqr_bin_distance
from dpframe.sensitivity.ordered import Ordered
from dpframe.sensitivity.profile import Profile
from dpframe.sensitivity.search import first_true

__all__ = ["propose_function", "propose_number", "propose_scale"]

_FINER = 2**10  # steps of the grid in a bound, so that rounding it up costs little
_MOST_STEPS = 2**60
_SLACK = 1 + Fraction(1, 2**40)  # of profiles that were rounded
_EXACT = 2**53

#: Numbers of no column: what a user's function returns.
_PLAIN = Lattice(ColumnType("float"), 0.0, 1.0, 1.0, 0.0, 0, 1, 0, 0, "row")


def propose_number(robust: Robust, bound: object, setting: Setting) -> Proposal:
    """Propose that one unit moves a statistic by ``bound`` at most.

    Parameters
    ----------
    robust : Robust
        The statistic.
    bound : number or timedelta
        In the unit of the answer.
    setting : Setting
        Unit and relation.

    Raises
    ------
    ParameterError
        If the bound is missing or not positive, or there is nothing to hide.
    """
    if bound is None:
        msg = (
            "bound is missing: propose how far one unit may move the statistic, such "
            "as bound=500, in its own unit."
        )
        raise ParameterError(msg)
    most = read_length(bound, robust.lattice, robust.form)
    if robust.low == robust.high:
        msg = "both bounds of the column are equal: there is nothing to propose."
        raise ParameterError(msg)
    grid = Fraction(1) if robust.exact else _power_of_two(most / _FINER)
    if (robust.high - robust.low) / grid > _MOST_STEPS:
        msg = (
            f"bound={shown(bound)} is too small against the bounds of the column; "
            "propose a larger one, or narrow them."
        )
        raise ParameterError(msg)
    widest = (robust.high - robust.low) * changed_rows(setting)
    rounded_ = not robust.whole or widest >= _EXACT
    start = 0 if robust.exact else int(robust.low)
    calendar = robust.lattice.type.kind in ("date", "datetime")  # which ends somewhere
    return Proposal(
        robust.name,
        robust.columns,
        robust.query,
        bound,
        math.ceil(most * (_SLACK if rounded_ else 1) / grid),
        Rounded(
            _zeros(1), grid, robust.lattice, robust.form, start, robust.exact, calendar
        ),
        robust.read,
        (lambda data, cap: _distance(robust.profile(data), most, cap),),
        (lambda data: [_steps(robust.value(data) - start, grid)],),
        (*robust.describe().items(), ("bound", str(most)), ("grid", str(grid))),
    )


def _distance(profile: Profile, bound: Fraction, cap: int) -> int:
    """Return the least k with A(k) > bound, looked for up to a public cap."""
    last = min(profile.last, cap)
    return int(min(first_true(lambda k: float(profile.at(k)) > bound, last), cap))


def propose_scale(column: Column, ratio: object, setting: Setting) -> Proposal:
    """Propose that the interquartile range stays in its bin of a geometric grid.

    Bins are [r^i, r^(i+1)), with one for 0, in steps of the column's lattice; if the
    range is not stable there, a second grid is tried, shifted by half a bin.

    Parameters
    ----------
    column : Column
        On its lattice.
    ratio : number
        r, from 1.01 on: public.
    setting : Setting
        Unit and relation.

    Raises
    ------
    ParameterError
        For another ratio, and where the bounds are equal.
    """
    by = as_fraction(ratio, "the ratio of ('iqr_scale', ratio)")
    if by < Fraction(101, 100):
        msg = (
            "the ratio of ('iqr_scale', ratio) is that of the ends of a bin, 1.01 or "
            f"more, such as 2; got {shown(ratio)}."
        )
        raise ParameterError(msg)
    if not column.width:
        msg = "both bounds of the column are equal: there is nothing to propose."
        raise ParameterError(msg)
    rows, lattice = changed_rows(setting, per=column.lattice.per), column.lattice
    grids = [_edges(float(by), shift, column.width) for shift in (0.0, 0.5)]

    def distance(edges: NDArray[np.float64]) -> Callable[[Ordered, int], int]:
        return lambda data, cap: int(
            min(iqr_bin_distance(data, edges, "add_remove", rows), cap)
        )

    def steps(edges: NDArray[np.float64]) -> Callable[[Ordered], list[int]]:
        ends = [0, *map(int, edges), column.width]
        return lambda data: ends[(at := iqr_bin(data, edges)) : at + 2]

    whole = lattice.inverse is None
    return Proposal(
        "iqr_scale",
        (column.name,),
        column.query(setting),
        None,
        0,
        Rounded(_zeros(2), Fraction(1), lattice, "length", whole=whole),
        lambda occurrences: ordered(occurrences, lattice),
        tuple(map(distance, grids)),
        tuple(map(steps, grids)),
        (
            ("statistic", "iqr_scale"),
            ("columns", [column.name]),
            ("lattices", [lattice.describe()]),
            ("ratio", str(by)),
        ),
    )


def _edges(ratio: float, shift: float, width: int) -> NDArray[np.float64]:
    """Return the least whole steps of bins r^(i - shift), up to the width."""
    count = int(math.log(width) / math.log(ratio)) + 2
    powers = ratio ** (np.arange(count) - shift)
    edges = np.unique(np.ceil(powers))
    return edges[(edges >= 1) & (edges <= width)]


def propose_function(
    statistic: Callable[[Any], Any],
    distance: object,
    column: Column,
    bound: object,
    setting: Setting,
) -> Proposal:
    """Propose that one row moves a user's function by ``bound`` at most.

    Parameters
    ----------
    statistic : callable
        Takes the clamped values of the column, sorted, as an array; returns a number.
    distance : callable
        Takes the same; returns D, taken at its word: whole, not negative, moved by 1
        at most by one row that comes or goes, and 0 wherever such a row may move the
        statistic by more than the bound.
    column : Column
        On its lattice.
    bound : number
        In the unit of the statistic.
    setting : Setting
        Unit and relation. Of s rows of a unit each moves it by the bound: D is divided
        by s, and the noise multiplied.

    Raises
    ------
    ParameterError
        If the distance is no function, or the bound is not positive.
    """
    if not callable(distance):
        msg = (
            "a function of your own needs distance=, a function that returns how many "
            f"rows must change before the bound may fail; got {shown(distance)}."
        )
        raise ParameterError(msg)
    given = read_length(bound, _PLAIN, "length")
    rows = changed_rows(setting, per=column.lattice.per)
    grid = _power_of_two(given / _FINER)
    name = getattr(statistic, "__name__", "a function")

    def far(values: NDArray[Any], cap: int) -> int:
        found = _called(distance, values)
        if found == math.inf:
            return cap
        if found is None or found != int(found):
            return 0  # on any doubt
        return max(0, min(int(found) // rows, cap))

    def exact(values: NDArray[Any]) -> list[int]:
        found = _called(statistic, values)
        if found is None or math.isinf(found):
            return [0]
        return [_steps(Fraction(found), grid)]

    return Proposal(
        name,
        (column.name,),
        column.query(setting),
        bound,
        math.ceil(rows * given * _SLACK / grid),
        Rounded(_zeros(1), grid, _PLAIN, "length"),
        lambda occurrences: _values(ordered(occurrences, column.lattice), column),
        (far,),
        (exact,),
        (
            ("statistic", name),
            ("columns", [column.name]),
            ("lattices", [column.lattice.describe()]),
            ("bound", str(given)),
            ("trusted", True),
        ),
    )


def _called(function: Callable[[Any], Any], values: NDArray[Any]) -> Any:
    """Return the number that a user's function returns; None whatever goes wrong."""
    try:
        found = function(values)
        number = found.item() if isinstance(found, (np.generic, np.ndarray)) else found
        whole = isinstance(number, int) and not isinstance(number, bool)
        plain = whole or isinstance(number, (float, Fraction))
        return None if not plain or number != number else number
    except Exception:  # its words may quote data
        return None


def _values(data: Ordered, column: Column) -> NDArray[Any]:
    """Return the values in the column's own unit: floats, or whole numbers."""
    lattice = column.lattice
    if lattice.inverse is None and not lattice.type.scale:
        return data.values.copy()
    origin = float(lattice.offset) + lattice.base * float(lattice.step)
    digits: int = 10**lattice.type.scale
    return np.asarray((origin + data.values * float(lattice.step)) / digits)


def _steps(value: Fraction, grid: Fraction) -> int:
    """Return floor(value / grid + 1/2), clamped, which moves nothing further apart."""
    nearest = math.floor(value / grid + Fraction(1, 2))
    return max(-_MOST_STEPS, min(nearest, _MOST_STEPS))


def _power_of_two(most: Fraction) -> Fraction:
    """Return the greatest power of two up to a positive number."""
    exponent = most.numerator.bit_length() - most.denominator.bit_length()
    power = Fraction(2) ** exponent
    return power if power <= most else power / 2


def _zeros(cells: int) -> NDArray[np.int64]:
    zeros = np.zeros(cells, dtype=np.int64)
    zeros.setflags(write=False)
    return zeros
