"""`frame.dp.plan`: what a verb would cost and how wrong it may be, before it is asked.

A plan reads no data and charges nothing: it is a request that never reaches the door.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from dpframe.display.column import Column
from dpframe.display.report import Report
from dpframe.display.text import plural, show_spread
from dpframe.domain.lattice import Per
from dpframe.domain.schema import Schema
from dpframe.mechanisms.additive import Additive
from dpframe.mechanisms.calibrate import SparseOptions
from dpframe.mechanisms.questions import resolve
from dpframe.mechanisms.request import Setting
from dpframe.mechanisms.sparse_request import SparseVectorRequest
from dpframe.mechanisms.spend import Price
from dpframe.mechanisms.stream import OpenSparseVector
from dpframe.mechanisms.terms import ask
from dpframe.noise.threshold import ThresholdNoise
from dpframe.privacy.amounts import Amount
from dpframe.privacy.loss import PrivacyLoss
from dpframe.queries import agg
from dpframe.queries.agg import Several
from dpframe.queries.threshold import Threshold
from dpframe.releases.accuracy import AccuracyStatement
from dpframe.releases.rank_plan import RankPlan
from dpframe.releases.sparse import SparseVectorRelease
from dpframe.releases.table import TableRelease

__all__ = ["Planner", "ThresholdPlan"]

Keys = Sequence[Any] | Mapping[str, Sequence[Any]]


@final
@dataclass(frozen=True, slots=True, repr=False)
class ThresholdPlan:
    """What a sparse vector verb would cost, its noise, and where it is surely right.

    Parameters
    ----------
    verb : str
        The verb that was planned.
    queries : int
        How many queries it would ask.
    noise : ThresholdNoise
        Its noise, in grid steps.
    threshold : Threshold
        What answers would be compared with; 0 if it was left open.
    """

    verb: str
    queries: int
    noise: ThresholdNoise
    threshold: Threshold

    @property
    def loss(self) -> PrivacyLoss:
        """What the call would charge."""
        return self.noise.loss

    @property
    def mechanism(self) -> str:
        """The noise, in words."""
        return self.noise.mechanism

    @property
    def scales(self) -> dict[str, float]:
        """Scale of each noise, in the unit of the answers, as a release names them."""
        grid = self.threshold.grid
        return {name: float(s * grid) for name, s in self.noise.scales.items()}

    def accuracy(self, level: Amount = 0.95) -> AccuracyStatement:
        """Say where all answers at once are right with chance ``level``.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1.
        """
        return AccuracyStatement.of(self.noise, self.threshold, self.queries, level)

    def __post_init__(self) -> None:
        self.accuracy()  # refuses a number of queries that is none

    def _report(self) -> Report:
        names, scales = zip(*self.scales.items(), strict=True)
        table = (
            Column("noise of", names, left=True),
            Column("scale", tuple(show_spread(scale) for scale in scales)),
        )
        return Report(
            f"Plan of {self.verb}: {plural(self.queries, 'answer')}, "
            f"{self.loss.show()}",
            table,
            (self.mechanism, self.accuracy().text, "no data read, nothing charged"),
        )

    def __repr__(self) -> str:
        return self._report().text()

    def _repr_html_(self) -> str:
        return self._report().html()


@final
class Planner:
    """The verbs of ``frame.dp`` as plans; made by ``frame.dp.plan``."""

    __slots__ = ("_schema", "_setting")

    def __init__(self, setting: Setting, schema: Schema) -> None:
        self._setting = setting
        self._schema = schema

    def above_threshold(
        self,
        queries: Any,
        epsilon: Amount | None = None,
        *,
        threshold: Amount = 0,
        keys: Keys | None = None,
        bins: Keys | None = None,
        sensitivity: Amount = 1,
        grid: Amount = 1,
        direction: str = "above",
        noise: str = "geometric",
        ratio: str | Amount = "optimal",
        monotonic: bool | str = "auto",
    ) -> ThresholdPlan:
        """Plan `PrivateFrame.above_threshold`.

        Parameters
        ----------
        queries : int, or as in the verb
            How many queries there will be, or the queries themselves.
        epsilon : number, optional
            The session's ``default_epsilon`` if omitted.
        threshold : number
            As in the verb; left at 0, accuracy is told as distance from it.
        sensitivity, grid : number
            Of an answer, for one row, where only the number of queries is given.
        keys, bins, direction, noise, ratio, monotonic
            As in the verb.

        Returns
        -------
        ThresholdPlan
            ``loss``, ``scales``, ``accuracy(level)``.

        Raises
        ------
        NoSessionError, ColumnNotFoundError, DomainError, ParameterError
            As in the verb.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> posts = pl.DataFrame({"topic": ["ai", "tea"]})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     plan = posts.dp.plan.above_threshold(10_000, 1, threshold=500)
        >>> print(plan.accuracy())
        with 95 % chance no answer below 475 is called above, none from 507 on below
        """
        return self._plan(
            "above_threshold",
            (queries, keys, bins, sensitivity, grid),
            (threshold, direction),
            epsilon,
            SparseOptions(1, noise, ratio),
            monotonic,
        )

    def sparse_vector(
        self,
        queries: Any,
        epsilon: Amount | None = None,
        *,
        max_above: int,
        threshold: Amount = 0,
        keys: Keys | None = None,
        bins: Keys | None = None,
        sensitivity: Amount = 1,
        grid: Amount = 1,
        direction: str = "above",
        values: bool = False,
        refresh: bool | str = "auto",
        noise: str = "geometric",
        ratio: str | Amount = "optimal",
        monotonic: bool | str = "auto",
    ) -> ThresholdPlan:
        """Plan `PrivateFrame.sparse_vector`, or `numeric_sparse` with ``values=True``.

        Parameters
        ----------
        max_above, values, refresh
            As in the verb.
        queries, epsilon, threshold, keys, bins, sensitivity, grid, direction, noise, \
