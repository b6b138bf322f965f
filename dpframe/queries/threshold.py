"""What answers are compared with: a public number, a grid and a side of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, final, get_args

from dpframe.errors import ParameterError, shown
from dpframe.privacy.amounts import as_fraction

__all__ = ["LARGEST_STEPS", "Direction", "Threshold", "read_direction"]

#: Answers, thresholds and margins end here: with all noise added they fit int64.
LARGEST_STEPS = 2**60

_LEAST_GRID, _LARGEST_GRID = 2.0**-1000, 2.0**960  # 2**60 steps fit float64

Direction = Literal["above", "below"]


@final
@dataclass(frozen=True, slots=True)
class Threshold:
    """A public bound that answers are compared with.

    Parameters
    ----------
    value : Fraction
        T, in the unit of the answers.
    grid : Fraction
        The step that all answers lie on, in the same unit.
    direction : {"above", "below"}
        Which side is looked for; "below" compares the negated answers with -T.
    """

    value: Fraction
    grid: Fraction = Fraction(1)
    direction: Direction = "above"

    @property
    def sign(self) -> int:
        """1, or -1 where answers and threshold are negated."""
        return 1 if self.direction == "above" else -1

    @property
    def steps(self) -> Fraction:
        """The (negated) threshold in grid steps, not rounded."""
        return self.sign * self.value / self.grid

    def describe(self) -> dict[str, str]:
        """Return the public facts, for ledgers and digests."""
        return {
            "value": str(self.value),
            "grid": str(self.grid),
            "direction": self.direction,
        }

    @classmethod
    def read(cls, value: object, grid: Fraction, direction: object) -> Threshold:
        """Read ``threshold=`` and ``direction=``.

        Raises
        ------
        ParameterError
            If the threshold is no finite number (one taken from the private frame is
            not public) or beyond 2**60 steps, the direction is neither "above" nor
            "below", or the grid leaves float64.
        """
        try:
            number = as_fraction(value, "threshold")
        except ParameterError:
            msg = (
                "threshold must be one finite, public number, such as "
                f"threshold=10_000; got {shown(value)}. A column or an expression of "
                "the private frame cannot be one."
            )
            raise ParameterError(msg) from None
        if not _LEAST_GRID <= grid <= _LARGEST_GRID:
            msg = (
                "answers lie on a grid that leaves float64. Choose a grid (or bounds, "
                "from which it follows) between 1e-300 and 1e280."
            )
            raise ParameterError(msg)
        threshold = cls(number, grid, read_direction(direction))
        if abs(threshold.steps) > LARGEST_STEPS:
            msg = (
                "threshold is beyond 2**60 steps of the grid; no answer comes near it."
            )
            raise ParameterError(msg)
        return threshold


def read_direction(direction: object) -> Direction:
    """Read ``direction=``.

    Raises
    ------
    ParameterError
        Unless it is "above" or "below".
    """
    if isinstance(direction, str) and direction in get_args(Direction):
        return direction  # type: ignore[return-value]
    msg = f"direction must be 'above' or 'below'; got {shown(direction)}."
    raise ParameterError(msg)
