"""What an engine is told to compute: public values that hold no data.

A reduction runs on the bounded frame (``design: units`` §3) and yields exact integers
only: row counts, counts of units, and for each measure a usable count, the sum of its
lattice integers and, where asked, the sum of their squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from dpframe.domain.coding import Coding
from dpframe.domain.keys import Keys
from dpframe.domain.lattice import Lattice
from dpframe.privacy.unit import Unit

__all__ = ["Distinct", "Measure", "Reduction"]


@final
@dataclass(frozen=True, slots=True)
class Measure:
    """A column on its lattice. Null and NaN rows are not usable."""

    column: str
    lattice: Lattice
    squares: bool = False


@final
@dataclass(frozen=True, slots=True)
class Reduction:
    """Counts and lattice sums under public keys.

    Parameters
    ----------
    unit : Unit
        Whose rows are limited, and how.
    keys : Keys or None
        The public cells; None is one cell for the whole frame.
    rows : bool
        Count the rows of each cell.
    units : bool
        Count the distinct units of each cell.
    measures : tuple of Measure
        Columns to sum. Those with ``lattice.per == "unit"`` sum clipped unit totals.
    """

    unit: Unit
    keys: Keys | None = None
    rows: bool = False
    units: bool = False
    measures: tuple[Measure, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Distinct:
    """The number of distinct non-null values of a column.

    ``listed`` keeps the values that the domain declares as categories; None keeps
    all. When the column is the unit's own, units are counted and nothing is limited.
    """

    unit: Unit
    column: str
    listed: Coding | None = None
