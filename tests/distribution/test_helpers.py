"""The tests of the tests: p-values that are calibrated, and that have power."""

import numpy as np
import pytest
from helpers import (
    assert_cdf,
    assert_law,
    assert_not_law,
    assert_uniform,
    chi_square,
    kolmogorov_smirnov,
)


def coin_sum(k):
    """Number of heads among four fair coins."""
    return np.array([1, 4, 6, 4, 1])[np.clip(k, 0, 4)] / 16 * ((k >= 0) & (k <= 4))


def test_p_values_of_the_right_law_are_uniform():
    rng = np.random.default_rng(5)
    p = [chi_square(rng.binomial(4, 0.5, 5_000), coin_sum) for _ in range(400)]
    assert kolmogorov_smirnov(np.array(p), lambda level: level) > 1e-4
    p = [kolmogorov_smirnov(rng.random(5_000), lambda x: x) for _ in range(400)]
    assert kolmogorov_smirnov(np.array(p), lambda level: level) > 1e-4


def test_wrong_laws_are_told_apart():
    rng = np.random.default_rng(6)
    right, wrong = rng.binomial(4, 0.5, 100_000), rng.binomial(4, 0.52, 100_000)
    assert_law(right, coin_sum)
    assert_not_law(wrong, coin_sum)
    with pytest.raises(AssertionError, match="do not follow"):
        assert_law(wrong, coin_sum)
    with pytest.raises(AssertionError, match="pass for another"):
        assert_not_law(right, coin_sum)
    with pytest.raises(AssertionError, match="cdf"):
        assert_cdf(rng.random(10_000) ** 1.2, lambda x: x)
    with pytest.raises(AssertionError, match="equally likely"):
        assert_uniform(np.array([1000, 1000, 1300]))


def test_samples_outside_the_support_count():
    samples = np.random.default_rng(7).binomial(4, 0.5, 10_000)
    assert_not_law(np.concatenate([samples, np.full(900, 99)]), coin_sum)
    assert_not_law(np.concatenate([samples, np.full(900, -99)]), coin_sum)
