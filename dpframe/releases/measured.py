"""`Measured`: releases that are formulas over noisy integers, or over choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import pyarrow as pa

from dpframe.domain.keys import Keys
from dpframe.domain.schema import ColumnType, Library
from dpframe.errors import ParameterError
from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.noise.key_threshold import KeyThreshold
from dpframe.privacy.amounts import Amount
from dpframe.releases.answers import Answer
from dpframe.releases.base import Release
from dpframe.releases.chosen import Chosen
from dpframe.releases.columns import distinct_names, key_columns
from dpframe.releases.frames import to_library
from dpframe.releases.numbers import Numbers
from dpframe.releases.receipt import Receipt
from dpframe.releases.record import Record

__all__ = ["Measured"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Measured(Release):
    """Answers with additive noise, or chosen ones: one number for each cell.

    Parameters
    ----------
    receipt, library
        As in `Release`.
    answers : tuple of Answer or Chosen
        What was asked, in order.
    cells : Keys or None
        The public keys; None for one number.
    key_types : tuple of ColumnType, optional
        Types that the frame declares for the key columns.
    key_threshold : KeyThreshold, optional
        By which rule the keys were chosen, where they were found in the data.
    """

    answers: tuple[Answer | Chosen, ...]
    cells: Keys | None
    key_types: tuple[ColumnType, ...] | None = None
    key_threshold: KeyThreshold | None = None

    @classmethod
    def of(
        cls,
        answers: tuple[Answer | Chosen, ...],
        cells: Keys | None,
        receipt: Receipt,
        library: Library,
        key_types: tuple[ColumnType, ...] | None = None,
    ) -> Self:
        """Make the release; public constants take one value for each cell."""
        size = 1 if cells is None else cells.size
        sized = tuple(replace(answer, cells=size) for answer in answers)
        return cls(receipt, library, sized, cells, key_types)

    @property
    def mechanism(self) -> str:
        """The noise in words, such as "discrete Laplace"."""
        return ", ".join(dict.fromkeys(answer.mechanism for answer in self.answers))

    @property
    def _named(self) -> dict[str, Answer | Chosen]:
        """The answers under their column names."""
        taken = () if self.cells is None else self.cells.columns
        names = distinct_names(taken, (answer.name for answer in self.answers))
        return dict(zip(names, self.answers, strict=True))

    def _with_noise(self, what: str) -> dict[str, Answer]:
        """The answers that have noise, or `ParameterError` if all were chosen."""
        noisy = {n: a for n, a in self._named.items() if isinstance(a, Answer)}
        if self.answers and not noisy:
            msg = (
                f"this table has no {what}: its answers were chosen among public "
                "candidates, and nothing was added to them. Use rank_error(), in rows."
            )
            raise ParameterError(msg)
        return noisy

    def _frame(self, numbers: Mapping[str, Numbers]) -> Any:
        """Lay numbers beside the keys in a frame of the caller's library."""
        return to_library(self._laid(numbers), self.library)

    def _intervals(self, level: Amount) -> dict[str, Numbers]:
        """The ends of every noisy answer, named for a frame."""
        ends = {}
        for name, answer in self._with_noise("interval").items():
            ends[f"{name}_lower"], ends[f"{name}_upper"] = answer.bounds(level)
        return ends

    def _table(self) -> pa.Table:
        return self._laid({name: a.estimates() for name, a in self._named.items()})

    def _laid(self, numbers: Mapping[str, Numbers]) -> pa.Table:
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

    def _record(self) -> Record:
        named = self._named
        mechanisms = tuple({answer.mechanism for answer in self.answers})
        values = {name: _facts(answer) for name, answer in named.items()}
        rule = self.key_threshold
        whole = {} if rule is None else {"key_threshold": rule.describe()}
        return Record(type(self).__name__, mechanisms, values, whole)


def _facts(answer: Answer | Chosen) -> dict[str, Any]:
    """How one column was made."""
    if isinstance(answer, Chosen):
        return answer.facts()
    facts: dict[str, Any] = {
        "statistic": answer.statistic,
        "mechanism": answer.mechanism,
        "grid": None if answer.lattice is None else answer.lattice.describe(),
        "post_processing": ["nonnegative"] if answer.clamped else [],
    }
    measurement = answer.measurement
    if measurement is None:
        return facts
    return {
        **facts,
        **_law(measurement.law),
        "noisy_numbers": len(measurement.values),
        "sensitivity": asdict(measurement.sensitivity),
        "column": measurement.column,
        "loss": measurement.loss.describe(),
    }


def _law(law: DiscreteLaplace | DiscreteGaussian) -> dict[str, str]:
    """The exact parameter of the noise, in steps (squared for sigma2)."""
    if isinstance(law, DiscreteLaplace):
        return {"scale": str(law.scale)}
    return {"sigma2": str(law.sigma2)}
