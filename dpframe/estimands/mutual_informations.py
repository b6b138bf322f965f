"""Mutual information of the two columns behind a table of counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError
from dpframe.estimands.counts_and_total import CountsAndTotal, EstimatedTotal
from dpframe.estimands.estimand import Debiased, Estimand
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.shannon_entropy import sum_of_z_log_z, z_log_z
from dpframe.estimands.stencil import Stencil
from dpframe.estimands.subtotal_expectation import subtotal_log_subtotal

__all__ = ["MutualInformation", "mutual_information"]

Floats = npt.NDArray[np.float64]

_NO_SUM = (
    "a row's or a column's total is within 3 standard errors of 0: std_error may be "
    "far too small. Leave that row or column out, or take a coarser table."
)


@final
class MutualInformation(Estimand):
    """Mutual information, in nats, of rows and columns of a table of counts.

    Use the instance `dpframe.estimands.mutual_information`, on two-dimensional counts:
    of a histogram by two columns, or an array of shape (r, s). It is
    log N + (1/N)(sum phi(cells) - sum phi(row sums) - sum phi(column sums)),
    phi(z) = z log z, and 0 for an empty table. The estimate is of least variance and
    may be negative. It takes an integral over two variables for each row and column,
    about 0.02 s, and more where epsilon differs from cell to cell.

    Notes
    -----
    The variance is that of the sum of psi(x) over cells,
    psi(z) = (z/N)(log(z N/(R C)) - I - 1), with the row sum R, the column sum C, N and
    the information I held at their estimates.

    References
    ----------
    .. [1] docs/proofs/debias_totals.rst, theorem 3.

    Examples
    --------
    >>> from dpframe.estimands import debias, mutual_information
    >>> e = debias([[40, 12, 5], [8, 51, 30]], mutual_information, epsilon=1.0)
    >>> e.plug_in > e.value
    True
    """

    name = "mutual_information"
    unit = "nats"

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the information of the noisy counts, negative ones read as 0."""
        _check(noisy)
        table = np.maximum(noisy.values, 0.0)
        if not table.sum() > 0:
            return 0.0
        share = table / table.sum()
        apart = z_log_z(share.sum(axis=0)).sum() + z_log_z(share.sum(axis=1)).sum()
        return float(z_log_z(share).sum() - apart) + 0.0

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the unbiased estimate and its delta-method variance."""
        _check(noisy)
        if not noisy.values.size:
            return Debiased(0.0, 0.0)
        bins = CountsAndTotal.of(noisy)
        assert bins.expectation is not None  # there are no negative counts
        value = bins.expectation.log_total() + bins.add_up(sum_of_z_log_z(1))
        sums = list(_rows_and_columns(noisy.values.shape))
        for cells in sums:
            value -= subtotal_log_subtotal(bins.stencil, cells)
        variance = _variance(bins.stencil, noisy.values.shape, value)
        found = bins.judge(value, variance, self.plug_in(noisy))
        if any(EstimatedTotal.of(bins.stencil.part(cells)).uncertain for cells in sums):
            found = found._replace(warnings=(*found.warnings, _NO_SUM))
        return found


mutual_information = MutualInformation()


def _rows_and_columns(shape: tuple[int, ...]) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield which cells are in each row and in each column, the table read by rows."""
    for place in np.indices(shape).reshape(len(shape), -1):
        for number in np.unique(place):
            yield place == number


def _variance(stencil: Stencil, shape: tuple[int, ...], value: float) -> float:
    estimates = stencil.apply(stencil.evaluate(np.positive)).reshape(shape)
    rows = np.maximum(estimates.sum(axis=1), 1.0)[:, None]
    columns = np.maximum(estimates.sum(axis=0), 1.0)
    total = max(float(estimates.sum()), 1.0)
    # log(z N/(R C)) = log(z/N) + log(N²/(R C)), the second of which is the cell's own.
    expected = np.log(total**2 / (rows * columns)).ravel()
    psi = stencil.evaluate(lambda z: z_log_z(z / total))
    slope = stencil.evaluate(lambda z: z / total).scaled(expected - value - 1)
    with np.errstate(over="ignore"):
        return float(stencil.variance(psi.plus(slope)).sum())


def _check(noisy: NoisyCounts) -> None:
    if noisy.ends != (0, None):
        msg = (
            "mutual_information is estimated for counts: use domain='counts'. Neither "
            "true counts below 0 nor upper ends are allowed for."
        )
        raise ParameterError(msg)
    if noisy.values.ndim != 2:
        msg = (
            "mutual_information needs a table, with two-dimensional counts: of a "
            "histogram by two columns, by=['a', 'b'], or an array of shape (r, s)."
        )
        raise ParameterError(msg)
