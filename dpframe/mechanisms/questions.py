"""From a verb's ``queries=`` to exact integer answers on one public grid.

`resolve` reads the queries and refuses what does not fit, from arguments, domain and
schema; `Questions` then knows how far one unit moves an answer, and how to get them:
one block of cells by the engine's group-by, every other list by one cross-tabulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpframe.domain.coding import MAX_CELLS
from dpframe.domain.schema import ColumnType, Schema
from dpframe.engines.protocol import Source
from dpframe.errors import ParameterError
from dpframe.mechanisms.parts import Part, read_part
from dpframe.mechanisms.request import Setting
from dpframe.mechanisms.tabulation import Tabulation
from dpframe.mechanisms.terms import column_type
from dpframe.privacy.amounts import show_amount
from dpframe.privacy.unit import Unit
from dpframe.queries.blocks import Marginal, SumBy
from dpframe.queries.listing import Entry, Listing
from dpframe.queries.reduction import Measure, Reduction
from dpframe.queries.threshold import LARGEST_STEPS
from dpframe.queries.workload import as_workload
from dpframe.secret import Secret

__all__ = ["Questions", "resolve"]


@final
@dataclass(frozen=True, slots=True)
class Questions:
    """Queries whose answers are integers of one public grid.

    Parameters
    ----------
    listing : Listing
        The public names of the answers.
    key_types : tuple of ColumnType or None
        The types of the key columns, where all answers are one block of cells.
    grid : Fraction
        The step that all answers lie on, in the unit of the queries.
    sensitivity : int
        Steps by which one unit, all its rows together, may move any one answer.
    sign : int
        1 if rows only add to the answers, -1 if they only take away; 0 if neither, as
        always under "replace".
    l1 : int or None
        Steps by which one unit may move all answers together, where they are disjoint
        cells (or one answer).
    parts : tuple of Part
        The queries, resolved.
    plan : Reduction or Tabulation
        What the engine is told.
    """

    listing: Listing
    key_types: tuple[ColumnType, ...] | None
    grid: Fraction
    sensitivity: int
    sign: int
    l1: int | None
    parts: tuple[Part, ...] = field(repr=False)
    plan: Reduction | Tabulation = field(repr=False)

    @property
    def size(self) -> int:
        """Number of answers."""
        return len(self.listing)

    @property
    def monotone(self) -> bool:
        """Whether all answers move the same way between neighbors."""
        return self.sign != 0

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that the queries read, each once."""
        return tuple(
            dict.fromkeys(c for part in self.parts for c in part.query.columns)
        )

    def describe(self) -> dict[str, object]:
        """Return queries, cells and grid as canonical, JSON-able values."""
        return {
            "queries": self.listing.describe(),
            "grid": str(self.grid),
            "sensitivity": self.sensitivity,
            "monotone": self.monotone,
        }

    def on_grid(self, grid: Fraction, sensitivity: int, monotone: bool) -> Questions:
        """Express the answers on the grid of an open object.

        Parameters
        ----------
        grid : Fraction
            Its step.
        sensitivity : int
            Steps by which one unit may move any answer.
        monotone : bool
            Whether rows may only add to an answer.

        Raises
        ------
        ParameterError
            If a query does not lie on the grid, may move by more, or may be moved
            down by a row. No data is read.
        """
        for part in self.parts:
            if (part.step / grid).denominator != 1:
                msg = (  # exact numbers: to be typed as they are
                    f"{part.query!r} has answers in steps of {part.step}, and this was "
                    f"opened for steps of {grid}. Open it with "
                    f"grid={str(_common([part.step, grid]))!r}."
                )
                raise ParameterError(msg)
            if part.moved * part.step > sensitivity * grid:
                rows = part.adjacency.rows
                msg = (
                    f"one row may move {part.query!r} by "
                    f"{show_amount(part.moved * part.step / rows)}, and this was "
                    f"opened for {show_amount(sensitivity * grid / rows)}. Open it "
                    "with a larger sensitivity=, or narrow the bounds."
                )
                raise ParameterError(msg)
            if monotone and part.sign != 1:
                msg = (
                    f"a row may move {part.query!r} down, and this was opened for "
                    "monotonic answers: counts, and sums of values that are not "
                    "negative, under 'add_remove'. Open it with monotonic=False."
                )
                raise ParameterError(msg)
        return replace(self, grid=grid, sensitivity=sensitivity)

    def reduce(
        self,
        source: Source,
        hash_key: bytes | None = None,
        also: Sequence[str] = (),
    ) -> Secret[Any]:
        """Ask the engine for all answers in one pass.

        Parameters
        ----------
        source : Source
            The private frame.
        hash_key, also
            As in `dpframe.engines.protocol.Source.aggregate`.
        """
        if isinstance(self.plan, Reduction):
            return source.aggregate(self.plan, hash_key, also)
        return source.crosstab(self.plan.crosstab, hash_key, also)

    def answers(self, revealed: Any) -> NDArray[np.int64]:
        """Return the true answers in grid steps, shape (size,).

        Parameters
        ----------
        revealed : Aggregates or Combinations
            What the secret of `reduce` holds.

        Returns
        -------
        ndarray of int64
            Clamped to ± 2**60 steps, which moves no two of them further apart.
        """
        if isinstance(self.plan, Tabulation):
            found = self.plan.answers(self.parts, revealed)
        else:
            counted = not self.plan.measures
            found = [revealed.rows if counted else revealed.sums[0]]
        return np.concatenate(
            [
                _in_steps(answers, (part.step / self.grid).numerator)
                for part, answers in zip(self.parts, found, strict=True)
            ]
        )


