"""Public bounds of a column whose range nobody knows.

    candidates: 0 and ±2^k, over the whole range of the type
    choose the quantiles (1 - coverage)/2 and (1 + coverage)/2, at epsilon/2 each
    go one candidate outward from each

A value stands for the next candidate toward 0, and so, however close together values
lie, one candidate lies among them: without that all those on one side would be alike.
One step outward, the bounds enclose what the chosen candidates stand for.

Guarantee: pure epsilon, as of two quantiles (`dpframe.mechanisms.quantile`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import final

import numpy as np

from dpframe.domain.lattice import Lattice
from dpframe.domain.schema import ColumnType, Schema
from dpframe.engines.protocol import Source
from dpframe.errors import ParameterError, shown
from dpframe.mechanisms.quantile import Selection, choose, line_up, selections
from dpframe.mechanisms.request import Request, Setting
from dpframe.mechanisms.terms import column_type
from dpframe.privacy.amounts import as_fraction
from dpframe.privacy.loss import PrivacyLoss
from dpframe.queries.reduction import Crosstab, Cuts, Split
from dpframe.releases.bounds import BoundsRelease
from dpframe.releases.numbers import Numbers
from dpframe.releases.receipt import Receipt
from dpframe.secret import Combinations, Occurrences, Secret

__all__ = ["RangeRequest"]

Grid = tuple[int, ...] | tuple[float, ...]

_KINDS = ("integer", "float", "decimal", "date", "datetime", "duration", "null")
_LARGEST = 2**62  # steps that bounds of integers may have
_FLOAT_POWERS = range(-1000, 1001)  # as bounds of floats may have
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_FINEST_COVERAGE = 10**6
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@final
@dataclass(frozen=True, slots=True)
class RangeRequest(Request[BoundsRelease]):
    """Two quantiles over a geometric grid.

    Parameters
    ----------
    setting : Setting
        Unit, relation and accountant of the session.
    column : str
        The column.
    type : ColumnType
        Its declared type, which decides the grid.
    epsilon : Fraction
        The loss of both ends together.
    coverage : Fraction
        Part of the rows that should lie between them.
    schema : Schema
        Of the frame.
    """

    setting: Setting
    column: str
    type: ColumnType
    epsilon: Fraction
    coverage: Fraction
    schema: Schema

    verb = "bounds"

    @classmethod
    def of(
        cls,
        column: str,
        epsilon: Fraction,
        coverage: object,
        setting: Setting,
        schema: Schema,
    ) -> RangeRequest:
        """Read column and coverage.

        Raises
        ------
        ColumnNotFoundError, ParameterError
            If they do not fit; from public facts alone.
        """
        type_ = column_type(column, setting, schema)
        if type_.kind == "boolean":
            msg = f"{column!r} is boolean: its bounds are (0, 1), and known."
            raise ParameterError(msg)
        if type_.kind not in _KINDS:
            msg = (
                f"bounds needs a column of numbers or times, and {column!r} is of kind "
                f"{type_.kind!r}. Cast it first."
            )
            raise ParameterError(msg)
        if type_.kind == "null":  # nothing but missing values
            type_ = ColumnType("float")
        part = as_fraction(coverage, "coverage").limit_denominator(_FINEST_COVERAGE)
        if not 0 < part < 1:
            msg = (
                f"coverage must lie between 0 and 1, such as 0.98; got "
                f"{shown(coverage)}."
            )
            raise ParameterError(msg)
        request = cls(setting, column, type_, epsilon, part, schema)
        _ = request.selections  # a unit without max_rows is refused here
        return request

    @property
    def grid(self) -> Grid:
        """The candidates, in engine numbers."""
        return _powers(self.type)

    @property
    def selections(self) -> tuple[Selection, ...]:
        """The choice of the lower and of the upper end."""
        q = (1 - self.coverage) / 2, (1 + self.coverage) / 2
        loss = PrivacyLoss(self.epsilon)
        return selections(q, loss, len(self.grid), self.setting)

    @property
    def loss(self) -> PrivacyLoss:  # type: ignore[override]
        """The whole loss."""
        if self.setting.accountant.name == "zcdp":
            parts = (selection.law.rho for selection in self.selections)
            return PrivacyLoss(rho=sum(parts, Fraction(0)))
        return PrivacyLoss(self.epsilon)

    @property
    def mechanism(self) -> str:
        """The way of choosing, in words."""
        return self.selections[0].law.mechanism

    def describe(self) -> dict[str, object]:
        """Return the call with its defaults filled in."""
        return {
            "verb": self.verb,
            "mechanism": self.mechanism,
            "loss": self.loss.describe(),
            "column": self.column,
            "epsilon": str(self.epsilon),
            "coverage": str(self.coverage),
            "candidates": [str(number) for number in self.grid],
            **self.setting.unit.describe(),
            "neighboring": self.setting.neighboring,
        }

    def reduce(self, source: Source) -> Secret[Combinations]:
        """Ask the engine how many values stand for each candidate."""
        classes = Cuts(_cuts(self.grid))
        splits = (Split(self.column, classes),)
        return source.crosstab(Crosstab(self.setting.unit, splits, rows=False))

    def answer(
        self, secret: Secret[Combinations] | None, receipt: Receipt
    ) -> BoundsRelease:
        """Choose both ends, and go outward."""
        assert secret is not None
        grid = self.grid
        line = line_up(_occurrences(secret.reveal(), len(grid)), 1, len(grid))
        choices = tuple(choose(selection, line) for selection in self.selections)
        first, last = sorted(int(choice.indices[0]) for choice in choices)
        ends = grid[max(first - 1, 0)], grid[min(last + 1, len(grid) - 1)]
        held = Numbers(np.array(ends), _whole_range(self.type, grid))
        return BoundsRelease(
            receipt, self.schema.library, self.column, held, self.coverage, choices
        )


def _whole_range(type: ColumnType, grid: Grid) -> Lattice:
    """Return a lattice that shows candidates as values of the column's kind."""
    low, high = grid[0], grid[-1]
    return Lattice(type, low, high, None, 0.0, int(low), int(high), 0, 0, "row")


