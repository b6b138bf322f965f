"""`SmoothRelease`: a number with noise of a private scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pyarrow as pa

from dpframe.display.report import Report
from dpframe.display.text import printable, show, show_spread
from dpframe.errors import ParameterError
from dpframe.noise.law import as_miss
from dpframe.noise.smooth import SmoothNoise
from dpframe.noise.spread import SpreadNoise
from dpframe.privacy.amounts import Amount
from dpframe.releases.base import Release
from dpframe.releases.charged import alert, charge_note, stored_notes
from dpframe.releases.record import Record
from dpframe.releases.rounded import Rounded

__all__ = ["PublishedSpread", "SmoothRelease"]

_WORDS = {"lomax": "Lomax", "student_t": "Student t", "laplace": "Laplace"}


@final
@dataclass(frozen=True, slots=True)
class PublishedSpread:
    """The smooth sensitivity as it was published, at a cost of its own.

    Parameters
    ----------
    noise : SpreadNoise
        How it was noised.
    steps : int
        Noisy, of the logarithm.
    """

    noise: SpreadNoise
    steps: int

    @property
    def estimate(self) -> float:
        """The published smooth sensitivity, in steps of the lattice."""
        return float(np.exp(self.steps * float(self.noise.step)))


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SmoothRelease(Release):
    """One number, noised in proportion to its smooth sensitivity at the data.

    How much noise that was tells of the data, and so it is private: there is no scale,
    no standard error and no interval, unless they were paid for (``interval=True``).

    Parameters
    ----------
    receipt, library
        As in `Release`.
    name : str
        Name of the answer: its verb.
    columns : tuple of str
        What it is about.
    statistic : str
        The statistic, with its parameters.
    rounded : Rounded
        The released number.
    noise : SmoothNoise or None
        Family, epsilon, beta: all of it public, none of it from the data. None for a
        public constant, where both bounds are equal.
    spread : PublishedSpread, optional
        If an interval was paid for.

    Examples
    --------
    >>> import dpframe as dpf, polars as pl
    >>> ages = pl.DataFrame({"age": list(range(20, 71)) * 40})
    >>> with dpf.Session(epsilon=1, unit="row"):
    ...     mean = ages.dp.trimmed_mean("age", 1, bounds=(0, 120), trim=0.1)
    >>> 0 <= mean.value <= 120, mean.mechanism
    (True, 'smooth sensitivity with Lomax noise')
    """

    name: str
    columns: tuple[str, ...]
    statistic: str
    rounded: Rounded
    noise: SmoothNoise | None
    spread: PublishedSpread | None = None

    @property
    def mechanism(self) -> str:
        """The mechanism, in words."""
        if self.noise is None:
            return "public constant"
        return f"smooth sensitivity with {_WORDS[self.noise.family]} noise"

    @property
    def value(self) -> Any:
        """The number, of the column's own kind, within its bounds."""
        return self.rounded.numbers().value()

    @property
    def scale(self) -> Any:
        """Scale of the noise as it was published, itself noisy.

        Raises
        ------
        ParameterError
            Unless the release was asked with ``interval=True``.
        """
        if self.noise is None:
            return self._length(0.0)
        return self._length(self._published("scale").estimate / float(self.noise.s))

    @property
    def std_error(self) -> Any:
        """Standard deviation of the noise, from the published scale.

        Raises
        ------
        ParameterError
            Unless the release was asked with ``interval=True``.
        """
        if self.noise is None:
            return self._length(0.0)
        return self._length(self._published("standard error").estimate * self.noise.std)

    def interval(self, level: Amount = 0.95) -> tuple[Any, Any]:
        """Return ends that hold the true statistic with probability ``level`` or more.

        That is the statistic of the clamped values on their public grid.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1, and the release was asked with ``interval=True``.
        """
        as_miss(level)
        half = np.zeros(1)
        if self.noise is not None:
            spread = self._published("interval")
            reach = spread.noise.half_width([spread.steps], level)
            # The output was rounded, by half a step; a whole truth is steps away.
            half = reach / float(self.rounded.grid) + 0.5
            half = np.floor(half) if self.rounded.whole else half
        lower, upper = self.rounded.around(half)
        return lower.value(), upper.value()

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        value = self.value
        if not isinstance(value, int):
            msg = f"the answer is no integer but a {type(value).__name__}; use .value."
            raise TypeError(msg)
        return value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def _length(self, steps: float) -> Any:
        return self.rounded.lengths(steps / float(self.rounded.grid)).value()

    def _published(self, what: str) -> PublishedSpread:
        if self.spread is None:
            msg = (
                f"a release by smooth sensitivity has no {what}: how much noise there "
                "is depends on the data, and is private. Ask with interval=True and "
                "epsilon_interval=0.1, which buys one."
            )
            raise ParameterError(msg)
        return self.spread

    def _table(self) -> pa.Table:
        column = self.rounded.numbers().column()
        field = pa.field(self.name, column.type, nullable=False)
        return pa.Table.from_arrays([column], schema=pa.schema([field]))

    def _record(self) -> Record:
        facts: dict[str, Any] = {
            "statistic": self.statistic,
            "mechanism": self.mechanism,
            "grid": self.rounded.describe(),
            "column": list(self.columns),
            "noise": None if self.noise is None else _facts(self.noise),
        }
        if self.spread is not None:
            facts["published_spread"] = {
                "epsilon": str(self.spread.noise.epsilon),
                "step": str(self.spread.noise.step),
                "steps": self.spread.steps,
            }
        return Record(type(self).__name__, (self.mechanism,), {self.name: facts})

    def _report(self) -> Report:
        error = ""
        if self.noise is None:
            said = "the bounds are equal, so it is known without the data"
        elif self.spread is None:
            said = "how much noise it has is private"
        else:
            lower, upper = (show(end) for end in self.interval())
            said = f"95 % interval {lower} to {upper}, or more than 95 %"
            error = f" ± {show_spread(self.std_error)}"
        notes = [said, self.mechanism, charge_note(self.receipt), self._clamped()]
        if self.receipt.unit != "row":
            notes.append("noise does not cover rows beyond the unit's bounds")
        return Report(
            f"{type(self).__name__}: {printable(self.name)} = "
            f"{show(self.value)}{error}",
            notes=(*notes, *stored_notes(self.receipt)),
            alert=alert(self.receipt),
        )

    def _clamped(self) -> str:
        return f"{', '.join(map(printable, self.columns))} clamped to public bounds"


def _facts(noise: SmoothNoise) -> dict[str, str]:
    return {
        "family": noise.family,
        "epsilon": str(noise.epsilon),
        "delta": str(noise.delta),
        "beta": str(noise.beta),
        "s": str(noise.s),
    }
