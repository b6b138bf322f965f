"""`AccuracyStatement`: where the answers of a comparison are surely right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from dpframe.display.text import show
from dpframe.noise.threshold import ThresholdNoise
from dpframe.privacy.amounts import Amount, as_fraction, show_amount
from dpframe.queries.threshold import Direction, Threshold

__all__ = ["AccuracyStatement"]


@final
@dataclass(frozen=True, slots=True)
class AccuracyStatement:
    """With chance ``level`` all answers at once were told right up to a margin.

    No answer below ``low`` was called above, and none from ``high`` on was called below
    (in direction "below" none above ``high`` was called below, and none up to ``low``
    was called above). It follows from public numbers alone. ``str()`` says it in words.

    Parameters
    ----------
    level : Fraction
        The chance, over the noise.
    queries : int
        How many queries were listed.
    low, high : int or float
        Steps of the grid on which the answers lie, in their unit.
    direction : {"above", "below"}
        Which side was looked for.
    """

    level: Fraction
    queries: int
    low: int | float
    high: int | float
    direction: Direction = "above"

    @classmethod
    def of(
        cls, noise: ThresholdNoise, threshold: Threshold, queries: int, level: Amount
    ) -> AccuracyStatement:
        """State it for a run over so many queries.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1 and there is a query.
        """
        offsets = noise.accuracy(queries, level)
        # An answer on the grid is below a number iff it is below the next step.
        ends = [math.ceil(threshold.steps + Fraction(offset)) for offset in offsets]
        low, high = sorted(threshold.sign * threshold.grid * end for end in ends)
        coverage = as_fraction(level, "level")
        return cls(coverage, queries, _plain(low), _plain(high), threshold.direction)

    @property
    def text(self) -> str:
        """The statement in words."""
        low, high = show(self.low), show(self.high)
        if self.direction == "above":
            said = f"no answer below {low} is called above, none from {high} on below"
        else:
            said = f"no answer above {high} is called below, none up to {low} above"
        return f"with {show_amount(100 * self.level)} % chance {said}"

    def __str__(self) -> str:
        return self.text


def _plain(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)
