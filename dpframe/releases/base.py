"""What every release is: a public value and a receipt, as a frame and in words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from os import PathLike, fspath
from typing import Any, ClassVar, Self

import pyarrow as pa

from dpframe.display.report import Report
from dpframe.domain.schema import Library
from dpframe.errors import ParameterError, ProvenanceError, shown
from dpframe.privacy.amounts import Amount
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.unit import Neighboring
from dpframe.releases.frames import to_library
from dpframe.releases.receipt import Receipt
from dpframe.releases.record import Record, attach

__all__ = ["Release"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Release(ABC):
    """A public value. It holds no frame and no way back to one.

    Anything may be done with it at no further cost (post-processing). Two releases are
    equal only if they are the same object: compare ``.value`` or ``.to_frame()``.

    Parameters
    ----------
    receipt : Receipt
        What the session says about it.
    library : {"pandas", "polars", "pyarrow"}
        Where frames are handed back.
    """

    receipt: Receipt
    library: Library

    _NOT_DEBIASED: ClassVar = "debiasing starts from a noisy count of every public key"

    @property
    def loss(self) -> PrivacyLoss:
        """What the whole call cost."""
        return self.receipt.loss

    @property
    def epsilon(self) -> Fraction | None:
        """The epsilon of `loss`; None for a zCDP charge."""
        return self.receipt.loss.epsilon

    @property
    @abstractmethod
    def mechanism(self) -> str:
        """The mechanism in words, such as "discrete Laplace"."""

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

    def debias(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse, except where it is the counts of a histogram that were released.

        Raises
        ------
        ProvenanceError
            If there is nothing here that can be debiased.
        """
        msg = (
            f"a {type(self).__name__} cannot be debiased: {self._NOT_DEBIASED}. "
            "Release a histogram, df.dp.histogram(epsilon, by), and debias that."
        )
        raise ProvenanceError(msg)

    @abstractmethod
    def _table(self) -> pa.Table:
        """Return the values as a table, keys first."""

    @abstractmethod
    def _record(self) -> Record:
        """Return how the values were made, for the metadata of the table."""

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
        chosen = self.library if library is None else library
        return to_library(self.to_arrow(), chosen)

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
        if not isinstance(carry, str) or carry != "metadata":
            msg = f"carry must be 'metadata'; got {shown(carry)}."
            raise ParameterError(msg)
        return attach(self._table(), self._record(), self.receipt)

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
