"""`SelectionRelease`: chosen keys in order, in every form they leave in."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from selection_reference import exact_law
from unit.releases.made import RECEIPT, bins_of, keys_of

from dpframe.domain.schema import ColumnType
from dpframe.errors import ParameterError
from dpframe.noise.selection import PermuteAndFlip
from dpframe.releases import SelectionRelease
from dpframe.releases.record import METADATA_KEY, digest

JOBS = keys_of(job=["cook", "nurse", "pilot", None])
LAW = PermuteAndFlip(Fraction(1, 2), 1, monotonic=True)


def selection(indices=(2, 0), cells=JOBS, law=LAW, receipt=RECEIPT, library="polars"):
    return SelectionRelease(
        receipt, library, cells, np.array(indices, dtype=np.int64), law
    )


def test_keys_are_in_the_order_of_choice():
    r = selection((2, 3, 0))
    assert r.keys == ["pilot", None, "cook"]
    assert r.indices.tolist() == [2, 3, 0]
    assert len(r) == 3
    assert r.mechanism == "permute-and-flip"
    crossed = keys_of(a=["x", "y"], b=[1, 2])
    assert selection((3, 1), crossed).keys == [("y", 2), ("x", 2)]
    assert selection((1,), bins_of(age=[0, 18, 65])).keys == [18]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frame_has_a_row_for_each_rank(library):
    frame = selection((1, 0), library=library).to_frame()
    assert list(frame["rank"].to_numpy()) == [1, 2]
    listed = (
        frame["job"].to_pylist() if library == "pyarrow" else frame["job"].to_list()
    )
    assert listed == ["nurse", "cook"]


def test_a_key_column_named_rank_keeps_its_name():
    frame = selection((1,), keys_of(rank=["a", "b"])).to_frame()
    assert frame.to_dict(as_series=False) == {"rank_": [1], "rank": ["b"]}


def test_key_types_are_declared():
    r = SelectionRelease(
        RECEIPT, "polars", keys_of(x=[None]), np.array([0]), LAW, (ColumnType("date"),)
    )
    assert r.to_frame().schema["x"] == pl.Date


# -- the error -----------------------------------------------------------------------


@pytest.mark.parametrize("level", ["0.5", "0.95", "0.999"])
def test_rank_error_is_that_of_the_contract_for_one_choice(level):
    law = PermuteAndFlip(Fraction(1, 3), 5)
    r = selection((2,), law=law)
    expected = 2 * 5 * 3 * math.log(4 / (1 - float(level)))
    assert r.rank_error(level) == pytest.approx(expected)


def test_rank_error_of_hardly_any_epsilon_is_huge_and_finite():
    r = selection((2,), law=PermuteAndFlip("1e-1000", 1))
    assert 1e300 < r.rank_error() < math.inf
    assert "SelectionRelease" in repr(r)


def test_rank_error_of_several_choices_holds_for_all_of_them():
    one, three = selection((2,)), selection((2, 0, 1))
    assert three.rank_error() == pytest.approx(one.rank_error(1 - 0.05 / 3))


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("level", ["0.3", "0.8", "0.95"])
def test_rank_error_is_kept_by_the_exact_law(monotonic, level):
    """At every distance of the others: theirs is the chance to err by more."""
    law = PermuteAndFlip(1, 1, monotonic=monotonic)
    r = selection((2,), law=law)
    error = r.rank_error(level)
    for below in np.arange(0.0, 3 * error, 0.25):
        scores = [-below] * 3 + [0.0]
        chance = sum(
            p
            for p, score in zip(exact_law(scores, float(law.rate)), scores, strict=True)
            if -score > error
        )
        assert chance <= 1 - float(level)


def test_rank_error_is_not_far_too_wide():
    law = PermuteAndFlip(1, 1)
    error = selection((2,), law=law).rank_error("0.8")
    scores = [-error / 2] * 3 + [0.0]
    assert 1 - exact_law(scores, 0.5)[-1] > 0.2


@pytest.mark.parametrize("level", [0, 1, -0.5, 1.5])
def test_levels_that_are_none(level):
    with pytest.raises(ParameterError, match="level must lie between 0 and 1"):
        selection().rank_error(level)


def test_there_is_no_noise_to_speak_of():
    r = selection()
    for ask in (lambda: r.scale, lambda: r.std_error, r.interval):
        with pytest.raises(ParameterError, match=r"rank_error\(\), in rows"):
            ask()


# -- the record ------------------------------------------------------------------------


def test_record():
    table = selection((2, 3)).to_arrow()
    record = json.loads(table.schema.metadata[METADATA_KEY])
    assert record["release"] == "SelectionRelease"
    assert record["mechanism"] == ["permute-and-flip"]
    assert record["candidates"] == 4
    assert (record["epsilon_each"], record["sensitivity"]) == ("1/2", "1")
    assert record["monotonic"] is True
    assert record["columns"] == [
        {"name": "rank", "role": "value", "statistic": "rank"},
        {"name": "job", "role": "value", "statistic": "choice"},
    ]
    assert record["sha256"] == digest(table["rank"], table["job"])
    other = json.loads(selection((3, 2)).to_arrow().schema.metadata[METADATA_KEY])
    assert other["sha256"] != record["sha256"]


# -- in words --------------------------------------------------------------------------


def test_in_words():
    assert repr(selection((2, 3))).splitlines() == [
        "SelectionRelease: 2 of 4 keys of job",
        "rank  job",
        "   1  pilot",
        "   2  None",
        "with 95 % chance each is within 20 rows of the greatest count left",
        "permute-and-flip",
        "epsilon=0.5; unit row; add_remove",
    ]


def test_what_else_is_said():
    receipt = replace(RECEIPT, unit="Unit('p', max_rows=3)", private=False)
    text = repr(selection(receipt=receipt).replay())
    assert text.startswith("NOT PRIVATE")
    assert "this covers chance, not rows beyond the unit's bounds" in text
    assert "stored release of 2026-05-01" in text


def test_html_says_what_the_text_says():
    script = "<script>alert(1)</script>"
    r = selection((1, 0), keys_of(**{script: ["a", script]}))
    html = r._repr_html_()
    assert "<script" not in html
    said = " ".join(ElementTree.fromstring(html).itertext())
    for line in repr(r).splitlines():
        for word in line.split():
            assert word in said


def test_many_keys_stay_short():
    n = 1_000
    r = selection(range(n), keys_of(x=list(range(n))))
    assert "… 980 more rows" in repr(r)
    assert len(r._repr_html_()) < 20_000
