from __future__ import annotations

import math
from datetime import date, timedelta
from decimal import Decimal

import polars as pl
import pytest

from dpframe.testing.special import SPECIAL, special

TYPES = [
    pl.Boolean(), pl.Int8(), pl.Int64(), pl.UInt8(), pl.UInt64(), pl.Float32(),
    pl.Float64(), pl.Decimal(10, 2), pl.Date(), pl.Datetime("us"), pl.Duration("ns"),
    pl.String(), pl.Categorical(), pl.Enum(["x"]),
]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("kind", SPECIAL)
def test_values_fit_the_column(kind, dtype):
    values = special(kind, dtype)
    held = pl.Series(values, dtype=dtype, strict=True)
    assert held.len() == len(values)
    assert held.dtype == dtype


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_every_type_may_be_null(dtype):
    assert special("null", dtype) == [None]


def test_floats_have_what_breaks_sums():
    assert math.isnan(special("NaN", pl.Float64())[0])
    assert special("infinity", pl.Float64()) == [math.inf, -math.inf]
    assert math.copysign(1, special("negative zero", pl.Float32())[0]) == -1
    assert special("end of the type", pl.Float64())[0] > 1.7e308


def test_integers_reach_their_ends():
    assert special("end of the type", pl.Int64())[:2] == [-(2**63), 2**63 - 1]
    assert special("end of the type", pl.UInt64())[1] == 2**64 - 1
    assert special("NaN", pl.Int64()) == []


def test_others_have_outliers():
    assert special("far outlier", pl.Decimal(10, 2)) == [Decimal("90000000")]
    assert date(1900, 1, 1) in special("far outlier", pl.Date())
    assert timedelta(days=30_000) in special("far outlier", pl.Duration("us"))


def test_text_has_keys_never_seen():
    keys = special("rare key", pl.String())
    assert "" in keys
    assert any(not key.isascii() for key in keys)
    assert special("rare key", pl.Enum(["x"])) == []
