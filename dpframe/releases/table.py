"""`TableRelease`: some numbers for each public key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from numpy.typing import NDArray

from dpframe.display.report import Report
from dpframe.domain.keys import Keys
from dpframe.errors import ColumnNotFoundError, ParameterError
from dpframe.privacy.amounts import Amount
from dpframe.releases.chosen import Chosen
from dpframe.releases.measured import Measured
from dpframe.releases.shown import table_report

__all__ = ["TableRelease"]


@final
class TableRelease(Measured):
    """One row for each public key, one column for each aggregate.

    ``release["pay"]`` is the array of one aggregate, ``len(release)`` the number of
    keys. Listed keys are all there, in their order, whatever the data. Keys that were
    found in the data are sorted, and ``key_threshold`` is the rule that chose them.

    Examples
    --------
    >>> import dpframe as dpf, polars as pl
    >>> people = pl.DataFrame({"job": ["cook", "nurse"], "age": [31, 45]})
    >>> with dpf.Session(epsilon=1, unit="row"):
    ...     jobs = people.dp.group_by("job", keys=["cook", "nurse", "pilot"])
    ...     t = jobs.agg(1, n=dpf.agg.count(), age=dpf.agg.mean("age", bounds=(17, 90)))
    >>> t.keys, t.columns
    (['cook', 'nurse', 'pilot'], ['job', 'n', 'age'])
    >>> t["n"].dtype, t.to_frame().shape
    (dtype('int64'), (3, 3))
    """

    __slots__ = ()

    @property
    def keys(self) -> list[Any]:
        """The keys: scalars of one key column, tuples of several."""
        return self._cells.labels

    @property
    def columns(self) -> list[str]:
        """Names of the frame's columns: keys, then aggregates.

        An aggregate whose name is also a key's has a trailing underscore.
        """
        return [*self._cells.columns, *self._named]

    @property
    def scale(self) -> dict[str, Any]:
        """Scale of the noise of each aggregate that is one noisy number.

        Raises
        ------
        ParameterError
            If all were chosen (quantile, median, min, max, iqr).
        """
        return {n: a.scale for n, a in self._with_noise("scale").items() if a.single}

    @property
    def std_error(self) -> Any:
        """Frame of the keys and the standard error of each noisy aggregate.

        Raises
        ------
        ParameterError
            If all were chosen.
        """
        noisy = self._with_noise("standard error")
        return self._frame({name: a.errors() for name, a in noisy.items()})

    def interval(self, level: Amount = 0.95) -> Any:
        """Return a frame of the keys and, for each aggregate, its interval's ends.

        Returns
        -------
        DataFrame or Table
            Columns ``name_lower`` and ``name_upper``, of the caller's library. Each
            interval holds its own truth with probability ``level``. Aggregates that
            were chosen have none.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1, and if all were chosen.
        """
        return self._frame(self._intervals(level))

    def rank_error(self, level: Amount = 0.95) -> dict[str, float]:
        """Return for each quantile how many rows each of its entries may be off.

        As `ScalarRelease.rank_error`; the greatest one of a list of quantiles.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1, and if nothing was chosen.
        """
        named = self._named.items()
        chosen = {name: a for name, a in named if isinstance(a, Chosen)}
        if not chosen:
            msg = (
                "this table has noisy numbers, and these have no rank; use std_error "
                "or interval()."
            )
            raise ParameterError(msg)
        return {name: a.rank_error(level) for name, a in chosen.items()}

    def __len__(self) -> int:
        return self._cells.size

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> NDArray[Any]:
        named = self._named
        if name not in named:
            raise ColumnNotFoundError.named(name, named)
        return named[name].estimates().saturated()

    @property
    def _cells(self) -> Keys:
        assert self.cells is not None
        return self.cells

    def _report(self) -> Report:
        form = type(self).__name__
        rule = self.key_threshold
        return table_report(form, self._cells, self._named, self.receipt, rule)
