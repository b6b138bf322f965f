"""Combinations of classes, and which rows of a unit are among them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpframe.domain.coding import Lookup
from dpframe.domain.keys import Keys
from dpframe.domain.lattice import fit_lattice
from dpframe.domain.schema import ColumnType
from dpframe.engines import pandas as pandas_shim
from dpframe.engines import polars as shim
from dpframe.engines import pyarrow as arrow_shim
from dpframe.engines.ingest import ingest
from dpframe.engines.source import draw_key
from dpframe.noise.bits import use_source_for_tests
from dpframe.privacy.unit import ROW, Unit
from dpframe.queries.reduction import (
    Crosstab,
    Cuts,
    Listed,
    Measure,
    Reduction,
    Split,
)
from dpframe.testing.deterministic import ShakeStream

KEY = b"0123456789abcdef"


def table(found):
    """Combination of classes -> rows, and sums."""
    rows, sums = Counter(), Counter()
    for i, classes in enumerate(found.classes.T.tolist()):
        rows[tuple(classes)] += int(found.rows[i])
        sums[tuple(classes)] += sum(int(s[i]) for s in found.sums)
    return rows, sums


def measure(low, high):
    return Measure("x", fit_lattice("x", ColumnType("integer"), (low, high), "sum"))


def test_classes_are_those_between_cuts_and_those_listed():
    frame = pl.DataFrame(
        {"x": [-5, 0, 3, 4, None, 9, 9], "s": ["a", "b", "c", None, "a", "a", "a"]}
    )
    splits = (Split("x", Cuts((0, 4, 9))), Split("s", Listed(("b", "a"))))
    found = ingest(frame).crosstab(Crosstab(ROW, splits, measures=(measure(-2, 5),)))
    rows, sums = table(found.reveal())
    assert rows == {
        (0, 1): 1, (1, 0): 1, (1, 2): 1, (2, 3): 1, (4, 1): 1, (3, 1): 2,
    }  # fmt: skip
    assert sums == {
        (0, 1): -2, (1, 0): 0, (1, 2): 3, (2, 3): 4, (4, 1): 0, (3, 1): 10,
    }  # fmt: skip


def test_no_column_at_all():
    frame = pl.DataFrame({"x": [1, 2, None]})
    found = ingest(frame).crosstab(Crosstab(ROW, (), measures=(measure(0, 9),)))
    assert found.reveal().classes.shape == (0, 1)
    assert found.reveal().rows.tolist() == [3]
    assert found.reveal().sums[0].tolist() == [3]


def test_sums_of_wide_bounds_are_exact():
    frame = pl.DataFrame({"x": [2**62, 2**62, 2**62, -(2**62), 1]})
    wide = Crosstab(ROW, (), measures=(measure(-(2**62), 2**62),))
    assert ingest(frame).crosstab(wide).reveal().sums[0].tolist() == [2**63 + 1]


def test_many_columns_take_several_words():
    columns = {f"c{i}": [0, 1, i % 3, None, 5] for i in range(40)}
    splits = tuple(Split(name, Cuts((1, 2, 3))) for name in columns)
    found = ingest(pl.DataFrame(columns)).crosstab(Crosstab(ROW, splits)).reveal()
    rows, _ = table(found)
    expected = Counter(
        tuple(
            4 if v is None else sum(point <= v for point in (1, 2, 3)) for v in values
        )
        for values in zip(*columns.values(), strict=True)
    )
    assert rows == expected


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_chunks_of_a_frame_add_up(kind, monkeypatch):
    frame = pl.DataFrame({"x": [1, 2, 3, 2, 1, None, 7], "u": list("aabbacc")})
    for module in (arrow_shim, pandas_shim.pyarrow):
        monkeypatch.setattr(module, "CHUNK_ROWS", 3)
    native = frame.to_pandas() if kind == "pandas" else frame.to_arrow()
    for unit in (ROW, Unit("u", max_rows=9)):
        asked = Crosstab(unit, (Split("x", Cuts((2, 3))),), measures=(measure(0, 5),))
        whole, parted = (
            table(ingest(one).crosstab(asked).reveal()) for one in (frame, native)
        )
        assert whole == parted


def test_text_that_no_column_can_hold_is_met_by_no_row():
    listed = Split("s", Listed(("\udc80", 3, "a")))
    for frame in (pl.DataFrame({"s": ["a", "b"]}), pd.DataFrame({"s": ["a", "b"]})):
        rows, _ = table(ingest(frame).crosstab(Crosstab(ROW, (listed,))).reveal())
        assert rows == {(2,): 1, (3,): 1}


# -- which rows ---------------------------------------------------------------------


def people(rows, seed=1):
    """Units with different rows, so that every row can be told by its classes."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "u": rng.integers(0, 20, rows),
            "x": np.arange(rows),
            "s": rng.choice(["a", "b", "c"], rows),
        }
    )


PEOPLE = people(200)
BY_UNIT = Split("u", Cuts(tuple(range(1, 20))))
BY_ROW = Split("x", Cuts(tuple(range(1, 200))))
UNIT = Unit("u", max_rows=3)


