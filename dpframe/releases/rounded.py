"""`Rounded`: released numbers on a public grid, as values of the column's own kind."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpframe.domain.lattice import Lattice
from dpframe.releases.numbers import Form, Numbers

__all__ = ["Rounded"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """Whole steps of a public grid, one number for each cell.

    Parameters
    ----------
    steps : ndarray of int64, shape (cells,)
        What was released.
    grid : Fraction
        One step, in steps of the lattice (squared for the form "square").
    lattice : Lattice
        The grid of the column.
    form : {"point", "length", "square"}
        A value of the column, a difference of two, or the square of one.
    start : int
        Steps of the lattice at which the grid of points begins.
    whole : bool
        Whether a step is one unit of the column: a whole number, a day, a tick.
    clamped : bool
        Whether points are shown within the bounds of the column, where the last step
        of the grid passes them.
    """

    steps: NDArray[np.int64]
    grid: Fraction
    lattice: Lattice
    form: Form = "point"
    start: int = 0
    whole: bool = False
    clamped: bool = False

    @property
    def step(self) -> Fraction:
        """One step of the grid, in numbers of the engine."""
        of_lattice = self.lattice.step
        return self.grid * (of_lattice**2 if self.form == "square" else of_lattice)

    def numbers(self) -> Numbers:
        """Return the released numbers."""
        if self.whole:
            return Numbers(self._within(self.steps), self.lattice, self.form)
        if self.form != "point":
            return Numbers(self._floats(self.steps), self.lattice, self.form)
        origin, lattice = self._origin, self.lattice
        exact = [step * self.step for step in self.steps.tolist()]
        if self.clamped:
            low, high = (Fraction(e) - origin for e in (lattice.lower, lattice.upper))
            exact = [min(max(x, low), high) for x in exact]
        if lattice.inverse is not None:
            return Numbers(np.array([float(origin + x) for x in exact]), lattice)
        return Numbers(np.array([float(x) for x in exact]), lattice, origin=int(origin))

    def lengths(self, steps: ArrayLike) -> Numbers:
        """Return distances given in steps, such as errors, in the answer's unit."""
        form: Form = "square" if self.form == "square" else "length"
        return Numbers(self._floats(np.atleast_1d(steps)), self.lattice, form)

    def around(self, steps: ArrayLike) -> tuple[Numbers, Numbers]:
        """Return the ends of intervals that reach so many steps to either side.

        Whole numbers keep to whole ends; all others are floats.
        """
        half = np.atleast_1d(np.asarray(steps, dtype=np.float64))
        ends = []
        for sign, to in (-1, np.floor), (1, np.ceil):
            moved = self._within(self.steps + sign * half)
            if self.whole and np.isfinite(half).all() and half.max() < 2**52:
                outward = self._within(self.steps + to(sign * half).astype(np.int64))
                ends.append(Numbers(outward, self.lattice, self.form))
            elif self.form == "point" and self.lattice.inverse is not None:
                origin = float(self._origin)
                ends.append(Numbers(origin + self._floats(moved), self.lattice))
            else:
                origin_ = int(self._origin) if self.form == "point" else 0
                reached = self._floats(moved)
                end = Numbers(reached, self.lattice, self.form, origin_)
                ends.append(end.outward(to))
        return ends[0], ends[1]

    def describe(self) -> dict[str, Any]:
        """Return the public facts of the grid, for metadata."""
        return {**self.lattice.describe(), "step": str(self.step), "form": self.form}

    @property
    def _origin(self) -> Fraction:
        """The point of step 0, in numbers of the engine."""
        lattice = self.lattice
        return Fraction(lattice.offset) + (lattice.base + self.start) * lattice.step

    def _within(self, steps: NDArray[Any]) -> NDArray[Any]:
        """Cut clamped points to the bounds: beyond them a date may not exist."""
        if not self.clamped or self.form != "point":
            return steps
        ends = (
            (Fraction(end) - self.start) / self.grid
            for end in (self.lattice.low, self.lattice.high)
        )
        low, high = (int(end) if self.whole else float(end) for end in ends)
        return np.asarray(np.clip(steps, low, high))

    def _floats(self, steps: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(steps * float(self.step), dtype=np.float64)
