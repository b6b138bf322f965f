"""What a call needs, known from its arguments and the schema before any row is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from dpframe.domain.schema import ColumnType, Schema
from dpframe.errors import ParameterError
from dpframe.privacy.unit import Unit
from dpframe.queries.reduction import Crosstab, Distinct, Measure, Reduction

__all__ = ["Needs"]


@final
@dataclass(frozen=True, slots=True)
class Needs:
    """The columns of one call and whether rows are chosen by hash.

    Parameters
    ----------
    types : mapping of str to ColumnType
        The columns that are read.
    places : mapping of str to str
        Their names in the plan, which cannot clash with names of the plan's own.
    hashed : bool
        Whether a hash decides anything, so that its key is drawn.
    also : tuple of str
        Columns that enter the tickets of rows by value: whatever is asked of the
        frame, the same rows are kept under one key.
    unit : str
        The column of the unit, whose value is in every ticket.
    """

    types: Mapping[str, ColumnType]
    places: Mapping[str, str]
    hashed: bool
    also: tuple[str, ...] = ()
    unit: str = ""

    @classmethod
    def of_reduction(
        cls, reduction: Reduction, schema: Schema, also: Sequence[str] = ()
    ) -> Needs:
        """Check a reduction against the schema and the unit's bounds."""
        unit, keys = reduction.unit, reduction.keys
        by_unit = [m for m in reduction.valued if m.lattice.per == "unit"]
        by_row = len(by_unit) < len(reduction.valued)
        if unit.is_row and by_unit:
            msg = "per='unit' needs a unit that is a column, dpf.Unit('person_id')."
            raise ParameterError(msg)
        if unit.max_rows is None and (reduction.rows or by_row):
            raise _needs_bound(unit, "counting or summing rows", "max_rows")
        if unit.max_groups is None and keys is not None and by_unit:
            raise _needs_bound(unit, "per='unit' by key", "max_groups")
        if _unbounded(unit) and keys is not None and reduction.units:
            raise _needs_bound(unit, "counting units by key", "max_groups")
        for measure in reduction.measures:
            _check_squares(measure)
        for measure in reduction.tabulated:
            _check_width(measure)
        # Without keys, and without values of rows, all rows of a unit are alike.
        by_key = keys is not None and (reduction.rows or reduction.units)
        chooses_groups = keys is not None and unit.max_groups is not None
        chooses_rows = unit.max_rows is not None and (by_row or by_key)
        columns = [
            *(() if unit.is_row else (unit.column,)),
            *(() if keys is None else keys.columns),
            *(m.column for m in reduction.valued),
        ]
        hashed = not unit.is_row and (chooses_groups or chooses_rows)
        return cls._of(columns, schema, unit, hashed=hashed, also=also)

    @classmethod
    def of_crosstab(
        cls, crosstab: Crosstab, schema: Schema, also: Sequence[str] = ()
    ) -> Needs:
        """Check a cross-tabulation likewise."""
        unit = crosstab.unit
        if unit.max_rows is None:
            raise _needs_bound(unit, "counting or summing rows", "max_rows")
        columns = [
            *(() if unit.is_row else (unit.column,)),
            *(split.column for split in crosstab.splits),
            *(m.column for m in crosstab.measures),
        ]
        return cls._of(columns, schema, unit, hashed=not unit.is_row, also=also)

    @classmethod
    def of_distinct(cls, query: Distinct, schema: Schema) -> Needs:
        """Check a count of distinct values likewise."""
        unit = query.unit
        if unit.is_row or query.column == unit.column:
            return cls._of([query.column], schema, unit, hashed=False)
        if _unbounded(unit):
            raise _needs_bound(unit, "counting distinct values", "max_groups")
        return cls._of([unit.column, query.column], schema, unit, hashed=True)

    @classmethod
    def _of(
        cls,
        columns: Iterable[str],
        schema: Schema,
        unit: Unit,
        *,
        hashed: bool,
        also: Sequence[str] = (),
    ) -> Needs:
        by_value = [c for c in also if hashed and schema[c].kind != "other"]
        types = {column: schema[column] for column in (*columns, *by_value)}
        for column, type_ in types.items():
            if type_.kind == "other":
                msg = (
                    f"{column!r} has a nested or untyped column type, which no verb "
                    "reads. Cast it to text, a number or a time before .dp."
                )
                raise ParameterError(msg)
        places = {column: f"column{i}" for i, column in enumerate(types)}
        return cls(types, places, hashed, tuple(by_value), unit.column)

    def by_value(self, columns: Iterable[str]) -> bool:
        """Whether all these columns enter tickets by value, and so not by code."""
        return bool(self.also) and set(columns) <= {*self.also, self.unit}


def _check_squares(measure: Measure) -> None:
    largest = max(abs(measure.lattice.low), abs(measure.lattice.high))
    if measure.squares and largest > 2**31:
        msg = f"squares of {measure.column!r} pass 2**62; fit its grid to a variance."
        raise ParameterError(msg)


def _check_width(measure: Measure) -> None:
    """2^26 cells of so many values still have numbers below 2^62."""
    if measure.lattice.width > 2**32:
        msg = f"{measure.column!r} has too many values; fit its grid to a quantile."
        raise ParameterError(msg)


def _unbounded(unit: Unit) -> bool:
    return unit.max_rows is None and unit.max_groups is None


def _needs_bound(unit: Unit, what: str, bound: str) -> ParameterError:
    return ParameterError(
        f"{what} needs the unit's {bound}. Give it as a public fact: "
        f"dpf.Unit({unit.column!r}, {bound}=10)."
    )
