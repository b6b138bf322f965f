from __future__ import annotations

import math
from collections import Counter

import polars as pl
import pytest

from dpframe.errors import ParameterError
from dpframe.privacy.unit import Unit
from dpframe.testing import neighbours

TEMPLATE = pl.DataFrame(
    {
        "person": ["a", "a", "b", "c", None, "d"],
        "age": [17, 90, 40, 16, 91, 40],
        "pay": [0.0, 100.0, 50.5, -7.0, None, 1.0],
        "sex": ["F", "M", "X", "F", "M", None],
    }
)
PERSON = Unit("person", max_rows=2, max_groups=1)
SETTINGS = [
    (unit, relation)
    for unit in ("row", PERSON)
    for relation in ("add_remove", "replace")
]


def rows(frame):
    """The rows as a multiset in which NaN equals itself and -0.0 is not 0.0."""
    return Counter(map(repr, frame.rows()))


def differing(pair):
    one, other = rows(pair.frame), rows(pair.neighbour)
    return one - other, other - one


@pytest.mark.parametrize(("unit", "relation"), SETTINGS)
def test_pairs_are_tiny_and_alike_in_schema(unit, relation):
    pairs = list(neighbours(TEMPLATE, unit=unit, neighboring=relation, count=170))
    assert len(pairs) == 170
    for pair in pairs:
        assert pair.frame.schema == pair.neighbour.schema
        assert pair.frame.columns == TEMPLATE.columns
        assert pair.frame.height < 20


def test_rows_differ_by_one_row():
    for pair in neighbours(TEMPLATE, count=170):
        gone, come = differing(pair)
        assert sorted([gone.total(), come.total()]) == [0, 1]


def test_exchanged_rows_are_one_for_at_most_one():
    kinds = Counter()
    for pair in neighbours(TEMPLATE, neighboring="replace", count=340):
        gone, come = differing(pair)
        assert max(gone.total(), come.total()) <= 1
        kinds[gone.total(), come.total()] += 1
    assert min(kinds[1, 1], kinds[0, 1], kinds[1, 0]) > 30


def owners(pair):
    """Units whose rows differ, on either side; null ids are nobody's."""
    found = []
    for frame, other in ((pair.frame, pair.neighbour), (pair.neighbour, pair.frame)):
        here, there = (
            {
                key[0]: rows(part)
                for key, part in f.partition_by("person", as_dict=True).items()
            }
            for f in (frame, other)
        )
        found.append({u for u in here if u is not None and here[u] != there.get(u)})
    return found


def test_units_differ_by_all_rows_of_one():
    sizes = set()
    for pair in neighbours(TEMPLATE, unit=PERSON, count=340):
        gone, come = owners(pair)
        assert len(gone | come) <= 1
        assert not (gone and come)
        gone_rows, come_rows = differing(pair)
        sizes.add(gone_rows.total() + come_rows.total())
    assert max(sizes) > 2 * PERSON.max_rows


def test_exchanged_units_are_one_for_one():
    exchanged = 0
    for pair in neighbours(TEMPLATE, unit=PERSON, neighboring="replace", count=340):
        gone, come = owners(pair)
        assert max(len(gone), len(come)) <= 1
        exchanged += gone != come and bool(gone and come)
    assert exchanged > 30


def test_same_seed_same_pairs():
    def shown(seed):
        pairs = neighbours(TEMPLATE, unit=PERSON, seed=seed, count=60)
        return [(p.what, rows(p.frame), rows(p.neighbour)) for p in pairs]

    assert shown(5) == shown(5)
    assert shown(5) != shown(6)


@pytest.fixture(scope="module")
def by_case():
    found = {}
    for unit, relation in SETTINGS:
        for pair in neighbours(TEMPLATE, unit=unit, neighboring=relation, count=510):
            found.setdefault(pair.what, []).append((unit, pair))
    return found


def values(pairs, column):
    return [v for _, p in pairs for f in (p.frame, p.neighbour) for v in f[column]]


def test_every_case_is_what_it_says(by_case):
    assert len(by_case) == 17
    assert all(
        min(p.frame.height, p.neighbour.height) <= 8 for _, p in by_case["empty"]
    )
    assert any(0 in (p.frame.height, p.neighbour.height) for _, p in by_case["empty"])
    assert all(p.frame.height <= 5 for u, p in by_case["one row"] if u == "row")
    assert any(math.isnan(v) for v in values(by_case["NaN"], "pay") if v is not None)
    assert {math.inf, -math.inf} <= set(values(by_case["infinity"], "pay"))
    zeros = [v for v in values(by_case["negative zero"], "pay") if v == 0]
    assert {math.copysign(1, v) for v in zeros} == {1, -1}
    assert {2**63 - 1, -(2**63)} <= set(values(by_case["end of the type"], "age"))
    assert None in values(by_case["null"], "age")
    assert "never seen" in values(by_case["rare key"], "sex")
    assert 1e30 in values(by_case["far outlier"], "pay")


def test_frames_are_laid_out_differently(by_case):
    for _, pair in by_case["float32"]:
        assert pair.frame.schema["pay"] == pl.Float32
    chunks = [
        f.n_chunks() for _, p in by_case["other chunks"] for f in (p.frame, p.neighbour)
    ]
    assert max(chunks) > 1
    assert min(chunks) == 1


def test_null_units_and_units_beyond_their_bounds(by_case):
    nulls = [p for u, p in by_case["null unit"] if u is PERSON]
    assert any(p.frame["person"].null_count() for p in nulls)
    sizes = [
        max(Counter(f["person"].drop_nulls()).values(), default=0)
        for u, p in by_case["beyond the bounds"]
        if u is PERSON
        for f in (p.frame, p.neighbour)
    ]
    assert max(sizes) > PERSON.max_rows


@pytest.mark.parametrize("unit", ["row", PERSON])
def test_template_needs_two_units(unit):
    with pytest.raises(ParameterError, match="at least two rows"):
        next(neighbours(TEMPLATE.head(1), unit=unit))
