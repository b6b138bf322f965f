"""`Quantiles`: verbs that choose a value of a column by its rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

from dpframe.accessor.private import Private
from dpframe.domain.lattice import Per
from dpframe.errors import ParameterError, shown
from dpframe.mechanisms.additive import Additive
from dpframe.mechanisms.smooth import SmoothOptions, smooth_request
from dpframe.mechanisms.spend import Price
from dpframe.mechanisms.terms import ask
from dpframe.privacy.amounts import Amount
from dpframe.queries.agg import Aggregate, Several, is_list, read_q, read_several
from dpframe.releases import ScalarRelease, SmoothRelease, TableRelease

__all__ = ["Quantiles", "RankMethod", "Several"]

RankMethod = Literal["exponential", "smooth"]
_DEFAULTS = SmoothOptions()


class Quantiles(Private):
    """Quantiles of a whole frame."""

    __slots__ = ()

    @overload
    def quantile(
        self,
        column: str,
        q: Amount,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        method: Literal["exponential"] = "exponential",
        label: str | None = None,
    ) -> ScalarRelease: ...
    @overload
    def quantile(
        self,
        column: str,
        q: Several,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        method: Literal["exponential"] = "exponential",
        label: str | None = None,
    ) -> TableRelease: ...
    @overload
    def quantile(
        self,
        column: str,
        q: Amount,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        method: Literal["smooth"],
        noise: str = "lomax",
        beta: Amount | None = None,
        delta: Amount | None = None,
        interval: bool = False,
        epsilon_interval: Amount | None = None,
        label: str | None = None,
    ) -> SmoothRelease: ...
    def quantile(
        self,
        column: str,
        q: Any,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        method: RankMethod = "exponential",
        noise: str = "lomax",
        beta: Amount | None = None,
        delta: Amount | None = None,
        interval: bool = False,
        epsilon_interval: Amount | None = None,
        label: str | None = None,
    ) -> ScalarRelease | TableRelease | SmoothRelease:
        """Choose a value with about the share q of the rows below it.

        Candidates are public: all integers between the bounds (days, ticks, last digits
        of decimals), or multiples of a public stride where these are more than 2^20;
        for floats a grid of at most 2^16 steps. Near ones are chosen more often.

        Parameters
        ----------
        column : str
            Numbers, booleans, decimals, dates, datetimes or durations.
        q : number or sequence of numbers
            Between 0 and 1, in effect the nearest fraction with a denominator up to a
            million; 0 is a `min`, 1 a `max`. Several share epsilon equally, and one
            reading of the data.
        epsilon : number, optional
            Privacy loss of this call; the session's ``default_epsilon`` if omitted.
        bounds : pair, optional
            Public (lower, upper), in the column's own unit; from the session's domain
            if omitted, or found by `bounds`. Equal ones give that constant, free.
        per : {"row", "unit"}
            Of rows, or of the totals of the privacy units.
        method : {"exponential", "smooth"}
            Noise in proportion to the smooth sensitivity is rarely better.
        noise, beta, delta, interval, epsilon_interval
            For ``method="smooth"``, as in `trimmed_mean`.
        label : str, optional
            Stores the release: asking again under the label is free.

        Returns
        -------
        ScalarRelease, TableRelease or SmoothRelease
            ``value`` in the column's own kind, an int of integers; for a list of q a
            table with the columns ``q`` and ``quantile``. ``rank_error(level)`` says,
            in rows, how far from its rank it may be. A smooth release for
            ``method="smooth"``.

        Raises
        ------
        NoSessionError
            If no session is active and none was given.
        ColumnNotFoundError, DomainError, ParameterError
            If the column, its bounds or q do not fit; nothing is spent.
        BudgetExceededError
            If the charge does not fit; nothing is spent.

        Notes
        -----
        .. admonition:: Privacy

           Charges (epsilon, 0); in zCDP epsilon²/8 for one q and epsilon²/(8 k) for k
           of them, as the exponential mechanism chooses there. Elsewhere
           permute-and-flip does, which errs less. Sensitivity of the score:
           ``max_rows · max(q, 1 − q)`` under add/remove, ``max_rows`` under replace.

        References
        ----------
        .. [1] Smith (2011), Privacy-preserving statistical estimation with optimal
           convergence rates.
        .. [2] McKenna, Sheldon (2020), Permute-and-flip: a new mechanism for
           differentially private selection, theorem 1.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> people = pl.DataFrame({"age": list(range(20, 71)) * 40})
        >>> with dpf.Session(epsilon=2, unit="row"):
        ...     high = people.dp.quantile("age", 0.9, 1, bounds=(0, 120))
        ...     both = people.dp.quantile("age", [0.1, 0.9], 1, bounds=(0, 120))
        >>> 60 <= high.value <= 70, both.columns
        (True, ['q', 'quantile'])
        """
        options = SmoothOptions(noise, beta, delta, interval, epsilon_interval)
        if is_list(q):
            _check_method(method, options)
            if method == "smooth":
                msg = "method='smooth' answers one q; ask for each by itself."
                raise ParameterError(msg)
            several = Aggregate("quantile", column, bounds, per, read_several(q))
            return self._several(several, epsilon, label)
        aggregate = Aggregate("quantile", column, bounds, per, (read_q(q),))
        return self._ranked(aggregate, epsilon, label, method, options)

    @overload
    def median(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        method: Literal["exponential"] = "exponential",
        label: str | None = None,
    ) -> ScalarRelease: ...
    @overload
    def median(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        method: Literal["smooth"],
        noise: str = "lomax",
        beta: Amount | None = None,
        delta: Amount | None = None,
        interval: bool = False,
        epsilon_interval: Amount | None = None,
        label: str | None = None,
    ) -> SmoothRelease: ...
    def median(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        method: RankMethod = "exponential",
        noise: str = "lomax",
        beta: Amount | None = None,
        delta: Amount | None = None,
        interval: bool = False,
        epsilon_interval: Amount | None = None,
        label: str | None = None,
    ) -> ScalarRelease | SmoothRelease:
        """Choose a value with about as many rows below it as above.

        Parameters
        ----------
        column, epsilon, bounds, per, method, noise, beta, delta, interval, \
