"""The one hash function: of the row's values, and of nothing else."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from helpers import assert_uniform

from dpframe.engines.polars import hash_rows

KEY = bytes(range(16))


def hashes(frame: pl.DataFrame, key: bytes = KEY, purpose: str = "row") -> list[int]:
    rows = nw.from_native(frame, eager_only=True)
    return hash_rows(rows, frame.columns, key, purpose).to_list()


FRAME = pl.DataFrame(
    {
        "unit": ["a", None, "a long name, beyond twelve bytes", "", "a"],
        "cell": pl.Series([0, 1, 2**40, -1, 0]),
        "value": pl.Series([None, -(2**62), 5, None, None], dtype=pl.Int64),
        "real": [0.0, 1.5, None, -0.0, -0.0],
        "wide": pl.Series([2**100, None, 0, 1, 2**100], dtype=pl.Int128),
    }
)


def test_a_row_has_its_hash_whatever_stands_beside_it():
    """Also where a neighbor alone brings nulls, long strings or another chunk."""
    whole = hashes(FRAME)
    assert whole == [h for row in FRAME.iter_slices(1) for h in hashes(row)]
    assert whole[::-1] == hashes(FRAME.reverse())
    assert whole == hashes(pl.concat([FRAME[:2], FRAME[2:]], rechunk=False))


def test_equal_rows_have_equal_hashes():
    first, *others, last = hashes(FRAME)
    assert first == last
    assert len({first, *others}) == 4


def test_key_and_purpose_change_every_hash():
    one_bit = bytes([*KEY[:15], KEY[15] ^ 1])
    first_bit = bytes([KEY[0] ^ 128, *KEY[1:]])
    seen = [
        *hashes(FRAME[:4]),
        *hashes(FRAME[:4], one_bit),
        *hashes(FRAME[:4], first_bit),
        *hashes(FRAME[:4], purpose="group"),
    ]
    assert len(set(seen)) == 16


@pytest.mark.parametrize("shift", [0, 30, 60])
def test_hashes_of_small_numbers_look_uniform(shift):
    frame = pl.DataFrame({"unit": np.arange(64_000) // 8, "j": np.arange(64_000) % 8})
    nibbles = [(hashed >> shift) & 15 for hashed in hashes(frame)]
    assert_uniform(np.bincount(nibbles, minlength=16))


def test_swapped_columns_have_other_hashes():
    one, two = pl.DataFrame({"a": [1], "b": [2]}), pl.DataFrame({"a": [2], "b": [1]})
    assert hashes(one) != hashes(two)
