"""`Extremes`: least and greatest values, and bounds for what lies between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpframe.accessor.private import Private
from dpframe.domain.lattice import Per
from dpframe.mechanisms.public_range import RangeRequest
from dpframe.mechanisms.spend import Price
from dpframe.privacy.amounts import Amount
from dpframe.queries import agg
from dpframe.releases import BoundsRelease, ScalarRelease

__all__ = ["Extremes"]


class Extremes(Private):
    """Where the values of a column begin and end, or most of them."""

    __slots__ = ()

    def min(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        label: str | None = None,
    ) -> ScalarRelease:
        """Choose a value with few rows below it.

        The least value itself depends on one row, and cannot be released. This looks
        for the value of rank t = (2 max_rows/epsilon) ln(candidates), a public number.

        Parameters
        ----------
        column, epsilon, bounds, per, label
            As in `quantile`.

        Returns
        -------
        ScalarRelease
            As in `quantile`.

        Raises
        ------
        NoSessionError, ColumnNotFoundError, DomainError, ParameterError, \
BudgetExceededError
            As in `quantile`.

        Notes
        -----
        .. admonition:: Privacy

           Charges as `quantile` does. The score, how many rows the value of rank t is
           away, has sensitivity ``max_rows`` under both relations.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> people = pl.DataFrame({"age": list(range(20, 71)) * 40})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     age = people.dp.min("age", 1, bounds=(0, 120))
        >>> age.value <= 23
        True
        """
        aggregate = agg.min(column, bounds=bounds, per=per)
        return self._scalar(aggregate, Price(epsilon), label)

    def max(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        label: str | None = None,
    ) -> ScalarRelease:
        """Choose a value with few rows above it; see `min`.

        Parameters
        ----------
        column, epsilon, bounds, per, label
            As in `quantile`.

        Returns
        -------
        ScalarRelease
            As in `quantile`.

        Raises
        ------
        NoSessionError, ColumnNotFoundError, DomainError, ParameterError, \
BudgetExceededError
            As in `quantile`.

        Notes
        -----
        .. admonition:: Privacy

           As `min`, with the rows above.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> people = pl.DataFrame({"age": list(range(20, 71)) * 40})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     age = people.dp.max("age", 1, bounds=(0, 120))
        >>> age.value >= 67
        True
        """
        aggregate = agg.max(column, bounds=bounds, per=per)
        return self._scalar(aggregate, Price(epsilon), label)

    def bounds(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        coverage: Amount = 0.98,
        label: str | None = None,
    ) -> BoundsRelease:
        """Find public bounds that most rows lie between, where nobody knows any.

        Chooses the quantiles (1 − coverage)/2 and (1 + coverage)/2 among 0 and ±2^k,
        over the whole range of the type, and goes one step outward from each.

        Parameters
        ----------
        column : str
            Numbers, decimals, dates and datetimes (2^k ticks from 1970), durations.
        epsilon : number, optional
            Privacy loss of this call, half of it for each end.
        coverage : number
            Between 0 and 1. If (1 − coverage)/2 of all rows are fewer than
            ``rank_error()``, the bounds may be far too wide: ask for less.
        label : str, optional
            Stores the release: asking again under the label is free.

        Returns
        -------
        BoundsRelease
            A public pair, ``lower`` and ``upper``, for the ``bounds=`` of any verb.

        Raises
        ------
        NoSessionError, ColumnNotFoundError, ParameterError, BudgetExceededError
            If the column or coverage does not fit, or the charge.

        Notes
        -----
        .. admonition:: Privacy

           Charges as `quantile` with two q does. What is asked with the bounds later
           is charged as ever.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> pay = pl.DataFrame({"pay": [2_000, 2_400, 2_500, 3_100, 4_000] * 2_000})
        >>> with dpf.Session(epsilon=2, unit="row"):
        ...     bounds = pay.dp.bounds("pay", 1)
        ...     mean = pay.dp.mean("pay", 1, bounds=bounds)
        >>> lower, upper = bounds
        >>> lower <= 2_000 and 4_000 <= upper, bounds.lower == lower
        (True, True)
        """
        session, source = self._open("bounds")
        epsilon_ = Price(epsilon).pure(session.setting)
        request = RangeRequest.of(
            column, epsilon_, coverage, session.setting, source.schema
        )
        return session.release(request, source, label=label)
