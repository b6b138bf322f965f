"""`PTRRelease`: a number with little noise, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import pyarrow as pa

from dpframe.display.report import Report
from dpframe.display.text import printable, show, show_spread
from dpframe.errors import ParameterError
from dpframe.noise.laplace import DiscreteLaplace
from dpframe.noise.law import as_miss
from dpframe.privacy.amounts import Amount
from dpframe.releases.base import Release
from dpframe.releases.charged import alert, charge_note, stored_notes
from dpframe.releases.numbers import Numbers
from dpframe.releases.record import Record
from dpframe.releases.rounded import Rounded
from dpframe.releases.tested import StabilityTest

__all__ = ["PTRRelease"]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PTRRelease(Release):
    """What came of a proposal: a number where it passed its test, else a refusal.

    A refusal is an answer too: it was charged in full, and says that the proposed
    bound may not hold near the data. How far it was from passing is private.

    Parameters
    ----------
    receipt, library
        As in `Release`.
    name : str
        The statistic.
    columns : tuple of str
        What it is about.
    test : StabilityTest
        The public part of the test.
    released : bool
        Whether it passed.
    bound : number or None
        The proposed sensitivity, as typed; None for a scale.
    law : DiscreteLaplace or None
        Noise of a released number, in steps of its grid; None for a scale, which is
        released without.
    rounded : Rounded
        The released number; of a scale both ends of its bin; 0 if refused.

    Examples
    --------
    >>> import dpframe as dpf, polars as pl
    >>> ages = pl.DataFrame({"age": list(range(20, 71)) * 40})
    >>> with dpf.Session(epsilon=1, delta=1e-6, unit="row"):
    ...     median = ages.dp.propose_test_release(
    ...         "median", "age", bound=1, bounds=(0, 120), epsilon=1, delta=1e-6
    ...     )
    >>> median.released, median.scale, abs(median.value - 45) < 60
    (True, 2.0, True)
    """

    name: str
    columns: tuple[str, ...]
    test: StabilityTest
    released: bool
    bound: Any
    law: DiscreteLaplace | None
    rounded: Rounded

    @property
    def mechanism(self) -> str:
        """The mechanism, in words."""
        return "propose-test-release"

    @property
    def value(self) -> Any:
        """The number, of the column's own kind; None if refused.

        Of a scale the pair (lower, upper) that it lies between, without any noise.
        """
        if not self.released:
            return None
        numbers = self.rounded.numbers()
        if self.law is None:
            return numbers.value(0), numbers.value(1)
        return numbers.value()

    @property
    def scale(self) -> Any:
        """Scale of the noise of a released number, in its unit; public beforehand.

        Raises
        ------
        ParameterError
            If nothing was released, or a scale, which has no noise.
        """
        return self._length(self._noise("scale").scale)

    @property
    def std_error(self) -> Any:
        """Standard deviation of the noise of a released number, in its unit.

        Raises
        ------
        ParameterError
            If nothing was released, or a scale, which has no noise.
        """
        return self._length(self._noise("standard error").std)

    def interval(self, level: Amount = 0.95) -> tuple[Any, Any]:
        """Return ends that hold the true statistic with probability ``level``.

        Over the noise of the number: it is independent of the test.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1; if nothing was released, or a scale.
        """
        law = self._noise("interval")
        as_miss(level)
        # What is not whole was rounded to the grid, by half a step at most.
        half = law.interval(level)[1] + (0.0 if self.rounded.whole else 0.5)
        lower, upper = self.rounded.around(half)
        return lower.value(), upper.value()

    def pass_probability(self, distance: int) -> float:
        """Return how probably such a test passes at an imagined distance.

        Parameters
        ----------
        distance : int
            Changes of one unit within which the proposed bound surely holds. That of
            the data at hand stays private; for planning.
        """
        return self.test.pass_probability(distance)

    def __float__(self) -> float:
        value = self.value
        if isinstance(value, tuple) or value is None:
            msg = "there is no single number: see .released and .value."
            raise TypeError(msg)
        return float(value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def _noise(self, what: str) -> DiscreteLaplace:
        if not self.released:
            msg = f"the proposal was refused, so there is no number and no {what}."
            raise ParameterError(msg)
        if self.law is None:
            msg = f"a released scale is an interval without noise; it has no {what}."
            raise ParameterError(msg)
        return self.law

    def _length(self, steps: float | Fraction) -> Any:
        return self.rounded.lengths(float(steps)).value()

    def _table(self) -> pa.Table:
        released = pa.array([self.released])
        fields = [pa.field("released", released.type, nullable=False)]
        arrays = [released]
        for name, numbers in self._named():
            column = numbers.column()
            if not self.released:
                column = pa.nulls(1, column.type)
            fields.append(pa.field(name, column.type, nullable=True))
            arrays.append(column)
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def _named(self) -> list[tuple[str, Numbers]]:
        numbers = self.rounded.numbers()
        if self.law is not None:
            return [("value", numbers)]
        ends = [
            Numbers(numbers.offsets[i : i + 1], numbers.lattice, numbers.form)
            for i in (0, 1)
        ]
        return [("lower", ends[0]), ("upper", ends[1])]

    def _record(self) -> Record:
        whole = {
            "statistic": self.name,
            "column": list(self.columns),
            "bound": None if self.bound is None else str(self.bound),
            "test": self.test.describe(),
            "scale": None if self.law is None else str(self.law.scale),
            "grid": self.rounded.describe(),
        }
        values = {name: {"statistic": self.name} for name, _ in self._named()}
        values["released"] = {"statistic": "test"}
        return Record(type(self).__name__, (self.mechanism,), values, whole)

    def _report(self) -> Report:
        told = f"{type(self).__name__}: {printable(self.name)}"
        bound = "" if self.bound is None else f"bound {self.bound}; "
        notes = [
            f"{bound}a test passes in 95 % of all runs where "
            f"{self.test.needed():,} changed units keep the proposal true",
            self.mechanism,
            charge_note(self.receipt),
            *stored_notes(self.receipt),
        ]
        if not self.released:
            title = f"{told} refused; the charge stands"
        elif self.law is None:
            lower, upper = map(show, self.value)
            title = f"{told} between {lower} and {upper}, without noise"
        else:
            lower, upper = map(show, self.interval())
            title = f"{told} = {show(self.value)} ± {show_spread(self.std_error)}"
            notes.insert(0, f"95 % interval {lower} to {upper}")
        return Report(title, notes=tuple(notes), alert=alert(self.receipt))
