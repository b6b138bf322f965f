from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpframe.errors import ParameterError
from dpframe.estimands import NoisyCounts


@pytest.mark.parametrize(
    "values",
    [
        [3, -1, 0],
        (3.0, -1.0, 0.0),
        np.array([3, -1, 0], np.int8),
        np.array([Decimal(3), Decimal(-1), Decimal(0)]),
        pd.Series([3, -1, 0]),
        pd.Series([3, -1, 0], dtype="Int64"),
        pl.Series([3, -1, 0]),
    ],
    ids=lambda values: f"{type(values).__name__}_{getattr(values, 'dtype', '')}",
)
def test_whole_numbers_of_any_container_become_int64(values):
    noisy = NoisyCounts(values, 1)
    assert noisy.values.dtype == np.int64
    assert noisy.values.tolist() == [3, -1, 0]


@pytest.mark.parametrize(
    "values",
    [
        [1.5, 2.0],
        [float("nan")],
        [float("inf")],
        [None, 1],
        ["1"],
        [True, False],
        [1 + 0j],
        [2**53],
        [-(2**70)],
        5,
        "5",
        pd.Series([1, None], dtype="Int64"),
    ],
    ids=repr,
)
def test_anything_else_is_refused(values):
    with pytest.raises(ParameterError, match="counts"):
        NoisyCounts(values, 1.0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (5, "array or a list, with one noisy count per bin; got int"),
        ({"a": 5}, "array or a list, with one noisy count per bin; got dict"),
        ([5, None], r"none of them missing.*domain=\(tau - 1, None\)"),
        ([["a", 5], ["b", 6]], "pass the column of counts alone"),
        ([5.5], "whole numbers"),
        ([np.inf], "beyond 2"),
    ],
)
def test_each_kind_of_bad_counts_has_its_message(values, message):
    with pytest.raises(ParameterError, match=message):
        NoisyCounts(values, 1.0)


def test_one_rate_serves_every_bin_and_arrays_are_kept_from_change():
    rates = np.array([1.0, 2.0])
    noisy = NoisyCounts(np.array([1, 2]), rates)
    rates[0] = 9.0
    assert noisy.rate.tolist() == [1.0, 2.0]
    assert NoisyCounts(np.array([[1, 2], [3, 4]]), 0.5).rate.shape == (2, 2)
    with pytest.raises(ValueError, match="read-only"):
        noisy.values[0] = 5


@pytest.mark.parametrize(
    "rate", [0, -1.0, float("nan"), float("inf"), 1e-200, [1, 2], "x", [1.0, 0.0, 1.0]]
)
def test_a_bad_rate_is_refused(rate):
    with pytest.raises(ParameterError, match="epsilon and sensitivity"):
        NoisyCounts(np.array([1, 2, 3]), rate)


@pytest.mark.parametrize(
    ("domain", "ends"),
    [
        ("counts", (0, None)),
        ("integers", (None, None)),
        ((0, 5), (0, 5)),
        ((-3, -3), (-3, -3)),
        ((np.int64(1), None), (1, None)),
        ((None, 4), (None, 4)),
    ],
)
def test_domain_and_its_ends(domain, ends):
    noisy = NoisyCounts(np.array([-9, 0, 9]), 1.0, domain)
    assert noisy.ends == ends
    low, high = ends
    clipped = noisy.clip(noisy.values).tolist()
    assert clipped == [
        min(max(y, low if low is not None else y), high if high is not None else 99)
        for y in (-9, 0, 9)
    ]


@pytest.mark.parametrize(
    "domain",
    [(5, 0), "count", None, [0, 5], (0, 5, 6), (0.0, 5.5), (True, 3), (0, 2**60)],
    ids=repr,
)
def test_a_bad_domain_is_refused_and_the_good_ones_named(domain):
    with pytest.raises(ParameterError, match=r'"counts".*"integers".*\(lo, hi\)'):
        NoisyCounts(np.array([1]), 1.0, domain)


def test_no_message_shows_a_count():
    with pytest.raises(ParameterError) as caught:
        NoisyCounts([12345.678], 1.0)
    assert "12345" not in str(caught.value)


@pytest.mark.parametrize("domain", ["counts", "integers", (-2, 3), (None, 1), (5, 5)])
@pytest.mark.parametrize("spread", [10, 10**7])
@pytest.mark.parametrize("size", [1, 70_000])
def test_the_tally_holds_each_count_once(domain, spread, size):
    values = np.random.default_rng(size).integers(-spread, spread, size)
    for rate in (0.5, np.full(size, 0.5)):
        noisy = NoisyCounts(values, rate, domain)
        distinct, numbers = noisy.tally
        expected, often = np.unique(noisy.clip(values), return_counts=True)
        assert distinct.values.tolist() == expected.tolist()
        assert numbers.tolist() == often.tolist()
        assert distinct.domain == domain
        assert (distinct.rate == 0.5).all()


def test_the_tally_goes_on_where_its_histogram_ends():
    end = 2**14 - 1
    values = [end + 1, end, 7, end - 1, end, 7, 5 * end, -3]
    for low in (0, -3):
        distinct, numbers = NoisyCounts(values, 1.0, (low, None)).tally
        shifted = [low, 7, end - 1, end, end + 1, 5 * end]
        assert distinct.values.tolist() == shifted
        assert numbers.tolist() == [1, 2, 1, 2, 1, 1]


def test_bins_of_different_rates_are_left_as_they_are():
    noisy = NoisyCounts([[3, 3], [0, -1]], [[1.0, 1.0], [1.0, 2.0]])
    distinct, numbers = noisy.tally
    assert distinct is noisy
    assert numbers.tolist() == [1, 1, 1, 1]


def test_no_bins_have_an_empty_tally():
    distinct, numbers = NoisyCounts([], 1.0).tally
    assert distinct.values.size == numbers.size == 0


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint64, np.int32])
def test_every_kind_of_integer_is_taken(dtype):
    noisy = NoisyCounts(np.array([1, 100], dtype=dtype), 1.0)
    assert noisy.values.dtype == np.int64
    assert noisy.values.tolist() == [1, 100]
    with pytest.raises(ParameterError, match="2\\*\\*53"):
        NoisyCounts(np.array([2**63], dtype=np.uint64), 1.0)
    with pytest.raises(ParameterError, match="2\\*\\*53"):
        NoisyCounts(np.array([-(2**63)], dtype=np.int64), 1.0)
