"""`Compared`: releases that tell which of many answers passed a threshold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpframe.domain.schema import ColumnType
from dpframe.errors import ParameterError
from dpframe.privacy.amounts import Amount
from dpframe.queries.listing import Listing
from dpframe.queries.threshold import Direction
from dpframe.releases.accuracy import AccuracyStatement
from dpframe.releases.base import Release
from dpframe.releases.columns import distinct_names, key_columns
from dpframe.releases.crossings import Crossings
from dpframe.releases.frames import to_library
from dpframe.releases.numbers import Numbers
from dpframe.releases.record import Record

__all__ = ["Compared"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Compared(Release):
    """Positions of the answers that passed a threshold, and estimates where asked for.

    It holds nothing of the answers that did not pass, and of those that did neither the
    number that was compared nor the noisy threshold.

    Parameters
    ----------
    receipt, library
        As in `Release`.
    crossings : Crossings
        What was found.
    listing : Listing
        The queries, in their public order.
    key_types : tuple of ColumnType, optional
        Types that the frame declares for the columns of the listing's keys.
    """

    crossings: Crossings
    listing: Listing
    key_types: tuple[ColumnType, ...] | None = None

    _NOT_DEBIASED: ClassVar = (
        "answers on one side of the threshold are all that it shows, and none of the "
        "others can be made up for"
    )

    @property
    def mechanism(self) -> str:
        """The mechanism in words, such as "sparse vector, geometric noise"."""
        return self.crossings.noise.mechanism

    # -- what was found --------------------------------------------------------

    @property
    def indices(self) -> NDArray[np.int64]:
        """Positions in the list of queries that passed, from 0, ascending."""
        return self.crossings.indices

    @property
    def queries(self) -> list[Any]:
        """The queries that passed: for a column of keys, the keys themselves."""
        return [self.listing.label(i) for i in self.indices.tolist()]

    @property
    def keys(self) -> list[Any] | None:
        """The same as `queries` for a column of keys; None for a list of queries."""
        return None if self.listing.keys is None else self.queries

    @property
    def branches(self) -> list[str] | None:
        """By which comparison each passed, "clear" or "near"; None if not adaptive."""
        noise = self.crossings.noise
        if not noise.adaptive:
            return None
        return [noise.branches[j].name for j in self.crossings.branches.tolist()]

    @property
    def gaps(self) -> NDArray[np.float64] | None:
        """How far beyond the threshold each is, in its unit; None unless asked for.

        In direction "below" it is how far below. Selection biases it upward: what
        passed had lucky noise.
        """
        return self.crossings.gaps

    @property
    def values(self) -> NDArray[Any] | None:
        """Fresh noisy answers, unbiased, in their unit; None unless asked for."""
        return self.crossings.values

    @property
    def estimates(self) -> NDArray[Any] | None:
        """The best estimate of each answer that passed; None if nothing was asked for.

        The threshold plus (below: minus) the gap; the fresh value; or, where both are
        there, their mean weighted by 1/variance.
        """
        return self.crossings.estimates

    @property
    def n_examined(self) -> int:
        """How many queries were compared: up to the last that could be paid, or all."""
        return self.crossings.n_examined

    @property
    def exhausted(self) -> bool:
        """Whether the search ended because no further positive answer was paid for."""
        return self.crossings.exhausted

    # -- how it was asked ------------------------------------------------------

    @property
    def threshold(self) -> int | float:
        """The public threshold, in the unit of the answers."""
        value = self.crossings.threshold.value
        return int(value) if value.denominator == 1 else float(value)

    @property
    def direction(self) -> Direction:
        """Which side of the threshold was looked for."""
        return self.crossings.threshold.direction

    @property
    def max_above(self) -> int:
        """How many positive answers were paid for."""
        return self.crossings.noise.max_above

    @property
    def scales(self) -> dict[str, float]:
        """Scales of all noises, in the unit of the answers.

        That of the ``threshold``, that of each of the ``queries`` (``clear`` and
        ``near`` if adaptive), and that of fresh ``values``.
        """
        grid, scales = self.crossings.threshold.grid, self.crossings.noise.scales
        return {name: float(scale * grid) for name, scale in scales.items()}

    @property
    def shift(self) -> float | dict[str, float]:
        """By how much the comparison was recentered, in the unit of the answers.

        One-sided noise has a mean; this is that of the query less that of the
        threshold. By branch if adaptive.
        """
        noise, grid = self.crossings.noise, self.crossings.threshold.grid
        shifts = {b.name: float(noise.shift(b) * grid) for b in noise.branches}
        return shifts if noise.adaptive else shifts["above"]

    @property
    def scale(self) -> float:
        """Scale of the noise in `values`.

        Raises
        ------
        ParameterError
            If no values were asked for: a comparison has several noises.
        """
        if self.crossings.noise.fresh is None:
            msg = (
                "a comparison has the noise of the threshold and that of the query; "
                "see scales. Ask with values=True for numbers of one scale."
            )
            raise ParameterError(msg)
        return self.scales["values"]

    @property
    def std_error(self) -> NDArray[np.float64]:
        """Standard error of each of `estimates`, selection left out, in its unit.

        Raises
        ------
        ParameterError
            If neither gaps nor values were asked for.
        """
        return self.crossings.errors

    def accuracy(self, level: Amount = 0.95) -> AccuracyStatement:
        """Return up to where all answers are right at once, with chance ``level``.

        It follows from the noise and the number of listed queries alone, so it says
        nothing new about the data.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> posts = pl.DataFrame({"topic": ["ai"] * 900 + ["tea"] * 20})
        >>> with dpf.Session(epsilon=1, unit="row", domain={"topic": ["tea", "ai"]}):
        ...     hot = posts.dp.above_threshold("topic", threshold=500, epsilon=1)
        >>> print(hot.accuracy())
        with 95 % chance no answer below 492 is called above, none from 507 on below
        """
        found, queries = self.crossings, max(len(self.listing), 1)
        return AccuracyStatement.of(found.noise, found.threshold, queries, level)

    def interval(self, level: Amount = 0.95) -> Any:
        """Return a frame of the queries that passed and an interval of each answer.

        Fresh values: the exact interval of their noise, each holding its answer with
        probability ``level``. Gaps alone: all hold at once with that probability, by
        a union bound over rho and the noise of *all* listed queries; so they stay right
        although ``threshold + gap`` is too large on average among those that passed.

        Returns
        -------
        DataFrame or Table
            ``index``, the keys (or ``query``), ``lower`` and ``upper`` in the unit of
            the answers, of the caller's library.

        Raises
        ------
        ParameterError
            If neither gaps nor values were asked for; unless 0 < level < 1.
        """
        ends = self.crossings.bounds(max(len(self.listing), 1), level)
        lower, upper = (Numbers(end).column() for end in ends)
        index = pa.array(self.indices, pa.int64())
        columns = {"index": index, "lower": lower, "upper": upper}
        return to_library(self._laid(columns), self.library)

    # -- as a frame ------------------------------------------------------------

    def _table(self) -> pa.Table:
        return self._laid(self._columns())

    def _columns(self) -> dict[str, pa.Array[Any]]:
        """The columns of the frame, those that say which query aside."""
        columns: dict[str, pa.Array[Any]] = {
            "index": pa.array(self.indices, pa.int64())
        }
        if self.branches is not None:
            columns["branch"] = pa.array(self.branches, pa.string())
        numbers = {"gap": self.gaps, "value": self.values}
        if self.gaps is not None:
            numbers["estimate"] = self.estimates
        for name, values in numbers.items():
            if values is not None:
                columns[name] = Numbers(values).column()
        return columns

    def _laid(self, columns: dict[str, pa.Array[Any]]) -> pa.Table:
        """Lay columns beside the queries, which come after the first of them."""
        queries = self._query_columns()
        own = [
            (pa.field(name, column.type, nullable=False), column)
            for name, column in zip(self._names(columns), columns.values(), strict=True)
        ]
        laid = [own[0], *queries, *own[1:]]
        schema = pa.schema([field for field, _ in laid])
        return pa.Table.from_arrays([column for _, column in laid], schema=schema)

    def _names(self, columns: Iterable[str]) -> list[str]:
        """Names that clash with no key."""
        return distinct_names(
            [field.name for field, _ in self._query_columns()], columns
        )

    def _query_columns(self) -> list[tuple[pa.Field[Any], pa.Array[Any]]]:
        """The keys that passed, or the queries as text."""
        if self.listing.keys is not None:
            return key_columns(self.listing.keys, self.key_types, self.indices)
        texts = [self.listing.text(i) for i in self.indices.tolist()]
        field = pa.field("query", pa.string(), nullable=False)
        return [(field, pa.array(texts, pa.string()))]

    def _record(self) -> Record:
        found, columns = self.crossings, list(self._columns())
        grid = str(found.threshold.grid)
        facts: dict[str, dict[str, Any]] = {
            "gap": {"mechanism": self.mechanism, "grid": grid},
            "value": {"mechanism": "discrete Laplace", "grid": grid},
            "estimate": {"post_processing": ["threshold and gap"]},
        }
        if found.noise.fresh is not None:
            facts["value"]["scale"] = str(found.noise.fresh.scale)
            facts["estimate"]["post_processing"].append("weighted mean with value")
        values = {
            name: {"statistic": column, **facts.get(column, {})}
            for name, column in zip(self._names(columns), columns, strict=True)
        }
        whole = {
            "threshold": found.threshold.describe(),
            "noise": found.noise.describe(),
            "queries": len(self.listing),
            "n_examined": found.n_examined,
            "exhausted": found.exhausted,
        }
        return Record(type(self).__name__, (self.mechanism,), values, whole)
