"""How far one unit moves the answers of a list of queries, by enumeration.

All contents of one unit, and some with one row more than its bound, go through each
list; the declared sensitivity, its direction and, for one block of cells, the sum over
all answers are attained and never exceeded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from typing import Any

import numpy as np
import polars as pl
import pytest
from helpers_frames import CONVERTERS
from reference_engine import ReferenceSource

import dpframe as dpf
from dpframe.engines import polars as shim
from dpframe.engines.ingest import ingest
from dpframe.mechanisms.questions import Questions, resolve
from dpframe.mechanisms.request import Setting
from dpframe.privacy.accountants import open_accountant
from dpframe.privacy.unit import ROW, Unit

LOW, MID, HIGH, NULL = -math.inf, 1.0, math.inf, None
ROWS = [
    *(("a", value) for value in (LOW, MID, HIGH, NULL)),
    ("b", HIGH),
    (None, MID),
    ("unlisted", HIGH),
]
SCHEMA = {"person": pl.String, "key": pl.String, "value": pl.Float64}
OTHERS = [("z", "a", MID), ("z", "b", MID), (None, "a", HIGH), ("y", "b", NULL)]
DOMAIN = dpf.Domain({"key": ["a", "b"], "value": dpf.integers(-1, 2)})
PERSON = Unit("person", max_rows=2)
RELATIONS = ("add_remove", "replace")
STEPS = 2**20

c = dpf.col
COUNTS = [
    c("key") == "a",
    ~(c("key") == "a") & (c("value") >= 1),
    c("value").is_null(),
    c("value").is_not_null() | (c("key") == "b"),
]


def total(low: int, high: int) -> Any:
    return dpf.sum_by([], "value", bounds=(low, high))


def by_key(low: int, high: int) -> Any:
    return dpf.sum_by("key", "value", bounds=(low, high))


@dataclass(frozen=True)
class List:
    """A list of queries; sensitivity, direction and L1, by relation."""

    name: str
    queries: Any
    unit: Unit
    add_remove: tuple[int, int, int | None]
    replace: tuple[int, int, int | None]

    def resolved(self, relation: str) -> Questions:
        setting = Setting(self.unit, relation, open_accountant(1), DOMAIN)
        return resolve(self.queries, setting, ingest(world(())).schema)

    def exact(
        self, frame: Any, key: bytes = b"1" * 16, source: Any = ingest
    ) -> np.ndarray:
        questions = self.resolved("replace")
        found = questions.reduce(source(frame), key).reveal()
        return questions.answers(found)

    def contents(self) -> list[Any]:
        """All contents within the bound, the empty one first, and some beyond it."""
        bound = self.unit.max_rows or 1
        contents = [list(combinations_with_replacement(ROWS, n)) for n in range(4)]
        beyond = contents[bound + 1][::5]
        within = [content for size in contents[: bound + 1] for content in size]
        return within if self.unit is ROW else within + beyond

    def moves(self, contents: Any, **options: Any) -> dict[str, np.ndarray]:
        """Return moves of all answers by relation; "add_remove" by adding."""
        exact = np.array([self.exact(world(c), **options) for c in contents])
        return {
            "add_remove": exact - exact[0],
            "replace": (exact[:, None] - exact).reshape(-1, exact.shape[1]),
        }


def world(content: Any) -> pl.DataFrame:
    mine = [("x", *row) for row in content]
    return pl.DataFrame([OTHERS[0], *mine, *OTHERS[1:]], schema=SCHEMA, orient="row")


KEYS = list(dpf.marginals("key"))
TABLE = [
    # the unit has m = 2 rows
    List("counts", COUNTS, PERSON, (2, 1, None), (2, 0, None)),
    List("one count", COUNTS[:1], PERSON, (2, 1, 2), (2, 0, 2)),
    List("column of keys", "key", PERSON, (2, 1, 2), (2, 0, 4)),
    List("keys and counts", KEYS + COUNTS, PERSON, (2, 1, None), (2, 0, None)),
    List("cdf", dpf.cdf("value"), PERSON, (2, 1, None), (2, 0, None)),
    List("ranges", dpf.ranges("value"), PERSON, (2, 1, None), (2, 0, None)),
    List("sum", [total(-1, 2)], PERSON, (4, 0, 4), (6, 0, 6)),
    List("positive", [total(3, 5)], PERSON, (10, 1, 10), (10, 0, 10)),
    List("negative", [total(-5, -3)], PERSON, (10, -1, 10), (10, 0, 10)),
    List("sums by key", by_key(-1, 2), PERSON, (4, 0, 4), (6, 0, 8)),
    List("positive by key", by_key(3, 5), PERSON, (10, 1, 10), (10, 0, 20)),
    List("negative by key", by_key(-2, -2), PERSON, (4, -1, 4), (4, 0, 8)),
    List("counts, sums", [*COUNTS, total(0, 3)], PERSON, (6, 1, None), (6, 0, None)),
    List("mixed", [*COUNTS, total(-3, -1)], PERSON, (6, 0, None), (6, 0, None)),
    List(
        "weights",
        [dpf.weights({"key": [1, 0.3], "value": [0.1, 0.2, 0.7, 1]})],
        PERSON,
        (2 * STEPS, 1, 2 * STEPS),
        (2 * STEPS, 0, 2 * STEPS),
    ),
    List(
        "weights and counts",
        [dpf.weights({"key": [0.5, 0.3]}), *COUNTS],
        PERSON,
        (2 * STEPS, 1, None),
        (2 * STEPS, 0, None),
    ),
    # the unit is the row
    List("row counts", COUNTS, ROW, (1, 1, None), (1, 0, None)),
    List("row keys", "key", ROW, (1, 1, 1), (1, 0, 2)),
    List("row sum", [total(-1, 2)], ROW, (2, 0, 2), (3, 0, 3)),
    List("row sums by key", by_key(-1, 2), ROW, (2, 0, 2), (3, 0, 4)),
    List("row negative", [total(-5, -3)], ROW, (5, -1, 5), (5, 0, 5)),
    # one key of a unit in a release
    List(
        "keys, g = 1",
        "key",
        Unit("person", max_rows=2, max_groups=1),
        (2, 1, 2),
        (2, 0, 4),
    ),
]
NAMED = {one.name: one for one in TABLE}


@pytest.fixture
def constant_hash(monkeypatch):
    hash_rows = shim.hash_rows
    monkeypatch.setattr(shim, "hash_rows", lambda *given: hash_rows(*given) * 0)


@pytest.mark.parametrize("one", TABLE, ids=NAMED)
@pytest.mark.parametrize("relation", RELATIONS)
def test_declared_figures_are_those_of_the_design(one, relation):
    questions = one.resolved(relation)
    declared = (questions.sensitivity, questions.sign, questions.l1)
    assert declared == getattr(one, relation)
    assert questions.monotone == (questions.sign != 0)


@pytest.mark.parametrize("one", TABLE, ids=NAMED)
def test_declared_figures_are_attained_and_not_exceeded(one):
    for relation, moves in one.moves(one.contents()).items():
        sensitivity, sign, l1 = getattr(one, relation)
        assert np.abs(moves).max() == sensitivity
        if l1 is not None:
            assert np.abs(moves).sum(-1).max() == l1
        assert (moves.max() <= 0) == (sign == -1)
        assert (moves.min() >= 0) == (sign == 1)


CHOOSING = ["counts", "column of keys", "sums by key", "mixed", "keys, g = 1"]


@pytest.mark.parametrize("name", CHOOSING)
@pytest.mark.parametrize("key", [b"2" * 16, b"3" * 16])
def test_no_key_makes_a_unit_move_more(name, key):
    assert_within(NAMED[name], key=key)


@pytest.mark.parametrize("name", CHOOSING)
def test_no_hash_makes_a_unit_move_more(name, constant_hash):
    assert_within(NAMED[name])


@pytest.mark.parametrize("library", CONVERTERS)
@pytest.mark.parametrize("name", ["counts", "mixed"])
def test_no_library_makes_a_unit_move_more(name, library):
    assert_within(NAMED[name], source=lambda frame: ingest(CONVERTERS[library](frame)))


def assert_within(one: List, **options: Any) -> None:
    few = [(), *one.contents()[1::5]]
    for relation, moves in one.moves(few, **options).items():
        sensitivity, sign, l1 = getattr(one, relation)
        assert np.abs(moves).max() <= sensitivity
        assert l1 is None or np.abs(moves).sum(-1).max() <= l1
        assert sign != 1 or moves.min() >= 0


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("name", ["counts", "mixed", "sums by key"])
def test_order_of_rows_is_all_one(name, constant, request):
    if constant:
        request.getfixturevalue("constant_hash")
    assert orders(NAMED[name]) == 1


def orders(one: List, source: Any = ingest) -> int:
    """Return how many answers the orders of one unit's rows have."""
    frame = world([("a", LOW), ("b", HIGH), (None, MID), ("b", NULL)])[1:5]
    found = {
        tuple(one.exact(frame[list(order)], source=source))
        for order in permutations(range(4))
    }
    return len(found)


