import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpframe.estimands.mixed_differences import (
    absolute_sum,
    inverse,
    mixed_differences,
)

SHAPES = [(), (2,), (3,), (2, 3), (3, 2, 3), (2, 2, 2, 3)]


def made(shape, seed=5):
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1, 1, shape)
    weights = [rng.uniform(0.1, 2, size - 1) for size in shape]
    return values, weights


def signed_weights(weights):
    """The weight of every point, by the definition of T."""
    each = [np.concatenate([[1 + w.sum()], -w]) for w in weights]
    points = itertools.product(*each)
    return np.array([math.prod(p) for p in points])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_inverse_is_the_weighted_sum_and_its_variance(shape):
    values, weights = made(shape)
    signed = signed_weights(weights)
    mean = (signed * values.ravel()).sum()
    variance = mean**2 - (signed * values.ravel() ** 2).sum()
    got = inverse(mixed_differences(values), weights)
    assert got == pytest.approx((mean, variance), rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_sum_of_absolute_terms(shape):
    values, weights = made(shape)
    signed = signed_weights(weights)
    got = absolute_sum(values, weights, of_differences=False)
    assert got == pytest.approx((np.abs(signed) * np.abs(values.ravel())).sum())
    differences = mixed_differences(values)
    each = [np.concatenate([[1.0], w]) for w in weights]
    sizes = np.array([math.prod(p) for p in itertools.product(*each)])
    got = absolute_sum(differences, weights, of_differences=True)
    assert got == pytest.approx((sizes * np.abs(differences.ravel())).sum())


def test_differences_of_exact_values_are_exact():
    big = 10**40
    values = np.array([[big, big + 1], [big + 3, big + 6]], dtype=object)
    assert mixed_differences(values).tolist() == [[1e40, 1], [3, 2]]
    thirds = np.array([Fraction(10**20, 3), Fraction(10**20 + 1, 3)], dtype=object)
    assert mixed_differences(thirds)[1] == 1 / 3


def test_a_sum_over_bins_has_no_mixed_entries_and_no_mixed_variance():
    a, b = np.array([0, 4, -1]), np.array([0, 7, 3])
    weights = [np.array([0.9, 0.9]), np.array([2.0, 2.0])]
    table = (10**17 + a[:, None] + b[None, :]).astype(object)
    differences = mixed_differences(table)
    assert not differences[1:, 1:].any()
    _, variance = inverse(differences, weights)
    own = zip(weights, (a, b), strict=True)
    expected = sum((w @ x[1:]) ** 2 + w @ x[1:] ** 2 for w, x in own)
    assert variance == pytest.approx(expected, rel=1e-14)


def test_a_large_constant_does_not_cost_the_variance_its_digits():
    values, weights = made((3, 3, 3))
    _, plain = inverse(mixed_differences(values), weights)
    shifted = np.round(values * 2**20) / 2**20
    _, low = inverse(mixed_differences(shifted), weights)
    _, high = inverse(mixed_differences(shifted + 2.0**30), weights)
    assert low == pytest.approx(plain, rel=1e-3)
    assert high == pytest.approx(low, rel=1e-12)
