"""From what an analyst asks for to the integer vectors that answer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any, Literal, final

from dpframe.domain.coding import Coding
from dpframe.domain.domain import Domain
from dpframe.domain.fit import check_fit
from dpframe.domain.keys import Keys
from dpframe.domain.kinds import Booleans, Categories, Integers
from dpframe.domain.lattice import Lattice, fit_lattice
from dpframe.domain.resolve import resolve_bounds
from dpframe.domain.schema import ColumnType, Schema
from dpframe.errors import ParameterError
from dpframe.mechanisms.quantile import Ranks
from dpframe.mechanisms.request import Setting
from dpframe.privacy.sensitivity import Adjacency, Sensitivity
from dpframe.queries.agg import Aggregate, Statistic
from dpframe.releases.measurement import Quantity

__all__ = ["Asked", "Term", "ask", "cells", "column_type", "listed"]


@final
@dataclass(frozen=True, slots=True)
class Term:
    """One vector of integers to be measured."""

    quantity: Quantity
    column: str | None = None
    lattice: Lattice | None = None

    def sensitivity(self, adjacency: Adjacency) -> Sensitivity:
        """How far one unit moves this term (``design: units`` §5)."""
        if self.quantity == "rows":
            return adjacency.count()
        if self.quantity == "units":
            return adjacency.units()
        lattice = self.lattice
        assert lattice is not None
        by_unit = lattice.per == "unit"
        if self.quantity == "sum":
            of_sum = adjacency.unit_sum if by_unit else adjacency.sum
            return of_sum(lattice.low, lattice.high)
        of_parts = adjacency.unit_parts if by_unit else adjacency.parts
        if self.quantity == "pair":
            return of_parts(lattice.width, 2)
        return of_parts(lattice.width**2, 3)


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """One answer: a formula over a term, or (term None) a public constant."""

    name: str
    aggregate: Aggregate
    term: Term | Ranks | None
    lattice: Lattice | None = None
    weight: Fraction = Fraction(1)


#: How an aggregate over a column is measured, and on which grid.
_MEASURED: dict[Statistic, tuple[Quantity, Literal["sum", "mean", "variance"]]] = {
    "sum": ("sum", "sum"),
    "mean": ("pair", "mean"),
    "variance": ("triple", "variance"),
    "std": ("triple", "variance"),
}


def ask(
    name: str,
    aggregate: Aggregate,
    setting: Setting,
    schema: Schema,
    weight: Fraction = Fraction(1),
) -> Asked:
    """Resolve one aggregate against the schema and the domain.

    Raises
    ------
    ColumnNotFoundError, DomainError, ParameterError
        If the column, its bounds or its type do not fit; from public facts only.
    """
    if aggregate.statistic == "count":
        return Asked(name, aggregate, Term("rows"), None, weight)
    column = aggregate.column
    assert column is not None
    type_ = column_type(column, setting, schema)
    if aggregate.statistic == "n_unique":
        _check_units(column, setting)
        return Asked(name, aggregate, Term("units"), None, weight)
    if aggregate.per == "unit" and setting.unit.is_row:
        msg = (
            "per='unit' needs a session whose unit is a column, dpf.Unit('person_id')."
        )
        raise ParameterError(msg)
    bounds = _bounds(aggregate, setting, schema)
    if type_.kind == "null":  # nothing but missing values: the bounds say of what
        type_ = _kind_of_bounds(bounds[0])
    term: Term | Ranks
    if aggregate.ranks:
        lattice = fit_lattice(column, type_, bounds, "quantile", per=aggregate.per)
        constant = not lattice.width
        term = Ranks(column, lattice, aggregate.ranks)
    else:
        quantity, use = _MEASURED[aggregate.statistic]
        lattice = fit_lattice(column, type_, bounds, use, per=aggregate.per)
        constant = not lattice.width and (use != "sum" or not lattice.high)
        term = Term(quantity, column, lattice)
    resolved = replace(aggregate, bounds=bounds)
    return Asked(name, resolved, None if constant else term, lattice, weight)


def _bounds(aggregate: Aggregate, setting: Setting, schema: Schema) -> tuple[Any, Any]:
    """The call's own bounds, else the domain's, else (0, 1) of a boolean."""
    column, domain = aggregate.column, setting.domain
    assert column is not None
    undeclared = domain is None or column not in domain
    if aggregate.bounds is None and undeclared and schema[column].kind == "boolean":
        return (0, 1)
    return resolve_bounds(column, domain=domain, bounds=aggregate.bounds)


def column_type(column: str, setting: Setting, schema: Schema) -> ColumnType:
    """The kind that the domain declares, else that of the engine (units §6).

    In pandas one null turns int64 into float64 and bool into object: what is declared
    must not depend on a row.
    """
    type_, domain = schema[column], setting.domain
    if domain is None or column not in domain:
        return type_
    kind = domain.kind(column)
    if isinstance(kind, Integers) and type_.kind == "float":
        return ColumnType("integer")
    untyped = schema.library == "pandas" and type_.kind == "text"
    if isinstance(kind, Booleans) and (untyped or type_.kind in ("integer", "float")):
        return ColumnType("boolean")
    return type_


def _kind_of_bounds(bound: object) -> ColumnType:
    if isinstance(bound, datetime):
        return ColumnType("datetime", unit="us", zone="UTC" if bound.tzinfo else None)
    if isinstance(bound, date):
        return ColumnType("date")
    if isinstance(bound, timedelta):
        return ColumnType("duration", unit="us")
    return ColumnType("float" if isinstance(bound, float) else "integer")


def _check_units(column: str, setting: Setting) -> None:
    if setting.unit.is_row or column != setting.unit.column:
        msg = (
            f"n_unique by key counts units, so its column is the session's unit; "
            f"{column!r} is not. Ask frame.dp.n_unique({column!r}) for the whole frame."
        )
        raise ParameterError(msg)


def cells(
    by: Sequence[str],
    setting: Setting,
    schema: Schema,
    *,
    keys: object = None,
    bins: object = None,
) -> Keys:
    """Resolve the public cells of a release by one or several columns.

    Columns come from the schema, keys from the call or the domain; a boolean column
    needs neither.
    """
    for column in by:
        if schema[column].kind == "other":
            msg = f"{column!r} has a nested or untyped column type and can be no key."
            raise ParameterError(msg)
    domain = _with_booleans(by, setting.domain, schema)
    found = Keys.resolve(tuple(by), domain=domain, keys=keys, bins=bins)
    for column, coding in zip(found.columns, found.codings, strict=True):
        type_ = column_type(column, setting, schema)
        untyped = schema.library == "pandas" and type_.kind == "text"
        check_fit(column, coding, type_, untyped=untyped)
    return found


def _with_booleans(
    by: Sequence[str], domain: Domain | None, schema: Schema
) -> Domain | None:
    """Declare the boolean columns among the keys, which have but two values."""
    known: dict[str, object] = {c: domain.kind(c) for c in domain} if domain else {}
    booleans = {c: bool for c in by if schema[c].kind == "boolean" and c not in known}
    if not booleans:
        return domain
    return Domain(known | booleans, other=domain.other if domain else False)


def listed(column: str, setting: Setting) -> Coding | None:
    """The categories that the domain declares for ``column``, if any."""
    domain = setting.domain
    if domain is None or column not in domain:
        return None
    coded = isinstance(domain.kind(column), (Categories, Booleans))
    return domain.coding(column) if coded else None