# -- planted faults --------------------------------------------------------------


class RowsNotLimited(ReferenceSource):
    def limit_rows(self, rows, most):
        return rows


class TiedByPosition(ReferenceSource):
    def limit_rows(self, rows, most):
        units = dict.fromkeys(row.unit for row in rows)
        return [r for u in units for r in [x for x in rows if x.unit == u][:most]]


@pytest.mark.parametrize("name", ["counts", "mixed", "ranges"])
def test_reference_engine_without_fault_passes(name):
    one = NAMED[name]
    for relation, moves in one.moves(one.contents(), source=ReferenceSource).items():
        assert np.abs(moves).max() == getattr(one, relation)[0]
    assert orders(one, ReferenceSource) == 1


def test_rows_beyond_the_bound_are_seen():
    one = NAMED["counts"]
    moves = one.moves(one.contents(), source=RowsNotLimited)
    assert np.abs(moves["add_remove"]).max() > one.add_remove[0]


def test_choice_by_position_is_seen():
    assert orders(NAMED["counts"], TiedByPosition) > 1


def test_reference_engine_agrees_with_the_engine():
    """Nothing is limited here, so that no hash decides."""
    one = List("all", NAMED["mixed"].queries, ROW, (0, 0, None), (0, 0, None))
    for content in one.contents():
        expected = one.exact(world(content), source=ReferenceSource)
        assert one.exact(world(content)).tolist() == expected.tolist()


def test_grid_is_the_common_step():
    assert NAMED["weights and counts"].resolved("replace").grid == Fraction(1, STEPS)
    assert NAMED["mixed"].resolved("replace").grid == 1
