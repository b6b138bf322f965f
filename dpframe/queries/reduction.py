"""What an engine is told to compute: public values that hold no data.

A reduction runs on the bounded frame (``design: units`` §3) and yields exact integers
only: row counts, counts of units, and for each measure a usable count, the sum of its
lattice integers and, where asked, the sum of their squares; or how often each of the
lattice integers occurs, for statistics that depend on order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from dpframe.domain.coding import Coding
from dpframe.domain.keys import Keys
from dpframe.domain.lattice import Lattice
from dpframe.domain.open_keys import OpenKeys
from dpframe.privacy.unit import Unit

__all__ = [
    "Census",
    "Crosstab",
    "Cuts",
    "Distinct",
    "Listed",
    "Measure",
    "Multiset",
    "Reduction",
    "Split",
]


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
    tabulated : tuple of Measure
        Columns of which it is counted how often each lattice integer occurs; with
        ``lattice.per == "unit"``, each clipped unit total.
    """

    unit: Unit
    keys: Keys | None = None
    rows: bool = False
    units: bool = False
    measures: tuple[Measure, ...] = ()
    tabulated: tuple[Measure, ...] = ()

    @property
    def valued(self) -> tuple[Measure, ...]:
        """All columns read as values: in the plan ``value0``, ``value1``, …."""
        return self.measures + self.tabulated


@final
@dataclass(frozen=True, slots=True)
class Census:
    """Counts of units, and what else is asked, under the keys that the data hold.

    Which keys these are is private.

    Parameters
    ----------
    unit : Unit
        Whose rows are limited, and how.
    keys : OpenKeys
        The key columns.
    rows : bool
        Count the rows under each key.
    measures, tabulated : tuple of Measure
        As in `Reduction`.
    """

    unit: Unit
    keys: OpenKeys
    rows: bool = False
    measures: tuple[Measure, ...] = ()
    tabulated: tuple[Measure, ...] = ()

    @property
    def reduction(self) -> Reduction:
        """What would be asked if the keys were listed."""
        return Reduction(
            self.unit,
            self.keys.as_listed,
            rows=self.rows,
            units=True,
            measures=self.measures,
            tabulated=self.tabulated,
        )


@final
@dataclass(frozen=True, slots=True)
class Multiset:
    """How often each lattice integer, or each combination of several, occurs.

    Rows that are not usable for all of the measures say nothing and take no place.

    Parameters
    ----------
    unit : Unit
        Whose rows are limited, and how.
    measures : tuple of Measure
        The columns, one at least. A single one may have ``lattice.per == "unit"``: then
        the clipped totals of units are tabulated.
    keys : Keys or None
        The public cells; None is one cell for the whole frame.
    """

    unit: Unit
    measures: tuple[Measure, ...]
    keys: Keys | None = None

    @property
    def reduction(self) -> Reduction:
        """The sums that would need the same columns and the same bounds of the unit."""
        return Reduction(self.unit, self.keys, measures=self.measures)


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


@final
@dataclass(frozen=True, slots=True)
class Cuts:
    """Classes of a column with an order: a row's class is how many cuts are <= x.

    One more class, the last, is for missing values.

    Parameters
    ----------
    points : tuple of int or float
        Increasing, in the engine's own numbers, as in `Lattice`: floats of float
        columns, else integers.
    """

    points: tuple[int, ...] | tuple[float, ...]

    @property
    def size(self) -> int:
        """Number of classes."""
        return len(self.points) + 2


@final
@dataclass(frozen=True, slots=True)
class Listed:
    """Classes of a column without an order: the position of the value.

    Then one class for all other values, and the last one for missing values.
    """

    values: tuple[object, ...]

    @property
    def size(self) -> int:
        """Number of classes."""
        return len(self.values) + 2


@final
@dataclass(frozen=True, slots=True)
class Split:
    """A column divided into finitely many public classes, the last one: missing."""

    column: str
    classes: Cuts | Listed


@final
@dataclass(frozen=True, slots=True)
class Crosstab:
    """Rows and lattice sums of every combination of classes that occurs.

    Which combinations occur is private: they stay closed in the Secret, and public
    queries are answered from them. ``max_groups`` of the unit is not applied, as there
    are no keys.

    Parameters
    ----------
    unit : Unit
        Whose rows are limited.
    splits : tuple of Split
        The divided columns, each once.
    rows : bool
        Whether all rows are counted. If not, rows without a usable value in any of the
        measures (or of the splits, where there are no measures) take no place.
    measures : tuple of Measure
        Columns to sum, with bounds for each row.
    """

    unit: Unit
    splits: tuple[Split, ...]
    rows: bool = True
    measures: tuple[Measure, ...] = ()
