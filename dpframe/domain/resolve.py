"""A verb's own ``bounds=`` before the domain's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dpframe.domain.domain import Domain
from dpframe.domain.kinds import Bounds, Integers
from dpframe.domain.missing import about, undeclared_bounds
from dpframe.errors import ParameterError, shown

__all__ = ["resolve_bounds"]


def resolve_bounds(
    column: str, *, domain: Domain | None, bounds: object = None
) -> tuple[Any, Any]:
    """Read a verb's ``bounds=``; without it the column's own from the domain.

    Parameters
    ----------
    column : str
        The column to be bounded.
    domain : Domain or None
        Declared facts.
    bounds : pair, Bounds or Integers, optional
        Overrides the domain; anything that unpacks as (lower, upper).

    Raises
    ------
    DomainError
        If neither knows the bounds; the message says what to pass.
    ParameterError
        If the pair is swapped, infinite, missing or of mixed kinds.
    """
    if bounds is None:
        if domain is None or column not in domain:
            raise undeclared_bounds(column, domain)
        return domain.bounds(column)
    if isinstance(bounds, (Bounds, Integers)):
        return (bounds.lower, bounds.upper)
    if isinstance(bounds, (str, bytes, Mapping, set)) or not isinstance(
        bounds, Iterable
    ):
        raise _not_a_pair(column, bounds)
    ends = tuple(bounds)
    if len(ends) != 2:
        raise _not_a_pair(column, bounds)
    with about(column):
        pair = Bounds(*ends)
    return (pair.lower, pair.upper)


def _not_a_pair(column: str, bounds: object) -> ParameterError:
    return ParameterError(
        f"bounds of {column!r} must be a pair (lower, upper), such as (0, 100); "
        f"got {shown(bounds)}."
    )
