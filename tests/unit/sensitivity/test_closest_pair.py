import functools
import itertools
import math

import numpy as np
import pytest
from sensitivity_reference import data_sets, ordered, removal_curve

from dpframe import sensitivity
from dpframe.errors import ParameterError
from dpframe.sensitivity.closest_pair import LineProfile, PlaneProfile
from dpframe.sensitivity.ordered import Ordered
from dpframe.sensitivity.plain import profile_of

PLANE = {"bounds": (0, 2), "neighboring": "add_remove"}


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_deletions_on_a_line_are_the_best_ones(dtype):
    for x in data_sets(range(7)):
        line = LineProfile(ordered(x, dtype))
        points = [(v, 0) for v in x]
        assert [line.removal(j) for j in range(7)] == removal_curve(points, 6, 7.0)


def test_a_line_of_floats_ends_in_a_distance_of_the_data():
    rng = np.random.default_rng(9)
    for _ in range(20):
        x = np.sort(rng.normal(3, 1e-3, 12))
        line = LineProfile(ordered(x))
        best = removal_curve([(v, 0) for v in x], 4, 7.0)
        assert [line.removal(j) for j in (3, 0, 4, 1)] == [
            best[j] for j in (3, 0, 4, 1)
        ]


def test_integers_on_a_line_beyond_the_range_of_their_type():
    x, ends = [-(2**63), 2**62, 3 * 2**61, 2**63 - 1], (-(2**63), 2**63 - 1)
    line = LineProfile(Ordered.read(np.array(x), ends))
    curve = [line.removal(j) for j in range(4)]
    assert curve == [2.0**61, 2.0**62, 2.0**64, 2.0**64]


def test_a_copy_counts_where_the_notes_only_delete():
    """Of three equal points deletion changes nothing; a copy sends any pair to 0."""
    data = [(0, 0), (0, 0), (0, 0), (2, 2)]
    assert sensitivity.evaluate(data, "closest_pair", bounds=(0, 2)) == 0
    assert (
        profile_of(
            [3, 3, 3, 7], "closest_pair", bounds=(0, 7), neighboring="add_remove"
        ).exact_local
        == 0
    )
    two = profile_of([0, 6], "closest_pair", bounds=(0, 7), neighboring="add_remove")
    assert two.exact_local == 6
    assert two.local == 7


def test_few_points():
    diameter = math.sqrt(8)
    for points in ([], [(1, 1)], [(0, 1), (2, 1)]):
        array = np.array(points, dtype=float).reshape(-1, 2)
        value = sensitivity.evaluate(array, "closest_pair", bounds=(0, 2))
        assert value == (2 if len(points) == 2 else diameter)
        found = sensitivity.profile(array, "closest_pair", k_max=2, **PLANE)
        assert found == pytest.approx([diameter] * 3)
        line = profile_of(
            [p[0] for p in points],
            "closest_pair",
            bounds=(0, 2),
            neighboring="add_remove",
        )
        assert line.at([0, 1, 2]).tolist() == [2, 2, 2]
        assert line.exact_local == (0 if not points else 2)


def test_profiles_in_the_plane_bound_every_change():
    lattice = list(itertools.product(range(3), repeat=2))

    @functools.cache
    def found(points):
        array = np.array(points).reshape(-1, 2)
        return profile_of(array, "closest_pair", **PLANE)

    for n in range(4):
        for points in itertools.combinations_with_replacement(lattice, n):
            here = found(points)
            assert isinstance(here, PlaneProfile)
            for added in lattice:
                more = found(tuple(sorted((*points, added))))
                moved = abs(here.removal(0) - more.removal(0))
                assert moved <= min(here.local, more.local)
                ks = np.arange(4)
                assert (here.at(ks) <= more.at(ks + 1)).all()
                assert (more.at(ks) <= here.at(ks + 1)).all()


def test_units_in_the_plane():
    points = [(0, 0), (0, 1), (2, 0), (2, 2), (1, 1), (1, 2)]
    one = profile_of(points, "closest_pair", **PLANE)
    two = one.of_unit(2)
    assert two.at([0, 1, 9]).tolist() == [one.removal(j) for j in (2, 4, 20)]
    assert two.limit == two.at(two.last) == math.sqrt(8)
    assert two.of_unit(2).local == one.removal(4)


def test_other_relations_are_refused():
    with pytest.raises(ParameterError, match="add_remove"):
        sensitivity.local([1, 2], "closest_pair", bounds=(0, 3), neighboring="replace")


def test_a_dense_cloud_gains_nothing():
    rng = np.random.default_rng(10)
    x = rng.normal(0.5, 1e-3, 300)
    public = {"bounds": (0, 1), "neighboring": "add_remove"}
    assert sensitivity.smooth(x, "closest_pair", beta=1e-3, **public) > 0.7
