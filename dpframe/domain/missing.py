"""Errors about facts that a verb needs and nobody declared: what to type next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import prod

from dpframe.domain.coding import MAX_CELLS
from dpframe.errors import DomainError, ParameterError, nearest

__all__ = [
    "about",
    "check_cells",
    "needs_bounds",
    "needs_edges",
    "needs_keys",
    "undeclared",
    "undeclared_bounds",
]


@contextmanager
def about(column: str) -> Iterator[None]:
    """Name the column in front of a wrong argument's message."""
    try:
        yield
    except ParameterError as error:
        msg = f"column {column!r}: {error}"
        raise ParameterError(msg) from None


def undeclared(column: object, declared: Iterable[str]) -> DomainError:
    """Say that the domain does not know the column, and offer the nearest."""
    return DomainError(
        f"the domain has no column {column!r}.{nearest(column, declared)}"
    )


def needs_keys(column: str, declared: Iterable[str] | None) -> DomainError:
    """Say how to give a column its public keys."""
    return DomainError(
        f"the keys of column {column!r} are not declared.{_known(column, declared)} "
        f"Pass keys=[...] (or bins=[...] for numbers), or declare the column: "
        f"dpf.Domain({{{column!r}: [...]}}). group_by and histogram also find the keys "
        "in the data, for a delta: delta=1e-6."
    )


def needs_edges(column: str) -> DomainError:
    """Say how to give cells to a column of which only the bounds are known."""
    return DomainError(
        f"column {column!r} is declared by bounds alone, which give no cells. Pass "
        "bins=[...] or keys=[...], or declare dpf.edges([...]) "
        "(dpf.integers(lower, upper) for one cell per whole number)."
    )


def needs_bounds(column: str, why: str) -> DomainError:
    """Say how to give a column its public bounds."""
    return DomainError(
        f"the bounds of column {column!r} are not declared. {why} Pass "
        f"bounds=(lower, upper), or declare dpf.Domain({{{column!r}: "
        "dpf.bounds(lower, upper)}): public facts, never the data's own range."
    )


def undeclared_bounds(column: str, declared: Iterable[str] | None) -> DomainError:
    """Say that nothing is known about a column whose bounds are needed."""
    return needs_bounds(column, _known(column, declared).strip())


def check_cells(columns: Sequence[str], sizes: Sequence[int]) -> None:
    """Refuse a product of columns that no release can hold."""
    if prod(sizes) <= MAX_CELLS:
        return
    shown = ", ".join(
        f"{column!r} {size:,}" for column, size in zip(columns, sizes, strict=True)
    )
    msg = (
        f"{prod(sizes):,} cells are more than {MAX_CELLS:,}, the most at once: "
        f"{shown}. Take fewer columns, coarser bins=, or list the cells you want: "
        "keys=[(...), ...]."
    )
    raise DomainError(msg)


def _known(column: str, declared: Iterable[str] | None) -> str:
    if declared is None:
        return " No domain was given."
    return f" The domain does not have it.{nearest(column, declared)}"
