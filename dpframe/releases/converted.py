"""`ConvertedRelease`: counts whose noise was changed to a continuous law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, final

import numpy as np
import pyarrow as pa

from dpframe.display.column import Column
from dpframe.display.report import Report
from dpframe.display.svg import bars
from dpframe.display.text import plural, printable, show, show_spread
from dpframe.domain.keys import Keys
from dpframe.domain.schema import ColumnType
from dpframe.errors import ProvenanceError
from dpframe.noise import Laplace, Staircase
from dpframe.noise.law import Floats
from dpframe.privacy.amounts import Amount
from dpframe.releases.base import Release
from dpframe.releases.charged import alert, charge_note, stored_notes
from dpframe.releases.columns import distinct_names, key_columns, key_labels
from dpframe.releases.frames import to_library
from dpframe.releases.record import Record

__all__ = ["ConvertedRelease"]

_MOST_ROWS = 20


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConvertedRelease(Release):
    """Counts for public keys, with continuous noise; post-processing of a release.

    Made by `HistogramRelease.to_laplace` and `HistogramRelease.to_staircase`, for
    tools that expect such noise. It cost nothing beyond the histogram, whose receipt
    it carries, and it knows less: estimate from the histogram.

    Parameters
    ----------
    receipt, library
        As in `Release`.
    values : ndarray of float64, shape (keys,)
        The counts, signed and unbiased, in rows.
    law : Laplace or Staircase
        The law of the independent noise in every count, in rows.
    cells : Keys
        The public keys.
    name : str
        What the counts are called.
    key_types : tuple of ColumnType, optional
        Types that the frame declares for the key columns.

    Examples
    --------
    >>> import dpframe as dpf, polars as pl
    >>> people = pl.DataFrame({"job": ["cook", "nurse", "cook"]})
    >>> with dpf.Session(epsilon=1, unit="row"):
    ...     h = people.dp.histogram(0.5, by="job", keys=["cook", "nurse"])
    >>> smooth = h.to_laplace()
    >>> smooth.law, smooth.values.dtype, smooth.keys
    (Laplace(scale=Fraction(2, 1)), dtype('float64'), ['cook', 'nurse'])
    >>> bool(abs(smooth.values - h.counts).max() <= 1)
    True
    """

    values: Floats
    law: Laplace | Staircase
    cells: Keys
    name: str
    key_types: tuple[ColumnType, ...] | None = None

    @property
    def mechanism(self) -> str:
        """The noise in words: "Laplace" or "staircase"."""
        return "Laplace" if isinstance(self.law, Laplace) else "staircase"

    @property
    def keys(self) -> list[Any]:
        """The keys: scalars of one column, tuples of several; a bin's lower edge."""
        return self.cells.labels

    @property
    def columns(self) -> list[str]:
        """Names of the frame's columns: keys, then the counts."""
        return [*self.cells.columns, self._name]

    @property
    def std_error(self) -> float:
        """Standard deviation of each count over the noise, in rows."""
        return self.law.std

    def interval(self, level: Amount = 0.95) -> Any:
        """Return a frame of the keys and the ends of each count's interval.

        Returns
        -------
        DataFrame or Table
            Columns ``count_lower`` and ``count_upper``, of the caller's library. Each
            interval holds its true count with probability ``level``, not all at once.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1.
        """
        low, high = self.law.interval(level)
        ends = {"lower": self.values + low, "upper": self.values + high}
        named = {f"{self._name}_{end}": numbers for end, numbers in ends.items()}
        return to_library(self._laid(named), self.library)

    def debias(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse: the histogram that these counts come from can be debiased.

        Raises
        ------
        ProvenanceError
            Always.
        """
        msg = (
            f"these counts have {self.mechanism} noise, added to a release of discrete "
            "Laplace noise, and most statistics of integers have no unbiased estimate "
            "under it. Debias the histogram itself: it is the same release, and every "
            "estimand has one there."
        )
        raise ProvenanceError(msg)

    def __len__(self) -> int:
        return self.cells.size

    @property
    def _name(self) -> str:
        return distinct_names(self.cells.columns, [self.name])[0]

    def _table(self) -> pa.Table:
        return self._laid({self._name: self.values})

    def _laid(self, numbers: dict[str, Floats]) -> pa.Table:
        """Lay columns of floats beside the keys."""
        keys = key_columns(self.cells, self.key_types)
        names = distinct_names(self.cells.columns, numbers)
        fields = [field for field, _ in keys]
        fields += [pa.field(name, pa.float64(), nullable=False) for name in names]
        arrays = [column for _, column in keys] + list(map(pa.array, numbers.values()))
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def _record(self) -> Record:
        laplace = isinstance(self.law, Laplace)
        parameters = ("scale",) if laplace else ("epsilon", "gamma")
        facts = {
            "statistic": "count",
            "mechanism": self.mechanism,
            **{name: str(getattr(self.law, name)) for name in parameters},
            "post_processing": ["to_laplace" if laplace else "to_staircase"],
        }
        return Record(type(self).__name__, (self.mechanism,), {self._name: facts})

    def _report(self) -> Report:
        rows, error = min(_MOST_ROWS, len(self)), self.std_error
        low, high = self.law.interval()
        values = self.values[:rows].tolist()
        ends = [(value + low, value + high) for value in values]
        figures = [f"{show(v, error)} ± {show_spread(error)}" for v in values]
        spans = [f"{show(a, error)} to {show(b, error)}" for a, b in ends]
        drawn = bars(values, [a for a, _ in ends], [b for _, b in ends])
        labels = key_labels(self.cells, np.arange(rows))
        columns = [
            Column(name, tuple(map(show, label)), left=True)
            for name, label in zip(self.cells.columns, labels, strict=True)
        ]
        keys = ", ".join(map(printable, self.cells.columns))
        return Report(
            f"{type(self).__name__}: {plural(len(self), 'cell')} of {keys}",
            (
                *columns,
                Column(self._name, tuple(figures), drawings=tuple(drawn)),
                Column("95 % interval", tuple(spans)),
            ),
            (
                f"{self.mechanism} noise, by post-processing of discrete Laplace noise",
                charge_note(self.receipt),
                *stored_notes(self.receipt),
            ),
            alert=alert(self.receipt),
            total=len(self),
            noun="more cell",
        )
