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
from dpframe.releases.record import METADATA_KEY, digest

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
