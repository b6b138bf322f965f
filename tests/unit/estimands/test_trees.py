import math
from decimal import Decimal

import numpy as np
import pytest
from debias_reference import enumerate_inverse
from unit.estimands.stand_ins import (
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
    arrays,
    predict,
    random_tree,
)

from dpframe.errors import ParameterError
from dpframe.estimands import NoisyCounts, Tree, box, debias, tree
from dpframe.estimands import box_sums as engine
from dpframe.estimands.stencil import Stencil

DOMAINS = ["counts", "integers", (2, 6), (1, None), (None, 4), (3, 3), (0, 1)]


def made(seed, features, depth, trees=1):
    rng = np.random.default_rng(seed)
    noisy = NoisyCounts(rng.integers(-2, 8, features), rng.uniform(0.5, 4.0, features))
    return noisy, [random_tree(rng, features, depth) for _ in range(trees)]


def check(noisy, estimand, f):
    got = estimand.debias(noisy)
    value = enumerate_inverse(noisy, lambda z: Decimal(f(z)), 40)
    square = enumerate_inverse(noisy, lambda z: Decimal(f(z)) ** 2, 40)
    assert got.value == pytest.approx(value, rel=1e-11, abs=1e-12)
    assert got.variance == pytest.approx(value**2 - square, rel=1e-8, abs=1e-9)
    assert estimand.plug_in(noisy) == pytest.approx(f(noisy.clip(noisy.values)))


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize(("features", "depth"), [(1, 4), (3, 6), (5, 8)])
def test_a_tree_is_the_sum_over_all_neighbors(domain, features, depth):
    noisy, (nodes,) = made(features * depth, features, depth)
    noisy = NoisyCounts(noisy.values, noisy.rate, domain)
    check(noisy, tree(DecisionTreeRegressor(nodes)), lambda z: predict(nodes, z))


def test_eight_features_by_brute_force():
    noisy, (nodes,) = made(2, 8, 8)
    got = tree(DecisionTreeRegressor(nodes)).debias(noisy)
    value = enumerate_inverse(noisy, lambda z: Decimal(predict(nodes, z)), 30)
    assert got.value == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_a_forest_is_the_mean_of_its_trees(seed):
    noisy, grown = made(seed, 4, 4, trees=5)
    model = RandomForestRegressor([DecisionTreeRegressor(nodes) for nodes in grown])
    check(noisy, tree(model), lambda z: math.fsum(predict(t, z) for t in grown) / 5)


def test_boosting_is_a_weighted_sum_from_a_constant():
    noisy, grown = made(3, 4, 3, trees=4)
    members = [DecisionTreeRegressor(nodes) for nodes in grown]
    model = GradientBoostingRegressor(members, 0.25, "zero")
    check(noisy, tree(model), lambda z: 0.25 * math.fsum(predict(t, z) for t in grown))


def test_a_feature_tested_twice_has_one_interval():
    # Product over the path's nodes would give the leaf (2, 5] a wrong weight.
    nodes = (0, 5.0, (0, 2.0, 10.0, 20.0), 40.0)
    for y in range(8):
        noisy = NoisyCounts([y], 1.0)
        by_hand = box(
            [(10, {0: (None, 2)}), (20, {0: (3, 5)}), (40, {0: (6, None)})]
        ).debias(noisy)
        got = tree(DecisionTreeRegressor(nodes)).debias(noisy)
        assert got.value == pytest.approx(by_hand.value, rel=1e-14)
        assert got.variance == pytest.approx(by_hand.variance, rel=1e-12)


@pytest.mark.parametrize(("threshold", "cut"), [(3.7, 3), (3.0, 3), (-0.5, -1)])
def test_thresholds_are_floored(threshold, cut):
    split = tree(DecisionTreeRegressor((0, threshold, 1.0, 0.0)))
    below = box([(1.0, {0: (None, cut)})])
    for y in (cut - 1, cut, cut + 1, cut + 2):
        noisy = NoisyCounts([y], 0.5, "integers")
        assert split.plug_in(noisy) == below.plug_in(noisy) == (y <= cut)
        got, expected = split.debias(noisy), below.debias(noisy)
        assert got.value == pytest.approx(expected.value, rel=1e-14)


