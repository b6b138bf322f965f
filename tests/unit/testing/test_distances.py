import math

import numpy as np
import pytest

from dpframe import sensitivity
from dpframe.errors import ParameterError
from dpframe.testing import check_distance

GRID, BOUNDS = [0, 1, 4, 9], (0, 9)
RELATIONS = pytest.mark.parametrize("neighboring", ["add_remove", "replace"])


def median(values):
    return sensitivity.evaluate(values, "median", bounds=BOUNDS)


def distance_of(statistic, bound, neighboring):
    def distance(values):
        return sensitivity.distance(
            values, statistic, bounds=BOUNDS, neighboring=neighboring, bound=bound
        )

    return distance


@RELATIONS
@pytest.mark.parametrize("bound", [0.5, 1, 3, 8, 100])
def test_distances_of_profiles_pass(neighboring, bound):
    far = distance_of("median", bound, neighboring)
    assert check_distance(median, far, GRID, 4, bound=bound, neighboring=neighboring)


def test_every_pair_of_neighbors_is_compared_once():
    """0, 1 and 2 of two values: 1 + 2 + 3 data sets, sizes next to each other."""

    def zero(values):
        return 0

    assert check_distance(median, zero, [0, 9], 2, bound=1) == 2 + 4
    same = check_distance(median, zero, [9, 0, 9], 2, bound=1, neighboring="replace")
    assert same == 1 + 2  # 0-9; 00-09 and 09-99


@RELATIONS
def test_a_count_of_violations_is_no_distance(neighboring):
    """The notes' test: rows whose deletion moves the statistic by more than B."""

    def closest(values):
        return np.diff(values).min(initial=9)

    def count(values):
        moves = [closest(np.delete(values, i)) for i in range(len(values))]
        return sum(abs(moved - closest(values)) > 2 for moved in moves)

    with pytest.raises(AssertionError, match=r"more than 1 apart|not both 0"):
        check_distance(closest, count, GRID, 3, bound=2, neighboring=neighboring)


def test_a_distance_that_is_too_large_by_one_is_found():
    far = distance_of("median", 3, "add_remove")
    with pytest.raises(AssertionError, match="more than the bound apart"):
        check_distance(median, lambda x: far(x) + 1, GRID, 3, bound=3)
    with pytest.raises(AssertionError, match="more than 1 apart"):
        check_distance(median, lambda x: 2 * far(x), GRID, 6, bound=3)


def test_a_distance_of_the_other_relation_is_found():
    """The trimmed mean's replace row lies below the truth under add_remove."""
    statistic, bound = ("trimmed_mean", 1), 4.9

    def value(values):
        return sensitivity.evaluate(values, statistic, bounds=BOUNDS)

    for neighboring in ("add_remove", "replace"):
        own = distance_of(statistic, bound, neighboring)
        assert check_distance(value, own, GRID, 4, bound=bound, neighboring=neighboring)
    with pytest.raises(AssertionError):
        check_distance(
            value, distance_of(statistic, bound, "replace"), GRID, 4, bound=bound
        )


def test_infinity_is_a_distance_where_it_is_one_everywhere():
    assert check_distance(median, lambda x: math.inf, GRID, 3, bound=9) > 0
    with pytest.raises(AssertionError, match="inf"):
        check_distance(median, lambda x: math.inf if len(x) else 3, GRID, 3, bound=9)


@pytest.mark.parametrize("found", [-1, 0.5, math.nan, -math.inf])
def test_distances_are_whole(found):
    with pytest.raises(AssertionError, match="no whole number from 0 on"):
        check_distance(median, lambda x: found, GRID, 2, bound=1)


@pytest.mark.parametrize("found", [math.nan, math.inf])
def test_statistics_are_finite(found):
    with pytest.raises(AssertionError, match="no finite number"):
        check_distance(lambda x: found, lambda x: 0, GRID, 2, bound=1)


def test_functions_get_sorted_arrays_of_their_own():
    def spoils(values):
        assert isinstance(values, np.ndarray)
        assert (np.diff(values) >= 0).all()
        values[:] = 5
        return 0

    assert check_distance(spoils, spoils, (4, 0, 9), 3, bound=1) == 30


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"size": 0}, "size must be a number of rows"),
        ({"size": 1.5}, "size must be a number of rows"),
        ({"size": True}, "size must be a number of rows"),
        ({"domain": []}, "a domain that is not empty"),
        ({"domain": range(100), "size": 9}, "more than 200,000 data sets"),
        ({"bound": 0}, "bound must be positive"),
        ({"bound": None}, "bound must be a number"),
        ({"neighboring": "edge"}, "neighboring must be 'add_remove' or 'replace'"),
    ],
)
def test_arguments(arguments, match):
    asked = {"domain": GRID, "size": 2, "bound": 1, **arguments}
    with pytest.raises(ParameterError, match=match):
        check_distance(median, lambda x: 0, **asked)
