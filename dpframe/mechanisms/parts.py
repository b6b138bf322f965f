"""From one query to what answers it: cells, grid, and how far a unit may move it.

Everything that can be wrong with a query is found here, from arguments, domain and
schema, before anything is charged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

from dpframe.domain.coding import MAX_CELLS, Bins, Coding, Lookup
from dpframe.domain.fit import check_fit
from dpframe.domain.keys import Keys
from dpframe.domain.lattice import Lattice
from dpframe.domain.schema import Schema
from dpframe.errors import ParameterError
from dpframe.mechanisms.request import Setting
from dpframe.mechanisms.terms import ask, cells, column_type
from dpframe.privacy.sensitivity import Adjacency, Sensitivity
from dpframe.queries.agg import Aggregate
from dpframe.queries.blocks import (
    Block,
    Cell,
    Marginal,
    Prefixes,
    Query,
    Ranges,
    SumBy,
    Weights,
)
from dpframe.queries.cells import count_cells, position_of
from dpframe.queries.predicates import Condition, Predicate

__all__ = ["WEIGHT_STEPS", "Part", "read_part"]

#: Steps of a weight of 1.
WEIGHT_STEPS = 2**20

_BY_ORDER = ("<", "<=", ">", ">=")


@final
@dataclass(frozen=True, slots=True)
class Part:
    """One query, resolved.

    Parameters
    ----------
    query : Query
        As asked.
    adjacency : Adjacency
        How neighboring frames differ.
    codings : tuple of (str, Coding)
        How the columns are coded that have cells.
    keys : Keys or None
        The public cells of a block.
    lattice : Lattice or None
        The grid of a summed column.
    cell : int or None
        The one answer of the block that is asked for.
    """

    query: Query
    adjacency: Adjacency
    codings: tuple[tuple[str, Coding], ...] = ()
    keys: Keys | None = None
    lattice: Lattice | None = None
    cell: int | None = None

    @property
    def block(self) -> Predicate | Weights | Block:
        """The query, or the block that its cell belongs to."""
        return self.query.block if isinstance(self.query, Cell) else self.query

    @property
    def size(self) -> int:
        """Number of answers."""
        if isinstance(self.query, (Predicate, Weights, Cell)):
            return 1
        return count_cells(self.query, self.keys)

    @property
    def step(self) -> Fraction:
        """What one step of the answers is, in the unit of the query."""
        if self.lattice is not None:
            digits: int = 10**self.lattice.type.scale
            return self.lattice.step / digits
        return Fraction(1, WEIGHT_STEPS if isinstance(self.query, Weights) else 1)

    @property
    def moved(self) -> int:
        """Steps by which one unit may move any one answer (``design: units`` §5.7)."""
        steps = WEIGHT_STEPS if isinstance(self.query, Weights) else 1
        return self._sensitivity(self.adjacency).linf * steps

    @property
    def moved_in_all(self) -> int | None:
        """Steps by which one unit may move all answers together: disjoint cells."""
        if self.size == 1:
            return self.moved
        if not isinstance(self.query, (Marginal, SumBy)) or self.keys is None:
            return None
        return self._sensitivity(replace(self.adjacency, keys=self.keys.size)).l1

    @property
    def sign(self) -> int:
        """1 if rows only add to an answer, -1 if they only take away, else 0."""
        if self.adjacency.neighboring == "replace":
            return 0
        if self.lattice is None or self.lattice.low >= 0:
            return 1
        return -1 if self.lattice.high <= 0 else 0

    def _sensitivity(self, adjacency: Adjacency) -> Sensitivity:
        if self.lattice is None:
            return adjacency.count()
        return adjacency.sum(self.lattice.low, self.lattice.high)


def read_part(
    query: Query,
    setting: Setting,
    schema: Schema,
    *,
    keys: object = None,
    bins: object = None,
) -> Part:
    """Resolve one query; ``keys`` and ``bins`` are those of a marginal.

    Raises
    ------
    ColumnNotFoundError, DomainError, ParameterError
        If the query does not fit the frame, the domain or the unit.
    """
    adjacency = Adjacency(setting.unit, setting.neighboring)
    _ = adjacency.rows  # a unit needs max_rows, or says so now
    if isinstance(query, Cell):
        return _cell(query, read_part(query.block, setting, schema))
    if isinstance(query, Predicate):
        for condition in query.conditions:
            _check_condition(condition, setting, schema)
        return Part(query, adjacency)
    if isinstance(query, Weights):
        return Part(query, adjacency, _weighted(query, setting, schema))
    if isinstance(query, SumBy):
        return _sum(query, adjacency, setting, schema)
    found = cells(query.columns, setting, schema, keys=keys, bins=bins)
    if isinstance(query, (Prefixes, Ranges)):
        _check_order(query, found)
    return Part(query, adjacency, _codings(found), found)


def _codings(keys: Keys) -> tuple[tuple[str, Coding], ...]:
    return tuple(zip(keys.columns, keys.codings, strict=True))


def _cell(query: Cell, part: Part) -> Part:
    position = None
    if part.keys is not None:
        position = position_of(query.block, part.keys, query.key)
    if position is None:
        msg = (
            f"{query!r} names a cell that {query.block!r} does not have here; the "
            "domain has changed since. Ask with a key that it lists."
        )
        raise ParameterError(msg)
    return replace(part, query=query, cell=position)


def _check_condition(condition: Condition, setting: Setting, schema: Schema) -> None:
    """Refuse a condition that no value of the column could ever fulfil."""
    column, operator = condition.column, condition.operator
    if schema[column].kind == "other":
        msg = f"{column!r} has a nested or untyped column type, which no query reads."
        raise ParameterError(msg)
    type_ = column_type(column, setting, schema)
    untyped = schema.library == "pandas" and type_.kind == "text"
    if operator == "true":
        if type_.kind not in ("boolean", "null") and not untyped:
            msg = (
                f"dpf.col({column!r}) alone asks where a boolean column is true, and "
                f"this one is of kind {type_.kind!r}. Compare it, such as "
                f"dpf.col({column!r}) == ..."
            )
            raise ParameterError(msg)
        return
    if operator in _BY_ORDER and type_.kind in ("text", "boolean"):
        held = "untyped values" if untyped else f"values of kind {type_.kind!r}"
        msg = (
            f"{condition!r}: column {column!r} holds {held}, which have no order that "
            "all engines share. List the values with is_in([...]), or cast the column "
            "before .dp."
        )
        raise ParameterError(msg)
    coding = Bins if operator in _BY_ORDER else Lookup
    check_fit(
        column,
        coding(condition.values),
        type_,
        untyped=untyped,
        what="values in the query",
    )


def _weighted(
    query: Weights, setting: Setting, schema: Schema
) -> tuple[tuple[str, Coding], ...]:
    codings: list[tuple[str, Coding]] = []
    for column, table in query.tables:
        (coding,) = cells([column], setting, schema).codings
        if len(table) != coding.size:
            msg = (
                f"{column!r} has {coding.size:,} cells in the domain, and weights "
                f"lists {len(table):,}; give one weight for each cell, in their order"
                f"{', the other cell last' if coding.other else ''}."
            )
            raise ParameterError(msg)
        codings.append((column, coding))
    return tuple(codings)


def _sum(query: SumBy, adjacency: Adjacency, setting: Setting, schema: Schema) -> Part:
    lattice = ask(
        query.column,
        Aggregate("sum", query.column, query.bounds),
        setting,
        schema,
    ).lattice
    assert lattice is not None
    if lattice.type.kind == "duration":
        msg = (
            f"sum_by adds numbers, and {query.column!r} holds durations. Cast it to a "
            "number of seconds before .dp."
        )
        raise ParameterError(msg)
    if not query.by:
        return Part(query, adjacency, lattice=lattice)
    keys = cells(query.by, setting, schema, keys=_keys(query))
    return Part(query, adjacency, _codings(keys), keys, lattice)


def _keys(query: SumBy) -> object:
    if query.keys is None:
        return None
    return dict(query.keys) if query.by_column else list(query.keys)


def _check_order(query: Prefixes | Ranges, keys: Keys) -> None:
    if isinstance(keys.codings[0], Lookup):
        msg = (
            f"{query!r} needs cells with an order; {query.column!r} has a list of "
            "keys. Declare it by dpf.integers, dpf.edges or dpf.dates."
        )
        raise ParameterError(msg)
    if (answers := count_cells(query, keys)) > MAX_CELLS:
        msg = (
            f"{query!r} has {answers:,} answers, more than {MAX_CELLS:,}; declare "
            "coarser edges."
        )
        raise ParameterError(msg)
