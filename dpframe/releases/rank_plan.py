"""`RankPlan`: what a quantile would cost, and how far from its rank it may be."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from dpframe.display.report import Report
from dpframe.display.text import plural, show_spread
from dpframe.noise.law import as_miss
from dpframe.noise.ordered_choice import OrderedChoice
from dpframe.privacy.amounts import Amount
from dpframe.privacy.loss import PrivacyLoss

__all__ = ["RankPlan"]


@final
@dataclass(frozen=True, slots=True, repr=False)
class RankPlan:
    """The public facts of a quantile that was not asked.

    Parameters
    ----------
    loss : PrivacyLoss or None
        What the call would charge; None for a public constant.
    mechanism : str
        The way of choosing, in words.
    candidates : int
        How many public values it would choose from.
    laws : tuple of (Fraction, OrderedChoice)
        Each q with the law of its choice, of scores in units of 1/q.denominator.
    """

    loss: PrivacyLoss | None
    mechanism: str
    candidates: int
    laws: tuple[tuple[Fraction, OrderedChoice], ...]

    def rank_error(self, level: Amount = 0.95) -> float:
        """Return how many rows each quantile may be off, with probability ``level``.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1.
        """
        miss = as_miss(level)
        errors = (
            law.error(self.candidates, miss) / q.denominator for q, law in self.laws
        )
        return max(errors, default=0.0)

    def _report(self) -> Report:
        cost = "free" if self.loss is None else self.loss.show()
        error = show_spread(self.rank_error())
        sure = f"with 95 % chance within {error} rows of the rank asked for"
        return Report(
            f"Plan of quantile: {plural(self.candidates, 'candidate')}, {cost}",
            notes=(sure, self.mechanism, "no data read, nothing charged"),
        )

    def __repr__(self) -> str:
        return self._report().text()

    def _repr_html_(self) -> str:
        return self._report().html()
