"""Answers chosen among public candidates: quantiles, and what follows from them.

Nothing was added to a number, so there is no scale, no standard error and no interval.
What is public is how far, in rows, the answer may be from the rank that was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import NDArray

from dpframe.domain.lattice import Lattice
from dpframe.errors import ParameterError
from dpframe.noise.law import as_miss
from dpframe.noise.ordered_choice import OrderedChoice
from dpframe.privacy.amounts import Amount
from dpframe.queries.agg import Statistic
from dpframe.releases.numbers import Numbers

__all__ = ["Choice", "Chosen"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The candidate that was chosen for one quantile under each key.

    Parameters
    ----------
    q : Fraction
        The quantile.
    indices : ndarray of int64, shape (cells,)
        Positions among the candidates.
    law : OrderedChoice
        The law of the choice under each key, of scores in units of 1/q.denominator.
    candidates : int
        How many there were.
    """

    q: Fraction
    indices: NDArray[np.int64]
    law: OrderedChoice
    candidates: int

    def rank_error(self, miss: Fraction) -> float:
        """Return the rows that the choice is off at most, but with chance ``miss``."""
        return self.law.error(self.candidates, miss) / self.q.denominator


@final
@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """One quantile, several, or the distance of two, for each cell.

    Parameters
    ----------
    name : str
        Name of the answer: its verb, or the keyword given to ``agg``.
    statistic : {"quantile", "median", "min", "max", "iqr"}
        What was asked.
    q : tuple of Fraction
        The quantiles. Two of an iqr; several of a list, where each is a cell, the last
        one fastest.
    choices : tuple of Choice
        One for each q; none for a public constant, where both bounds are equal.
    column : str
        The column.
    lattice : Lattice
        Its grid.
    cells : int
        Number of answers.
    """

    name: str
    statistic: Statistic
    q: tuple[Fraction, ...]
    choices: tuple[Choice, ...]
    column: str
    lattice: Lattice
    cells: int = 1

    measurement = None
    single = clamped = False

    @property
    def mechanism(self) -> str:
        """The mechanism, in words."""
        return self.choices[0].law.mechanism if self.choices else "public constant"

    @property
    def scale(self) -> NoReturn:
        """None: nothing was added to a number. Raises `ParameterError`."""
        self._refuse("scale")

    def rank_error(self, level: Amount = 0.95) -> float:
        """Return how many rows each answer may be off, with probability ``level``.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1.
        """
        miss = as_miss(level)
        if self.statistic == "iqr":
            miss /= 2  # either of both may fail
        return max((choice.rank_error(miss) for choice in self.choices), default=0.0)

    def values(self) -> NDArray[Any]:
        """Return the answers in the column's kind, one entry for each cell."""
        return self.estimates().array()

    def estimates(self) -> Numbers:
        """Return the answers in engine numbers."""
        chosen = np.zeros((self.cells, 1), dtype=np.int64)
        if self.choices:
            chosen = np.stack([choice.indices for choice in self.choices], axis=1)
        amounts = self._amounts(chosen)
        if self.statistic != "iqr":
            return Numbers(amounts.ravel(), self.lattice)
        if self.lattice.high_steps - self.lattice.low_steps >= 2**63:
            amounts = amounts.astype(object)
        lengths = np.maximum(amounts[:, -1] - amounts[:, 0], 0)
        return Numbers(lengths, self.lattice, "length")

    def errors(self) -> NoReturn:
        """Raise `ParameterError`: a choice has no standard error."""
        self._refuse("standard error")

    def bounds(self, level: Amount = 0.95) -> NoReturn:
        """Raise `ParameterError`: a choice has no interval."""
        self._refuse("interval")

    def nonnegative(self) -> NoReturn:
        """Raise `ParameterError`: it is no count."""
        msg = f"only counts are known not to be negative; {self.name!r} is none."
        raise ParameterError(msg)

    def facts(self) -> dict[str, Any]:
        """Return how the answers were made, as JSON values."""
        facts: dict[str, Any] = {
            "statistic": self.statistic,
            "mechanism": self.mechanism,
            "grid": self.lattice.describe(),
            "column": self.column,
            "q": [str(q) for q in self.q],
            "post_processing": [],
        }
        if not self.choices:
            return facts
        return {
            **facts,
            "candidates": self.choices[0].candidates,
            "epsilon_each": str(self.choices[0].law.epsilon),
            "sensitivity": [
                str(choice.law.sensitivity / choice.q.denominator)
                for choice in self.choices
            ],
        }

    def _amounts(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        """Return candidates in engine numbers, within the bounds."""
        lattice = self.lattice
        steps: NDArray[Any] = (indices + lattice.base) << lattice.shift
        if lattice.inverse is None:
            return steps.clip(lattice.low_steps, lattice.high_steps)
        amounts: NDArray[Any] = lattice.offset + steps / lattice.inverse
        return amounts.clip(lattice.lower, lattice.upper)

    def _refuse(self, what: str) -> NoReturn:
        msg = (
            f"{self.name!r} has no {what}: it was chosen among public candidates, and "
            "nothing was added to it. Use rank_error(), in rows."
        )
        raise ParameterError(msg)
