"""Pairs of tiny neighboring frames, the kind that breaks differential privacy.

They are drawn from a public template and from the special values of its column types:
not at random among likely frames, but where implementations go wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, final

import polars as pl

from dpframe.errors import ParameterError
from dpframe.privacy.unit import Neighboring, Unit, as_neighboring, as_unit
from dpframe.testing.deterministic import ShakeStream
from dpframe.testing.special import SPECIAL, special

__all__ = ["Pair", "neighbours"]

T = TypeVar("T")
Row = dict[str, Any]

_MOST_OTHERS = 4  # rows of other units
_MOST_ROWS = 4  # rows of the unit that differs, unless its bounds ask for more


@final
@dataclass(frozen=True, slots=True)
class Pair:
    """Two frames that differ by one privacy unit.

    Parameters
    ----------
    frame, neighbour : polars.DataFrame
        Of the template's columns; alike in schema.
    what : str
        What is special about them, for messages.
    """

    frame: pl.DataFrame
    neighbour: pl.DataFrame
    what: str


@final
class _Dice:
    """Choices that a seed repeats."""

    def __init__(self, seed: int | str) -> None:
        self._stream = ShakeStream(seed)

    def below(self, n: int) -> int:
        return int.from_bytes(self._stream(8), "little") % n

    def choice(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in items]


@final
@dataclass(slots=True)
class _World:
    """The rows of a pair before they are frames, for a case to work on."""

    dice: _Dice
    template: list[Row]
    unit: Unit
    others: list[Row]
    mine: list[Row]
    schema: pl.Schema


def neighbours(
    frame: pl.DataFrame,
    *,
    unit: str | Unit = "row",
    neighboring: Neighboring = "add_remove",
    seed: int | str = 0,
    count: int = 100,
) -> Iterator[Pair]:
    """Generate pairs of frames that differ by one privacy unit.

    The cases take turns: the empty frame, one row, a far outlier, ties, duplicates,
    NaN, infinities, nulls, negative zero, the least and greatest values of the type,
    keys never seen, null units, units beyond their bounds, Float32, other chunks and
    other row orders; under "replace" also rows exchanged for others, fewer or none.

    Parameters
    ----------
    frame : polars.DataFrame
        A public template: ordinary values for every column, with those at the bounds
        among them; at least two units.
    unit : "row" or Unit
        Whom the frames differ by.
    neighboring : {"add_remove", "replace"}
        How.
    seed : int or str
        Repeats the pairs.
    count : int
        Number of pairs.

    Yields
    ------
    Pair

    Raises
    ------
    ParameterError
        If the template has too few units.

    Examples
    --------
    >>> import polars as pl
    >>> from dpframe.testing import neighbours
    >>> template = pl.DataFrame({"age": [17, 90, 40]})
    >>> [pair.what for pair in neighbours(template, count=3)]
    ['empty', 'one row', 'ordinary']
    """
    owner, relation = as_unit(unit), as_neighboring(neighboring)
    template = frame.rows(named=True)
    ids = _ids(template, owner)
    if len(ids) < 2:
        msg = "the template needs at least two rows, and two units, to draw from."
        raise ParameterError(msg)
    cases = list(_CASES.items())
    dice = _Dice(seed)
    for number in range(count):
        what, case = cases[number % len(cases)]
        mine = dice.choice(ids)
        world = _world(dice, template, owner, mine, frame.schema)
        case(world)
        exchanged = _exchanged(world, relation, ids, mine)
        yield _pair(world, exchanged, what)


def _ids(template: list[Row], unit: Unit) -> list[Any]:
    """Units to choose from: ids, or for rows their positions."""
    if unit.is_row:
        return list(range(len(template)))
    ids = dict.fromkeys(row[unit.column] for row in template)
    return [i for i in ids if i is not None]


def _world(
    dice: _Dice, template: list[Row], unit: Unit, mine: Any, schema: pl.Schema
) -> _World:
    """Ordinary rows of several others, and of the unit that differs."""
    if unit.is_row:
        others, rows = template, 1
    else:
        others = [row for row in template if row[unit.column] != mine]
        rows = 1 + dice.below(_MOST_ROWS)
    return _World(
        dice,
        template,
        unit,
        [dict(dice.choice(others)) for _ in range(dice.below(_MOST_OTHERS + 1))],
        _rows_of(dice, template, unit, mine, rows),
        schema,
    )


def _rows_of(
    dice: _Dice, template: list[Row], unit: Unit, mine: Any, rows: int
) -> list[Row]:
    drawn = [dict(dice.choice(template)) for _ in range(rows)]
    return drawn if unit.is_row else [row | {unit.column: mine} for row in drawn]


def _exchanged(
    world: _World, relation: Neighboring, ids: list[Any], mine: Any
) -> list[Row]:
    """Rows in the unit's place: none, or under "replace" any, by whomever owns them."""
    dice, unit = world.dice, world.unit
    if relation == "add_remove" or not dice.below(3):
        return []
    absent = [i for i in ids if all(row.get(unit.column) != i for row in world.others)]
    owner = mine if unit.is_row else dice.choice(absent)
    rows = 1 if unit.is_row else 1 + dice.below(_MOST_ROWS)
    return _rows_of(dice, world.template, unit, owner, rows)


