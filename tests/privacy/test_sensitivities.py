"""The table of sensitivities, by enumeration over the real verbs.

All contents of one unit, up to one row more than its bound, nulls, infinities and an
unlisted key included, go through each verb with no noise; what moves is measured in
all four norms, by pairs under "replace". Every declared figure is attained and none
exceeded, whatever the hash that chooses rows, and whatever the order of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations
from typing import Any

import numpy as np
import polars as pl
import pytest
from helpers_frames import CONVERTERS
from reference_engine import ReferenceSource, install

import dpframe as dpf
from dpframe.engines import polars as shim
from dpframe.mechanisms.noising import Draw, watch_draws
from dpframe.noise.bits import use_source_for_tests
from dpframe.privacy.sensitivity import Sensitivity
from dpframe.testing.deterministic import ShakeStream

Row = tuple[Any, Any]  # key and value
Content = tuple[Row, ...]
Figures = tuple[int, int, int, int]

LOW, MID, HIGH, NULL, NAN = -math.inf, 1.0, math.inf, None, math.nan
UNLISTED = ("unlisted", HIGH)
SCHEMA = {"person": pl.String, "key": pl.String, "value": pl.Float64}
PERSON = "a"
OTHERS = [("z", "a", MID), ("z", "b", MID), ("z", "c", MID), (None, "a", HIGH)]
RELATIONS = ("add_remove", "replace")


@dataclass(frozen=True)
class Release:
    """A row of the table: the verb, who is protected, and the figures in the table.

    ``add_remove`` and ``replace`` are (L1, L2², L0, L∞) as the table has them.
    """

    name: str
    verb: Callable[[Any], Any]
    unit: Any
    bounds: tuple[int, int]
    keys: Sequence[str | None]
    values: tuple[Any, ...]
    add_remove: Figures
    replace: Figures

    @property
    def rows(self) -> list[Row]:
        """All rows: each key with each value; no value, and no listed key."""
        return [
            *((key, value) for key in self.keys for value in self.values),
            (self.keys[0], NULL),
            UNLISTED,
        ]

    def contents(self, most: int | None = None) -> list[Content]:
        """All contents of one unit, the empty one first."""
        if most is None:
            most = 1 if self.unit == "row" else 3
        sizes = range(most + 1)
        return [c for n in sizes for c in combinations_with_replacement(self.rows, n)]

    def draw(self, frame: Any, hash_key: str = "1", relation: str = "replace") -> Draw:
        """Ask with no noise; return the one draw."""
        draws: list[Draw] = []

        def watcher(draw: Draw, perform: Any) -> Any:
            draws.append(draw)
            return draw.exact

        session = dpf.Session(
            1,
            unit=self.unit,
            neighboring=relation,
            domain={"value": dpf.integers(*self.bounds)},
        )
        with use_source_for_tests(ShakeStream(hash_key)), watch_draws(watcher):
            self.verb(dpf.private(frame, session))
        (draw,) = draws
        return draw

    def exact(self, frame: Any, hash_key: str = "1") -> list[int]:
        return np.concatenate(self.draw(frame, hash_key).exact).tolist()

    def declared(self, relation: str) -> Sensitivity:
        return self.draw(world([]), relation=relation).sensitivity

    def measure(
        self,
        contents: Sequence[Content],
        hash_key: str = "1",
        convert: Callable[[pl.DataFrame], Any] = lambda frame: frame,
    ) -> dict[str, Sensitivity]:
        """Return how far one unit moves the exact numbers, under both relations."""
        exact = np.array(
            [self.exact(convert(world(c)), hash_key) for c in contents], dtype=np.int64
        )
        empty = contents.index(())
        return {
            "add_remove": largest(exact - exact[empty]),
            "replace": largest(exact[:, None] - exact[None, :]),
        }


def world(content: Sequence[Row]) -> pl.DataFrame:
    """The rows of the others, with those of the unit among them."""
    mine = [(PERSON, *row) for row in content]
    return pl.DataFrame([*OTHERS[:1], *mine, *OTHERS[1:]], schema=SCHEMA, orient="row")


def largest(moves: np.ndarray) -> Sensitivity:
    size = np.abs(moves)
    return Sensitivity(
        int(size.sum(-1).max()),
        int((size**2).sum(-1).max()),
        int((size > 0).sum(-1).max()),
        int(size.max()),
    )


def unit(m: int | None, g: int | None = None) -> dpf.Unit:
    return dpf.Unit("person", max_rows=m, max_groups=g)


def by(keys: str, verb: str, *args: Any, **options: Any) -> Callable[[Any], Any]:
    def ask(dp: Any) -> Any:
        return getattr(dp.group_by("key", keys=list(keys)), verb)(*args, 1, **options)

    return ask


def whole(verb: str, *args: Any, **options: Any) -> Callable[[Any], Any]:
    return lambda dp: getattr(dp, verb)(*args, 1, **options)


ONE, ENDS, EVERY = (MID,), (LOW, HIGH), (LOW, MID, HIGH, NAN)
Z, B, W = (-1, 2), (3, 5), (0, 3)  # Z = 3 and B = 2; B = Z = 5 and W = 2; W = 3
PU = {"per": "unit"}
ABC, DEF = (*"abc", None), (*"def", None)  # a null key is listed nowhere
V, P, R = "value", "person", Release

# fmt: off
TABLE = [
    # unit, bounds, keys, values; add_remove, replace; m = 2
    R("count", whole("count"),
      unit(2), Z, "a", ONE, (2, 4, 1, 2), (2, 4, 1, 2)),
    R("sum", whole("sum", V),
      unit(2), Z, "a", EVERY, (4, 16, 1, 4), (6, 36, 1, 6)),
    R("sum of positives", whole("sum", V),
      unit(2), B, "a", EVERY, (10, 100, 1, 10), (10, 100, 1, 10)),
    R("mean", whole("mean", V),
      unit(2), W, "a", EVERY, (6, 36, 2, 6), (12, 72, 2, 6)),
    R("variance", whole("variance", V),
      unit(2), W, "a", EVERY, (18, 324, 3, 18), (36, 648, 3, 18)),
    R("std", whole("std", V),
      unit(2), W, "a", EVERY, (18, 324, 3, 18), (36, 648, 3, 18)),
    # m = 2 and no g, so G = 2; three keys cap 2G, four do not
    R("histogram", whole("histogram", by="key", keys=list("abc")),
      unit(2), Z, ABC, ONE, (2, 4, 2, 2), (4, 8, 3, 2)),
    R("group count", by("abcd", "count"),
      unit(2), Z, "abcd", ONE, (2, 4, 2, 2), (4, 8, 4, 2)),
    R("group count, g = 1", by("abc", "count"),
      unit(2, 1), Z, ABC, ONE, (2, 4, 1, 2), (4, 8, 2, 2)),
    R("group sum", by("abc", "sum", V),
      unit(2), Z, "abc", ENDS, (4, 16, 2, 4), (8, 36, 3, 6)),
    R("group sum of positives", by("abc", "sum", V),
      unit(2, 1), B, "abc", (HIGH,), (10, 100, 1, 10), (20, 200, 2, 10)),
    R("group mean", by("abc", "mean", V),
      unit(2), W, "abc", (MID, HIGH), (6, 36, 4, 6), (12, 72, 6, 6)),
    R("group mean, g = 1", by("ab", "mean", V),
      unit(2, 1), W, "ab", (LOW, MID, HIGH), (6, 36, 2, 6), (12, 72, 4, 6)),
    R("group variance", by("ab", "variance", V),
      unit(2, 1), W, "ab", (LOW, MID, HIGH), (18, 324, 3, 18), (36, 648, 6, 18)),
    # units and values; here g may stand alone
    R("units per key, three", by("abc", "n_unique", P),
      unit(None, 2), Z, ABC, ONE, (2, 2, 2, 1), (3, 3, 3, 1)),
    R("units per key, four", by("abcd", "n_unique", P),
      unit(2), Z, "abcd", ONE, (2, 2, 2, 1), (4, 4, 4, 1)),
    R("distinct values", whole("n_unique", "key"),
      unit(None, 2), Z, DEF, ONE, (2, 4, 1, 2), (2, 4, 1, 2)),
    R("distinct units", whole("n_unique", P),
      unit(2), Z, "ab", ONE, (1, 1, 1, 1), (1, 1, 1, 1)),
    # totals of units; without keys neither bound is used
    R("sum per unit", whole("sum", V, **PU),
      unit(None), Z, "a", EVERY, (2, 4, 1, 2), (3, 9, 1, 3)),
    R("mean per unit", whole("mean", V, **PU),
      unit(None), W, "a", EVERY, (3, 9, 2, 3), (6, 18, 2, 3)),
    R("variance per unit", whole("variance", V, **PU),
      unit(None), W, "a", EVERY, (9, 81, 3, 9), (18, 162, 3, 9)),
    R("group sum per unit, three", by("abc", "sum", V, **PU),
      unit(None, 2), Z, "abc", ENDS, (4, 8, 2, 2), (7, 18, 3, 3)),
    R("group sum per unit, four", by("abcd", "sum", V, **PU),
      unit(None, 2), Z, "abcd", ENDS, (4, 8, 2, 2), (8, 18, 4, 3)),
    R("group sum of positives per unit", by("abc", "sum", V, **PU),
      unit(None, 1), B, "abc", (HIGH,), (5, 25, 1, 5), (10, 50, 2, 5)),
    R("group mean per unit", by("ab", "mean", V, **PU),
      unit(None, 1), W, "ab", (LOW, MID, HIGH), (3, 9, 2, 3), (6, 18, 4, 3)),
    R("group variance per unit", by("ab", "variance", V, **PU),
      unit(None, 1), W, "ab", (LOW, MID, HIGH), (9, 81, 3, 9), (18, 162, 6, 9)),
    # the unit is the row: m = g = 1
    R("row count", whole("count"),
      "row", Z, "a", EVERY, (1, 1, 1, 1), (1, 1, 1, 1)),
    R("row sum", whole("sum", V),
      "row", Z, "a", EVERY, (2, 4, 1, 2), (3, 9, 1, 3)),
    R("row mean", whole("mean", V),
      "row", W, "a", EVERY, (3, 9, 2, 3), (6, 18, 2, 3)),
    R("row variance", whole("variance", V),
      "row", W, "a", EVERY, (9, 81, 3, 9), (18, 162, 3, 9)),
    R("row histogram", whole("histogram", by="key", keys=list("abc")),
      "row", Z, ABC, ONE, (1, 1, 1, 1), (2, 2, 2, 1)),
    R("row group sum", by("abc", "sum", V),
      "row", Z, "abc", EVERY, (2, 4, 1, 2), (4, 9, 2, 3)),
    R("row group sum of positives", by("abc", "sum", V),
      "row", B, "abc", EVERY, (5, 25, 1, 5), (10, 50, 2, 5)),
    R("row group mean", by("abc", "mean", V),
      "row", W, "abc", EVERY, (3, 9, 2, 3), (6, 18, 4, 3)),
    R("row group variance", by("abc", "variance", V),
      "row", W, "abc", EVERY, (9, 81, 3, 9), (18, 162, 6, 9)),
    R("row distinct values", whole("n_unique", "key"),
      "row", Z, DEF, ONE, (1, 1, 1, 1), (1, 1, 1, 1)),
]
# fmt: on
NAMED = {release.name: release for release in TABLE}


def figures(sensitivity: Sensitivity) -> tuple[int, int, int, int]:
    return (
        sensitivity.l1,
        sensitivity.l2_squared,
        sensitivity.l0,
        sensitivity.linf,
    )


@pytest.fixture
def constant_hash(monkeypatch):
    """A hash that chooses nothing: ties, and so the columns, decide."""
    hash_rows = shim.hash_rows

    def constant(*args: Any) -> Any:
        return hash_rows(*args) * 0

    monkeypatch.setattr(shim, "hash_rows", constant)


@pytest.mark.parametrize("release", TABLE, ids=NAMED)
def test_declared_sensitivity_is_that_of_the_table(release):
    assert figures(release.declared("add_remove")) == release.add_remove
    assert figures(release.declared("replace")) == release.replace


@pytest.mark.parametrize("release", TABLE, ids=NAMED)
def test_declared_sensitivity_is_attained_and_not_exceeded(release):
    for relation, measured in release.measure(release.contents()).items():
        assert measured == release.declared(relation)


#: Where a unit has to choose: contents beyond its bounds.
CHOOSING = [
    "count", "sum", "mean", "group count", "group count, g = 1", "group sum",
    "group mean, g = 1", "units per key, three", "distinct values",
    "group sum per unit, three",
]  # fmt: skip


ORDERED = [
    "sum", "group count, g = 1", "group mean, g = 1", "units per key, three",
    "distinct values",
]  # fmt: skip


@pytest.mark.parametrize("hash_key", ["2", "3"])
@pytest.mark.parametrize("name", CHOOSING)
def test_sensitivity_does_not_depend_on_the_key(name, hash_key):
    release = NAMED[name]
    for relation, measured in release.measure(few(release), hash_key).items():
        assert_within(measured, release.declared(relation))


@pytest.mark.parametrize("name", CHOOSING)
def test_sensitivity_does_not_depend_on_the_hash(name, constant_hash):
    release = NAMED[name]
    for relation, measured in release.measure(few(release)).items():
        assert_within(measured, release.declared(relation))


def kept_by_keys(release: Release, content: Content) -> set[tuple[int, ...]]:
    return {tuple(release.exact(world(content), str(key))) for key in range(12)}


def test_keys_choose_differently():
    """Otherwise the tests of other keys would show nothing."""
    content = tuple((key, MID) for key in "abc")
    assert len(kept_by_keys(NAMED["group count, g = 1"], content)) > 1


def test_constant_hash_chooses_alike(constant_hash):
    content = tuple((key, MID) for key in "abc")
    assert len(kept_by_keys(NAMED["group count, g = 1"], content)) == 1


@pytest.mark.parametrize(
    "library", [name for name in CONVERTERS if name != "polars eager"]
)
@pytest.mark.parametrize("name", ["sum", "group count, g = 1", "row group mean"])
def test_sensitivity_holds_on_every_library(name, library):
    release = NAMED[name]
    measured = release.measure(few(release), convert=CONVERTERS[library])
    for relation, moved in measured.items():
        assert_within(moved, release.declared(relation))


@pytest.mark.parametrize("name", ORDERED)
@pytest.mark.parametrize("constant", [False, True])
def test_order_of_rows_is_all_one(name, constant, request):
    """Ties are broken by the columns, never by position."""
    if constant:
        request.getfixturevalue("constant_hash")
    assert differing_orders(NAMED[name]) == 0


def few(release: Release) -> list[Content]:
    """Every eleventh content, the empty one first."""
    return [(), *release.contents()[1::11]]


def assert_within(measured: Sensitivity, declared: Sensitivity) -> None:
    assert all(
        m <= d for m, d in zip(figures(measured), figures(declared), strict=True)
    )


def differing_orders(release: Release) -> int:
    """Count orders of the rows that give other exact numbers."""
    found = 0
    listed = [set(content) - {UNLISTED} for content in release.contents()]
    varied = sorted(
        zip(listed, release.contents(), strict=True), key=lambda p: -len(p[0])
    )
    for _, content in varied[:40:20]:
        mine = [(PERSON, *row) for row in content]
        frame = pl.DataFrame([OTHERS[0], *mine], schema=SCHEMA, orient="row")
        orders = permutations(range(frame.height))
        exact = [release.exact(frame[list(order)]) for order in orders]
        found += sum(e != exact[0] for e in exact)
    return found


# -- planted faults ------------------------------------------------------------


class GroupedByHash(ReferenceSource):
    """A hash with collisions, taken for the unit itself."""

    def owner(self, value):
        return None if value is None else 0


class TiedByPosition(ReferenceSource):
    """Among equal hashes, and all are equal here, the first rows are kept."""

    def limit_rows(self, rows, most):
        units = dict.fromkeys(row.unit for row in rows)
        return [r for u in units for r in [x for x in rows if x.unit == u][:most]]


class RowsBeforeGroups(TiedByPosition):
    def bounded(self, rows, groups, most):
        rows = rows if most is None else self.limit_rows(rows, most)
        return rows if groups is None else self.limit_groups(rows, groups)


class RowsNotLimited(ReferenceSource):
    def limit_rows(self, rows, most):
        return rows


class RowsLimitedInEachGroup(ReferenceSource):
    def limit_rows(self, rows, most):
        kept = []
        for cell in dict.fromkeys(row.cell for row in rows):
            kept += super().limit_rows([r for r in rows if r.cell == cell], most)
        return kept


class GroupsNotLimited(ReferenceSource):
    def limit_groups(self, rows, most):
        return rows


class NaNAsTheLeastInteger(ReferenceSource):
    def is_usable(self, value):
        return value is not None

    def steps(self, value, lattice):
        return -(2**40) if value != value else super().steps(value, lattice)


EXCEEDING = {
    "group count": GroupedByHash,
    "count": RowsNotLimited,
    "group sum": RowsLimitedInEachGroup,
    "group sum per unit, three": GroupsNotLimited,
    "sum": NaNAsTheLeastInteger,
}


@pytest.mark.parametrize("name", [*EXCEEDING, "sum of positives"])
def test_reference_engine_without_fault_passes(monkeypatch, name):
    install(monkeypatch, ReferenceSource)
    release = NAMED[name]
    for relation, measured in release.measure(release.contents()).items():
        assert measured == release.declared(relation)


@pytest.mark.parametrize("name", EXCEEDING)
def test_fault_that_moves_too_much_is_seen(monkeypatch, name):
    install(monkeypatch, EXCEEDING[name])
    release = NAMED[name]
    measured = release.measure(release.contents())
    assert measured["add_remove"].l1 > release.declared("add_remove").l1


def test_replace_sensitivity_without_nothing_is_seen(monkeypatch):
    """Ui - Li forgets that a row may turn null."""
    monkeypatch.setattr(
        "dpframe.privacy.sensitivity._span", lambda low, high: high - low
    )
    release = NAMED["sum of positives"]
    measured = release.measure(release.contents())
    assert measured["replace"].l1 > release.declared("replace").l1


@pytest.mark.parametrize("fault", [TiedByPosition, RowsBeforeGroups])
def test_choice_by_position_is_seen(monkeypatch, fault):
    install(monkeypatch, fault)
    assert differing_orders(NAMED["group mean, g = 1"]) > 0


def test_reference_engine_chooses_whatever_the_order(monkeypatch):
    install(monkeypatch, ReferenceSource)
    assert differing_orders(NAMED["group mean, g = 1"]) == 0
