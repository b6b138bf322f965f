"""Noisy marginals: what a model is fitted to, and the number of rows they imply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dpframe.errors import ParameterError, shown
from dpframe.models.table import Block, Sizes, Table, size_of

__all__ = ["Measurement", "as_measurement", "estimate_total", "merge"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """Counts of all cells of a block, each with independent noise of one variance.

    Parameters
    ----------
    block : tuple of str
        Its columns in the order of the axes; none is a count of all rows.
    values : array
        Noisy counts, in rows, unbiased: never clipped, never normalized.
    variance : float
        Of the noise in each cell.
    """

    block: Block
    values: Table
    variance: float


def as_measurement(
    sizes: Sizes, columns: Sequence[str], values: Any, variance: float
) -> Measurement:
    """Read counts whose columns stand in any order, last column fastest.

    Raises
    ------
    ParameterError
        If there is not one finite number for each cell, or the variance is not
        positive.
    """
    lengths = [sizes[column] for column in columns]
    counts = np.asarray(values, dtype=np.float64)
    if counts.size != size_of(sizes, columns) or not np.isfinite(counts).all():
        msg = (
            f"the measurement of {', '.join(columns) or 'all rows'} needs one finite "
            f"number for each of {size_of(sizes, columns):,} cells, last column "
            f"fastest; got {counts.size:,} numbers."
        )
        raise ParameterError(msg)
    if not 0 < variance < np.inf:
        msg = f"a variance of noise is positive and finite; got {shown(variance)}."
        raise ParameterError(msg)
    block = tuple(column for column in sizes if column in columns)
    order = [list(columns).index(column) for column in block]
    return Measurement(block, counts.reshape(lengths).transpose(order), float(variance))


def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Average the measurements of each block, weighted by inverse variance."""
    by_block: dict[Block, list[Measurement]] = {}
    for measurement in measurements:
        by_block.setdefault(measurement.block, []).append(measurement)
    merged = []
    for block, same in by_block.items():
        precision = sum(1 / m.variance for m in same)
        mean = sum(m.values / m.variance for m in same) / precision
        merged.append(Measurement(block, np.asarray(mean), 1 / precision))
    return merged


def estimate_total(measurements: Iterable[Measurement]) -> float:
    """Return the inverse-variance mean of the measurements' sums, at least 1.

    The sum of c cells with noise of variance v has the variance c v.
    """
    weighted = precision = 0.0
    for measurement in measurements:
        weight = 1 / (measurement.values.size * measurement.variance)
        weighted += weight * float(measurement.values.sum())
        precision += weight
    # A model of no rows, or of fewer, would say nothing of proportions.
    return max(weighted / precision, 1.0)
