"""Conditions on the cells of a domain: where they hold, and which cut through a cell.

A model knows cells and nothing finer. A missing value, and everything in a column's
``other`` cell, is missing here: a comparison with it is neither true nor false. Numbers
and days beyond the declared range count as its ends, as they do in the cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from operator import ge, gt, le, lt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpframe.domain.coding import Bins, Coding, Linear, Lookup
from dpframe.domain.domain import Domain
from dpframe.domain.kinds import Dates
from dpframe.domain.values import comparable, family
from dpframe.errors import DomainError, ParameterError, nearest
from dpframe.queries.predicates import Condition, Operator, Predicate

__all__ = ["mask"]

Mask = NDArray[np.bool_]

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}


def mask(predicate: Predicate, domain: Domain, columns: Sequence[str]) -> Mask:
    """Tell in which cells over ``columns`` a predicate is true.

    Returns
    -------
    array of bool
        An axis for each column.

    Raises
    ------
    DomainError
        If a column is not declared or has no cells, or a value is not among them.
    ParameterError
        If a condition cuts through a cell, or its values are of another kind.
    """
    shape = [domain.coding(column).size for column in columns]

    def of(condition: Condition, outcome: bool) -> Mask:
        true, known = _truth(condition, domain)
        axis = [1] * len(shape)
        axis[list(columns).index(condition.column)] = -1
        there: Mask = (true == outcome) & known
        return there.reshape(axis)

    true: Mask = np.broadcast_to(predicate.where(of), shape)
    return true


def _truth(condition: Condition, domain: Domain) -> tuple[Mask, Mask]:
    """Tell for each code of the column whether it is true, and whether it is known."""
    coding = domain.coding(condition.column)
    missing = np.zeros(coding.size, dtype=bool)
    if isinstance(coding, Lookup):
        missing[: len(coding.values)] = [value is None for value in coding.values]
    missing[coding.size - coding.other :] = True
    if condition.operator == "null":
        return missing, np.ones(coding.size, dtype=bool)
    true = np.zeros(coding.size, dtype=bool)
    true[: coding.size - coding.other] = _where(_whole_day(condition), domain)
    return true, ~missing


def _where(condition: Condition, domain: Domain) -> Mask | list[bool]:
    coding = domain.coding(condition.column)
    if isinstance(coding, Lookup):
        return _in_list(condition, coding)
    if condition.operator == "true":
        raise _other_kind(condition, coding)
    if isinstance(coding, Linear):
        return _in_range(condition, coding)
    return _in_bins(condition, coding, isinstance(domain.kind(condition.column), Dates))


def _whole_day(condition: Condition) -> Condition:
    """A date compared by order is its whole day: up to the next one."""
    later: dict[str, Operator] = {">": ">=", "<=": "<"}
    if condition.operator not in later:
        return condition
    (day,) = condition.values
    if not isinstance(day, date) or isinstance(day, datetime) or day == date.max:
        return condition
    return replace(
        condition,
        operator=later[condition.operator],
        values=(day + timedelta(days=1),),
    )


def _in_list(condition: Condition, coding: Lookup) -> list[bool]:
    listed = coding.values
    kind = next((family(value) for value in listed if value is not None), None)
    if condition.operator == "true":
        if kind != "boolean":
            raise _other_kind(condition, coding)
        return [value is True for value in listed]
    if condition.operator in ("==", "!=", "in"):
        for value in condition.values:
            if value not in listed:
                raise _not_a_cell(condition, value, listed)
        inside = [value in condition.values for value in listed]
        return [not i for i in inside] if condition.operator == "!=" else inside
    end = comparable(condition.values[0], kind or "")
    if end is None:
        raise _other_kind(condition, coding)
    compare = _COMPARISONS[condition.operator]
    return [v is not None and compare(comparable(v, kind or ""), end) for v in listed]


def _in_range(condition: Condition, coding: Linear) -> Mask:
    keys = np.arange(coding.lower, coding.upper + 1)
    ends = [comparable(value, "number") for value in condition.values]
    if condition.operator == "true" or None in ends:
        raise _other_kind(condition, coding)
    if condition.operator in ("==", "!=", "in"):
        for end in ends:
            if end != end // 1 or not coding.lower <= end <= coding.upper:
                raise _not_a_cell(condition, end, [coding.lower, "…", coding.upper])
        inside = np.isin(keys, [int(end) for end in ends])
        return ~inside if condition.operator == "!=" else inside
    (end,) = ends
    # Cells are whole numbers: x >= 39.5 is x >= 40, and x > 39.5 too.
    inside_end = max(min(end, coding.upper + 1), coding.lower - 1)
    if condition.operator in (">=", "<"):
        least = math.ceil(inside_end)
    else:
        least = math.floor(inside_end) + 1
    above: Mask = keys >= least
    return above if condition.operator in (">", ">=") else ~above


def _in_bins(condition: Condition, coding: Bins, calendar: bool) -> Mask:
    """Compare bins with a value at one of their edges.

    The last bin is closed, but not in a ``calendar``: there the last edge is the day
    after it.
    """
    value, edges = _on_one_scale(condition, coding)
    if condition.operator not in ("<", "<=", ">", ">="):
        raise _cut(condition, coding)
    starts = np.arange(len(edges) - 1)
    # What equals the value lies on the lower side of > and <=.
    beyond = condition.operator in (">", "<=")
    if value < edges[0] or (value == edges[0] and not beyond):
        reached = starts >= 0
    elif value > edges[-1] or (value == edges[-1] and (beyond or calendar)):
        reached = starts < 0
    elif value in edges[1:-1] and not beyond:
        reached = starts >= edges.index(value)
    else:
        raise _cut(condition, coding)
    return reached if condition.operator in (">", ">=") else ~reached


def _on_one_scale(condition: Condition, coding: Bins) -> tuple[Any, tuple[Any, ...]]:
    """Return the value and the edges so that they can be compared."""
    value, edges = condition.values[0], coding.edges
    kind = family(edges[0]) or ""
    if kind == "date" and family(value) == "datetime":
        kind = "datetime"  # not to lose the time of day
    if comparable(value, kind) is None:
        raise _other_kind(condition, coding)
    return comparable(value, kind), tuple(comparable(edge, kind) for edge in edges)


def _not_a_cell(
    condition: Condition, value: object, listed: Sequence[object]
) -> DomainError:
    return DomainError(
        f"{condition!r}: the domain has no cell for {value!r} in "
        f"{condition.column!r}.{nearest(value, map(str, listed))}"
    )


def _other_kind(condition: Condition, coding: Coding) -> ParameterError:
    example = coding.keys[0]
    return ParameterError(
        f"{condition!r}: the domain declares {condition.column!r} with values such as "
        f"{example!r}, which are not compared so. Compare with a value of that kind."
    )


def _cut(condition: Condition, coding: Bins) -> ParameterError:
    value, edges = _on_one_scale(condition, coding)
    last = len(edges) - 1
    above = next((i for i, edge in enumerate(edges) if edge > value), last)
    near = f"{coding.edges[max(above - 1, 0)]!r} or {coding.edges[above]!r}"
    return ParameterError(
        f"{condition!r} cuts through a bin of {condition.column!r}, and a model knows "
        "whole bins only. Bins are [lower, upper), the last one closed: compare by >= "
        f"or < with an edge, such as {near}."
    )
