"""Extrapolated moves, on problems where moves change the marginals linearly."""

import numpy as np
import pytest

from dpframe.models.extrapolation import Extrapolation


def descend(memory, steps, seed=0, size=6):
    """Minimize (m - goal)² weighted, where a move changes m by a positive matrix."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size))
    linear, weights = np.eye(size) + root @ root.T, rng.uniform(1, 30, size)
    goal, m = rng.normal(size=size), np.zeros(size)
    past = Extrapolation(weights, memory)
    step = 0.5 / np.linalg.norm(linear * weights, 2)
    for _ in range(steps):
        move = past.move(weights * (m - goal), step)
        past.add(move, linear @ move)
        m = m + linear @ move
    return float(weights @ (m - goal) ** 2)


def test_without_memory_moves_are_mirror_steps():
    past = Extrapolation(np.ones(2), 0)
    gradient = np.array([3.0, -1.0])
    past.add(gradient, gradient)
    assert past.empty
    np.testing.assert_array_equal(past.move(gradient, 0.5), [-1.5, 0.5])


@pytest.mark.parametrize("seed", range(5))
def test_as_many_moves_as_unknowns_solve_a_linear_problem(seed):
    before = descend(8, 0, seed)
    assert descend(8, 12, seed) < 1e-6 * before
    assert descend(0, 12, seed) > 1e-3 * before


def test_it_can_forget():
    past = Extrapolation(np.ones(2), 3)
    past.add(np.ones(2), np.ones(2))
    assert not past.empty
    past.clear()
    assert past.empty
    np.testing.assert_array_equal(past.move(np.ones(2), 0.1), [-0.1, -0.1])


def test_the_mirror_step_uses_the_predicted_gradient():
    past = Extrapolation(np.array([1.0, 4.0]), 2)
    past.add(np.array([1.0, 0.0]), np.array([1.0, 0.5]))
    gradient = np.array([-3.0, 2.0])
    # Along the change (1, 1/2) f has slope -2 and curvature 2: once the move is best.
    predicted = gradient + np.array([1.0, 4 * 0.5])
    expected = np.array([1.0, 0.0]) - 0.1 * predicted
    np.testing.assert_allclose(past.move(gradient, 0.1), expected, rtol=1e-8)


def test_dependent_changes_do_no_harm():
    past = Extrapolation(np.ones(3), 4)
    for _ in range(4):
        past.add(np.array([1.0, 0, 0]), np.array([0.5, 0.1, 0]))
    move = past.move(np.array([-1.0, -0.2, 0]), 0.0)
    np.testing.assert_allclose(move, [2, 0, 0], rtol=1e-6)
