"""Counts and sums of rows by cell, laid over the public cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from dpframe.domain.coding import Codes
from dpframe.engines.alike import add_alike
from dpframe.engines.polars import collect
from dpframe.engines.sums import ExactSum, add_exactly
from dpframe.queries.reduction import Measure, Reduction
from dpframe.secret import Aggregates, Occurrences

__all__ = [
    "Laid",
    "add",
    "count_rows",
    "exact_sum",
    "gather",
    "lay",
    "measure_sums",
    "tally",
]

#: Column of a grouped frame -> its integers, one for each public cell.
Laid = dict[str, NDArray[Any]]


def count_rows() -> nw.Expr:
    """Return the number of rows, as a column ``rows``."""
    return nw.len().cast(nw.Int64).alias("rows")


def measure_sums(i: int, measure: Measure) -> list[nw.Expr]:
    """Return what is counted and summed of ``value{i}``."""
    value = nw.col(f"value{i}")
    sums = [value.count().cast(nw.Int64).alias(f"usable{i}")]
    sums += exact_sum(i, measure).expressions(value)
    if measure.squares:
        sums += _square_sum(i, measure).expressions(value * value)
    return sums


def tally(rows: nw.DataFrame[Any], sums: Iterable[nw.Expr], size: int) -> Laid:
    """Group rows by ``cell``, if they have one, and lay the sums over all cells."""
    if "cell" not in rows.columns:
        return lay(rows.select(*sums), np.zeros(1, dtype=np.int64), size)
    grouped = collect(rows.lazy().group_by("cell").agg(*sums))
    return lay(grouped.drop("cell"), grouped["cell"].to_numpy(), size)


def lay(grouped: nw.DataFrame[Any], cells: Codes, size: int) -> Laid:
    """Add each column up over the public cells; cells that no row has are 0.

    Parameters
    ----------
    grouped : narwhals.DataFrame
        Sums of groups, int64.
    cells : ndarray of int64
        Cell of each group, -1 for none; several groups may share one.
    size : int
        Number of public cells.
    """
    listed = cells >= 0
    laid = {}
    for name in grouped.columns:
        laid[name] = np.zeros(size, dtype=np.int64)
        np.add.at(laid[name], cells[listed], grouped[name].to_numpy()[listed])
    return laid


def gather(
    reduction: Reduction,
    laid: Mapping[str, NDArray[Any]],
    occurrences: Iterable[Occurrences] = (),
) -> Aggregates:
    """Put the laid columns together as the answer to ``reduction``."""
    measures = list(enumerate(reduction.measures))
    return Aggregates(
        rows=laid["rows"] if reduction.rows else None,
        units=laid["units"] if reduction.units else None,
        usable=tuple(laid[f"usable{i}"] for i, _ in measures),
        sums=tuple(exact_sum(i, m).read(laid) for i, m in measures),
        squares=tuple(
            _square_sum(i, m).read(laid) if m.squares else None for i, m in measures
        ),
        occurrences=tuple(occurrences),
    )


def add(first: Aggregates, second: Aggregates) -> Aggregates:
    """Add the aggregates of two chunks of one frame."""

    def both(a: NDArray[Any] | None, b: NDArray[Any] | None) -> NDArray[Any] | None:
        return None if a is None or b is None else add_exactly(a, b)

    return Aggregates(
        rows=both(first.rows, second.rows),
        units=both(first.units, second.units),
        usable=tuple(map(add_exactly, first.usable, second.usable)),
        sums=tuple(map(add_exactly, first.sums, second.sums)),
        squares=tuple(map(both, first.squares, second.squares)),
        occurrences=tuple(map(add_alike, first.occurrences, second.occurrences)),
    )


def exact_sum(i: int, measure: Measure) -> ExactSum:
    """Return the sum of ``value{i}``, in as many limbs as its bounds need."""
    return ExactSum(f"sum{i}", _largest(measure))


def _square_sum(i: int, measure: Measure) -> ExactSum:
    return ExactSum(f"square{i}", _largest(measure) ** 2)


def _largest(measure: Measure) -> int:
    return max(abs(measure.lattice.low), abs(measure.lattice.high))
