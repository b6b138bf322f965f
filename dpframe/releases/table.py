"""`TableRelease`: some numbers for each public key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from numpy.typing import NDArray

from dpframe.display.report import Report
from dpframe.domain.keys import Keys
from dpframe.errors import ColumnNotFoundError
from dpframe.privacy.amounts import Amount
from dpframe.releases.measured import Measured
from dpframe.releases.shown import table_report

__all__ = ["TableRelease"]


@final
class TableRelease(Measured):
    """One row for each public key, one column for each aggregate.

    ``release["pay"]`` is the array of one aggregate, ``len(release)`` the number of
    keys. Listed keys are all there, in their order, whatever the data.

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
        """Scale of the noise of each aggregate that is one noisy number."""
        return {name: a.scale for name, a in self._named.items() if a.single}

    @property
    def std_error(self) -> Any:
        """Frame of the keys and each aggregate's standard error."""
        return self._frame({name: a.errors() for name, a in self._named.items()})

    def interval(self, level: Amount = 0.95) -> Any:
        """Return a frame of the keys and, for each aggregate, its interval's ends.

        Returns
        -------
        DataFrame or Table
            Columns ``name_lower`` and ``name_upper``, of the caller's library. Each
            interval holds its own truth with probability ``level``.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1.
        """
        return self._frame(self._intervals(level))

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
        return table_report(form, self._cells, self._named, self.receipt)
