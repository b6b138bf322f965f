"""Verbs that look for the few large answers among many, for one epsilon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from dpframe.accessor.private import Private
from dpframe.engines.protocol import Source
from dpframe.mechanisms.calibrate import SparseOptions
from dpframe.mechanisms.questions import resolve
from dpframe.mechanisms.sparse_request import SparseVectorRequest
from dpframe.mechanisms.spend import Price
from dpframe.privacy.amounts import Amount
from dpframe.releases import AboveThresholdRelease, SparseVectorRelease
from dpframe.releases.compared import Compared
from dpframe.session import Session

__all__ = ["Auto", "Direction", "Family", "Keys", "Thresholds", "search"]

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
        return search(
            self._open("above_threshold"),
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
           The keys of one list are disjoint: there `histogram` has less noise for all
           of them, and ``top_k(..., 1)`` for the largest one.

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
        return search(
            self._open("sparse_vector"),
            SparseVectorRelease,
            "sparse_vector",
            (queries, keys, bins),
            (threshold, direction),
            epsilon,
            options,
            monotonic,
            label,
        )


def search(
    opened: tuple[Session, Source],
    form: type[R],
    verb: str,
    asked: tuple[Any, Any, Any],
    compared: tuple[object, object],
    epsilon: Amount | None,
    options: SparseOptions,
    monotonic: object,
    label: str | None,
) -> R:
    """Ask for a comparison of listed queries and send it through the door.

    ``asked`` is the queries, keys and bins, ``compared`` the threshold and its
    direction, all as typed.
    """
    session, source = opened
    queries, keys, bins = asked
    questions = resolve(queries, session.setting, source.schema, keys=keys, bins=bins)
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
