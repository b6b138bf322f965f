"""`SparseVectorRelease`: the answers that passed a threshold."""

from __future__ import annotations

from typing import final

from dpframe.display.report import Report
from dpframe.queries.blocks import Marginal
from dpframe.releases.compared import Compared
from dpframe.releases.shown_crossings import several_report

__all__ = ["SparseVectorRelease"]


@final
class SparseVectorRelease(Compared):
    """Which queries passed, in their order, until no further one was paid for.

    Examples
    --------
    >>> import dpframe as dpf, polars as pl
    >>> posts = pl.DataFrame({"topic": ["ai"] * 900 + ["tea"] * 20 + ["go"] * 990})
    >>> domain = {"topic": ["tea", "ai", "go"]}
    >>> with dpf.Session(epsilon=1, unit="row", domain=domain):
    ...     hot = posts.dp.sparse_vector("topic", 500, 1, max_above=2, gap=True)
    >>> hot.queries, hot.exhausted, hot.gaps.shape
    (['ai', 'go'], True, (2,))
    >>> hot.to_frame().columns
    ['index', 'topic', 'gap', 'estimate']
    """

    __slots__ = ()

    @property
    def hint(self) -> str | None:
        """When another verb would do better; None where this one is right.

        The keys of one list are disjoint, so a histogram counts them all with less
        noise, and `top_k` chooses one of them with less still. Sparse vector technique
        is for queries that overlap, for streams, and for the first positive answer.
        """
        first = self.listing.entries[0].query
        alone = self.listing.keys is not None and isinstance(first, Marginal)
        if not alone or self.direction == "below":
            return None
        return (
            "the keys of one list are disjoint: histogram counts them all with less "
            "noise, and top_k(..., 1) finds the largest with less still"
        )

    def _report(self) -> Report:
        return several_report(self, self.hint or "")
