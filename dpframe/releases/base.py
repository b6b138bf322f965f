"""What every release is: public numbers, their noise law, and a receipt."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from os import PathLike, fspath
from typing import Any, Self

import pyarrow as pa

from dpframe.display.report import Report
from dpframe.domain.keys import Keys
from dpframe.domain.schema import ColumnType, Library
from dpframe.errors import ParameterError, shown
from dpframe.privacy.amounts import Amount
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.unit import Neighboring
from dpframe.releases.answers import Answer
from dpframe.releases.columns import distinct_names, key_columns
from dpframe.releases.frames import to_library
from dpframe.releases.numbers import Numbers
from dpframe.releases.receipt import Receipt
from dpframe.releases.record import attach

__all__ = ["Release"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Release(ABC):
    """A public value. It holds no frame and no way back to one.

    Anything may be done with it at no further cost (post-processing). Two releases are
    equal only if they are the same object: compare ``.value`` or ``.to_frame()``.

    Parameters
    ----------
    answers : tuple of Answer
        What was asked, in order.
    cells : Keys or None
        The public keys; None for one number.
    receipt : Receipt
        What the session says about it.
    library : {"pandas", "polars", "pyarrow"}
        Where frames are handed back.
    key_types : tuple of ColumnType, optional
        Types that the frame declares for the key columns.
    """

    answers: tuple[Answer, ...]
    cells: Keys | None
    receipt: Receipt
    library: Library
    key_types: tuple[ColumnType, ...] | None = None

    @classmethod
    def of(
        cls,
        answers: tuple[Answer, ...],
        cells: Keys | None,
        receipt: Receipt,
        library: Library,
        key_types: tuple[ColumnType, ...] | None = None,
    ) -> Self:
        """Make the release; public constants take one value for each cell."""
        size = 1 if cells is None else cells.size
        sized = tuple(replace(answer, cells=size) for answer in answers)
        return cls(sized, cells, receipt, library, key_types)

    @property
    def loss(self) -> PrivacyLoss:
        """What the whole call cost."""
        return self.receipt.loss

    @property
    def epsilon(self) -> Fraction | None:
        """The epsilon of `loss`; None for a zCDP charge."""
        return self.receipt.loss.epsilon

    @property
    def mechanism(self) -> str:
        """The noise in words, such as "discrete Laplace"."""
        return ", ".join(dict.fromkeys(answer.mechanism for answer in self.answers))

    @property
    def label(self) -> str | None:
        """The caller's name for the request."""
        return self.receipt.label

    @property
    def unit(self) -> str:
        """Whom the loss protects, in words."""
        return self.receipt.unit

    @property
    def neighboring(self) -> Neighboring:
        """The relation that the loss is stated for."""
        return self.receipt.neighboring

    @property
    def release_id(self) -> str:
        """The public name of the release in its ledger."""
        return self.receipt.release_id

    @property
    def time(self) -> datetime:
        """When it was charged."""
        return self.receipt.time

    @property
    def private(self) -> bool:
        """False where a test fixed the randomness."""
        return self.receipt.private

    @property
    def replayed(self) -> bool:
        """Whether this is the stored release of an earlier call."""
        return self.receipt.replayed

    def replay(self) -> Self:
        """Return the same release as handed out again: nothing is read or charged."""
        return replace(self, receipt=self.receipt.replay())

    @abstractmethod
    def interval(self, level: Amount = 0.95) -> Any:
        """Return where the truth lies with probability ``level`` over the noise."""

    @abstractmethod
    def _report(self) -> Report:
        """Return what is shown of the release."""

    def to_frame(self, library: Library | None = None) -> Any:
        """Return the values as a new frame, by default of the caller's library.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Another library.

        Returns
        -------
        DataFrame or Table
            Key columns under their names, then one column for each answer; integers
            are saturated at int64. The index is fresh.

        Raises
        ------
        ParameterError
            If ``library`` is no such name.
        """
        return to_library(self.to_arrow(), library or self.library)

    def to_arrow(self, carry: str = "metadata") -> pa.Table:
        """Return the values as an Arrow table that carries how they were made.

        Parameters
        ----------
        carry : {"metadata"}
            Where the record goes: into the metadata of the schema, under ``dpframe``.

        Raises
        ------
        ParameterError
            If ``carry`` is another way.
        """
        if carry != "metadata":
            msg = f"carry must be 'metadata'; got {shown(carry)}."
            raise ParameterError(msg)
        named = self._named
        table = self._table({n: a.estimates() for n, a in named.items()})
        return attach(table, type(self).__name__, named, self.receipt)

    def write_parquet(self, path: str | PathLike[str]) -> None:
        """Write the Arrow table, with its record, to a Parquet file."""
        from pyarrow import parquet

        parquet.write_table(self.to_arrow(), fspath(path))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        table: Any = self.to_arrow()
        return table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.to_arrow().schema.__arrow_c_schema__()

    def __repr__(self) -> str:
        return self._report().text()

    def _repr_html_(self) -> str:
        return self._report().html()

    @property
    def _named(self) -> dict[str, Answer]:
        """The answers under their column names."""
        taken = () if self.cells is None else self.cells.columns
        names = distinct_names(taken, (answer.name for answer in self.answers))
        return dict(zip(names, self.answers, strict=True))

    def _frame(self, numbers: Mapping[str, Numbers]) -> Any:
        """Lay numbers beside the keys in a frame of the caller's library."""
        return to_library(self._table(numbers), self.library)

    def _intervals(self, level: Amount) -> dict[str, Numbers]:
        """The ends of every answer, named for a frame."""
        ends = {}
        for name, answer in self._named.items():
            ends[f"{name}_lower"], ends[f"{name}_upper"] = answer.bounds(level)
        return ends

    def _table(self, numbers: Mapping[str, Numbers]) -> pa.Table:
        """Lay columns of numbers beside the keys."""
        keys = [] if self.cells is None else key_columns(self.cells, self.key_types)
        taken = [field.name for field, _ in keys]
        values = [n.column() for n in numbers.values()]
        fields = [field for field, _ in keys] + [
            pa.field(name, value.type, nullable=False)
            for name, value in zip(distinct_names(taken, numbers), values, strict=True)
        ]
        arrays = [column for _, column in keys] + values
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))
