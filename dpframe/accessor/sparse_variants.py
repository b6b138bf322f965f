"""Variants of `sparse_vector`: with a fresh value of each answer, or adaptive."""

from __future__ import annotations

from typing import Any

from dpframe.accessor.private import Private
from dpframe.accessor.thresholds import Auto, Direction, Family, Keys, search
from dpframe.mechanisms.calibrate import SparseOptions
from dpframe.privacy.amounts import Amount
from dpframe.releases import SparseVectorRelease

__all__ = ["SparseVariants"]


class SparseVariants(Private):
    """Sparse vector technique that measures what it found, or spends less on it."""

    __slots__ = ()

    def numeric_sparse(
        self,
        queries: Any,
        threshold: Amount,
        epsilon: Amount | None = None,
        *,
        max_above: int,
        keys: Keys | None = None,
        bins: Keys | None = None,
        direction: Direction = "above",
        gap: bool = False,
        refresh: Auto = "auto",
        noise: Family = "geometric",
        ratio: str | Amount = "optimal",
        monotonic: Auto = "auto",
        label: str | None = None,
    ) -> SparseVectorRelease:
        """Find up to ``max_above`` large answers, with a fresh noisy value of each.

        `sparse_vector` with ``values=True``: half of epsilon finds, half measures.

        Parameters
        ----------
        queries, threshold, epsilon, max_above, keys, bins, direction, gap, refresh
            As in `sparse_vector`.
        noise, ratio, monotonic, label
            As in `above_threshold`.

        Returns
        -------
        SparseVectorRelease
            With ``values``, in the unit of the answers.

        Raises
        ------
        NoSessionError, ColumnNotFoundError, DomainError, ParameterError
            As in `above_threshold`.
        BudgetExceededError
            If the charge does not fit; nothing is spent.

        Notes
        -----
        .. admonition:: Privacy

           Charges (epsilon, 0). Values have discrete Laplace noise of scale
           ``max_above·Δ/ε₃``; over the keys of one column, whose cells are disjoint, of
           ``L1/ε₃`` if that is less. The number that was compared is never released.

        References
        ----------
        .. [1] Dwork and Roth (2014), The algorithmic foundations of differential
           privacy, section 3.6 (with fresh noise).

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> posts = pl.DataFrame({"topic": ["ai"] * 900 + ["tea"] * 20})
        >>> with dpf.Session(epsilon=2, unit="row", domain={"topic": ["tea", "ai"]}):
        ...     hot = posts.dp.numeric_sparse("topic", 500, 1, max_above=1)
        >>> hot.queries, hot.values.shape
        (['ai'], (1,))
        """
        options = SparseOptions(max_above, noise, ratio, gap, True, refresh)
        return search(
            self._open("numeric_sparse"),
            SparseVectorRelease,
            "numeric_sparse",
            (queries, keys, bins),
            (threshold, direction),
            epsilon,
            options,
            monotonic,
            label,
        )

    def adaptive_sparse_vector(
        self,
        queries: Any,
        threshold: Amount,
        epsilon: Amount | None = None,
        *,
        max_above: int,
        margin: Amount | None = None,
        keys: Keys | None = None,
        bins: Keys | None = None,
        direction: Direction = "above",
        gap: bool = True,
        noise: Family = "geometric",
        ratio: str | Amount = "optimal",
        monotonic: Auto = "auto",
        label: str | None = None,
    ) -> SparseVectorRelease:
        """Find large answers, clear ones at half price: up to ``2·max_above - 1``.

        Each answer is first compared with twice the noise and a margin; if it passes,
        it is clear and costs half of what a near one costs.

        Parameters
        ----------
        queries, threshold, epsilon, keys, bins, direction
            As in `above_threshold`.
        max_above : int
            Positive answers that are paid for if all are near.
        margin : number, optional
            How far beyond the threshold a noisy answer must be to be clear, in the unit
            of the answers; two standard deviations of that noise if omitted.
        gap : bool
            Release by how much each passed: free.
        noise, ratio, monotonic, label
            As in `above_threshold`.

        Returns
        -------
        SparseVectorRelease
            With ``branches``, "clear" or "near", for each positive answer.

        Raises
        ------
        NoSessionError, ColumnNotFoundError, DomainError, ParameterError
            As in `above_threshold`.
        BudgetExceededError
            If the charge does not fit; nothing is spent.

        Notes
        -----
        .. admonition:: Privacy

           Charges (epsilon, 0) in full, before the first answer; in zCDP ε²/2.

        References
        ----------
        .. [1] Ding, Wang, Xiao and Kifer (2023), Free gap estimates from the
           exponential mechanism, sparse vector, noisy max and related algorithms,
           Algorithm 2.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> posts = pl.DataFrame({"topic": ["ai"] * 900 + ["tea"] * 20})
        >>> with dpf.Session(epsilon=2, unit="row", domain={"topic": ["tea", "ai"]}):
        ...     hot = posts.dp.adaptive_sparse_vector("topic", 500, 1, max_above=2)
        >>> hot.queries, hot.branches
        (['ai'], ['clear'])
        """
        options = SparseOptions(
            max_above, noise, ratio, gap, adaptive=True, refresh=False, margin=margin
        )
        return search(
            self._open("adaptive_sparse_vector"),
            SparseVectorRelease,
            "adaptive_sparse_vector",
            (queries, keys, bins),
            (threshold, direction),
            epsilon,
            options,
            monotonic,
            label,
        )
