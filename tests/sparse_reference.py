"""The exact law of sparse vector outputs, summed over the hidden noisy threshold.

Given rho the queries are independent, so the chance of an output is a sum over rho of
products of cdfs and masses. Nothing is sampled, and no code of the mechanism is used:
only the scales, bars and prices of a `ThresholdNoise`. Every term is positive and the
tails are closed forms, so also rare outputs have nearly full relative precision.

    law = output_law(noise, [3, 5, 4], Threshold(Fraction(4)))
    law[(1, 0), (2, 0)]   # chance that answers 1 and 2 pass, by branch 0, and no other
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpframe.noise import Geometric
from dpframe.noise.threshold import ThresholdNoise
from dpframe.queries.threshold import Threshold

#: (index, branch) of each positive answer, or (index, branch, excess) with gaps.
Output = tuple[tuple[int, ...], ...]

_DEPTH = 50  # scales of the threshold noise: exp(-50) is beyond double precision


def output_law(
    noise: ThresholdNoise,
    answers: Any,
    threshold: Threshold,
    *,
    gaps: Sequence[int] = (),
    bars: Sequence[int] | None = None,
) -> dict[Output, Any]:
    """Return the chance of every output; floats, or arrays over instances.

    Parameters
    ----------
    noise : ThresholdNoise
        The calibrated noise.
    answers : array_like of integers, shape (k,) or (instances, k)
        In grid steps, in the order asked.
    threshold : Threshold
        What they are compared with.
    gaps : sequence of int
        With gaps the output has an excess for each positive answer; only outputs with
        excesses among these are returned.
    bars : sequence of int, optional
        In place of those of ``noise``.
    """
    given = np.asarray(answers, dtype=np.int64)
    rows = threshold.sign * np.atleast_2d(given)
    if bars is None:
        bars = [noise.bar(branch, threshold.steps) for branch in noise.branches]
    tree = _Tree(noise, rows, np.asarray(bars), tuple(gaps))
    tree.grow((), noise.credit, 0, tree.start())
    if given.ndim == 1:
        return {output: float(chance[0]) for output, chance in tree.law.items()}
    return tree.law


def loss(first: dict[Output, Any], second: dict[Output, Any]) -> dict[Output, Any]:
    """Return |log ratio| of every output; infinite where only one can give it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = {o: np.log(first[o]) - np.log(second[o]) for o in first}
    both_never = {o: (first[o] == 0) & (second[o] == 0) for o in first}
    return {o: np.where(both_never[o], 0.0, np.abs(r)) for o, r in ratios.items()}


def worst_loss(first: dict[Output, Any], second: dict[Output, Any]) -> Any:
    """Return the greatest |log ratio| over outputs, for each instance."""
    return np.max(list(loss(first, second).values()), axis=0)


class _Tree:
    """All ways through the queries; weights are joint with every value of rho."""

    def __init__(
        self,
        noise: ThresholdNoise,
        answers: np.ndarray,
        bars: np.ndarray,
        gaps: tuple[int, ...],
    ) -> None:
        self.noise = noise
        self.gaps = gaps
        self.law: dict[Output, np.ndarray] = {}
        self.dearest = max(branch.price for branch in noise.branches)
        # What each nu has to reach beyond rho: shape (branches, instances, k).
        needs = bars[:, None, None] - answers
        self.rho = _support(noise, needs, max(gaps, default=0))
        self.mass = noise.threshold.pmf(self.rho)
        laws = [branch.law for branch in noise.branches]
        self.below = [
            [law.cdf(need[:, None] + self.rho - 1) for need in of_branch.T]
            for law, of_branch in zip(laws, needs, strict=True)
        ]
        self.above = [
            [self.passing(law, need[:, None] + self.rho) for need in of_branch.T]
            for law, of_branch in zip(laws, needs, strict=True)
        ]

    def start(self) -> np.ndarray:
        return np.broadcast_to(self.mass, self.below[0][0].shape)

    def passing(self, law: Any, need: np.ndarray) -> list[tuple[tuple[int, ...], Any]]:
        """What may be released of a positive answer, with its chance for each rho."""
        if self.gaps:
            return [((gap,), law.pmf(need + gap)) for gap in self.gaps]
        return [((), at_least(law, need))]

    def grow(self, output: Output, credit: int, index: int, weight: np.ndarray) -> None:
        """Go on from a node: ``weight`` is the chance of ``output`` and each rho."""
        if credit < self.dearest or index == len(self.below[0]):
            self.law[output] = weight.sum(axis=-1)
            return
        below = weight
        for j, branch in enumerate(self.noise.branches):
            for found, chance in self.above[j][index]:
                passed = below * chance
                if self.noise.refresh:
                    passed = passed.sum(axis=-1, keepdims=True) * self.mass
                reached = (*output, (index, j, *found))
                self.grow(reached, credit - branch.price, index + 1, passed)
            below = below * self.below[j][index]
        self.grow(output, credit, index + 1, below)


def at_least(law: Any, k: np.ndarray) -> np.ndarray:
    """P(X >= k) with full relative precision in the upper tail."""
    if isinstance(law, Geometric):
        return np.exp(-np.maximum(k, 0) / float(law.scale))
    return law.cdf(-k)  # discrete Laplace is symmetric


def _support(noise: ThresholdNoise, needs: np.ndarray, gap: int) -> np.ndarray:
    """Values of rho beyond which no output has a chance worth adding.

    For rho past all of -needs every further step multiplies a term by exp(-1/scale)
    at most, and towards them the other factors only grow.
    """
    reach = int(_DEPTH * noise.threshold.scale) + 1
    high = max(0, int((-needs).max())) + reach
    low = min(0, int((-needs).min()) - gap) - reach
    return np.arange(0 if isinstance(noise.threshold, Geometric) else low, high + 1)


def without_branches(law: dict[Output, Any]) -> dict[tuple[int, ...], Any]:
    """Return the law of the indices alone."""
    indices: dict[tuple[int, ...], Any] = {}
    for output, chance in law.items():
        at = tuple(part[0] for part in output)
        indices[at] = indices.get(at, 0) + chance
    return indices
