"""The number of distinct values of a column, or of units, by exact integer noise.

The column's values are a unit's groups: after keeping one row for each (unit, value)
and at most G values of a unit, one unit moves the number by at most G; the number of
units itself by 1 (``design: units`` §5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from dpframe.domain.schema import Library
from dpframe.engines.protocol import Source
from dpframe.mechanisms.noising import add_noise
from dpframe.mechanisms.request import Request, Setting
from dpframe.mechanisms.spend import Spend
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Adjacency, Sensitivity
from dpframe.queries.reduction import Distinct
from dpframe.releases.answers import Answer
from dpframe.releases.measurement import Measurement
from dpframe.releases.receipt import Receipt
from dpframe.releases.scalar import ScalarRelease
from dpframe.secret import Secret

__all__ = ["DistinctCount"]


@final
@dataclass(frozen=True, slots=True)
class DistinctCount(Request[ScalarRelease]):
    """Additive noise on the number of distinct non-null values."""

    setting: Setting
    spend: Spend
    query: Distinct
    library: Library
    verb: str = "n_unique"

    def __post_init__(self) -> None:
        self.spend.law(self.sensitivity)

    @property
    def loss(self) -> PrivacyLoss:  # type: ignore[override]
        """The whole loss: one number is measured."""
        return self.spend.loss

    @property
    def mechanism(self) -> str:
        """The noise, in words."""
        return f"discrete {self.spend.noise.capitalize()}"

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit moves the number."""
        adjacency = Adjacency(self.setting.unit, self.setting.neighboring)
        unit = self.setting.unit
        if not unit.is_row and self.query.column == unit.column:
            return adjacency.units()
        return adjacency.distinct()

    def describe(self) -> dict[str, object]:
        """Return the call with its defaults filled in."""
        listed = self.query.listed
        return {
            "verb": self.verb,
            "mechanism": self.mechanism,
            "loss": self.loss.describe(),
            "column": self.query.column,
            "listed": None if listed is None else repr(listed.keys),
            **self.setting.unit.describe(),
            "neighboring": self.setting.neighboring,
        }

    def reduce(self, source: Source) -> Secret[int]:
        """Ask the engine for the number."""
        return source.distinct(self.query)

    def answer(self, secret: Secret[int] | None, receipt: Receipt) -> ScalarRelease:
        """Add the noise."""
        assert secret is not None
        law = self.spend.law(self.sensitivity)
        exact = (np.array([secret.reveal()], dtype=np.int64),)
        measurement = Measurement(
            "distinct",
            add_noise(exact, law, self.sensitivity),
            law,
            self.sensitivity,
            self.loss,
            self.query.column,
        )
        answer = Answer("n_unique", "n_unique", measurement, None)
        return ScalarRelease.of((answer,), None, receipt, self.library)