def _pair(world: _World, exchanged: list[Row], what: str) -> Pair:
    dice = world.dice
    mine = _placed(dice, world.others, world.mine)
    theirs = _placed(dice, world.others, exchanged)
    if what == "other row order":
        theirs = dice.shuffled(theirs)
    schema = world.schema
    if what == "float32":
        types = {n: pl.Float32() if t.is_float() else t for n, t in schema.items()}
        schema = pl.Schema(types)
    pieces = what == "other chunks"
    first, second = _frame(mine, schema), _frame(theirs, schema, pieces=pieces)
    if dice.below(2):
        first, second = second, first
    return Pair(first, second, what)


def _placed(dice: _Dice, others: list[Row], mine: list[Row]) -> list[Row]:
    """Put the unit's rows somewhere among the others, whose order stays."""
    rows = list(others)
    for row in mine:
        rows.insert(dice.below(len(rows) + 1), row)
    return rows


def _frame(rows: list[Row], schema: pl.Schema, *, pieces: bool = False) -> pl.DataFrame:
    if pieces and len(rows) > 1:
        return pl.concat([_frame([row], schema) for row in rows], rechunk=False)
    columns = {name: [row[name] for row in rows] for name in schema}
    return pl.DataFrame(columns, schema=schema, strict=False)


# -- cases ---------------------------------------------------------------------


def _ordinary(world: _World) -> None:
    """Leave the template's values as drawn, those at the bounds among them."""


def _empty(world: _World) -> None:
    world.others = []


def _one_row(world: _World) -> None:
    world.others = world.others[:1]
    world.mine = world.mine[:1]


def _tie(world: _World) -> None:
    """Let another unit have the same rows."""
    column = world.unit.column
    kept = {} if world.unit.is_row else {column: _another(world)}
    world.others += [row | kept for row in world.mine]


def _duplicate(world: _World) -> None:
    """Repeat rows of the unit; rows are repeated among the others."""
    copies = [dict(row) for row in world.mine]
    if world.unit.is_row:
        world.others += copies
    else:
        world.mine += copies


def _null_unit(world: _World) -> None:
    if world.unit.is_row:
        world.mine = [dict.fromkeys(world.schema)]
    else:
        world.mine = [row | {world.unit.column: None} for row in world.mine]


def _beyond_bounds(world: _World) -> None:
    """More rows, in more groups, than any unit may have."""
    if world.unit.is_row:
        return
    bound = max(world.unit.max_rows or 0, world.unit.max_groups or 0)
    mine = world.mine[0][world.unit.column]
    drawn = world.dice.shuffled(world.template) * (bound + 2)
    rows = drawn[: bound + 1 + world.dice.below(3)]
    world.mine = [row | {world.unit.column: mine} for row in rows]


def _another(world: _World) -> Any:
    mine = world.mine[0][world.unit.column]
    ids = [i for i in _ids(world.template, world.unit) if i != mine]
    return world.dice.choice(ids)


def _specials(kind: str) -> Callable[[_World], None]:
    """Put special values into some columns of the unit, now and then of another."""

    def case(world: _World) -> None:
        dice = world.dice
        columns = [
            (name, values)
            for name, dtype in world.schema.items()
            if (world.unit.is_row or name != world.unit.column)
            and (values := special(kind, dtype))
        ]
        if not columns:
            return
        for row in [*world.mine, *world.others[: dice.below(2)]]:
            name, values = dice.choice(columns)
            row[name] = dice.choice(values)
            for name, values in columns:
                if dice.below(2):
                    row[name] = dice.choice(values)

    return case


_CASES: dict[str, Callable[[_World], None]] = {
    "empty": _empty,
    "one row": _one_row,
    "ordinary": _ordinary,
    "tie": _tie,
    "duplicate": _duplicate,
    "null unit": _null_unit,
    "beyond the bounds": _beyond_bounds,
    "float32": _ordinary,
    "other chunks": _ordinary,
    "other row order": _ordinary,
    **{kind: _specials(kind) for kind in SPECIAL},
}
