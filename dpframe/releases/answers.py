"""Answers: public formulas over noisy integers.

A count, a sum or a number of distinct values is one noisy integer, shown in the
column's own unit. A mean comes from two noisy numbers or three, a variance from three
(``design: units`` §5.1): their exact intervals are carried through the formula, worst
case over the box, and their standard error is that of the delta method.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from dpframe.domain.lattice import Lattice
from dpframe.errors import ParameterError
from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.privacy.amounts import Amount, as_fraction, show_amount
from dpframe.queries.agg import Statistic
from dpframe.releases import averages, variances
from dpframe.releases.measurement import Measurement
from dpframe.releases.numbers import LARGEST, Form, Numbers
from dpframe.releases.parts import Floats, Parts

__all__ = ["Answer"]


class _Formula(NamedTuple):
    """How a statistic of x in [0, 1] follows from its parts."""

    estimate: Callable[[Parts], Floats]
    error: Callable[[Parts], Floats]
    bounds: Callable[[Parts, float], tuple[Floats, Floats]]


_FORMULAS: dict[str, _Formula] = {
    "mean": _Formula(averages.mean, averages.mean_error, averages.mean_bounds),
    "variance": _Formula(
        variances.variance, variances.variance_error, variances.variance_bounds
    ),
    "std": _Formula(
        variances.deviation, variances.deviation_error, variances.deviation_bounds
    ),
}


@final
@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One number for each cell, by a public formula over one measurement.

    Parameters
    ----------
    name : str
        Name of the answer: its verb, or the keyword given to ``agg``.
    statistic : {"count", "sum", "mean", "variance", "std", "n_unique"}
        The formula.
    measurement : Measurement or None
        The noisy integers; None for a public constant (the bound where both bounds
        of a mean are equal, else 0).
    lattice : Lattice or None
        The grid of the column; None for counts.
    cells : int
        Number of cells of a public constant.
    clamped : bool
        Negative counts are shown as 0.
    """

    name: str
    statistic: Statistic
    measurement: Measurement | None
    lattice: Lattice | None = None
    cells: int = 1
    clamped: bool = False

    @property
    def mechanism(self) -> str:
        """The noise, in words."""
        if self.measurement is None:
            return "public constant"
        laplace = isinstance(self.measurement.law, DiscreteLaplace)
        return "discrete Laplace" if laplace else "discrete Gaussian"

    @property
    def single(self) -> bool:
        """Whether the answer is one noisy number (or a constant)."""
        return self.measurement is None or self.statistic not in _FORMULAS

    @property
    def scale(self) -> Any:
        """Scale of the noise (sigma if Gaussian), in the answer's own unit.

        Raises
        ------
        ParameterError
            If the answer comes from several noisy numbers.
        """
        if not self.single:
            msg = (
                f"{self.name!r} is a {self.statistic}, a formula over several noisy "
                "numbers: none has a scale in its unit. Use std_error or interval()."
            )
            raise ParameterError(msg)
        steps = 0.0 if self.measurement is None else _scale(self.measurement.law)
        return self._spread(steps, 1).value()

    def values(self) -> NDArray[Any]:
        """Return the answers in the column's kind, one entry for each cell.

        int64, or Python integers (dtype object) beyond; float64; Decimals (object);
        datetime64 and timedelta64.
        """
        return self.estimates().array()

    def std_errors(self) -> NDArray[Any]:
        """Return the standard error of each answer, in its unit."""
        return self.errors().array()

    def intervals(self, level: Amount = 0.95) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return lower and upper ends that hold each cell's truth at ``level``."""
        lower, upper = self.bounds(level)
        return lower.array(), upper.array()

    def estimates(self) -> Numbers:
        """Return the answers in engine numbers."""
        if self.measurement is None:
            return self._constant()
        if self.single:
            return self._steps(self.measurement.values[0])
        return self._carried(_FORMULAS[self.statistic].estimate(self._parts))

    def errors(self) -> Numbers:
        """Return the standard errors in engine numbers."""
        if self.measurement is None:
            return self._spread(0.0, self.cells)
        if self.single:
            std = self.measurement.law.std
            return self._spread(std, len(self.measurement.values[0]))
        error = _FORMULAS[self.statistic].error(self._parts)
        if self.statistic == "mean":
            return Numbers(self._range * error, self.lattice, "length")
        return self._carried(error)

    def bounds(self, level: Amount = 0.95) -> tuple[Numbers, Numbers]:
        """Return the ends of the intervals in engine numbers.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1.
        """
        coverage = _read_level(level)
        if self.measurement is None:
            return self._constant(), self._constant()
        noisy = self.measurement.values
        # Of j intervals, each missed with (1 - level)/j, one is missed with 1 - level.
        each = 1 - (1 - coverage) / len(noisy)
        half = self.measurement.law.interval(each)[1]
        if self.single:
            # Values end at 2**63 and half may come near it: no wrap in Python integers.
            held = noisy[0] if half < 2**60 else noisy[0].astype(object)
            return self._steps(held - half), self._steps(held + half)
        low, high = _FORMULAS[self.statistic].bounds(self._parts, half / self._weight)
        return self._carried(low).outward(np.floor), self._carried(high).outward(
            np.ceil
        )

    def nonnegative(self) -> Answer:
        """Return the same answer with negative counts shown as 0.

        Raises
        ------
        ParameterError
            If the answer does not count anything.
        """
        if self.statistic not in ("count", "n_unique"):
            msg = f"only counts are known not to be negative; {self.name!r} is none."
            raise ParameterError(msg)
        return replace(self, clamped=True)

    @property
    def _parts(self) -> Parts:
        assert self.measurement is not None
        values = tuple(
            np.asarray(v, dtype=np.float64) / self._weight
            for v in self.measurement.values
        )
        ceiling = (self._range / self._unit) ** 2 / 4
        return Parts(values, self.measurement.law.std / self._weight, ceiling)

    @property
    def _weight(self) -> int:
        """What one row adds to all parts together: W of a pair, W² of a triple."""
        assert self.measurement is not None
        assert self.lattice is not None
        width = self.lattice.width
        return width if len(self.measurement.values) == 2 else width * width

    @property
    def _range(self) -> float:
        """Distance of the bounds in engine numbers."""
        assert self.lattice is not None
        return float(Fraction(self.lattice.upper) - Fraction(self.lattice.lower))

    @property
    def _unit(self) -> float:
        """Distance of the bounds on the grid, in engine numbers."""
        assert self.lattice is not None
        return float(self.lattice.width * self.lattice.step)

    def _carried(self, x: Floats) -> Numbers:
        """Carry a statistic of x in [0, 1] to the column's bounds."""
        lattice = self.lattice
        assert lattice is not None
        if self.statistic == "std":
            return Numbers(self._unit * x, lattice, "length")
        if self.statistic == "variance":
            square = min(self._unit * self._unit, LARGEST)
            return Numbers(square * x, lattice, "square")
        if lattice.type.kind in ("boolean", "integer", "float"):
            mean = float(lattice.lower) + self._range * x
            return Numbers(np.clip(mean, lattice.lower, lattice.upper), lattice)
        return Numbers(self._range * x, lattice, origin=int(lattice.lower))

    def _steps(self, steps: NDArray[Any]) -> Numbers:
        """Show lattice steps in engine numbers."""
        steps = np.maximum(steps, 0) if self.clamped else steps
        lattice = self.lattice
        if lattice is None or lattice.integral or lattice.type.kind != "float":
            return Numbers(steps, lattice)  # sums of integers have a step of 1
        with np.errstate(over="ignore"):
            amounts = np.asarray(steps, dtype=np.float64) * float(lattice.step)
        return Numbers(np.clip(amounts, -LARGEST, LARGEST), lattice)

    def _spread(self, steps: float, cells: int) -> Numbers:
        """One spread, in steps, for all cells."""
        step = 1.0 if self.lattice is None else float(self.lattice.step)
        form: Form = "square" if self.statistic == "variance" else "length"
        return Numbers(np.full(cells, steps * step), self.lattice, form)

    def _constant(self) -> Numbers:
        if self.statistic in _FORMULAS:
            return self._carried(np.zeros(self.cells))
        return self._steps(np.zeros(self.cells, dtype=np.int64))


def _scale(law: DiscreteLaplace | DiscreteGaussian) -> float:
    if isinstance(law, DiscreteLaplace):
        return float(law.scale)
    return math.sqrt(law.sigma2)


def _read_level(level: Amount) -> Fraction:
    coverage = as_fraction(level, "level")
    if 0 < coverage < 1:
        return coverage
    msg = f"level must lie between 0 and 1, such as 0.95; got {show_amount(coverage)}."
    raise ParameterError(msg)
