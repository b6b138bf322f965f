from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from unit.releases.made import (
    FLOAT,
    RECEIPT,
    averaged,
    counted,
    keys_of,
    lattice_of,
)

from dpframe.errors import ParameterError
from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.releases import HistogramRelease, ScalarRelease, TableRelease
from dpframe.releases.record import METADATA_KEY, Record, attach, digest

COUNTS = [12, -3, 5]
MEANS = lattice_of(FLOAT, 17.0, 90.0, "mean")


def histogram(law=None, receipt=RECEIPT):
    answer = counted(COUNTS, law=law or DiscreteLaplace("3/2"))
    return HistogramRelease.of(
        (answer,), keys_of(job=["a", "b", "c"]), receipt, "polars"
    )


def table():
    pair = [np.array([5, 6, 7])] * 2
    answers = (
        counted(COUNTS, "n"),
        averaged(*pair, MEANS, DiscreteLaplace(MEANS.width)),
    )
    return TableRelease.of(answers, keys_of(job=["a", "b", "c"]), RECEIPT, "polars")


def record_of(schema_or_field):
    return json.loads(schema_or_field.metadata[METADATA_KEY])


def test_table_level():
    record = record_of(histogram().to_arrow().schema)
    values = np.array(COUNTS, dtype="<i8").tobytes()
    assert record == {
        "version": 1,
        "release": "HistogramRelease",
        "release_id": "release-7",
        "verb": "histogram",
        "label": None,
        "mechanism": ["discrete Laplace"],
        "loss": {"epsilon": "1/2"},
        "unit": "row",
        "neighboring": "add_remove",
        "private": True,
        "columns": [
            {"name": "job", "role": "key"},
            {
                "name": "count",
                "role": "value",
                "statistic": "count",
                "mechanism": "discrete Laplace",
                "scale": "3/2",
                "grid": None,
                "noisy_numbers": 1,
                "sensitivity": {"l1": 1, "l2_squared": 1, "l0": 1, "linf": 1},
                "column": None,
                "loss": {"epsilon": "1/2"},
                "post_processing": [],
            },
        ],
        "sha256": sha256(values).hexdigest(),
    }


def test_field_level():
    schema = table().to_arrow().schema
    key, n, mean = (record_of(schema.field(name)) for name in ("job", "n", "mean"))
    assert key["role"] == "key"
    assert "sha256" not in key
    assert n["sha256"] == sha256(np.array(COUNTS, dtype="<i8").tobytes()).hexdigest()
    assert mean["scale"] == str(MEANS.width)
    assert Fraction(mean["grid"]["step"]) == MEANS.step
    assert mean["grid"]["offset"] == "17.0"
    assert mean["noisy_numbers"] == 2
    assert {n["release_id"], mean["release_id"]} == {"release-7"}
    whole = record_of(schema)
    for field, column in zip((n, mean), whole["columns"][1:], strict=True):
        assert column.items() <= field.items()


def test_json_is_canonical():
    raw = histogram().to_arrow().schema.metadata[METADATA_KEY]
    again = json.dumps(json.loads(raw), sort_keys=True, separators=(",", ":"))
    assert raw == again.encode()


def test_gaussian_noise_states_sigma_squared():
    record = record_of(histogram(DiscreteGaussian("7/2")).to_arrow().schema)
    assert record["mechanism"] == ["discrete Gaussian"]
    assert record["columns"][1]["sigma2"] == "7/2"
    assert "scale" not in record["columns"][1]


def test_label_and_privacy_are_stated():
    receipt = replace(RECEIPT, label="weekly", private=False)
    record = record_of(histogram(receipt=receipt).to_arrow().schema)
    assert record["label"] == "weekly"
    assert record["private"] is False


def test_post_processing_is_stated():
    record = record_of(histogram().nonnegative().to_arrow().schema)
    assert record["columns"][1]["post_processing"] == ["nonnegative"]
    assert record["sha256"] != record_of(histogram().to_arrow().schema)["sha256"]


