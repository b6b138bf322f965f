"""`PrivateFrame`: the verbs on a frame.

One module for each family of them; those under public keys are here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

from dpframe.accessor.groups import PrivateGroups
from dpframe.accessor.scalars import Scalars
from dpframe.accessor.selections import Selections
from dpframe.accessor.thresholds import Thresholds
from dpframe.errors import ParameterError, shown
from dpframe.mechanisms.spend import Price
from dpframe.mechanisms.terms import ask, cells
from dpframe.plan import Planner
from dpframe.privacy.amounts import Amount
from dpframe.queries import agg
from dpframe.releases import HistogramRelease

__all__ = ["PrivateFrame"]


@final
class PrivateFrame(Scalars, Selections, Thresholds):
    """Differentially private verbs on a pandas, Polars or Arrow frame.

    Made by ``frame.dp`` and by `dpframe.private`. Every verb charges the active
    session (or the one given to `dpframe.private`) before it reads a row.

    Examples
    --------
    >>> import polars as pl
    >>> import dpframe as dpf
    >>> people = pl.DataFrame({"age": [23, 35, 61, 44], "sex": ["F", "M", "F", "F"]})
    >>> session = dpf.Session(epsilon=1, unit="row")
    >>> with session:
    ...     n = people.dp.count(0.5)
    >>> type(n.value), n.loss
    (<class 'int'>, PrivacyLoss(epsilon=0.5))
    """

    __slots__ = ()

    @property
    def plan(self) -> Planner:
        """What verbs would cost and how wrong they may be: no data read, no charge.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> posts = pl.DataFrame({"topic": ["ai", "tea"]})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     plan = posts.dp.plan.above_threshold(10_000, 0.5)
        >>> plan.loss, plan.scales
        (PrivacyLoss(epsilon=0.5), {'threshold': 4.0, 'above': 4.0})
        """
        session, source = self._open("plan")
        return Planner(session.setting, source.schema)

    def histogram(
        self,
        epsilon: Amount | None = None,
        by: str | Sequence[str] | None = None,
        *,
        keys: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
        bins: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> HistogramRelease:
        """Count the rows of each public cell of one or several columns.

        The cells are disjoint, so the whole epsilon goes into each of them.

        Parameters
        ----------
        epsilon : number, optional
            Privacy loss of this call.
        by : str or sequence of str, optional
            The columns; all of the frame (the unit column aside) if omitted.
        keys : list or dict, optional
            Public keys: values for one column, tuples for several, or a list for each
            column. From the session's domain if omitted. Never taken from the data.
        bins : list or dict, optional
            Public edges, in the column's own unit; [lo, hi), the last one closed.
        noise, delta, rho, label
            As in `count`.

        Returns
        -------
        HistogramRelease
            ``counts`` of shape (cells,), int64, in rows, in the order of the keys (last
            column fastest), zeros included; signed and unbiased.

        Raises
        ------
        ColumnNotFoundError, DomainError, ParameterError, BudgetExceededError
            If keys are missing or wrong, or the charge does not fit.

        Notes
        -----
        .. admonition:: Privacy

           Charges as `count` does. L1 sensitivity ``max_rows`` under add/remove,
           ``2 · max_rows`` under replace, however many cells there are. An empty list
           of keys is free.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> from dpframe.estimands import entropy
        >>> people = pl.DataFrame({"sex": ["F", "M", "F", "F"]})
        >>> with dpf.Session(epsilon=1, unit="row", domain={"sex": ["F", "M"]}):
        ...     h = people.dp.histogram(1.0)
        >>> h.keys, h.counts.shape
        (['F', 'M'], (2,))
        >>> type(h.debias(entropy)).__name__
        'Estimate'
        """
        opened = session, source = self._open("histogram")
        unit = session.setting.unit
        if by is None:
            by = [c for c in source.schema.columns if unit.is_row or c != unit.column]
        if not isinstance(by, (str, Sequence)):
            msg = (
                f"by must be a column or a list of columns; got {shown(by)}. "
                "Epsilon comes first, as in histogram(0.5, 'region')."
            )
            raise ParameterError(msg)
        columns = [by] if isinstance(by, str) else list(by)
        cells_ = cells(columns, session.setting, source.schema, keys=keys, bins=bins)
        asked = ask("count", agg.count(), session.setting, source.schema)
        price = Price(epsilon, noise, delta, rho)
        return self._add(
            HistogramRelease, "histogram", [asked], cells_, price, opened, label
        )

    def group_by(
        self,
        *by: str | Sequence[str],
        keys: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
        bins: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    ) -> PrivateGroups:
        """Split the rows by public keys, for an aggregate of each group.

        Parameters
        ----------
        *by : str, or one sequence of str
            One or several columns.
        keys, bins
            As in `histogram`.

        Returns
        -------
        PrivateGroups
            With the verbs ``count``, ``sum``, ``mean``, ``variance``, ``std``,
            ``n_unique`` and ``agg``. Nothing is charged before one of them is called.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> people = pl.DataFrame({"age": [23, 35, 61], "sex": ["F", "M", "F"]})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     by_sex = people.dp.group_by("sex", keys=["F", "M"])
        ...     ages = by_sex.mean("age", 1, bounds=(17, 90))
        >>> ages.to_frame().columns
        ['sex', 'mean']
        """
        first = by[0] if len(by) == 1 else by
        listed_ = isinstance(first, Sequence) and not isinstance(first, str)
        return PrivateGroups(self, first if listed_ else by, keys, bins)
