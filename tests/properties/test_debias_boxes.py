"""Functions of all counts: unbiased by summing over the exact noise law."""

import math

import numpy as np
import pytest
from debias_reference import expectation
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.estimands.stand_ins import (
    DecisionTreeRegressor,
    RandomForestRegressor,
    predict,
    random_tree,
)

from dpframe.estimands import NoisyCounts, black_box, box, debias, tree

DOMAINS = ["counts", "integers", (0, 5), (2, 4), (1, None), (None, 4), (3, 3)]
RATES = [1.5, 3.0]


def patternless(seed):
    table = np.random.default_rng(seed).uniform(-1, 1, (401, 401))
    return lambda x: table[x[..., 0] % 401, x[..., 1] % 401]


def inside(domain):
    low, high = NoisyCounts([0], 1.0, domain).ends
    return st.integers(-2 if low is None else low, 6 if high is None else high)


def moments(estimand, x, domain, rates=RATES):
    """E g, E g² and E V over the noise, g the estimate and V that of its variance."""

    def estimate(y):
        found = debias(y, estimand, epsilon=RATES, domain=domain)
        return found.value, found.value**2, found.variance

    return expectation(estimate, x, rates, tail=1e-13)


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@settings(max_examples=1, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_any_function_of_two_counts(domain, data, seed):
    x = [data.draw(inside(domain)) for _ in RATES]
    f = patternless(seed)
    mean, square, variance = moments(black_box(f), x, domain)
    assert mean == pytest.approx(float(f(np.array(x))), abs=1e-10)
    assert variance == pytest.approx(square - mean**2, abs=1e-9)


@pytest.mark.parametrize("domain", ["counts", "integers", (0, 5)], ids=str)
@settings(max_examples=2, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_any_forest_on_two_counts(domain, data, seed):
    x = [data.draw(inside(domain)) for _ in RATES]
    rng = np.random.default_rng(seed)
    grown = [random_tree(rng, 2, 4) for _ in range(2)]
    model = RandomForestRegressor([DecisionTreeRegressor(nodes) for nodes in grown])
    mean, square, variance = moments(tree(model), x, domain)
    truth = math.fsum(predict(nodes, x) for nodes in grown) / 2
    assert mean == pytest.approx(truth, abs=1e-9)
    assert variance == pytest.approx(square - mean**2, abs=1e-8)


@pytest.mark.parametrize("x", [[3, 2], [4, 5], [0, 0]])
def test_boxes_that_overlap(x):
    terms = [(2.0, {0: (None, 3)}), (-1.0, {0: (3, 5), 1: (2, None)}), (0.5, {})]
    truth = 2.0 * (x[0] <= 3) - (3 <= x[0] <= 5 and x[1] >= 2) + 0.5
    mean, square, variance = moments(box(terms), x, "counts")
    assert mean == pytest.approx(truth, abs=1e-10)
    assert variance == pytest.approx(square - mean**2, abs=1e-9)


@pytest.mark.parametrize("off", [0.95, 1.05])
def test_noise_five_per_cent_off_is_noticed(off):
    rates = [rate * off for rate in RATES]
    both = [(1.0, {0: (4, None), 1: (2, None)})]
    for estimand in (box(both), black_box(lambda x: x[0] >= 4 and x[1] >= 2)):
        mean, _, _ = moments(estimand, [4, 2], "counts", rates)
        assert abs(mean - 1) > 1e-3
