"""The distance of the closest pair of rows, on a line or in space.

Columns of whole numbers are taken as they are; with a float column among them all are
sent to one grid, so that squared distances are whole. Rows without a value in one of
the columns say nothing. A unit's rows that leave may raise the statistic, those that
come can only lower it, so the profile is g(m (k + 1)) under both relations
(``design: units`` §5.5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpframe.domain.lattice import Lattice, fit_lattice
from dpframe.domain.schema import ColumnType, Schema
from dpframe.errors import ParameterError, shown
from dpframe.mechanisms.request import Setting
from dpframe.mechanisms.robust import Robust, ordered, read_column
from dpframe.privacy.sensitivity import Adjacency
from dpframe.queries.reduction import Measure, Multiset
from dpframe.secret import Occurrences
from dpframe.sensitivity.closest_pair import closest_pair
from dpframe.sensitivity.ordered import Ordered
from dpframe.sensitivity.points import Points

__all__ = ["nearest"]

_KINDS = ("integer", "boolean", "float")
_LARGEST_SQUARE = 2**62


def nearest(
    columns: object, bounds: object, setting: Setting, schema: Schema
) -> Robust:
    """Resolve the closest pair over some columns.

    Parameters
    ----------
    columns : str or sequence of str
        Coordinates: numbers, all in one unit.
    bounds : pair, or sequence of pairs, optional
        One for all columns, or one for each; the domain's if not given.
    setting : Setting
        Unit and relation.
    schema : Schema
        Of the frame.

    Raises
    ------
    ColumnNotFoundError, DomainError, ParameterError
        If columns, bounds or types do not fit; from public facts alone.
    """
    names = [columns] if isinstance(columns, str) else columns
    if not isinstance(names, Sequence) or not names or len({*names}) < len(names):
        msg = f"columns must be one column or several, each once; got {shown(columns)}."
        raise ParameterError(msg)
    pairs = _pairs(bounds, len(names))
    found = [
        read_column(name, pair, setting, schema)
        for name, pair in zip(names, pairs, strict=True)
    ]
    lattices = _on_one_grid([column.lattice for column in found], names)
    rows = Adjacency(setting.unit, setting.neighboring).rows
    measures = tuple(map(Measure, names, lattices))
    statistic = closest_pair()
    line, coarse = len(lattices) == 1, lattices[0]
    diameter = float(np.hypot.reduce([float(lattice.width) for lattice in lattices]))

    def read(occurrences: Occurrences) -> Ordered | Points:
        if line:
            return ordered(occurrences, coarse)
        return _points(occurrences, lattices, diameter)

    return Robust(
        "closest_pair",
        tuple(names),
        Multiset(setting.unit, measures),
        coarse,
        "length",
        Fraction(0),
        Fraction(diameter),
        whole=line,
        read=read,
        value=lambda data: Fraction(statistic.value(data)),
        profile=lambda data: statistic.profile(data, "add_remove").of_unit(rows),
    )


def _pairs(bounds: object, columns: int) -> Sequence[object]:
    """Return a pair for each column."""
    nested = isinstance(bounds, Sequence) and any(
        isinstance(pair, Sequence) and not isinstance(pair, str) for pair in bounds
    )
    if not nested or not isinstance(bounds, Sequence):
        return [bounds] * columns
    if len(bounds) != columns:
        msg = (
            f"bounds must be one pair, or one for each of the {columns} columns; got "
            f"{shown(bounds)}."
        )
        raise ParameterError(msg)
    return bounds


def _on_one_grid(lattices: list[Lattice], names: Sequence[str]) -> list[Lattice]:
    """Give all columns steps of one length: the coarsest that one of them has."""
    for name, lattice in zip(names, lattices, strict=True):
        if lattice.type.kind not in _KINDS:
            msg = (
                f"closest_pair measures distances of numbers, and {name!r} is of kind "
                f"{lattice.type.kind!r}. Cast it to a float column before .dp."
            )
            raise ParameterError(msg)
    if len(lattices) == 1 or all(lattice.inverse is None for lattice in lattices):
        return lattices
    widest = max(Fraction(x.upper) - Fraction(x.lower) for x in lattices)
    found = []
    for name, lattice in zip(names, lattices, strict=True):
        lower = float(lattice.lower)
        upper = float(Fraction(lattice.lower) + widest)  # of the same width: one grid
        wide = fit_lattice(name, ColumnType("float"), (lower, upper), "values")
        found.append(_narrowed(wide, float(lattice.upper)))
    coarsest = min(lattice.inverse or 1.0 for lattice in found)
    return [_narrowed(x, float(x.upper), coarsest) for x in found]


def _narrowed(lattice: Lattice, upper: float, inverse: float | None = None) -> Lattice:
    """Return a lattice of floats with another upper bound, perhaps another grid."""
    by = lattice.inverse if inverse is None else inverse
    assert by is not None
    high = math.floor((upper - lattice.offset) * by + 0.5)
    return Lattice(
        lattice.type, lattice.lower, upper, by, lattice.offset, 0, high, 0, 0, "row"
    )


def _points(
    occurrences: Occurrences, lattices: Sequence[Lattice], diameter: float
) -> Points:
    """Return points from the lower corner of the box, in steps."""
    corner = np.array([lattice.low for lattice in lattices])
    places: np.ndarray[Any, np.dtype[Any]] = occurrences.values - corner
    # Public: whether squared distances of integers fit in 64 bits.
    if sum(lattice.width**2 for lattice in lattices) < _LARGEST_SQUARE:
        return Points(places, occurrences.times, 1.0, diameter)
    unit = math.ldexp(1.0, math.frexp(diameter)[1])
    return Points(places / unit, occurrences.times, unit, diameter)
