"""`Scalars`: the verbs that answer with one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpframe.accessor.private import Private
from dpframe.domain.lattice import Per
from dpframe.mechanisms.distinct import DistinctCount
from dpframe.mechanisms.spend import Price
from dpframe.mechanisms.terms import listed
from dpframe.privacy.amounts import Amount
from dpframe.queries import agg
from dpframe.queries.reduction import Distinct
from dpframe.releases import ScalarRelease

__all__ = ["Scalars"]


class Scalars(Private):
    """Counts, sums and averages of a whole frame."""

    __slots__ = ()

    def count(
        self,
        epsilon: Amount | None = None,
        *,
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> ScalarRelease:
        """Count rows, with discrete noise.

        A unit with more than ``max_rows`` rows counts as ``max_rows``.

        Parameters
        ----------
        epsilon : number, optional
            Privacy loss of this call; the session's ``default_epsilon`` if omitted.
        noise : {"laplace", "gaussian"}
            Gaussian noise costs (epsilon, delta) outside zCDP sessions.
        delta : number, optional
            For ``noise="gaussian"`` in an (epsilon, delta) session.
        rho : number, optional
            In place of epsilon, in a zCDP session; the noise is then Gaussian.
        label : str, optional
            Stores the release: asking again under the label is free.

        Returns
        -------
        ScalarRelease
            ``value`` is an int, in rows; unbiased, and may be negative.

        Raises
        ------
        NoSessionError
            If no session is active and none was given.
        BudgetExceededError
            If the charge does not fit; nothing is drawn, nothing is spent.

        Notes
        -----
        .. admonition:: Privacy

           Charges (epsilon, 0), (epsilon, delta) or rho. Sensitivity ``max_rows``
           under both relations (1 for ``unit="row"``); the number of rows is never
           taken as public.

        References
        ----------
        .. [1] Ghosh, Roughgarden and Sundararajan (2012), Universally
           utility-maximizing privacy mechanisms, Theorem 3.2.
        .. [2] Canonne, Kamath and Steinke (2020), The discrete Gaussian for
           differential privacy, Theorem 4.

        Examples
        --------
        >>> import pandas as pd
        >>> import dpframe as dpf
        >>> visits = pd.DataFrame({"minutes": [3, 10, 25]})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     n = visits.dp.count(0.5)
        >>> n.scale, n.std_error < 3
        (2.0, True)
        """
        return self._scalar(agg.count(), Price(epsilon, noise, delta, rho), label)

    def sum(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> ScalarRelease:
        """Sum a column whose values are clamped to public bounds.

        Rows are clamped, sent to a public grid of integers, and summed as integers;
        no float is ever added privately.

        Parameters
        ----------
        column : str
            Numbers, booleans, decimals or durations.
        epsilon : number, optional
            Privacy loss of this call.
        bounds : pair, optional
            Public (lower, upper), in the column's own unit; from the session's domain
            if omitted. Never taken from the data. ``(0, 0)`` is the constant 0: free.
        per : {"row", "unit"}
            Clamp each row, or the total of each privacy unit.
        noise, delta, rho, label
            As in `count`.

        Returns
        -------
        ScalarRelease
            ``value`` in the column's own kind: an exact int, a float on a power-of-two
            grid, a Decimal, a timedelta.

        Raises
        ------
        ColumnNotFoundError, DomainError, ParameterError
            If the column or its bounds do not fit; nothing is spent.
        BudgetExceededError
            If the charge does not fit; nothing is spent.

        Notes
        -----
        .. admonition:: Privacy

           Charges as `count` does. Sensitivity ``max_rows · max(|lower|, |upper|)``
           under add/remove, ``max_rows · (max(upper, 0) − min(lower, 0))`` under
           replace, in grid steps.

        References
        ----------
        .. [1] Casacuberta, Shoemate, Vadhan and Wagaman (2022), Widespread
           underestimation of sensitivity in differentially private libraries.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> visits = pl.DataFrame({"minutes": [3, 10, 25]})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     total = visits.dp.sum("minutes", 0.5, bounds=(0, 60))
        >>> total.scale
        120.0
        """
        aggregate = agg.sum(column, bounds=bounds, per=per)
        return self._scalar(aggregate, Price(epsilon, noise, delta, rho), label)

    def mean(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> ScalarRelease:
        """Average the usable (not null, not NaN) values of a column.

        Releases Σ(x − L) and Σ(U − x), each at the full epsilon: together they move by
        exactly U − L for each row, so nothing is split. Their ratio is the mean.

        Parameters
        ----------
        column : str
            Numbers, booleans, decimals, durations, dates or datetimes.
        epsilon : number, optional
            Privacy loss of this call.
        bounds : pair, optional
            Public (lower, upper); equal bounds give that constant, free.
        per : {"row", "unit"}
            Average rows, or the totals of privacy units.
        noise, delta, rho, label
            As in `count`.

        Returns
        -------
        ScalarRelease
            ``value`` within the bounds: a float, or the column's own kind.

        Raises
        ------
        ColumnNotFoundError, DomainError, ParameterError, BudgetExceededError
            As in `sum`.

        Notes
        -----
        .. admonition:: Privacy

           Charges as `count` does. The pair has L1 sensitivity
           ``max_rows · (upper − lower)``, twice that under replace.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> people = pl.DataFrame({"age": [23, 35, 61, 44]})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     age = people.dp.mean("age", 0.5, bounds=(17, 90))
        >>> 17 <= age.value <= 90
        True
        """
        aggregate = agg.mean(column, bounds=bounds, per=per)
        return self._scalar(aggregate, Price(epsilon, noise, delta, rho), label)

    def variance(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> ScalarRelease:
        """Estimate the variance (divisor n − 1) of the usable values.

        Releases Σ(W − k)², Σ2k(W − k) and Σk² on a grid of W steps, each at the full
        epsilon: together they move by exactly W² for each row.

        Parameters
        ----------
        column, epsilon, bounds, per, noise, delta, rho, label
            As in `mean`; dates and durations have no variance.

        Returns
        -------
        ScalarRelease
            ``value`` in squared units, between 0 and (U − L)²/4 · n/(n − 1).

        Raises
        ------
        ColumnNotFoundError, DomainError, ParameterError, BudgetExceededError
            As in `sum`.

        Notes
        -----
        .. admonition:: Privacy

           Charges as `count` does. L1 sensitivity of the triple: ``max_rows · W²``
           steps, twice that under replace.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> people = pl.DataFrame({"age": [23, 35, 61, 44]})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     spread = people.dp.variance("age", 0.5, bounds=(17, 90))
        >>> spread.value >= 0
        True
        """
        aggregate = agg.variance(column, bounds=bounds, per=per)
        return self._scalar(aggregate, Price(epsilon, noise, delta, rho), label)

    def std(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> ScalarRelease:
        """Estimate the standard deviation: the square root of `variance`.

        Parameters
        ----------
        column, epsilon, bounds, per, noise, delta, rho, label
            As in `mean`.

        Returns
        -------
        ScalarRelease
            ``value`` in the column's own unit; a timedelta for durations.

        Raises
        ------
        ColumnNotFoundError, DomainError, ParameterError, BudgetExceededError
            As in `sum`.

        Notes
        -----
        .. admonition:: Privacy

           The same charge and sensitivity as `variance`.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> people = pl.DataFrame({"age": [23, 35, 61, 44]})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     spread = people.dp.std("age", 0.5, bounds=(17, 90))
        >>> spread.value >= 0
        True
        """
        aggregate = agg.std(column, bounds=bounds, per=per)
        return self._scalar(aggregate, Price(epsilon, noise, delta, rho), label)

    def n_unique(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> ScalarRelease:
        """Count the distinct non-null values of a column, or the units themselves.

        Parameters
        ----------
        column : str
            Values that the domain does not list as categories are left out, where it
            lists any. The session's unit column counts units.
        epsilon : number, optional
            Privacy loss of this call.
        noise, delta, rho, label
            As in `count`.

        Returns
        -------
        ScalarRelease
            ``value`` is an int; unbiased, and may be negative.

        Raises
        ------
        ColumnNotFoundError, ParameterError, BudgetExceededError
            As in `sum`.

        Notes
        -----
        .. admonition:: Privacy

           Charges as `count` does. Sensitivity: the distinct values one unit may add,
           ``min(max_groups, max_rows)``; 1 for the unit column.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> visits = pl.DataFrame({"person": [1, 1, 2], "site": ["a", "b", "a"]})
        >>> unit = dpf.Unit("person", max_groups=2)
        >>> with dpf.Session(epsilon=2, unit=unit):
        ...     people = visits.dp.n_unique("person", 1)
        ...     sites = visits.dp.n_unique("site", 1)
        >>> people.scale, sites.scale
        (1.0, 2.0)
        """
        session, source = self._open("n_unique")
        source.schema[column]
        request = DistinctCount(
            session.setting,
            Price(epsilon, noise, delta, rho).spend(session.setting),
            Distinct(session.setting.unit, column, listed(column, session.setting)),
            source.schema.library,
        )
        return session.release(request, source, label=label)
