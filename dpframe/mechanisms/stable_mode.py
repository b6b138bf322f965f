"""The most frequent key, exact, if no small change of the data makes another one win.

    D = max(0, ⌈r/s⌉ - 1), r the fewest rows after which another key wins,
    s the rows of a unit; release the key if D + Lap(1/epsilon) > t, else nothing

With neighbors of two winners D is 0 at both, and each passes with probability delta at
most; ties go to the key that is listed first.

Guarantee: (epsilon, delta); epsilon²/2 and delta in zCDP. Source: Dwork and Lei 2009;
Smith and Thakurta 2013, theorem 4; proof: docs/proofs/propose_test_release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from dpframe.domain.keys import Keys
from dpframe.domain.schema import Schema
from dpframe.engines.protocol import Source
from dpframe.errors import ParameterError
from dpframe.mechanisms.ptr import cap, passes
from dpframe.mechanisms.request import Request, Setting
from dpframe.mechanisms.robust import changed_rows
from dpframe.mechanisms.terms import column_type
from dpframe.privacy.loss import PrivacyLoss
from dpframe.queries.reduction import Reduction
from dpframe.releases.receipt import Receipt
from dpframe.releases.selection import SelectionRelease
from dpframe.releases.tested import StabilityTest
from dpframe.secret import Aggregates, Secret
from dpframe.sensitivity.mode import mode_distance

__all__ = ["StableMode"]


@final
@dataclass(frozen=True, slots=True)
class StableMode(Request[SelectionRelease]):
    """The key with the most rows, or a refusal.

    Parameters
    ----------
    setting : Setting
        Unit, relation and accountant of the session.
    test : StabilityTest
        Loss, delta and threshold.
    keys : Keys
        The candidates.
    schema : Schema
        Types of the key columns, and the library of the frame.
    """

    setting: Setting
    test: StabilityTest
    keys: Keys
    schema: Schema
    verb: str = "mode"

    def __post_init__(self) -> None:
        if not self.keys.size:
            msg = "mode needs at least one key to choose; keys= is empty."
            raise ParameterError(msg)
        changed_rows(self.setting)  # a unit without max_rows is refused here
        _ = self.test.law

    @property
    def loss(self) -> PrivacyLoss:  # type: ignore[override]
        """Of the test; the exact key costs nothing more."""
        if self.setting.accountant.name == "zcdp":
            return PrivacyLoss(None, self.test.delta, self.test.epsilon**2 / 2)
        return PrivacyLoss(self.test.epsilon, self.test.delta)

    @property
    def mechanism(self) -> str:
        """The mechanism, in words."""
        return "propose-test-release"

    def describe(self) -> dict[str, object]:
        """Return the call with its defaults filled in."""
        return {
            "verb": self.verb,
            "mechanism": self.mechanism,
            "loss": self.loss.describe(),
            "test": self.test.describe(),
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
        """Test how far another winner is; release this one if it is far."""
        assert secret is not None
        rows = secret.reveal().rows
        assert rows is not None
        changes = changed_rows(self.setting)
        far = min(mode_distance(rows, "add_remove", changes), cap(self.test))
        passed = passes(self.test, int(far))
        chosen = [int(rows.argmax())] if passed else []  # the first of the greatest
        indices = np.array(chosen, dtype=np.int64)
        indices.setflags(write=False)
        types = (column_type(c, self.setting, self.schema) for c in self.keys.columns)
        return SelectionRelease(
            receipt, self.schema.library, self.keys, indices, self.test, tuple(types)
        )
