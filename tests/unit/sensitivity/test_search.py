import math

import numpy as np
import pytest

from dpframe.sensitivity.search import damped_maximum, first_true


def test_first_true_and_how_far_it_looks():
    for last in (0, 1, 5, 100):
        for answer in range(last + 1):
            seen = []
            found = first_true(lambda k: seen.append(k) or k >= answer, last)  # noqa: B023
            assert found == answer
            assert max(seen) <= 2 * answer
            assert len(seen) <= 2 * math.log2(answer + 1) + 2
        assert first_true(lambda k: False, last) == math.inf


@pytest.mark.parametrize("rate", [1e-300, 1e-3, 0.05, 1.0, 1e300])
def test_damped_maximum_is_that_of_all_places(rate):
    rng = np.random.default_rng(6)
    for _ in range(60):
        last = int(rng.integers(0, 200))
        heights = np.cumsum(rng.gamma(0.1, 1, last + 1))
        slow = (np.exp(-rate * np.arange(last + 1)) * heights).max()
        found = damped_maximum(lambda k: heights[k], last, heights[-1], rate)  # noqa: B023
        assert found == pytest.approx(slow, rel=1e-14)


def test_damped_maximum_looks_at_few_places():
    seen = []

    def at(ks):
        seen.extend(ks.tolist())
        return np.minimum(1.0 + ks, 1e6)

    assert damped_maximum(at, 10**9, 1e6, 0.1) == pytest.approx(10 * np.exp(-0.9))
    assert len(seen) < 200
    assert max(seen) < 1000
