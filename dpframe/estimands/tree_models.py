"""Reading fitted tree models of scikit-learn: their public arrays, nothing else.

The library is not imported. A single tree is known by its ``tree_``, an ensemble by
the names of its classes, for a mean of trees, a weighted median and a logistic link
look alike from outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError, shown

__all__ = ["Nodes", "TreeModel", "read_model"]

Floats = npt.NDArray[np.float64]

_SINGLE = {"DecisionTreeClassifier", "DecisionTreeRegressor"}
_FORESTS = {
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
}
_BOOSTED = "GradientBoostingRegressor"
_FARTHEST = 2.0**60  # thresholds beyond every count, such as inf


@final
@dataclass(frozen=True, eq=False)
class Nodes:
    """One tree: node k sends counts with x[feature[k]] <= cut[k] to left[k].

    ``left`` is -1 at a leaf. Lists, for they are read one by one.
    """

    left: list[int]
    right: list[int]
    feature: list[int]
    cut: list[int]
    value: list[float]


@final
@dataclass(frozen=True, eq=False)
class TreeModel:
    """A constant plus a sum of trees over ``features`` counts (None: not said)."""

    trees: tuple[Nodes, ...]
    constant: float
    features: int | None


def read_model(model: Any, output: Any) -> TreeModel:
    """Copy a fitted tree, forest or boosted regressor.

    Raises
    ------
    ParameterError
        If the model is of another kind or not fitted, or ``output`` does not say which
        of several outputs is meant.
    """
    kinds = {kind.__name__ for kind in type(model).__mro__}
    classes = getattr(model, "classes_", None)
    features = getattr(model, "n_features_in_", None)
    if getattr(model, "tree_", None) is not None:
        trees = [_read_nodes(model.tree_, classes, output, 1.0)]
        return TreeModel(tuple(trees), 0.0, features)
    if not kinds & {*_SINGLE, *_FORESTS, _BOOSTED}:
        raise _unknown(model)
    members = list(np.ravel(getattr(model, "estimators_", [])))
    if not members:
        msg = f"this {type(model).__name__} is not fitted: it has no tree yet."
        raise ParameterError(msg)
    boosted = _BOOSTED in kinds
    weight = float(model.learning_rate) if boosted else 1 / len(members)
    constant = _start(model) if boosted else 0.0
    trees = [_read_nodes(each.tree_, classes, output, weight) for each in members]
    return TreeModel(tuple(trees), constant, features)


def _start(model: Any) -> float:
    """Return the constant that boosting starts from."""
    if isinstance(model.init_, str) and model.init_ == "zero":
        return 0.0
    constant = getattr(model.init_, "constant_", None)
    if constant is None:
        msg = (
            "this GradientBoostingRegressor starts from another model (init=), which "
            "tree cannot read. Fit it with init=None or init='zero'."
        )
        raise ParameterError(msg)
    return float(np.ravel(constant)[0])


def _read_nodes(tree: Any, classes: Any, output: Any, weight: float) -> Nodes:
    left, right = (np.asarray(x) for x in (tree.children_left, tree.children_right))
    inner = left >= 0
    feature = np.where(inner, np.asarray(tree.feature), 0)
    threshold = np.where(inner, np.asarray(tree.threshold, dtype=np.float64), 0.0)
    value = np.asarray(tree.value, dtype=np.float64)
    value = weight * _outputs(np.atleast_3d(value), classes, output)
    number = np.arange(left.size)
    # Children come after their parents: so every walk ends.
    sound = (left < left.size) & (right < left.size) & (left > number)
    sound &= (right > number) & (feature >= 0) & ~np.isnan(threshold)
    if not (left.size and sound[inner].all() and np.isfinite(value).all()):
        msg = "the arrays of this tree are not those of a fitted scikit-learn tree."
        raise ParameterError(msg)
    cut = np.floor(np.clip(threshold, -_FARTHEST, _FARTHEST)).astype(np.int64)
    lists: Iterator[Any] = (x.tolist() for x in (left, right, feature, cut, value))
    return Nodes(*lists)


def _outputs(value: Floats, classes: Any, output: Any) -> Floats:
    """Return each node's prediction; ``value`` is (nodes, outputs, classes)."""
    if classes is None:
        return value[:, _one_of(range(value.shape[1]), output, "outputs"), 0]
    labels = np.asarray(classes, dtype=object).tolist()
    if value.shape[1] != 1 or value.shape[2] != len(labels):
        msg = "tree reads classifiers of one target only; fit one for each target."
        raise ParameterError(msg)
    if output is None and len(labels) == 2:
        output = labels[1]
    chosen = _one_of(labels, output, "classes")
    share: Floats = value[:, 0, chosen] / value[:, 0].sum(axis=1)
    return share


def _one_of(labels: Any, output: Any, noun: str) -> int:
    known = list(labels)
    if output is None and len(known) == 1:
        return 0
    if output in known:
        return known.index(output)
    msg = (
        f"this model has the {noun} {shown(known)}: name one, as in "
        f"tree(model, output={shown(known[0])}); got {shown(output)}."
    )
    raise ParameterError(msg)


def _unknown(model: Any) -> ParameterError:
    return ParameterError(
        "tree reads fitted decision trees, random forests and GradientBoostingRegressor"
        f" of scikit-learn, not {type(model).__name__}. Medians of trees and logistic "
        "links are no sums of trees; other sums of boxes can be written as box([...])."
    )
