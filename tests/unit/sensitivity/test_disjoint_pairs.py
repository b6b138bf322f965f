import functools
import itertools
import math

import numpy as np
import pytest
from sensitivity_reference import closest_distance, removal_curve

from dpframe.sensitivity.disjoint_pairs import disjoint_distances
from dpframe.sensitivity.points import read_points

BOX = (0, 2)
LATTICE = list(itertools.product(range(3), repeat=2))


def greedy(points):
    """All pairs by (distance, ends), the first that are free: O(n² log n)."""
    points = sorted(points)
    pairs = itertools.combinations(range(len(points)), 2)
    order = sorted(
        (sum((a - b) ** 2 for a, b in zip(points[i], points[j], strict=True)), i, j)
        for i, j in pairs
    )
    free, found = set(range(len(points))), []
    for square, i, j in order:
        if {i, j} <= free:
            free -= {i, j}
            found.append(math.sqrt(square))
    return found


def distances(points, bounds=BOX):
    points = np.array(points).reshape(-1, 2)
    return disjoint_distances(read_points(points, bounds)).tolist()


@functools.cache
def curve(points):
    return (distances(points) + [math.sqrt(8)] * 4)[:4]


def test_small_lattices_in_every_order():
    for n in range(5):
        for points in itertools.combinations_with_replacement(LATTICE, n):
            assert distances(points) == greedy(points)
            assert distances(points[::-1]) == greedy(points)


def test_one_more_point_shifts_the_sequence_by_one_place():
    """h_X(k) <= h_Y(k + 1) both ways, equal distances everywhere."""
    for n in range(4):
        for points in itertools.combinations_with_replacement(LATTICE, n):
            for added in LATTICE:
                h, more = curve(points), curve(tuple(sorted((*points, added))))
                assert all(h[k] <= more[k + 1] for k in range(3))
                assert all(more[k] <= h[k + 1] for k in range(3))


def test_it_bounds_the_best_deletion():
    for points in itertools.combinations_with_replacement(LATTICE, 4):
        best = removal_curve(points, 3, math.sqrt(8))
        h = curve(points)
        assert h[0] == closest_distance(points, math.sqrt(8))
        assert all(mine >= true for mine, true in zip(h, best, strict=True))


@pytest.mark.parametrize("kind", ["lattice", "uniform", "chain", "clusters", "scales"])
def test_larger_sets(kind):
    rng = np.random.default_rng(7)
    n = 150
    sets = {
        "lattice": rng.integers(0, 30, (n, 2)),
        "uniform": rng.uniform(0, 30, (n, 2)),
        "chain": np.stack([np.arange(n) ** 2 / n**2, np.zeros(n)], axis=1) * 30,
        "clusters": rng.normal(15, 1e-6, (n, 2)) + rng.integers(0, 2, (n, 1)) * 9,
        "scales": 10.0 ** -rng.uniform(0, 30, (n, 2)),
    }
    points = sets[kind]
    tuples = [tuple(p) for p in points.tolist()]
    assert distances(points, (0, 30)) == pytest.approx(greedy(tuples), rel=1e-12)
    shuffled = rng.permutation(points)
    assert distances(shuffled, (0, 30)) == distances(points, (0, 30))


def test_integer_distances_are_compared_exactly():
    """10^8 + 1 and 10^8 are told apart where their squares' floats still differ."""
    far = 10**8
    points = [(0, 0), (far, 0), (0, 5 * far), (far + 1, 5 * far), (5 * far, 0)]
    found = distances(points, (0, 5 * far))
    assert found == [far, far + 1]
    wide = read_points(np.array([(0, 0), (2**61, 0)]), (0, 2**61))
    assert disjoint_distances(wide).tolist() == [2.0**61]


def test_twenty_thousand_points_take_a_second():
    rng = np.random.default_rng(8)
    points = rng.normal(0.5, 0.1, (20_000, 2))
    assert len(distances(points, (0, 1))) >= 9_999