def resolve(
    queries: object,
    setting: Setting,
    schema: Schema,
    *,
    keys: object = None,
    bins: object = None,
) -> Questions:
    """Resolve a verb's ``queries=`` against the frame, the domain and the unit.

    Parameters
    ----------
    queries : str, query, list or Workload
        A column name asks for one count for each of its public keys.
    setting : Setting
        Unit, relation and domain of the session.
    schema : Schema
        Of the frame.
    keys, bins : list or dict, optional
        The cells of the one column (or marginal) asked for; the domain's if not given.

    Raises
    ------
    ColumnNotFoundError, DomainError, ParameterError
        If a query fits nothing: from public facts alone.
    """
    workload = as_workload(queries)
    single = len(workload) == 1 and isinstance(workload[0], Marginal)
    if (keys is not None or bins is not None) and not single:
        msg = (
            "keys= and bins= belong to one column of keys, as in "
            "above_threshold('topic', keys=[...]). For a list of queries declare the "
            "columns in the domain."
        )
        raise ParameterError(msg)
    parts = tuple(
        read_part(query, setting, schema, keys=keys, bins=bins) for query in workload
    )
    if (answers := sum(part.size for part in parts)) > MAX_CELLS:
        msg = f"{answers:,} answers are more than {MAX_CELLS:,}; ask for fewer."
        raise ParameterError(msg)
    grid = _common([part.step for part in parts])
    signs = {part.sign for part in parts}
    l1 = parts[0].moved_in_all if len(parts) == 1 else None
    listing = Listing(tuple(Entry(part.query, part.keys) for part in parts))
    types = None
    if listing.keys is not None:
        types = tuple(column_type(c, setting, schema) for c in listing.keys.columns)
    return Questions(
        listing,
        types,
        grid,
        sensitivity=max(1, *(_steps(part.moved * part.step, grid) for part in parts)),
        sign=signs.pop() if len(signs) == 1 else 0,
        l1=None if l1 is None else max(l1, 1),
        parts=parts,
        plan=_plan(parts, listing, setting.unit, schema),
    )


def _plan(
    parts: tuple[Part, ...], listing: Listing, unit: Unit, schema: Schema
) -> Reduction | Tabulation:
    """One block of cells is a group-by, with the unit's groups limited."""
    part = parts[0]
    if listing.keys is None:
        return Tabulation.of(parts, unit, schema)
    if part.lattice is None:
        return Reduction(unit, listing.keys, rows=True)
    assert isinstance(part.query, SumBy)
    measure = Measure(part.query.column, part.lattice)
    return Reduction(unit, listing.keys, measures=(measure,))


def _common(steps: Sequence[Fraction]) -> Fraction:
    """Return the largest step of which all are multiples."""
    common = steps[0]
    for step in steps[1:]:
        ends = common.numerator * step.denominator, step.numerator * common.denominator
        common = Fraction(gcd(*ends), common.denominator * step.denominator)
    return common


def _steps(amount: Fraction, grid: Fraction) -> int:
    return (amount / grid).numerator


def _in_steps(answers: NDArray[Any], factor: int) -> NDArray[np.int64]:
    """Multiply, clamped first to what stays within ± 2**60."""
    most = LARGEST_STEPS // factor
    within: NDArray[np.int64] = np.clip(answers, -most, most).astype(np.int64)
    return within * factor if most else within
