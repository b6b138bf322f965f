"""Objects with the public arrays of fitted scikit-learn models, and nothing else."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np


def arrays(nodes):
    """``tree_`` from nested nodes: (feature, threshold, left, right) or a value."""
    left, right, feature, threshold, value = ([] for _ in range(5))

    def add(node):
        k = len(left)
        for column, empty in (
            (left, -1),
            (right, -1),
            (feature, -2),
            (threshold, -2.0),
        ):
            column.append(empty)
        value.append(None)
        if isinstance(node, tuple):
            feature[k], threshold[k] = node[:2]
            left[k] = add(node[2])
            right[k] = add(node[3])
            value[k] = (value[left[k]] + value[right[k]]) / 2
        else:
            value[k] = np.atleast_2d(np.asarray(node, dtype=float))
            if value[k].shape[0] == 1 and not isinstance(node, list):
                value[k] = value[k].reshape(-1, 1)
        return k

    add(nodes)
    return SimpleNamespace(
        children_left=np.array(left),
        children_right=np.array(right),
        feature=np.array(feature),
        threshold=np.array(threshold),
        value=np.stack(value),
    )


class DecisionTreeRegressor:
    def __init__(self, nodes):
        self.tree_ = arrays(nodes)


class DecisionTreeClassifier(DecisionTreeRegressor):
    def __init__(self, nodes, classes):
        super().__init__(nodes)
        self.classes_ = np.array(classes)


class Ensemble:
    def __init__(self, estimators):
        self.estimators_ = estimators


class ExtraTreesRegressor(Ensemble):
    pass


class ForestRegressor(Ensemble):
    """scikit-learn's base class; only the public names below it are known."""


class RandomForestRegressor(ForestRegressor):
    pass


class RandomForestClassifier(Ensemble):
    def __init__(self, estimators, classes):
        super().__init__(estimators)
        self.classes_ = np.array(classes)


class OwnForest(RandomForestRegressor):
    """A user's subclass."""


class GradientBoostingRegressor(Ensemble):
    def __init__(self, estimators, learning_rate, init):
        super().__init__(np.array(estimators, dtype=object).reshape(-1, 1))
        self.learning_rate = learning_rate
        self.init_ = init


class GradientBoostingClassifier(GradientBoostingRegressor.__base__):
    pass


class AdaBoostRegressor(Ensemble):
    pass


def random_tree(rng, features, depth, leaf=None):
    """Nested nodes with thresholds near small counts, features tested repeatedly."""
    if depth == 0 or rng.random() < 0.1:
        return float(rng.uniform(-5, 5)) if leaf is None else leaf(rng)
    threshold = float(rng.integers(-2, 8)) + float(rng.choice([0.0, 0.5, 0.7]))
    return (
        int(rng.integers(features)),
        threshold,
        random_tree(rng, features, depth - 1, leaf),
        random_tree(rng, features, depth - 1, leaf),
    )


def predict(nodes, z):
    """The value that nested nodes give to counts z, thresholds as real numbers."""
    while isinstance(nodes, tuple):
        feature, threshold, left, right = nodes
        nodes = left if float(z[feature]) <= threshold else right
    return nodes
