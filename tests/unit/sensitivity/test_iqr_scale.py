import functools
import math

import numpy as np
import pytest
from sensitivity_reference import BOUNDS, data_sets, neighbors, ordered, within

from dpframe.sensitivity.catalog import as_statistic
from dpframe.sensitivity.iqr_scale import iqr_bin, iqr_bin_distance, iqr_range

EDGES = np.array([0.5, 1.5, 2.5, 5])
RELATIONS = pytest.mark.parametrize("relation", ["add_remove", "replace"])


@functools.cache
def iqr(x):
    return as_statistic("iqr").value(ordered(x))


@functools.cache
def bin_of(x):
    return iqr_bin(ordered(x), EDGES)


@RELATIONS
def test_range_holds_every_iqr_within_reach(relation):
    for x in data_sets(range(1, 6)):
        for k in range(4):
            low, high = iqr_range(ordered(x, np.int64), k, relation)
            near = [iqr(y) for y in within(x, relation, k)]
            assert low <= min(near) <= max(near) <= high, (x, k)
            if relation == "replace" and k <= 2 and len(x) > 2:
                assert high == max(near), (x, k)
                assert low == min(near) or low in (1, 2, 3, 4, 6), (x, k)


@RELATIONS
def test_distance_is_stable_and_no_neighbor_has_another_bin(relation):
    @functools.cache
    def far(x):
        return iqr_bin_distance(ordered(x), EDGES, relation)

    for x in data_sets(range(6)):
        for y in neighbors(x, relation):
            assert abs(far(x) - far(y)) <= 1
            if bin_of(x) != bin_of(y):
                assert far(x) == far(y) == 0


def test_units_of_several_rows():
    @functools.cache
    def far(x):
        return iqr_bin_distance(ordered(x), EDGES, rows=2)

    for x in data_sets(range(5)):
        for y in within(x, "add_remove", 2):
            assert abs(far(x) - far(y)) <= 1
            if bin_of(x) != bin_of(y):
                assert far(x) == far(y) == 0


def test_a_clear_case_passes_and_one_bin_never_fails():
    data = ordered(np.repeat([1.0, 3.0], 400))
    assert iqr_bin(data, EDGES) == 2
    assert iqr_bin_distance(data, EDGES) > 150
    assert iqr_bin_distance(data, np.array([100.0])) == math.inf
    assert BOUNDS == (0, 7)
