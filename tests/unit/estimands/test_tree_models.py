import math
from types import SimpleNamespace

import numpy as np
import pytest
from unit.estimands.stand_ins import (
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Ensemble,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    OwnForest,
    RandomForestClassifier,
    RandomForestRegressor,
)

from dpframe.errors import ParameterError
from dpframe.estimands import tree
from dpframe.estimands.tree_models import read_model

STUMP = (0, 3.7, 1.0, 5.0)


def test_a_regressor():
    model = read_model(DecisionTreeRegressor(STUMP), None)
    (nodes,) = model.trees
    assert nodes.left == [1, -1, -1]
    assert nodes.right == [2, -1, -1]
    assert (nodes.feature[0], nodes.cut[0]) == (0, 3)
    assert nodes.value[1:] == [1.0, 5.0]
    assert (model.constant, model.features) == (0.0, None)


@pytest.mark.parametrize(
    "kind", [RandomForestRegressor, ExtraTreesRegressor, OwnForest]
)
def test_forests_weigh_their_trees_alike(kind):
    model = read_model(kind([DecisionTreeRegressor(STUMP)] * 4), None)
    assert [nodes.value[1:] for nodes in model.trees] == [[0.25, 1.25]] * 4


def test_boosting():
    members = [DecisionTreeRegressor(STUMP)] * 2
    start = SimpleNamespace(constant_=np.array([[7.5]]))
    model = read_model(GradientBoostingRegressor(members, 0.1, start), None)
    assert model.constant == 7.5
    assert model.trees[1].value[1:] == pytest.approx([0.1, 0.5])
    zero = read_model(GradientBoostingRegressor(members, 0.1, "zero"), None)
    assert zero.constant == 0.0
    other = GradientBoostingRegressor(members, 0.1, DecisionTreeRegressor(STUMP))
    with pytest.raises(ParameterError, match=r"starts from another model.*init=None"):
        tree(other)


@pytest.mark.parametrize("factor", [1.0, 12.0])  # shares, or in old versions counts
def test_classifiers_stand_for_probabilities(factor):
    left, right = ([[factor * 0.75, factor * 0.25]], [[0.0, factor * 1.0]])
    single = DecisionTreeClassifier((0, 3.7, left, right), ["no", "yes"])
    assert read_model(single, None).trees[0].value[1:] == [0.25, 1.0]
    assert read_model(single, "no").trees[0].value[1:] == [0.75, 0.0]
    encoded = DecisionTreeClassifier((0, 3.7, left, right), [0.0, 1.0])
    forest = RandomForestClassifier([encoded] * 2, ["no", "yes"])
    assert read_model(forest, "no").trees[1].value[1:] == [0.375, 0.0]
    for wrong in ("maybe", 1):
        with pytest.raises(ParameterError, match=r"classes \['no', 'yes'\].*output="):
            tree(single, output=wrong)


def test_three_classes_must_be_named():
    leaf = [[0.5, 0.25, 0.25]]
    model = DecisionTreeClassifier((0, 3.7, leaf, leaf), [3, 5, 9])
    assert read_model(model, 9).trees[0].value[1] == 0.25
    with pytest.raises(ParameterError, match=r"classes \[3, 5, 9\].*output=3\).*None"):
        tree(model)


def test_several_outputs_must_be_named():
    model = DecisionTreeRegressor((0, 3.7, np.array([1.0, 2.0]), np.array([3.0, 4.0])))
    assert read_model(model, 1).trees[0].value[1:] == [2.0, 4.0]
    with pytest.raises(ParameterError, match=r"outputs \[0, 1\]"):
        tree(model)
    leaf = np.array([1.0, 2.0])
    several = DecisionTreeClassifier((0, 3.7, leaf, leaf), ["a", "b"])
    with pytest.raises(ParameterError, match="one target only"):
        tree(several)


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostRegressor([DecisionTreeRegressor(STUMP)]),
        GradientBoostingClassifier([DecisionTreeRegressor(STUMP)]),
        Ensemble([DecisionTreeRegressor(STUMP)]),
        object(),
        None,
        [STUMP],
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_models_are_refused(model):
    with pytest.raises(ParameterError, match=r"tree reads fitted.*not .*box\(\["):
        tree(model)


def test_models_that_are_not_fitted_are_refused():
    single = DecisionTreeRegressor(STUMP)
    del single.tree_
    for model in (single, RandomForestRegressor([])):
        with pytest.raises(ParameterError, match="not fitted"):
            tree(model)


def test_infinite_thresholds_send_everything_one_way():
    up = read_model(DecisionTreeRegressor((0, math.inf, 1.0, 5.0)), None)
    assert up.trees[0].cut[0] == 2**60


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("children_left", [0, -1, -1]),  # a circle
        ("children_left", [7, -1, -1]),
        ("children_right", [9, -1, -1]),
        ("children_right", [-1, -1, -1]),
        ("feature", [-2, -2, -2]),
        ("threshold", [math.nan, -2, -2]),
        ("value", [[[0.0]], [[math.nan]], [[1.0]]]),
    ],
)
def test_arrays_that_are_no_tree_are_refused(name, value):
    model = DecisionTreeRegressor(STUMP)
    setattr(model.tree_, name, np.array(value))
    with pytest.raises(ParameterError, match="not those of a fitted"):
        tree(model)
