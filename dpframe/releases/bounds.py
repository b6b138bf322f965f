"""`BoundsRelease`: public bounds, found privately."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn, final

import pyarrow as pa

from dpframe.display.report import Report
from dpframe.display.text import printable, show, show_spread
from dpframe.errors import ParameterError
from dpframe.noise.law import as_miss
from dpframe.privacy.amounts import Amount
from dpframe.releases.base import Release
from dpframe.releases.charged import alert, charge_note, stored_notes
from dpframe.releases.chosen import Choice
from dpframe.releases.numbers import Numbers
from dpframe.releases.record import Record

__all__ = ["BoundsRelease"]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoundsRelease(Release, Sequence[Any]):
    """A public pair (lower, upper), for the ``bounds=`` of any verb.

    It unpacks, and it is a sequence of two. Values beyond it are clamped by the verbs
    that take it.

    Parameters
    ----------
    receipt, library
        As in `Release`.
    column : str
        Whose bounds they are.
    ends : Numbers
        The pair, in engine numbers.
    coverage : Fraction
        Part of the rows that was asked to lie between them.
    choices : tuple of Choice
        The two quantiles, among the candidates, before the step outward.

    Examples
    --------
    >>> import dpframe as dpf, polars as pl
    >>> pay = pl.DataFrame({"pay": [2_000, 2_400, 2_500, 3_100, 4_000] * 2_000})
    >>> with dpf.Session(epsilon=1, unit="row"):
    ...     bounds = pay.dp.bounds("pay", 1)
    >>> lower, upper = bounds
    >>> lower == bounds.lower == bounds[0], bounds.to_frame().columns
    (True, ['lower', 'upper'])
    """

    column: str
    ends: Numbers
    coverage: Fraction
    choices: tuple[Choice, ...]

    @property
    def lower(self) -> Any:
        """The lower bound, in the column's own kind."""
        return self.ends.value(0)

    @property
    def upper(self) -> Any:
        """The upper bound, in the column's own kind."""
        return self.ends.value(1)

    @property
    def mechanism(self) -> str:
        """The mechanism, in words."""
        return self.choices[0].law.mechanism

    def rank_error(self, level: Amount = 0.95) -> float:
        """Return how many rows each quantile may be off, with probability ``level``.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1.
        """
        miss = as_miss(level) / 2  # either of both may fail
        return max(choice.rank_error(miss) for choice in self.choices)

    @property
    def scale(self) -> NoReturn:
        """None: nothing was added to a number. Raises `ParameterError`."""
        _refuse("scale")

    @property
    def std_error(self) -> NoReturn:
        """None: a choice has no standard error. Raises `ParameterError`."""
        _refuse("standard error")

    def interval(self, level: Amount = 0.95) -> NoReturn:
        """Raise `ParameterError`: a choice has no interval; see `rank_error`."""
        _refuse("interval")

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[Any]:
        return iter((self.lower, self.upper))

    def __getitem__(self, item: Any) -> Any:
        return (self.lower, self.upper)[item]

    def _table(self) -> pa.Table:
        ends = self.ends.column()
        fields = [
            pa.field(name, ends.type, nullable=False) for name in ("lower", "upper")
        ]
        columns = [ends.slice(0, 1), ends.slice(1, 1)]
        return pa.Table.from_arrays(columns, schema=pa.schema(fields))

    def _record(self) -> Record:
        facts = {
            "statistic": "bounds",
            "mechanism": self.mechanism,
            "column": self.column,
            "coverage": str(self.coverage),
            "candidates": self.choices[0].candidates,
            "epsilon_each": str(self.choices[0].law.epsilon),
            "post_processing": ["one candidate outward"],
        }
        values = {"lower": facts, "upper": facts}
        return Record(type(self).__name__, (self.mechanism,), values)

    def _report(self) -> Report:
        error = self.rank_error()
        needed = math.ceil(2 * error / (1 - self.coverage))
        notes = [
            f"with 95 % chance the quantiles are within {show_spread(error)} rows of "
            f"their ranks: reliable from {needed:,} rows on, or with less coverage",
            f"{self.mechanism} among {self.choices[0].candidates:,} candidates",
            charge_note(self.receipt),
        ]
        if self.receipt.unit != "row":
            notes.append("this covers chance, not rows beyond the unit's bounds")
        return Report(
            f"{type(self).__name__}: {printable(self.column)} mostly between "
            f"{show(self.lower)} and {show(self.upper)}",
            notes=(*notes, *stored_notes(self.receipt)),
            alert=alert(self.receipt),
        )


def _refuse(what: str) -> NoReturn:
    msg = (
        f"bounds have no {what}: they were chosen among public candidates, and nothing "
        "was added to them. Use rank_error(), in rows."
    )
    raise ParameterError(msg)