def test_the_hash_does_not_depend_on_chunks_or_slices():
    column = pa.chunked_array(
        [pa.array([1, 2]), pa.array([], pa.int64()), pa.array([3])]
    )
    whole = pa.chunked_array([pa.array([9, 1, 2, 3, 9]).slice(1, 3)])
    assert digest(column) == digest(whole)
    assert digest(column) != digest(pa.chunked_array([pa.array([1, 2, 4])]))
    assert digest(pa.chunked_array([], pa.int64())) == sha256().hexdigest()


def chunked(values, type_, cut=2):
    return pa.chunked_array([values[:cut], values[cut:]], type_)


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        (pa.int64(), [1, 0, None, 3]),
        (pa.float64(), [None, 0.5, None, 0.0]),
        (pa.string(), ["a", None, "bc", ""]),
        (pa.bool_(), [True, None, False, True]),
        (pa.date32(), [None, 1, 2, 3]),
    ],
)
def test_columns_with_nulls_have_a_hash_of_what_they_hold(type_, values):
    whole = digest(chunked(values, type_))
    assert digest(chunked(values, type_, 3)) == whole
    others = [
        values[::-1],
        [v for v in values if v is not None],
        [*values, None],
        [values[0] if v is None else v for v in values],
    ]
    hashes = {digest(chunked(other, type_)) for other in others if other != values}
    assert whole not in hashes
    # What lies in the buffer under a null is not part of the column.
    mask = np.array([v is None for v in values])
    if type_ == pa.int64():
        for below in (7, 9):
            raw = np.array([below if v is None else v for v in values])
            assert digest(pa.chunked_array([pa.array(raw, mask=mask)])) == whole


def test_texts_of_the_same_letters_differ():
    hashes = {
        digest(pa.chunked_array([texts], pa.string()))
        for texts in (["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["ab", "ç"])
    }
    assert len(hashes) == 5


def test_booleans_of_a_slice():
    bits = pa.array([True, False, True, True])
    for start, length in [(0, 4), (1, 3), (1, 2)]:
        part = bits.slice(start, length)
        expected = bytes(part.to_pylist())
        assert digest(pa.chunked_array([part])) == sha256(expected).hexdigest()


def test_other_columns_are_keys_and_the_whole_may_say_more():
    table_ = pa.table({"k": ["a"], "x": pa.array([None], pa.int64())})
    made = Record("Some", ("b", "a"), {"x": {"statistic": "sum"}}, {"rounds": 3})
    table_ = attach(table_, made, RECEIPT)
    record = record_of(table_.schema)
    assert record["rounds"] == 3
    assert record["mechanism"] == ["a", "b"]
    assert record["columns"] == [
        {"name": "k", "role": "key"},
        {"name": "x", "role": "value", "statistic": "sum"},
    ]
    assert record["sha256"] == digest(table_["x"])
    assert record_of(table_.schema.field("x"))["sha256"] == record["sha256"]


def test_parquet_keeps_the_record(tmp_path):
    for path in (tmp_path / "h.parquet", str(tmp_path / "i.parquet")):
        histogram().write_parquet(path)
        read = pq.read_table(path)
        assert record_of(read.schema) == record_of(histogram().to_arrow().schema)
        assert record_of(read.schema.field("count"))["scale"] == "3/2"
        assert digest(read["count"]) == record_of(read.schema)["sha256"]
        assert pl.read_parquet(path)["count"].to_list() == COUNTS


def test_arrow_streams_keep_the_record():
    assert record_of(pa.table(histogram()).schema)["release_id"] == "release-7"


def test_a_scalar_has_a_record_too():
    r = ScalarRelease.of((counted([7]),), None, RECEIPT, "polars")
    table_ = r.to_arrow()
    assert table_.to_pydict() == {"count": [7]}
    assert record_of(table_.schema)["columns"][0]["scale"] == "2"


@pytest.mark.parametrize("carry", ["extension", "column", None])
def test_other_ways_to_carry_are_refused(carry):
    with pytest.raises(ParameterError, match="carry must be 'metadata'"):
        histogram().to_arrow(carry=carry)


def test_polars_and_pandas_frames_carry_nothing():
    assert "dpframe" not in str(histogram().to_frame("pandas").attrs)
