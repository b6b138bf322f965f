"""Predictions of decision trees from counts: sums of values over the leaves' boxes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dpframe.errors import ParameterError
from dpframe.estimands.box_sums import BoxSum, Condition, debias_box_sum
from dpframe.estimands.estimand import Debiased, Estimand
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.stencil import Stencil
from dpframe.estimands.tree_models import Nodes, TreeModel, read_model

__all__ = ["Tree", "tree"]

Ranges = list[tuple[int, int]]  # least and greatest count of each bin


@final
@dataclass(frozen=True, eq=False, repr=False)
class Tree(Estimand):
    """What a model predicts for the counts; made by `tree`."""

    model: TreeModel
    name: str

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the prediction for the noisy counts, cut to the domain."""
        self._check_bins(noisy)
        return self._predict(Stencil.of(noisy))

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return T of the prediction and its unbiased variance."""
        self._check_bins(noisy)
        stencil = Stencil.of(noisy)
        return debias_box_sum(self._near(stencil), stencil)

    def _predict(self, stencil: Stencil) -> float:
        counts = stencil.center.tolist()
        return self.model.constant + sum(
            nodes.value[_leaf(nodes, counts)] for nodes in self.model.trees
        )

    def _near(self, stencil: Stencil) -> BoxSum:
        """The leaves that hold a neighbor of the counts, less the leaf at the counts.

        The values of each tree are relative to that leaf, which is then left out: the
        leaves of a tree are disjoint and fill the space.
        """
        points = stencil.points
        around: Ranges = list(
            zip(points.min(axis=0).tolist(), points.max(axis=0).tolist(), strict=True)
        )
        counts = stencil.center.tolist()
        values: list[float] = []
        conditions: list[Condition] = []
        for nodes in self.model.trees:
            home = _leaf(nodes, counts)
            for leaf, sides in _leaves_near(nodes, around):
                if leaf != home:
                    conditions += [
                        Condition(len(values), bin_, *ends)
                        for bin_, ends in sides.items()
                    ]
                    values.append(nodes.value[leaf] - nodes.value[home])
        return BoxSum(
            np.array(values, dtype=np.float64),
            np.array(conditions, dtype=np.int64).reshape(-1, 4),
            constant=self._predict(stencil),
            disjoint=len(self.model.trees) == 1,
        )

    def _check_bins(self, noisy: NoisyCounts) -> None:
        bins, features = noisy.values.size, self.model.features
        least = 1 + max(max(nodes.feature) for nodes in self.model.trees)
        if bins < least or features not in (None, bins):
            msg = (
                f"the model takes {features or f'at least {least}'} counts, one for "
                f"each feature in order, and there are {bins} bins."
            )
            raise ParameterError(msg)


def tree(model: Any, name: str | None = None, *, output: Any = None) -> Tree:
    """Make the estimand: what a fitted tree model predicts for the true counts.

    The features are the counts, bin after bin. For decision trees, random forests and
    extra trees of either kind and ``GradientBoostingRegressor`` of scikit-learn, which
    is not imported: the public arrays of the trees are copied. Only leaves next to the
    noisy counts are visited, so noise is cheap to undo far from thresholds.

    Parameters
    ----------
    model : fitted model
        A classifier stands for the probability that it predicts, the mean over its
        trees.
    name : str, optional
        What the estimate is called; the class of the model by default.
    output : optional
        Of a classifier the label whose probability is meant, by default the second of
        two; of a regressor with several outputs the number of one, from 0.

    Returns
    -------
    Tree
        For `dpframe.debias` or ``release.debias``. The variance takes time quadratic
        in the number of leaves next to the noisy counts (linear for a single tree of
        very many); ``std_error`` is NaN above about 2,000 of several trees.

    Raises
    ------
    ParameterError
        If the model is of another kind, is not fitted, or has several outputs and
        ``output`` names none; when estimating, if it takes another number of counts.

    Notes
    -----
    A threshold t on a count is floor(t). Counts are compared exactly; scikit-learn
    itself rounds them to float32, which differs from 2^24 on. The prediction's own
    error, and the noise in the data it was fitted to, are not part of the interval.

    References
    ----------
    .. [1] docs/proofs/debias_boxes.rst, theorem 2.

    Examples
    --------
    A stump that predicts 1 up to three rows and 5 above, as scikit-learn stores it:

    >>> from types import SimpleNamespace
    >>> from dpframe.estimands import debias, tree
    >>> arrays = SimpleNamespace(
    ...     children_left=[1, -1, -1],
    ...     children_right=[2, -1, -1],
    ...     feature=[0, -2, -2],
    ...     threshold=[3.5, -2.0, -2.0],
    ...     value=[[[3.0]], [[1.0]], [[5.0]]],
    ... )
    >>> stump = tree(SimpleNamespace(tree_=arrays), name="stump")
    >>> debias([20], stump, epsilon=1.0).value
    5.0
    >>> debias([4], stump, epsilon=1.0).value  # 3 may have looked like 4
    8.6826...
    """
    return Tree(read_model(model, output), name or type(model).__name__)


def _leaf(nodes: Nodes, counts: list[int]) -> int:
    """Return the leaf that the counts fall into."""
    node = 0
    while nodes.left[node] >= 0:
        below = counts[nodes.feature[node]] <= nodes.cut[node]
        node = nodes.left[node] if below else nodes.right[node]
    return node


def _leaves_near(
    nodes: Nodes, around: Ranges
) -> Iterator[tuple[int, dict[int, tuple[int, int]]]]:
    """Walk to every leaf with a point of ``around``, narrowing each feature's range.

    A feature that is tested twice has one range, the intersection.
    """
    stack: list[tuple[int, dict[int, tuple[int, int]]]] = [(0, {})]
    while stack:
        node, sides = stack.pop()
        if nodes.left[node] < 0:
            yield node, sides
            continue
        bin_, cut = nodes.feature[node], nodes.cut[node]
        low, high = sides.get(bin_, around[bin_])
        if high <= cut:
            stack.append((nodes.left[node], sides))
        elif low > cut:
            stack.append((nodes.right[node], sides))
        else:
            stack.append((nodes.left[node], {**sides, bin_: (low, cut)}))
            stack.append((nodes.right[node], {**sides, bin_: (cut + 1, high)}))