def _powers(type: ColumnType) -> Grid:
    """Return 0, ±2^k and the ends of the range, increasing, in engine numbers."""
    if type.kind == "float":
        floats = [math.ldexp(1.0, k) for k in _FLOAT_POWERS]
        return (*(-x for x in reversed(floats)), 0.0, *floats)
    # Python's times are whole microseconds.
    step = 1000 if type.unit == "ns" else 1
    low, high = (end // step for end in _range(type))
    powers = [2**k for k in range(high.bit_length())]
    found = {0, low, high, *powers, *(-power for power in powers if -power >= low)}
    return tuple(step * number for number in sorted(found))


def _range(type: ColumnType) -> tuple[int, int]:
    """Return the least and the greatest value that bounds of this type may have."""
    if type.kind == "date":
        start = _EPOCH.toordinal()
        return date.min.toordinal() - start, date.max.toordinal() - start
    if type.kind == "datetime":
        moments = datetime.min, datetime.max
        spans = [moment.replace(tzinfo=UTC) - _EPOCH for moment in moments]
    elif type.kind == "duration":
        spans = [timedelta.min, timedelta.max]
    else:
        return -_LARGEST, _LARGEST
    ticks = [
        span // timedelta(microseconds=1) * _PER_SECOND[type.unit] // 10**6
        for span in spans
    ]
    return max(ticks[0], -_LARGEST), min(ticks[1], _LARGEST)


def _cuts(grid: Grid) -> Grid:
    """Return where each candidate but the first begins, values going toward 0."""
    cuts = [above if before >= 0 else _next(before) for before, above in pairwise(grid)]
    return tuple(cuts)


def _next(number: int | float) -> int | float:
    """Return the least stored number above."""
    if isinstance(number, int):
        return number + 1
    return math.nextafter(number, math.inf)


def _occurrences(found: Combinations, candidates: int) -> Occurrences:
    """Return how many values stand for each candidate; the last class is missing."""
    times = np.bincount(
        found.classes[0], weights=found.rows, minlength=candidates + 1
    ).astype(np.int64)[:candidates]
    values = times.nonzero()[0]
    cells = np.zeros(values.size, dtype=np.int64)
    return Occurrences(cells, values[:, np.newaxis], times[values])
