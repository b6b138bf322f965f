"""`SelectionRelease`: keys chosen for their great counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpframe.display.column import Column
from dpframe.display.report import Report
from dpframe.display.text import plural, printable, show, show_spread
from dpframe.domain.keys import Keys
from dpframe.domain.schema import ColumnType
from dpframe.errors import ParameterError, shown
from dpframe.noise.law import as_float
from dpframe.noise.selection import PermuteAndFlip
from dpframe.privacy.amounts import Amount, as_fraction
from dpframe.releases.base import Release
from dpframe.releases.charged import alert, charge_note, stored_notes
from dpframe.releases.columns import distinct_names, key_columns, key_labels
from dpframe.releases.record import Record
from dpframe.releases.tested import StabilityTest

__all__ = ["SelectionRelease"]

_MOST_ROWS = 20


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SelectionRelease(Release):
    """Keys in the order in which they were chosen, each out of those left.

    Their counts are not released; for those, or for all of them, ask a histogram.

    Parameters
    ----------
    receipt, library
        As in `Release`.
    candidates : Keys
        All public keys.
    indices : ndarray of int64, shape (k,)
        Which of them were chosen, in that order.
    law : PermuteAndFlip or StabilityTest
        The law of each choice; or the test that an exact key passed, or failed.
    key_types : tuple of ColumnType, optional
        Types that the frame declares for the key columns.

    Examples
    --------
    >>> import dpframe as dpf, polars as pl
    >>> people = pl.DataFrame({"job": ["cook"] * 900 + ["nurse"] * 400})
    >>> with dpf.Session(epsilon=1, unit="row"):
    ...     top = people.dp.top_k("job", 2, 1, keys=["nurse", "pilot", "cook"])
    >>> top.keys, top.indices.tolist()
    (['cook', 'nurse'], [2, 0])
    >>> top.to_frame().columns, round(top.rank_error(), 1)
    (['rank', 'job'], 19.1)
    """

    candidates: Keys
    indices: NDArray[np.int64]
    law: PermuteAndFlip | StabilityTest
    key_types: tuple[ColumnType, ...] | None = None

    _NOT_DEBIASED: ClassVar = (
        "its keys were chosen for their counts, and no estimate can undo a choice"
    )

    @property
    def mechanism(self) -> str:
        """The mechanism, in words."""
        if isinstance(self.law, StabilityTest):
            return "propose-test-release"
        return "permute-and-flip"

    @property
    def released(self) -> bool:
        """Whether there is a key: a propose-test-release test may refuse it."""
        return bool(len(self.indices))

    @property
    def keys(self) -> list[Any]:
        """The chosen keys, the first choice first; tuples of several columns."""
        labels = key_labels(self.candidates, self.indices)
        return labels[0] if len(labels) == 1 else list(zip(*labels, strict=True))

    def rank_error(self, level: Amount = 0.95) -> float:
        """Return how far, in rows, a chosen key may be from the greatest one left.

        With probability ``level`` no choice, of all that were made, has a count further
        below the greatest count of the keys that were left than this.

        Parameters
        ----------
        level : number
            Between 0 and 1.

        Returns
        -------
        float
            (2Δ/ε) ln(candidates / (1 − level)), with the ε of one round; of k rounds
            each may fail with (1 − level)/k (union bound). 0 for ``method="ptr"``,
            whose key is exact.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1.

        Notes
        -----
        Public: it follows from the request alone. The bound is that of the exponential
        mechanism, which permute-and-flip never exceeds [1]_.

        References
        ----------
        .. [1] McKenna, Sheldon (2020), Permute-and-flip: a new mechanism for
           differentially private selection, Theorem 2.
        """
        coverage = as_fraction(level, "level")
        if not 0 < coverage < 1:
            msg = f"level must lie between 0 and 1, such as 0.95; got {shown(level)}."
            raise ParameterError(msg)
        if isinstance(self.law, StabilityTest):
            return 0.0
        tries = self.candidates.size * len(self.indices)
        scale = as_float(2 * self.law.sensitivity / self.law.epsilon)
        return scale * math.log(tries / (1 - coverage))

    @property
    def scale(self) -> NoReturn:
        """None: nothing was added to a number. Raises `ParameterError`."""
        _refuse("scale")

    @property
    def std_error(self) -> NoReturn:
        """None: a key has no standard error. Raises `ParameterError`."""
        _refuse("standard error")

    def interval(self, level: Amount = 0.95) -> NoReturn:
        """Raise `ParameterError`: a key has no interval; see `rank_error`."""
        _refuse("interval")

    def __len__(self) -> int:
        return len(self.indices)

    def _table(self) -> pa.Table:
        keys = key_columns(self.candidates, self.key_types, self.indices)
        rank = pa.array(np.arange(1, len(self) + 1), pa.int64())
        fields = [
            pa.field(self._rank, rank.type, nullable=False),
            *(f for f, _ in keys),
        ]
        columns = [rank, *(column for _, column in keys)]
        return pa.Table.from_arrays(columns, schema=pa.schema(fields))

    @property
    def _rank(self) -> str:
        """Name of the column of ranks."""
        return distinct_names(self.candidates.columns, ["rank"])[0]

    def _record(self) -> Record:
        whole = {"candidates": self.candidates.size, **_facts(self.law)}
        values = {self._rank: {"statistic": "rank"}}
        values |= {name: {"statistic": "choice"} for name in self.candidates.columns}
        return Record(type(self).__name__, (self.mechanism,), values, whole)

    @property
    def _accuracy(self) -> str:
        """How sure the keys are, in words."""
        if isinstance(self.law, StabilityTest):
            if self.released:
                return "exactly the most frequent key"
            return (
                "refused: other data nearby may have another most frequent key; a test "
                f"passes in 95 % of all runs where that takes {self.law.needed():,} "
                "changed units"
            )
        error = show_spread(self.rank_error())
        return (
            f"with 95 % chance each is within {error} rows of the greatest count left"
        )

    def _report(self) -> Report:
        rows = min(len(self), _MOST_ROWS)
        names = self.candidates.columns
        labels = key_labels(self.candidates, self.indices[:rows])
        columns = [Column("rank", tuple(show(i) for i in range(1, rows + 1)))]
        columns += [
            Column(name, tuple(map(show, label)), left=True)
            for name, label in zip(names, labels, strict=True)
        ]
        notes = [
            self._accuracy,
            self.mechanism,
            charge_note(self.receipt),
        ]
        if self.receipt.unit != "row":
            notes.append("this covers chance, not rows beyond the unit's bounds")
        among = f"{plural(self.candidates.size, 'key')} of "
        return Report(
            f"{type(self).__name__}: {len(self):,} of {among}"
            f"{', '.join(map(printable, names))}",
            tuple(columns),
            (*notes, *stored_notes(self.receipt)),
            alert=alert(self.receipt),
            total=len(self),
        )


def _facts(law: PermuteAndFlip | StabilityTest) -> dict[str, object]:
    if isinstance(law, StabilityTest):
        return {"test": law.describe()}
    return {
        "epsilon_each": str(law.epsilon),
        "sensitivity": str(law.sensitivity),
        "monotonic": law.monotonic,
    }


def _refuse(what: str) -> NoReturn:
    msg = (
        f"a selection has no {what}: it releases keys, not noisy numbers. Use "
        "rank_error(), in rows."
    )
    raise ParameterError(msg)
