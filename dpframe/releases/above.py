"""`AboveThresholdRelease`: the first answer that passed a threshold."""

from __future__ import annotations

from typing import Any, final

from dpframe.display.report import Report
from dpframe.releases.compared import Compared
from dpframe.releases.shown_crossings import first_report

__all__ = ["AboveThresholdRelease"]


@final
class AboveThresholdRelease(Compared):
    """Which query was the first whose answer passed, if any did.

    Examples
    --------
    >>> import dpframe as dpf, polars as pl
    >>> posts = pl.DataFrame({"topic": ["ai"] * 900 + ["tea"] * 20})
    >>> with dpf.Session(epsilon=1, unit="row", domain={"topic": ["tea", "ai"]}):
    ...     hot = posts.dp.above_threshold("topic", threshold=500, epsilon=1)
    >>> hot.index, hot.query, hot.n_examined
    (1, 'ai', 2)
    """

    __slots__ = ()

    @property
    def index(self) -> int | None:
        """Position of the query in the list, from 0; None if none passed."""
        return int(self.indices[0]) if len(self.indices) else None

    @property
    def query(self) -> Any:
        """The query, for a column of keys the key itself; None if none passed.

        `index` tells a key None from nothing found.
        """
        return self.listing.label(int(self.indices[0])) if len(self.indices) else None

    @property
    def gap(self) -> float | None:
        """How far beyond the threshold it is, biased upward by selection.

        None if none passed, or if it was not asked for.
        """
        gaps = self.gaps
        return float(gaps[0]) if gaps is not None and len(gaps) else None

    @property
    def estimate(self) -> float | None:
        """Threshold and gap: the answer, biased by selection; None where `gap` is."""
        estimates = self.estimates
        if estimates is None or not len(estimates):
            return None
        return float(estimates[0])

    def _report(self) -> Report:
        return first_report(self)
