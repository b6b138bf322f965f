from __future__ import annotations

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.testing.outcomes import cells, columns, cut, merged

EVERY = np.ones(1_000, dtype=bool)


def same(outputs):
    """Which outputs share a cell, by the first of each."""
    numbers = cells(columns(outputs)).tolist()
    return [numbers.index(number) for number in numbers]


@pytest.mark.parametrize(
    "outputs",
    [
        [3, 1, 3, -1],
        [0.5, 0.25, 0.5, np.inf],
        ["a", "b", "a", ""],
        [None, 0, None, 1],
        [(1, 2), (1,), (1, 2), ()],
        [((1,), 2), (1, (2,)), ((1,), 2), (1, 2)],
        [["a", 1], ["a", 2], ["a", 1], [1, "a"]],
        [np.array([1, 2]), np.array([1]), (1, 2), np.array([2, 1])],
        [(1, np.nan), (1, 2.0), (1, np.nan), (1, None)],
        [2**70, 2**71, 2**70, 1],
        np.array([[1, 2], [2, 1], [1, 2], [2, 2]]),
        np.array([[1.0, np.nan], [np.nan, 1.0], [1.0, np.nan], [0.0, 0.0]]),
        np.array([[True, True], [True, False], [True, True], [False, True]]),
        [0, (), 0, (0,)],
    ],
    ids=repr,
)
def test_equal_outputs_and_no_others_share_a_cell(outputs):
    assert same(outputs) == [0, 1, 0, 3]


def test_cells_of_wide_numbers_and_of_many_columns():
    rng = np.random.default_rng(1)
    wide = rng.integers(-(2**62), 2**62, (500, 3))
    both = np.concatenate([wide, wide])
    numbers = cells(columns(both))
    assert len(set(numbers.tolist())) == 500
    assert (numbers[:500] == numbers[500:]).all()
    flags = rng.integers(0, 2, (1_000, 40))
    distinct = {tuple(row) for row in flags.tolist()}
    assert len(set(cells(columns(flags)).tolist())) == len(distinct)


def test_numbers_are_ordered_and_other_values_are_not():
    assert [c.ordered for c in columns([(1, "a"), (2.5, "b")])] == [True, False]
    split = columns(["none", 2.5, 3])
    assert [c.ordered for c in split] == [False, True]
    assert split[1].values.tolist() == pytest.approx([np.nan, 2.5, 3], nan_ok=True)


def test_parts_without_news_are_left_out():
    (part,) = columns([(7, "same", x) for x in range(5)])
    assert part.values.tolist() == [0, 1, 2, 3, 4]
    assert [len(set(c.values.tolist())) for c in columns([(1, 2), (1, 2)])] == [1]


@pytest.mark.parametrize("output", [{"a": 1}, [{1}], (1, {})])
def test_what_cannot_be_compared_is_refused(output):
    with pytest.raises(ParameterError, match="cannot be compared"):
        columns([output, output])


def test_wide_columns_are_cut_at_quantiles_of_known_rows():
    values = np.concatenate([np.arange(900.0), np.full(100, 1e9)])
    known = np.arange(1_000) < 900
    (part,) = columns(values)
    bins = cut(part, known).values
    counts = np.bincount(bins[known])
    assert counts.size == 64
    assert 10 <= counts.min() <= counts.max() <= 20
    assert set(bins[~known].tolist()) == {63}
    assert (np.diff(bins) >= 0).all()


def test_nothing_there_is_a_bin_of_its_own():
    values = np.where(np.arange(1_000) % 2, np.arange(1_000.0), np.nan)
    (part,) = columns(values)
    bins = cut(part, EVERY).values
    assert set(bins[::2].tolist()) == {-1}
    assert bins[1::2].min() == 0


def test_narrow_columns_and_texts_stay():
    for outputs in np.arange(1_000) % 64, [str(i) for i in range(1_000)]:
        (part,) = columns(outputs)
        assert cut(part, EVERY) is part


def test_neighboring_bins_are_merged_until_they_are_few():
    rng = np.random.default_rng(2)
    parts = columns(rng.integers(0, 60, (1_000, 2)))
    assert len(set(cells(parts).tolist())) > 700
    fewer = merged(parts, EVERY, 100)
    assert len(set(cells(fewer).tolist())) <= 100
    assert all((np.bincount(p.values) > 0).all() for p in fewer)
    assert merged(parts, EVERY, 5_000) == parts


def test_what_cannot_be_merged_stays():
    flags = np.random.default_rng(3).integers(0, 2, (1_000, 12))
    parts = columns(flags)
    assert merged(parts, EVERY, 10) == parts