epsilon_interval, label
            As in `quantile`.

        Returns
        -------
        ScalarRelease or SmoothRelease
            As in `quantile`.

        Raises
        ------
        NoSessionError, ColumnNotFoundError, DomainError, ParameterError, \
BudgetExceededError
            As in `quantile`.

        Notes
        -----
        .. admonition:: Privacy

           As `quantile` with q = 1/2.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> people = pl.DataFrame({"age": list(range(20, 71)) * 40})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     age = people.dp.median("age", 1, bounds=(0, 120))
        >>> type(age.value), 40 <= age.value <= 50, round(age.rank_error(), 1)
        (<class 'int'>, True, 7.8)
        """
        options = SmoothOptions(noise, beta, delta, interval, epsilon_interval)
        aggregate = Aggregate("median", column, bounds, per)
        return self._ranked(aggregate, epsilon, label, method, options)

    @overload
    def iqr(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        method: Literal["exponential"] = "exponential",
        label: str | None = None,
    ) -> ScalarRelease: ...
    @overload
    def iqr(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        method: Literal["smooth"],
        noise: str = "lomax",
        beta: Amount | None = None,
        delta: Amount | None = None,
        interval: bool = False,
        epsilon_interval: Amount | None = None,
        label: str | None = None,
    ) -> SmoothRelease: ...
    def iqr(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        method: RankMethod = "exponential",
        noise: str = "lomax",
        beta: Amount | None = None,
        delta: Amount | None = None,
        interval: bool = False,
        epsilon_interval: Amount | None = None,
        label: str | None = None,
    ) -> ScalarRelease | SmoothRelease:
        """Measure the distance of the quartiles.

        Chooses both with half of epsilon each. A negative distance is shown as 0.

        Parameters
        ----------
        column, epsilon, bounds, per, method, noise, beta, delta, interval, \
epsilon_interval, label
            As in `quantile`.

        Returns
        -------
        ScalarRelease or SmoothRelease
            ``value`` is a difference: a timedelta of dates and datetimes.

        Raises
        ------
        NoSessionError, ColumnNotFoundError, DomainError, ParameterError, \
BudgetExceededError
            As in `quantile`.

        Notes
        -----
        .. admonition:: Privacy

           Charges as `quantile` with two q does.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> people = pl.DataFrame({"age": list(range(20, 71)) * 40})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     spread = people.dp.iqr("age", 1, bounds=(0, 120))
        >>> 20 <= spread.value <= 30
        True
        """
        options = SmoothOptions(noise, beta, delta, interval, epsilon_interval)
        aggregate = Aggregate("iqr", column, bounds, per)
        return self._ranked(aggregate, epsilon, label, method, options)

    def _ranked(
        self,
        aggregate: Aggregate,
        epsilon: Amount | None,
        label: str | None,
        method: RankMethod,
        options: SmoothOptions,
    ) -> ScalarRelease | SmoothRelease:
        """Answer by either method."""
        _check_method(method, options)
        if method == "exponential":
            return self._scalar(aggregate, Price(epsilon), label)
        verb, column = aggregate.statistic, aggregate.column
        assert column is not None
        statistic = (verb, aggregate.q[0]) if aggregate.q else verb
        session, source = self._open(verb)
        request = smooth_request(
            verb, statistic, column, epsilon, options, session.setting, source.schema,
            bounds=aggregate.bounds, per=aggregate.per,
        )  # fmt: skip
        return session.release(request, source, label=label)

    def _several(
        self, aggregate: Aggregate, epsilon: Amount | None, label: str | None
    ) -> TableRelease:
        session, source = self._open("quantile")
        setting, schema = session.setting, source.schema
        request = Additive(
            "quantile",
            setting,
            Price(epsilon).spend(setting),
            (ask("quantile", aggregate, setting, schema),),
            None,
            TableRelease,
            schema,
            by_q=True,
        )
        return session.release(request, source, label=label)


def _check_method(method: object, options: SmoothOptions) -> None:
    if not isinstance(method, str) or method not in ("exponential", "smooth"):
        msg = f"method must be 'exponential' or 'smooth'; got {shown(method)}."
        raise ParameterError(msg)
    if method == "exponential" and options != _DEFAULTS:
        msg = (
            "noise=, beta=, delta= and interval= are for method='smooth'; a quantile "
            "that is chosen among candidates has no noise."
        )
        raise ParameterError(msg)
