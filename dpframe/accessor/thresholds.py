"""Verbs that look for the few large answers among many, for one epsilon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from dpframe.accessor.private import Private
from dpframe.mechanisms.calibrate import SparseOptions
from dpframe.mechanisms.questions import resolve
from dpframe.mechanisms.sparse_request import SparseVectorRequest
from dpframe.mechanisms.spend import Price
from dpframe.mechanisms.stream import OpenSparseVector, SparseVector
from dpframe.privacy.amounts import Amount
from dpframe.releases import AboveThresholdRelease, SparseVectorRelease
from dpframe.releases.compared import Compared

__all__ = ["Thresholds"]

R = TypeVar("R", bound=Compared)

Keys = Sequence[Any] | Mapping[str, Sequence[Any]]
Family = Literal["geometric", "laplace"]
Direction = Literal["above", "below"]
Auto = Literal["auto"] | bool


class Thresholds(Private):
    """Sparse vector technique: ask a million questions, pay for the few large ones."""

    __slots__ = ()

    def above_threshold(
        self,
        queries: Any,
        threshold: Amount,
        epsilon: Amount | None = None,
        *,
        keys: Keys | None = None,
        bins: Keys | None = None,
        direction: Direction = "above",
        gap: bool = False,
        noise: Family = "geometric",
        ratio: str | Amount = "optimal",
        monotonic: Auto = "auto",
        label: str | None = None,
    ) -> AboveThresholdRelease:
        """Find the first query whose answer passes a public threshold.

        Queries are compared in their order until one passes, each with noise of its own
        and all with one noisy threshold. However many there are, the cost is epsilon,
        and that is spent too if none passes.

        Parameters
        ----------
        queries : str, query, list or Workload
            A column: one row count for each public key, in the domain's order. Or
            predicates such as ``dpf.col("age") >= 40``, ``dpf.sum_by(...)``, and lists
            of them. Their order is public: never sort by true answers.
        threshold : number
            Public, in the unit of the answers.
        epsilon : number, optional
            Privacy loss of this call; the session's ``default_epsilon`` if omitted.
        keys, bins : list or dict, optional
            Public keys of the column, as in `histogram`; from the domain if omitted.
        direction : {"above", "below"}
            Which side of the threshold is looked for.
        gap : bool
            Release by how much the answer passed: free.
        noise : {"geometric", "laplace"}
            One-sided geometric (fewer errors), or discrete Laplace.
        ratio : {"optimal", "even"} or number
            Budget of the comparisons over that of the threshold.
        monotonic : {"auto"} or bool
            Whether all answers move the same way between neighbors, which halves the
            noise of the queries. "auto" knows: counts and sums of one sign do under
            add/remove, nothing does under replace.
        label : str, optional
            Stores the release: asking again under the label is free.

        Returns
        -------
        AboveThresholdRelease
            ``index`` (None if none passed), ``query`` (a column's key itself),
            ``n_examined``, ``gap``, and `accuracy`.

        Raises
        ------
        NoSessionError
            If no session is active and none was given.
        ColumnNotFoundError, DomainError, ParameterError
            If a query, its keys or an option is wrong; nothing is spent.
        BudgetExceededError
            If the charge does not fit; nothing is spent.

        Notes
        -----
        .. admonition:: Privacy

           Charges (epsilon, 0); in zCDP (ε₁ + 2ε₂)²/8 for monotone queries, else
           ε²/2. Sensitivity: how far one unit moves any *single* answer, ``max_rows``
           for counts. How many answers it moves does not matter, so ``max_groups`` is
           not needed.

        References
        ----------
        .. [1] Dwork, Naor, Reingold, Rothblum and Vadhan (2009), On the complexity of
           differentially private data release.
        .. [2] Lyu, Su and Li (2017), Understanding the sparse vector technique for
           differential privacy, Algorithm 7 and Theorem 4.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> posts = pl.DataFrame({"topic": ["ai"] * 900 + ["tea"] * 20})
        >>> with dpf.Session(epsilon=2, unit="row", domain={"topic": ["tea", "ai"]}):
        ...     hot = posts.dp.above_threshold("topic", threshold=500, epsilon=1)
        >>> hot.index, hot.query, hot.n_examined
        (1, 'ai', 2)
        """
        options = SparseOptions(1, noise, ratio, gap)
        return self._search(
            AboveThresholdRelease,
            "above_threshold",
            (queries, keys, bins),
            (threshold, direction),
            epsilon,
            options,
            monotonic,
            label,
        )

    def sparse_vector(
        self,
        queries: Any,
        threshold: Amount,
        epsilon: Amount | None = None,
        *,
        max_above: int,
        keys: Keys | None = None,
        bins: Keys | None = None,
        direction: Direction = "above",
        values: bool = False,
        gap: bool = False,
        refresh: Auto = "auto",
        noise: Family = "geometric",
        ratio: str | Amount = "optimal",
        monotonic: Auto = "auto",
        label: str | None = None,
    ) -> SparseVectorRelease:
        """Find up to ``max_above`` queries whose answers pass a public threshold.

        Parameters
        ----------
        queries, threshold, epsilon, keys, bins, direction
            As in `above_threshold`.
        max_above : int
            Positive answers at most, fixed before looking; the noise grows with it. The
            search stops with the last of them.
        values : bool
            Release a fresh noisy value of each positive answer, for half of epsilon.
        gap : bool
            Release by how much each passed: free. With ``values`` both estimates are
            combined.
        refresh : {"auto"} or bool
            A new noisy threshold after each positive answer. "auto": in zCDP sessions,
            where the noise then grows as the square root of ``max_above``.
        noise, ratio, monotonic, label
            As in `above_threshold`.

        Returns
        -------
        SparseVectorRelease
            ``indices``, ``queries``, ``values``, ``gaps``, ``estimates``,
            ``n_examined``, and ``exhausted``: whether it stopped with the last positive
            answer and did not see the rest.

        Raises
        ------
        NoSessionError, ColumnNotFoundError, DomainError, ParameterError
            As in `above_threshold`.
        BudgetExceededError
            If the charge does not fit; nothing is spent.

        Notes
        -----
        .. admonition:: Privacy

           Charges (epsilon, 0) whatever is found; in zCDP the rho of the proof note.
           Queries have noise of scale ``m·max_above·Δ/ε₂``, m = 1 if monotone, else 2.
           If all queries are known and as many as ``max_above`` are wanted in any case,
           `top_k` has less noise.

        References
        ----------
        .. [1] Lyu, Su and Li (2017), Algorithm 7 and Theorem 4.
        .. [2] Ding, Wang, Xiao and Kifer (2023), Free gap estimates from the
           exponential mechanism, sparse vector, noisy max and related algorithms.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> posts = pl.DataFrame({"topic": ["ai"] * 900 + ["tea"] * 20 + ["go"] * 800})
        >>> domain = {"topic": ["tea", "ai", "go"]}
        >>> with dpf.Session(epsilon=2, unit="row", domain=domain):
        ...     hot = posts.dp.sparse_vector("topic", 500, 1, max_above=2)
        >>> hot.queries, hot.exhausted
        (['ai', 'go'], True)
        """
        options = SparseOptions(max_above, noise, ratio, gap, values, refresh)
        return self._search(
            SparseVectorRelease,
            "sparse_vector",
            (queries, keys, bins),
            (threshold, direction),
            epsilon,
            options,
            monotonic,
            label,
        )

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
        return self._search(
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
        return self._search(
            SparseVectorRelease,
            "adaptive_sparse_vector",
            (queries, keys, bins),
            (threshold, direction),
            epsilon,
            options,
            monotonic,
            label,
        )

    def open_sparse_vector(
        self,
        threshold: Amount,
        epsilon: Amount | None = None,
        *,
        max_above: int,
        sensitivity: Amount = 1,
        grid: Amount = 1,
        direction: Direction = "above",
        values: bool = False,
        gap: bool = False,
        refresh: Auto = "auto",
        adaptive: bool = False,
        margin: Amount | None = None,
        noise: Family = "geometric",
        ratio: str | Amount = "optimal",
        monotonic: Auto = "auto",
        label: str | None = None,
    ) -> SparseVector:
        """Open a stream of questions: pay once, then ask as many as you like.

        Parameters
        ----------
        threshold, epsilon, direction
            As in `above_threshold`. The whole epsilon is charged here.
        max_above : int
            Positive answers after which the stream closes.
        sensitivity : number
            How far one row may move any single answer, in the unit of the answers; the
            unit's ``max_rows`` is multiplied in. 1 is right for counts.
        grid : number
            The public step on which all answers lie; 1 for counts and integers.
        values, gap, refresh, noise, ratio
            As in `sparse_vector`.
        adaptive, margin
            As in `adaptive_sparse_vector`.
        monotonic : {"auto"} or bool
            True promises to ask only counts and sums of non-negative values, under
            add/remove; others are then refused. "auto" is False: the queries are not
            known yet.
        label : str, optional
            Asking again under the label hands back the same open stream.

        Returns
        -------
        SparseVector
            ``ask``, ``ask_many``, ``remaining``, ``closed``.

        Raises
        ------
        NoSessionError, ParameterError, BudgetExceededError
            As in `above_threshold`.

        Notes
        -----
        .. admonition:: Privacy

           Charges (epsilon, 0) now, or its rho in zCDP; asking is free. Queries may
           depend on earlier answers, and the frame may change between them.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> hour = pl.DataFrame({"status": ["error"] * 900})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     alerts = hour.dp.open_sparse_vector(500, 1, max_above=1)
        >>> alerts.ask(dpf.col("status") == "error"), alerts.closed
        (True, True)
        """
        session, source = self._open("open_sparse_vector")
        options = SparseOptions(
            max_above, noise, ratio, gap, values, refresh, adaptive, margin
        )
        request = OpenSparseVector.of(
            session.setting,
            (threshold, direction, sensitivity, grid),
            Price(epsilon).pure(session.setting),
            options,
            monotonic,
        )
        return session.release(request, source, label=label)

    def _search(
        self,
        form: type[R],
        verb: str,
        asked: tuple[Any, Any, Any],
        compared: tuple[object, object],
        epsilon: Amount | None,
        options: SparseOptions,
        monotonic: object,
        label: str | None,
    ) -> R:
        session, source = self._open(verb)
        queries, keys, bins = asked
        questions = resolve(
            queries, session.setting, source.schema, keys=keys, bins=bins
        )
        request = SparseVectorRequest.of(
            verb,
            session.setting,
            questions,
            compared,
            Price(epsilon).pure(session.setting),
            options,
            monotonic,
            form,
            source.schema,
        )
        return session.release(request, source, label=label)