def kept(frame, splits=(BY_UNIT, BY_ROW), key=KEY, also=(), unit=UNIT):
    """Unit and row number of every row that counted."""
    found = ingest(frame).crosstab(Crosstab(unit, splits), key, also).reveal()
    assert (found.rows == 1).all()
    return set(map(tuple, found.classes.T.tolist()))


def test_every_unit_keeps_its_bound():
    sizes = Counter(PEOPLE["u"].to_list())
    counted = Counter(unit for unit, _ in kept(PEOPLE))
    assert counted == {unit: min(size, 3) for unit, size in sizes.items()}
    listed = set(zip(PEOPLE["u"], PEOPLE["x"], strict=True))
    assert kept(PEOPLE) <= listed


def test_the_key_decides_and_nothing_but_the_key():
    assert kept(PEOPLE) == kept(PEOPLE)
    assert kept(PEOPLE) != kept(PEOPLE, key=KEY[::-1])
    shuffled = PEOPLE.sample(fraction=1, shuffle=True, seed=3)
    assert kept(PEOPLE) == kept(shuffled)


def test_a_unit_coming_or_going_moves_no_other():
    without = PEOPLE.filter(pl.col("u") != 7)
    assert kept(without) == {(u, x) for u, x in kept(PEOPLE) if u != 7}


def test_a_release_draws_its_own_key():
    asked = Crosstab(UNIT, (BY_UNIT, BY_ROW))
    first, second = (
        ingest(PEOPLE).crosstab(asked).reveal().classes.tolist() for _ in range(2)
    )
    assert sorted(map(tuple, zip(*first, strict=True))) != sorted(
        map(tuple, zip(*second, strict=True))
    )
    assert len(draw_key()) == 16
    with use_source_for_tests(ShakeStream("1")):
        assert draw_key() != draw_key()


def test_columns_by_value_keep_the_same_rows_whatever_is_asked():
    also = ("x", "s")
    rows = kept(PEOPLE, also=also)
    other = Split("s", Listed(("a",)))
    asked = Crosstab(UNIT, (other, BY_UNIT), measures=(measure(0, 10**6),))
    found = ingest(PEOPLE).crosstab(asked, KEY, also).reveal()
    by_unit, summed = Counter(), Counter()
    for (_, unit), n, total in zip(
        found.classes.T.tolist(), found.rows, found.sums[0], strict=True
    ):
        by_unit[unit] += int(n)
        summed[unit] += int(total)
    expected = Counter()
    for unit, x in rows:
        expected[unit] += x
    assert summed == expected
    # and the same rows in a group-by under public keys
    keys = Keys(("s",), (Lookup(("a", "b", "c")),))
    reduction = Reduction(UNIT, keys, rows=True, measures=(measure(0, 10**6),))
    grouped = ingest(PEOPLE).aggregate(reduction, KEY, also).reveal()
    letters = dict(zip(PEOPLE["x"], PEOPLE["s"], strict=True))
    counts = Counter(letters[x] for _, x in rows)
    assert grouped.rows.tolist() == [counts[letter] for letter in "abc"]
    assert grouped.sums[0].sum() == sum(x for _, x in rows)


def test_without_them_other_questions_keep_other_rows():
    """So that the test before can fail."""
    letters = Split("s", Listed(("a",)))
    found = kept(PEOPLE, splits=(BY_UNIT, BY_ROW, letters))
    assert {(unit, x) for unit, x, _ in found} != kept(PEOPLE)


def test_rows_alike_by_value_are_told_apart_by_what_is_asked():
    """The columns by value do not hold x, so its classes must break the ties."""
    frame = PEOPLE.with_columns(s=pl.lit("a"))
    rows = kept(frame, also=("s",))
    for seed in range(3):
        shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)
        assert kept(shuffled, also=("s",)) == rows


def test_columns_by_value_are_read_only_where_rows_are_chosen():
    nested = PEOPLE.with_columns(list=pl.lit(None, dtype=pl.List(pl.Int64)))
    assert kept(nested, also=("x", "list")) == kept(PEOPLE, also=("x",))
    broken = PEOPLE.lazy().with_columns(pl.col("s").cast(pl.Int64).alias("bad"))
    asked = Crosstab(ROW, (BY_UNIT,))
    assert ingest(broken).crosstab(asked, KEY, ("bad",)).reveal().rows.sum() == 200


def test_rows_without_a_unit_or_a_use_take_no_place():
    frame = pl.DataFrame({"u": [1, 1, 1, None], "x": [None, None, 5, 9]})
    unit = Unit("u", max_rows=1)
    for rows, total in ((False, 5), (True, None)):
        asked = Crosstab(unit, (), rows, (measure(0, 9),))
        sums = {
            int(ingest(frame).crosstab(asked, bytes([i]) * 16).reveal().sums[0][0])
            for i in range(12)
        }
        assert sums == ({total} if total else {0, 5})


def test_constant_hash_ties_are_broken_by_the_columns(monkeypatch):
    hash_rows = shim.hash_rows
    monkeypatch.setattr(shim, "hash_rows", lambda *given: hash_rows(*given) * 0)
    rows = kept(PEOPLE)
    for seed in range(3):
        assert kept(PEOPLE.sample(fraction=1, shuffle=True, seed=seed)) == rows
