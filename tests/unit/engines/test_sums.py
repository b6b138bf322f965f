from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpframe.engines.sums import ExactSum, add_exactly

BIG = st.integers(-(2**62), 2**62)


def summed(total: ExactSum, values: list[int | None]) -> nw.DataFrame:
    frame = nw.from_native(pl.DataFrame({"x": pl.Series(values, dtype=pl.Int64)}))
    return frame.select(*total.expressions(nw.col("x")))


@given(st.lists(BIG | st.none(), max_size=20))
def test_two_limbs_are_exact(values):
    total = ExactSum("s", 2**62)
    limbs = summed(total, values)
    sums = {name: limbs[name].to_numpy() for name in limbs.columns}
    (got,) = total.read(sums)
    assert got == sum(v for v in values if v is not None)
    assert isinstance(got, int)


@given(st.lists(st.integers(-(2**61), 2**61), max_size=20), BIG, BIG)
def test_clipped_totals_are_exact(values, low, high):
    low, high = sorted((low, high))
    total = ExactSum("s", 2**61)
    got = summed(total, values).select(total.clipped(low, high).alias("t"))["t"][0]
    assert got == min(max(sum(values), low), high)


def test_one_int64_where_it_fits():
    assert ExactSum("s", 2**30).narrow
    assert not ExactSum("s", 2**30 + 1).narrow
    assert summed(ExactSum("s", 2**30), [1, None, 2]).rows() == [(3,)]


@pytest.mark.parametrize("sign", [1, -1])
def test_chunks_add_up_and_saturate(sign):
    near = np.array([sign * (2**63 - 1), 1], dtype=np.int64)
    added = add_exactly(near, near)
    assert added.dtype == np.int64
    assert added.tolist() == [2**63 - 1 if sign > 0 else -(2**63), 2]
    wide = near.astype(object)
    assert add_exactly(wide, wide).tolist() == [2 * sign * (2**63 - 1), 2]
