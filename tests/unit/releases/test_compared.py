"""Releases of sparse vector technique: what they say, in every form they leave in."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from unit.releases.made import RECEIPT, bins_of, keys_of
from unit.releases.test_crossings import THRESHOLDS, VARIANTS, crossed, noise_of

import dpframe as dpf
from dpframe.domain.schema import ColumnType
from dpframe.errors import ParameterError
from dpframe.queries.blocks import Marginal, SumBy
from dpframe.queries.listing import Entry, Listing
from dpframe.queries.threshold import Threshold
from dpframe.releases import AboveThresholdRelease, SparseVectorRelease
from dpframe.releases.record import METADATA_KEY, digest

TEN = Threshold(Fraction(10_000))
TOPICS = keys_of(topic=["tea", "ai", "go"])


def keyed(cells=TOPICS):
    return Listing((Entry(Marginal(cells.columns), cells),))


ADULTS = Listing((Entry(dpf.col("age") >= 18), Entry(dpf.col("age") >= 65)))


def sparse(
    noise=None,
    threshold=TEN,
    listing=None,
    indices=(1, 2),
    library="polars",
    receipt=RECEIPT,
    **more,
):
    """Two answers that passed, 50 and 100 steps over the threshold."""
    q = [int(threshold.value / threshold.grid) + 50, 0]
    q[1] = q[0] + 50
    found = crossed(noise or noise_of(), threshold, q, 50, 3, **more)
    indices = np.array(indices, dtype=np.int64)
    found = replace(found, indices=indices, n_examined=int(indices[-1]) + 1)
    return SparseVectorRelease(receipt, library, found, listing or keyed())


def above(found=True, *, noise=None, listing=None, receipt=RECEIPT, gap=True):
    q = [10_050] if found else []
    crossings = crossed(noise or noise_of(), TEN, q, 50, 3, gap=gap)
    crossings = replace(crossings, indices=crossings.indices + 1, n_examined=2 + found)
    return AboveThresholdRelease(receipt, "polars", crossings, listing or keyed())


def record_of(schema_or_field):
    return json.loads(schema_or_field.metadata[METADATA_KEY])


# -- what was found ----------------------------------------------------------------


def test_keys_are_the_queries_of_a_column():
    r = sparse()
    assert r.indices.tolist() == [1, 2]
    assert r.queries == r.keys == ["ai", "go"]
    assert (r.threshold, r.direction, r.max_above) == (10_000, "above", 1)
    assert (r.n_examined, r.exhausted, r.branches) == (3, False, None)
    assert r.mechanism == "sparse vector, geometric noise"


def test_queries_of_a_list_are_themselves():
    r = sparse(listing=ADULTS, indices=(0, 1))
    assert [repr(query) for query in r.queries] == ["age >= 18", "age >= 65"]
    assert r.keys is None
    assert r.hint is None


def test_first_answer():
    r = above()
    assert (r.index, r.query, r.n_examined) == (1, "ai", 3)
    assert isinstance(r.index, int)
    assert r.gap == r.gaps[0]
    assert r.estimate == 10_000 + r.gap
    assert (above(gap=False).gap, above(gap=False).estimate) == (None, None)


def test_nothing_found():
    r = above(found=False)
    assert (r.index, r.query, r.gap, r.estimate) == (None, None, None, None)
    assert r.queries == []
    assert r.to_frame().shape == (0, 4)


def test_scales_and_shift_are_in_the_unit_of_the_answers():
    threshold = Threshold(Fraction(10), Fraction(1, 4))
    noise = noise_of("adaptive")
    r = sparse(noise, threshold)
    clear, near = noise.branches
    assert r.scales == {
        "threshold": float(noise.threshold.scale / 4),
        "clear": float(clear.law.scale / 4),
        "near": float(near.law.scale / 4),
    }
    assert r.shift == {b.name: float(noise.shift(b) / 4) for b in noise.branches}
    assert r.branches == ["clear", "clear"]
    fresh = sparse(noise_of(values=1), threshold, fresh=[1, 2])
    assert set(fresh.scales) == {"threshold", "queries", "values"}
    law = fresh.crossings.noise.fresh
    assert fresh.scale == fresh.scales["values"] == float(law.scale / 4)
    plain = sparse(threshold=threshold)
    assert set(plain.scales) == {"threshold", "queries"}
    law = plain.crossings.noise
    assert plain.shift == float(law.shift(law.branches[0]) / 4)


def test_what_has_no_meaning_is_refused_with_advice():
    r = sparse(gap=False)
    with pytest.raises(ParameterError, match="see scales"):
        _ = r.scale
    for ask in (lambda: r.std_error, lambda: r.interval()):
        with pytest.raises(ParameterError, match="gap=True, which is free"):
            ask()
    for level in (0, 1, 2, -1):
        for ask in (sparse().interval, sparse().accuracy):
            with pytest.raises(ParameterError, match="level"):
                ask(level)


def test_a_release_is_handed_out_again():
    r = above().replay()
    assert r.replayed
    assert r.index == 1
    assert "stored release of 2026-05-01 12:30:00 UTC" in repr(r)


def test_nothing_hidden_is_held():
    assert not hasattr(sparse(), "__dict__")
    held = {*SparseVectorRelease.__mro__[1].__slots__, *sparse().crossings.__slots__}
    assert held == {
        "crossings", "listing", "key_types",
        "noise", "threshold", "indices", "branches", "excess", "fresh",
        "n_examined", "exhausted",
    }  # fmt: skip


# -- the accuracy statement ----------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_accuracy_holds_for_all_noise_that_it_allows_and_is_tight(variant, threshold):
    noise = noise_of(variant)
    r = sparse(noise, threshold)
    said = r.accuracy("0.9")
    rho_span, nu_spans = noise.spans(3, "0.9")

    def passes(answer, pick):
        """Whether an answer may pass, by any branch, at one end of the noise."""
        q = threshold.sign * Fraction(answer) / threshold.grid
        assert q.denominator == 1
        rho = rho_span[0] if pick is max else rho_span[1]
        return any(
            q + pick(nu) - rho >= noise.bar(branch, threshold.steps)
            for branch, nu in zip(noise.branches, nu_spans, strict=True)
        )

    grid, low, high = threshold.grid, Fraction(said.low), Fraction(said.high)
    assert low < threshold.value < high
    if threshold.direction == "above":
        assert not passes(low - grid, max)
        assert passes(low, max)
        assert passes(high, min)
        assert not passes(high - grid, min)
    else:
        assert not passes(high + grid, max)
        assert passes(high, max)
        assert passes(low, min)
        assert not passes(low + grid, min)


def test_accuracy_in_words():
    said = sparse().accuracy()
    assert (said.level, said.queries) == (Fraction(19, 20), 3)
    assert said.text == (
        "with 95 % chance no answer below 9,992 is called above, "
        "none from 10,004 on below"
    )
    assert str(said) == said.text
    below = Threshold(Fraction(10_000), direction="below")
    assert sparse(threshold=below).accuracy("0.99").text == (
        "with 99 % chance no answer above 10,011 is called below, none up to 9,994 "
        "above"
    )


def test_more_queries_make_more_errors():
    many = keyed(keys_of(topic=list(range(1_000))))
    few, much = sparse().accuracy(), sparse(listing=many).accuracy()
    assert much.low < few.low
    assert much.high == few.high  # one-sided noise lets no high answer down


# -- frames ------------------------------------------------------------------------


def columns_of(frame):
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    assert isinstance(frame, pd.DataFrame)
    return frame.to_dict(orient="list")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frame_has_one_row_for_each_positive_answer(library):
    r = sparse(noise_of(values=1), fresh=[10_049, 10_101], library=library)
    expected = {
        "index": [1, 2],
        "topic": ["ai", "go"],
        "gap": r.gaps.tolist(),
        "value": [10_049, 10_101],
        "estimate": r.estimates.tolist(),
    }
    assert columns_of(r.to_frame()) == expected
    assert list(columns_of(r.to_frame())) == list(expected)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frame_of_an_adaptive_release_has_the_branches(library):
    frame = columns_of(sparse(noise_of("adaptive"), library=library).to_frame())
    assert list(frame) == ["index", "topic", "branch", "gap", "estimate"]
    assert frame["branch"] == ["clear", "clear"]


def test_columns_are_those_asked_for():
    assert sparse(gap=False).to_frame().columns == ["index", "topic"]
    assert sparse().to_frame().columns == ["index", "topic", "gap", "estimate"]
    values = sparse(noise_of(values=1), gap=False, fresh=[1, 2])
    assert values.to_frame().columns == ["index", "topic", "value"]
    listed = sparse(gap=False, listing=ADULTS, indices=(0, 1)).to_frame()
    assert columns_of(listed) == {"index": [0, 1], "query": ["age >= 18", "age >= 65"]}


def test_names_that_keys_have_take_an_underscore():
    cells = keys_of(index=["a", "b", "c"], gap=[1])
    frame = sparse(listing=keyed(cells)).to_frame()
    assert frame.columns == ["index_", "index", "gap", "gap_", "estimate"]
    assert frame["index"].to_list() == ["b", "c"]
    assert frame["index_"].to_list() == [1, 2]


def test_values_beyond_int64_are_saturated_in_frames_only():
    threshold = Threshold(Fraction(100), Fraction(100))
    r = sparse(noise_of(values=1), threshold, fresh=[2**60, -(2**60)])
    assert r.values.tolist() == [100 * 2**60, -100 * 2**60]
    assert r.to_frame()["value"].to_list() == [2**63 - 1, -(2**63)]


def test_key_types_are_declared():
    found = crossed(noise_of(), TEN, [], 0, 0)
    cells = keys_of(x=[])
    kinds = (ColumnType("integer"),)
    r = SparseVectorRelease(RECEIPT, "polars", found, keyed(cells), kinds)
    assert r.to_frame().schema["x"] == pl.Int64


@pytest.mark.parametrize(
    "cells", [keys_of(a=["x", "y"], b=[1, 2]), bins_of(x=[0, 5, 9, 20])]
)
def test_keys_of_every_kind(cells):
    r = sparse(listing=keyed(cells))
    assert r.queries == [cells.labels[1], cells.labels[2]]
    assert list(r.to_frame()[cells.columns[0]]) == [
        label[0] if isinstance(label, tuple) else label for label in r.queries
    ]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_interval_is_a_frame_of_the_callers_library(library):
    r = sparse(library=library)
    low, high = r.crossings.bounds(3, "0.9")
    assert columns_of(r.interval("0.9")) == {
        "index": [1, 2],
        "topic": ["ai", "go"],
        "lower": low.tolist(),
        "upper": high.tolist(),
    }


# -- the record --------------------------------------------------------------------


def test_record_says_how_it_was_made():
    noise = noise_of(values=1)
    table = sparse(noise, fresh=[10_049, 10_101]).to_arrow()
    record = record_of(table.schema)
    assert record["release"] == "SparseVectorRelease"
    assert record["mechanism"] == ["sparse vector, geometric noise"]
    assert record["threshold"] == TEN.describe()
    assert record["noise"] == noise.describe()
    assert (record["queries"], record["n_examined"], record["exhausted"]) == (
        3,
        3,
        False,
    )
    index, topic, gap, value, estimate = record["columns"]
    assert index == {"name": "index", "role": "value", "statistic": "index"}
    assert topic == {"name": "topic", "role": "key"}
    assert (gap["statistic"], gap["grid"]) == ("gap", "1")
    assert value["scale"] == str(noise.fresh.scale)
    assert estimate["post_processing"] == [
        "threshold and gap",
        "weighted mean with value",
    ]
    values = [table[name] for name in ("index", "gap", "value", "estimate")]
    assert record["sha256"] == digest(*values)


def test_record_of_an_adaptive_release_covers_the_branches():
    table = sparse(noise_of("adaptive")).to_arrow()
    names = ("index", "branch", "gap", "estimate")
    assert record_of(table.schema)["sha256"] == digest(*(table[n] for n in names))


# -- in words ----------------------------------------------------------------------


def test_first_in_words():
    assert repr(above()).splitlines() == [
        "AboveThresholdRelease: first above 10,000 is topic = 'ai' "
        "(index 1; 3 of 3 queries examined)",
        "estimate 10,096.0 ± 2.2",
        "95 % interval 10,088 to 10,100",
        "with 95 % chance no answer below 9,992 is called above, none from 10,004 on "
        "below",
        "sparse vector, geometric noise of scale 1 (threshold), 2 (queries)",
        "epsilon=0.5; unit row; add_remove",
        "the gap makes estimates too large: what passed had lucky noise",
    ]


def test_nothing_in_words():
    text = repr(above(found=False, gap=False, listing=ADULTS))
    assert text.splitlines()[0] == (
        "AboveThresholdRelease: nothing above 10,000 (2 of 2 queries examined)"
    )
    assert "lucky" not in text
    assert "nothing below" in repr(
        AboveThresholdRelease(
            RECEIPT,
            "polars",
            crossed(noise_of(), Threshold(Fraction(3), direction="below"), [], 0, 0),
            keyed(),
        )
    )


def test_several_in_words():
    r = sparse(noise_of("several", values=1), fresh=[10_049, 10_101])
    assert repr(r).splitlines() == [
        "SparseVectorRelease: 2 of at most 3 above 10,000 (3 of 3 queries examined)",
        "index  topic        estimate     95 % interval",
        "    1  ai     10,049.1 ± 1.4  10,046 to 10,052",
        "    2  go     10,101.1 ± 1.4  10,098 to 10,104",
        "with 95 % chance no answer below 9,906 is called above, none from 10,034 on "
        "below",
        "sparse vector, geometric noise of scale 4 (threshold), 24 (queries), "
        "1 (values)",
        "epsilon=0.5; unit row; add_remove",
        "the keys of one list are disjoint: histogram counts them all with less "
        "noise, and top_k(..., 1) finds the largest with less still",
    ]


def test_an_adaptive_release_in_words():
    assert repr(sparse(noise_of("adaptive"))).splitlines()[:6] == [
        "SparseVectorRelease: 2 of at most 3 above 10,000 (3 of 3 queries examined)",
        "index  topic  branch        estimate     95 % interval",
        "    1  ai     clear   10,090.1 ± 8.1  10,054 to 10,100",
        "    2  go     clear   10,140.1 ± 8.1  10,104 to 10,150",
        "with 95 % chance no answer below 9,980 is called above, none from 10,006 on "
        "below",
        "adaptive sparse vector, geometric noise of scale 1 (threshold), 8 (clear), "
        "4 (near)",
    ]


def test_a_list_of_queries_in_words():
    r = sparse(gap=False, listing=ADULTS, indices=(0, 1))
    assert repr(r).splitlines()[1:4] == [
        "index  query",
        "    0  age >= 18",
        "    1  age >= 65",
    ]


def test_top_k_is_hinted_at_only_where_it_can_serve():
    assert "top_k" in sparse().hint
    below = Threshold(Fraction(10_000), direction="below")
    assert sparse(threshold=below).hint is None
    sums = Listing((Entry(SumBy(("topic",), "pay", (0, 9)), TOPICS),))
    assert sparse(listing=sums).hint is None
    assert "top_k" not in repr(above())


def test_a_unit_of_several_rows_is_said():
    receipt = replace(RECEIPT, unit="Unit('p', max_rows=3)", private=False)
    text = repr(above(receipt=receipt))
    assert "all this covers noise, not rows beyond the unit's bounds" in text
    assert text.startswith("NOT PRIVATE")


def test_html_says_what_the_text_says():
    script = "<script>alert(1)</script>"
    cells = keys_of(**{script: ["a", script, "two\nlines"]})
    for r in (sparse(listing=keyed(cells)), above(listing=keyed(cells))):
        html = r._repr_html_()
        assert "<script" not in html
        said = " ".join(ElementTree.fromstring(html).itertext())
        for line in repr(r).splitlines():
            for word in line.split():
                assert word in said


def test_many_answers_stay_short():
    n = 1_000
    found = crossed(noise_of(max_above=n), TEN, np.full(n, 10_050), 50, 3)
    cells = keys_of(topic=list(range(n)))
    r = SparseVectorRelease(RECEIPT, "polars", found, keyed(cells))
    assert "… 980 more rows" in repr(r)
    assert len(r._repr_html_()) < 20_000