ratio, monotonic
            As in `above_threshold`.

        Returns
        -------
        ThresholdPlan

        Raises
        ------
        NoSessionError, ColumnNotFoundError, DomainError, ParameterError
            As in the verb.
        """
        return self._plan(
            "sparse_vector",
            (queries, keys, bins, sensitivity, grid),
            (threshold, direction),
            epsilon,
            SparseOptions(max_above, noise, ratio, values=values, refresh=refresh),
            monotonic,
        )

    def adaptive_sparse_vector(
        self,
        queries: Any,
        epsilon: Amount | None = None,
        *,
        max_above: int,
        margin: Amount | None = None,
        threshold: Amount = 0,
        keys: Keys | None = None,
        bins: Keys | None = None,
        sensitivity: Amount = 1,
        grid: Amount = 1,
        direction: str = "above",
        noise: str = "geometric",
        ratio: str | Amount = "optimal",
        monotonic: bool | str = "auto",
    ) -> ThresholdPlan:
        """Plan `PrivateFrame.adaptive_sparse_vector`.

        Parameters
        ----------
        max_above, margin
            As in the verb.
        queries, epsilon, threshold, keys, bins, sensitivity, grid, direction, noise, \
ratio, monotonic
            As in `above_threshold`.

        Returns
        -------
        ThresholdPlan

        Raises
        ------
        NoSessionError, ColumnNotFoundError, DomainError, ParameterError
            As in the verb.
        """
        options = SparseOptions(
            max_above, noise, ratio, refresh=False, adaptive=True, margin=margin
        )
        return self._plan(
            "adaptive_sparse_vector",
            (queries, keys, bins, sensitivity, grid),
            (threshold, direction),
            epsilon,
            options,
            monotonic,
        )

    def quantile(
        self,
        column: str,
        q: Amount | Several,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
    ) -> RankPlan:
        """Plan `PrivateFrame.quantile`; ``median`` is q = 0.5.

        Parameters
        ----------
        column, q, epsilon, bounds, per
            As in the verb.

        Returns
        -------
        RankPlan
            ``loss``, ``candidates``, ``rank_error(level)``, in rows.

        Raises
        ------
        NoSessionError, ColumnNotFoundError, DomainError, ParameterError
            As in the verb.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> people = pl.DataFrame({"age": [23, 35, 61]})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     people.dp.plan.quantile("age", 0.5, 1, bounds=(0, 120))
        Plan of quantile: 121 candidates, epsilon=1
        with 95 % chance within 7.8 rows of the rank asked for
        permute-and-flip
        no data read, nothing charged
        """
        setting, schema = self._setting, self._schema
        several = agg.read_several(q) if agg.is_list(q) else (agg.read_q(q),)
        asked = agg.Aggregate("quantile", column, bounds, per, several)
        request = Additive(
            "quantile",
            setting,
            Price(epsilon).spend(setting),
            (ask("quantile", asked, setting, schema),),
            None,
            TableRelease,
            schema,
            by_q=True,
        )
        laws = tuple((chosen.q, chosen.law) for chosen in request.selections)
        lattice = request.asked[0].lattice
        assert lattice is not None
        return RankPlan(request.loss, request.mechanism, lattice.width + 1, laws)

    def _plan(
        self,
        verb: str,
        asked: tuple[Any, Any, Any, Amount, Amount],
        compared: tuple[object, object],
        epsilon: Amount | None,
        options: SparseOptions,
        monotonic: bool | str,
    ) -> ThresholdPlan:
        """Make the request that the verb would make, and keep its public facts."""
        queries, keys, bins, sensitivity, grid = asked
        setting, amount = self._setting, Price(epsilon).pure(self._setting)
        if not isinstance(queries, int):
            questions = resolve(queries, setting, self._schema, keys=keys, bins=bins)
            request = SparseVectorRequest.of(
                verb,
                setting,
                questions,
                compared,
                amount,
                options,
                monotonic,
                SparseVectorRelease,
                self._schema,
            )
            return ThresholdPlan(verb, questions.size, request.noise, request.threshold)
        if isinstance(monotonic, str) and monotonic == "auto":
            # Counts, as far as anyone knows.
            monotonic = setting.neighboring == "add_remove"
        opened = OpenSparseVector.of(
            setting, (*compared, sensitivity, grid), amount, options, monotonic
        )
        return ThresholdPlan(verb, queries, opened.noise, opened.threshold)

    def __repr__(self) -> str:
        return "<plans of the verbs of .dp: no data read, nothing charged>"