def test_only_leaves_next_to_the_counts_are_visited():
    chain = 0.0
    for cut in range(200, 0, -1):  # a leaf for each count
        chain = (0, cut + 0.5, float(cut), chain)
    estimand = tree(DecisionTreeRegressor(chain))
    found = estimand._near(Stencil.of(NoisyCounts([77], 1.0)))
    assert sorted(found.values) == [-1.0, 1.0]
    assert found.constant == 77.0
    assert debias([77], estimand, epsilon=1).value == pytest.approx(77.0)
    assert debias([77], estimand, epsilon=1).variance == pytest.approx(
        1 / (2 * math.sinh(0.5) ** 2)
    )


def test_large_values_do_not_cost_digits():
    noisy, (nodes,) = made(11, 4, 6)

    def lifted(node):
        if isinstance(node, tuple):
            return (*node[:2], lifted(node[2]), lifted(node[3]))
        return round(node * 2**20) / 2**20 + 2.0**28

    low = tree(DecisionTreeRegressor(nodes)).debias(noisy)
    high = tree(DecisionTreeRegressor(lifted(nodes))).debias(noisy)
    assert high.variance == pytest.approx(low.variance, rel=1e-4)
    assert high.value - 2.0**28 == pytest.approx(low.value, abs=1e-3)


def test_a_single_tree_of_very_many_leaves_has_a_variance(monkeypatch):
    noisy, (nodes, other) = made(5, 4, 6, trees=2)
    one = tree(DecisionTreeRegressor(nodes))
    two = tree(
        RandomForestRegressor(
            [DecisionTreeRegressor(nodes), DecisionTreeRegressor(other)]
        )
    )
    by_pairs = one.debias(noisy)
    assert not math.isnan(two.debias(noisy).variance)
    monkeypatch.setattr(engine, "_MOST_WORK", 0)
    assert one.debias(noisy).variance == pytest.approx(by_pairs.variance, rel=1e-10)
    assert math.isnan(two.debias(noisy).variance)
    assert any("pairs" in text for text in two.debias(noisy).warnings)


def test_the_model_is_copied():
    model = DecisionTreeRegressor((0, 3.5, 1.0, 5.0))
    estimand = tree(model)
    model.tree_.value[:] = 0
    model.tree_.threshold[:] = 99
    assert debias([20], estimand, epsilon=1).value == 5.0


def test_names():
    model = DecisionTreeRegressor(3.0)
    assert tree(model).name == "DecisionTreeRegressor"
    assert repr(tree(model, "price")) == "price"
    assert isinstance(tree(model), Tree)
    got = debias([1, 2], tree(model), epsilon=1)
    assert (got.value, got.variance) == (3.0, 0.0)


def test_as_many_bins_as_features():
    model = DecisionTreeRegressor((2, 3.5, 1.0, 5.0))
    assert debias([0, 0, 9, 0], tree(model), epsilon=1).value == 5.0
    with pytest.raises(ParameterError, match=r"at least 3 counts.*there are 2 bins"):
        debias([1, 2], tree(model), epsilon=1)
    model.n_features_in_ = 3
    with pytest.raises(ParameterError, match=r"takes 3 counts.*there are 4 bins"):
        debias([1, 2, 3, 4], tree(model), epsilon=1)
    assert debias([1, 2, 30], tree(model), epsilon=1).value == 5.0


def test_the_stand_ins_look_like_the_real_thing():
    found = arrays((0, 2.5, 1.0, (1, 0.5, 2.0, 3.0)))
    assert found.children_left.tolist() == [1, -1, 3, -1, -1]
    assert found.children_right.tolist() == [2, -1, 4, -1, -1]
    assert found.feature.tolist() == [0, -2, 1, -2, -2]
    assert found.threshold.tolist() == [2.5, -2.0, 0.5, -2.0, -2.0]
    assert found.value.shape == (5, 1, 1)
