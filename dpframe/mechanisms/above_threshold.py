"""Sparse vector technique: which of many answers pass a threshold, for one epsilon.

    draw rho once
    for each query, in order: draw nu; above iff q + nu - rho >= bar
    stop when the credit for positive answers is spent

It is private because the one noisy threshold serves the whole run: moving it by the
sensitivity turns every "below" on one frame into a "below" on its neighbor, however
many there are; only positive answers need their own noise moved. (It is *not* because a
boolean says little: that thought has led to many broken variants.)

Guarantee: the epsilon of `ThresholdNoise`, pure; in zCDP its rho. Sources: Dwork, Naor,
Reingold, Rothblum and Vadhan 2009; Lyu, Su and Li 2017, Algorithm 7 and Theorem 4;
Ding, Wang, Xiao and Kifer 2023 (gaps, adaptive). Proof: docs/proofs/sparse_vector.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from dpframe.mechanisms.noising import Draw, Vectors, add_noise, draw
from dpframe.noise.threshold import ThresholdNoise
from dpframe.privacy.sensitivity import Sensitivity
from dpframe.queries.threshold import Threshold
from dpframe.releases.crossings import Crossings

__all__ = ["Run"]

Integers = NDArray[np.int64]

_BLOCK = 65_536


@final
class Run:
    """The hidden state of one request: rho, and the credit that is left.

    Parameters
    ----------
    noise : ThresholdNoise
        The calibrated noise.
    threshold : Threshold
        What answers are compared with.
    """

    __slots__ = (
        "__rho",
        "_bars",
        "_dearest",
        "_noise",
        "_prices",
        "_threshold",
        "credit",
    )

    def __init__(self, noise: ThresholdNoise, threshold: Threshold) -> None:
        self._noise = noise
        self._threshold = threshold
        steps = threshold.steps
        self._bars = np.array([noise.bar(branch, steps) for branch in noise.branches])
        self._prices = np.array([branch.price for branch in noise.branches])
        self._dearest = int(self._prices.max())
        self.credit = noise.credit
        self.__rho = noise.threshold.sample()

    @property
    def exhausted(self) -> bool:
        """Whether no further positive answer can be paid."""
        return not self._affords(self.credit)

    def examine(self, answers: Integers, *, gap: bool = False) -> Crossings:
        """Compare answers with the threshold, in order, until the credit is spent.

        Parameters
        ----------
        answers : ndarray of int64, shape (k,)
            True answers in grid steps, none beyond ``LARGEST_STEPS``.
        gap : bool
            Release by how much the positive ones passed: free.
        """
        noise = self._noise
        moved, k = noise.sensitivity, len(answers)
        declared = Sensitivity(moved * k, moved**2 * k, k, moved)
        signed = self._threshold.sign * answers
        indices, branches, excess = draw(
            Draw((signed,), noise, declared), lambda: self._search(signed)
        )
        self.credit -= sum(noise.branches[j].price for j in branches.tolist())
        return Crossings(
            noise,
            self._threshold,
            indices,
            branches,
            excess if gap else None,
            None if noise.values is None else _fresh_values(answers[indices], noise),
            n_examined=int(indices[-1]) + 1 if self.exhausted else k,
            exhausted=self.exhausted,
        )

    def _search(self, answers: Integers) -> Vectors:
        """Go through the answers in blocks.

        Noise is independent, so what a block has drawn beyond the last positive
        answer may be thrown away; time depends on the output alone.
        """
        found: list[Vectors] = []
        credit = self.credit
        for start in range(0, len(answers), _BLOCK):
            block = answers[start : start + _BLOCK]
            noisy = np.stack([b.law.sample(len(block)) for b in self._noise.branches])
            noisy += block
            begin = 0
            while self._affords(credit) and begin < len(block):
                places, branches, excess = self._passing(noisy[:, begin:], credit)
                if not len(places):
                    break
                found.append((places + start + begin, branches, excess))
                credit -= int(self._prices[branches].sum())
                begin += int(places[-1]) + 1
                if not self._noise.refresh:
                    break
                self.__rho = self._noise.threshold.sample()
            if not self._affords(credit):
                break
        if not found:
            return tuple(np.zeros((3, 0), dtype=np.int64))
        return tuple(np.concatenate(part) for part in zip(*found, strict=True))

    def _passing(self, noisy: Integers, credit: int) -> Vectors:
        """Find the answers that pass, as far as the credit goes: one if refreshed."""
        excess = noisy - (self._bars[:, None] + self.__rho)
        passed = excess >= 0
        places = passed.any(axis=0).nonzero()[0]
        branches = passed[:, places].argmax(axis=0)  # the clearest that fired
        prices = self._prices[branches]
        before = credit - (prices.cumsum() - prices)
        kept = int(np.count_nonzero(before >= self._dearest))
        if self._noise.refresh:
            kept = min(kept, 1)
        places, branches = places[:kept], branches[:kept]
        return places, branches, excess[branches, places]

    def _affords(self, credit: int) -> bool:
        return credit >= self._dearest


def _fresh_values(answers: Integers, noise: ThresholdNoise) -> Integers:
    """Add noise of their own to the positive answers: never that of the comparison."""
    law, l1 = noise.fresh, noise.values
    assert law is not None
    assert l1 is not None
    moved = noise.sensitivity
    declared = Sensitivity(l1, l1 * moved, noise.max_above, moved)
    (values,) = add_noise((answers,), law, declared)
    return values
