"""`HistogramRelease`: a count for each public key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from dpframe.display.report import Report
from dpframe.domain.coding import Bins
from dpframe.domain.keys import Keys
from dpframe.errors import ProvenanceError
from dpframe.estimands.estimand import Estimand
from dpframe.estimands.estimation import Estimate, Method, estimate
from dpframe.estimands.noisy_counts import CountDomain, NoisyCounts
from dpframe.noise import DiscreteLaplace
from dpframe.privacy.amounts import Amount
from dpframe.releases.answers import Answer
from dpframe.releases.base import Release
from dpframe.releases.shown import table_report

__all__ = ["HistogramRelease"]


@final
class HistogramRelease(Release):
    """A noisy number of rows for each public key.

    Counts are signed and unbiased. `debias` estimates a statistic of the true counts
    without the bias that the noise would give it.

    Examples
    --------
    >>> import dpframe as dpf, polars as pl
    >>> people = pl.DataFrame({"age": [31, 45, 62]})
    >>> with dpf.Session(epsilon=1, unit="row"):
    ...     h = people.dp.histogram(0.5, by="age", bins=[0, 40, 60, 100])
    >>> h.counts.shape, h.keys, h.edges
    ((3,), [0, 40, 60], [0, 40, 60, 100])
    >>> h.debias(dpf.estimands.entropy).unit
    'nats'
    """

    __slots__ = ()

    @property
    def counts(self) -> NDArray[np.int64]:
        """The noisy counts, shape (keys,), int64, in rows."""
        return self._answer.estimates().saturated()

    @property
    def keys(self) -> list[Any]:
        """The keys: scalars of one column, tuples of several; a bin's lower edge."""
        return self._cells.labels

    @property
    def edges(self) -> list[Any] | dict[str, list[Any]] | None:
        """The edges of the bins, by column if there are several; None without bins."""
        cells = self._cells
        edges = {
            name: list(coding.edges)
            for name, coding in zip(cells.columns, cells.codings, strict=True)
            if isinstance(coding, Bins)
        }
        if len(cells.columns) > 1:
            return edges or None
        return next(iter(edges.values()), None)

    @property
    def columns(self) -> list[str]:
        """Names of the frame's columns: keys, then the counts."""
        return [*self._cells.columns, *self._named]

    @property
    def scale(self) -> float:
        """Scale of the noise in each count (sigma if Gaussian), in rows."""
        return float(self._answer.scale)

    @property
    def std_error(self) -> float:
        """Standard deviation of each count over the noise, in rows."""
        law = None if self._measurement is None else self._measurement.law
        return 0.0 if law is None else law.std

    def interval(self, level: Amount = 0.95) -> Any:
        """Return a frame of the keys and the ends of each count's interval.

        Returns
        -------
        DataFrame or Table
            Columns ``count_lower`` and ``count_upper``, of the caller's library. Each
            interval holds its true count with probability ``level``, not all at once.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1.
        """
        return self._frame(self._intervals(level))

    def nonnegative(self) -> Self:
        """Return the release with negative counts shown as 0: biased, post-processed.

        `debias` still works on it with domain "counts", with the very same result.
        """
        return replace(self, answers=(self._answer.nonnegative(),))

    def debias(
        self,
        estimand: Estimand,
        *,
        domain: CountDomain = "counts",
        method: Method = "unbiased",
    ) -> Estimate:
        """Estimate a statistic of the true counts; free, as it sees noisy ones only.

        Parameters
        ----------
        estimand : Estimand
            Such as ``dpframe.estimands.entropy``.
        domain : {"counts", "integers"} or (lo, hi)
            What is public about the true counts: at least 0; any integer; within ends.
        method : {"unbiased", "plugin", "auto"}
            See `dpframe.estimands.estimate`.

        Raises
        ------
        ProvenanceError
            If the counts are not plain discrete Laplace releases: Gaussian noise, or
            clamped counts with another domain than "counts".
        ParameterError
            If an argument is wrong.
        UnstableEstimateError
            If the unbiased estimate is beyond 1e300.
        """
        rate = np.asarray(self._rate(domain))
        noisy = NoisyCounts(self._shaped(self.counts), rate, domain)
        return estimate(noisy, estimand, method=method)

    def __len__(self) -> int:
        return self._cells.size

    def _rate(self, domain: object) -> float:
        """Return epsilon / sensitivity as the sampler used it: 1 / scale."""
        if self._answer.clamped and domain != "counts":
            msg = (
                f"these counts were clamped at 0, which domain={domain!r} does not "
                "allow for. Debias the release before nonnegative(), or use "
                'domain="counts".'
            )
            raise ProvenanceError(msg)
        if self._measurement is None:
            return 1.0  # no keys, no noise
        law = self._measurement.law
        if isinstance(law, DiscreteLaplace):
            return float(1 / law.scale)
        msg = (
            f"debias inverts discrete Laplace noise, and this release has "
            f"{self.mechanism} noise. Release the histogram with noise='laplace'."
        )
        raise ProvenanceError(msg)

    def _shaped(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the counts of two crossed columns as a matrix."""
        cells = self._cells
        crossed = len(cells.columns) == 2 and cells.cells is None
        return counts.reshape(cells.radix) if crossed else counts

    @property
    def _answer(self) -> Answer:
        return self.answers[0]

    @property
    def _measurement(self) -> Any:
        return self.answers[0].measurement

    @property
    def _cells(self) -> Keys:
        assert self.cells is not None
        return self.cells

    def _report(self) -> Report:
        form = type(self).__name__
        return table_report(form, self._cells, self._named, self.receipt)
