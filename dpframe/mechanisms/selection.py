"""The keys with the most rows, by permute-and-flip, one after the other.

    for each of k rounds: choose a key with epsilon/k; take it off the list

A chosen key is public, so each round is a selection over what is left, and the rounds
compose: epsilon in all, and k(epsilon/k)²/2 = epsilon²/(2k) in zCDP.

Guarantee: (epsilon, 0). Under add_remove all counts move the same way, which halves the
noise; under replace they do not (``design: units`` §5.6). Source: McKenna and Sheldon
2020, Theorem 1. Proof: docs/proofs/selection.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpframe.domain.keys import Keys
from dpframe.domain.schema import Schema
from dpframe.engines.protocol import Source
from dpframe.errors import ParameterError, shown
from dpframe.mechanisms.noising import Draw, draw
from dpframe.mechanisms.request import Request, Setting
from dpframe.mechanisms.terms import column_type
from dpframe.noise.selection import PermuteAndFlip
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Adjacency, Sensitivity
from dpframe.queries.reduction import Reduction
from dpframe.releases.receipt import Receipt
from dpframe.releases.selection import SelectionRelease
from dpframe.secret import Aggregates, Secret

__all__ = ["TopK", "choose"]


@final
@dataclass(frozen=True, slots=True)
class TopK(Request[SelectionRelease]):
    """Which k of the public keys have the most rows.

    Parameters
    ----------
    verb : str
        The verb as typed, for the ledger.
    setting : Setting
        Unit, relation and accountant of the session.
    epsilon : Fraction
        The loss of all rounds together.
    k : int
        Number of rounds.
    keys : Keys
        The candidates.
    schema : Schema
        Types of the key columns, and the library of the frame.
    """

    verb: str
    setting: Setting
    epsilon: Fraction
    k: int
    keys: Keys
    schema: Schema

    def __post_init__(self) -> None:
        if not self.keys.size:
            msg = f"{self.verb} needs at least one key to choose; keys= is empty."
            raise ParameterError(msg)
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            msg = f"k must be a whole number of keys, 1 or more; got {shown(self.k)}."
            raise ParameterError(msg)
        if self.k > self.keys.size:
            msg = f"k is {self.k:,}, and there are only {self.keys.size:,} keys."
            raise ParameterError(msg)
        _ = self.law  # a unit without max_rows is refused here

    @property
    def loss(self) -> PrivacyLoss:  # type: ignore[override]
        """The whole loss: epsilon; in zCDP that of k rounds."""
        if self.setting.accountant.name == "zcdp":
            return PrivacyLoss(rho=self.epsilon**2 / (2 * self.k))
        return PrivacyLoss(self.epsilon)

    @property
    def mechanism(self) -> str:
        """The mechanism, in words."""
        return "permute-and-flip"

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit moves the counts of all keys."""
        unit, relation = self.setting.unit, self.setting.neighboring
        return Adjacency(unit, relation, self.keys.size).count()

    @property
    def law(self) -> PermuteAndFlip:
        """The law of one round."""
        monotonic = self.setting.neighboring == "add_remove"
        each = self.epsilon / self.k
        return PermuteAndFlip(each, self.sensitivity.linf, monotonic=monotonic)

    def describe(self) -> dict[str, object]:
        """Return the call with its defaults filled in."""
        return {
            "verb": self.verb,
            "mechanism": self.mechanism,
            "loss": self.loss.describe(),
            "epsilon": str(self.epsilon),
            "k": self.k,
            "keys": self.keys.describe(),
            **self.setting.unit.describe(),
            "neighboring": self.setting.neighboring,
        }

    def reduce(self, source: Source) -> Secret[Aggregates]:
        """Ask the engine for the rows of every key."""
        return source.aggregate(Reduction(self.setting.unit, self.keys, rows=True))

    def answer(
        self, secret: Secret[Aggregates] | None, receipt: Receipt
    ) -> SelectionRelease:
        """Choose k times, each time among the keys that are left."""
        assert secret is not None
        rows = secret.reveal().rows
        assert rows is not None
        left, chosen = np.arange(self.keys.size), []
        for _ in range(self.k):
            place = choose(rows[left], self.law, self.sensitivity)
            chosen.append(int(left[place]))
            left = np.delete(left, place)
        indices = np.array(chosen, dtype=np.int64)
        indices.setflags(write=False)  # a stored release is handed out again
        types = (column_type(c, self.setting, self.schema) for c in self.keys.columns)
        return SelectionRelease(
            receipt, self.schema.library, self.keys, indices, self.law, tuple(types)
        )


def choose(scores: NDArray[Any], law: PermuteAndFlip, sensitivity: Sensitivity) -> int:
    """Choose the position of one of the greater scores.

    Parameters
    ----------
    scores : ndarray of integers, shape (k,)
        True scores, such as row counts.
    law : PermuteAndFlip
        How.
    sensitivity : Sensitivity
        How far the scores may move between neighbors; ``linf`` is that of the law.
    """

    def perform() -> tuple[NDArray[np.int64]]:
        return (np.array([law.choose(scores)], dtype=np.int64),)

    (place,) = draw(Draw((scores,), law, sensitivity), perform)
    return int(place[0])
