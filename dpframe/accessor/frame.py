"""`PrivateFrame`: the verbs on a frame.

One module for each family of them; those under public keys are here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

from dpframe.accessor.extremes import Extremes
from dpframe.accessor.groups import PrivateGroups
from dpframe.accessor.quantiles import Quantiles
from dpframe.accessor.robust import Robusts
from dpframe.accessor.scalars import Scalars
from dpframe.accessor.selections import Selections
from dpframe.accessor.sparse_variants import SparseVariants
from dpframe.accessor.streams import Streams
from dpframe.accessor.thresholds import Thresholds
from dpframe.errors import ParameterError, shown
from dpframe.mechanisms.spend import Price
from dpframe.mechanisms.terms import ask, cells
from dpframe.mechanisms.unknown_keys import open_cells, read_loss
from dpframe.plan import Planner
from dpframe.privacy.amounts import Amount
from dpframe.queries import agg
from dpframe.releases import HistogramRelease

__all__ = ["PrivateFrame"]


@final
class PrivateFrame(
    Scalars,
    Quantiles,
    Extremes,
    Selections,
    Robusts,
    Thresholds,
    SparseVariants,
    Streams,
):
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
        (PrivacyLoss(epsilon=0.5), {'threshold': 4.0, 'queries': 4.0})
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
            column. From the session's domain if omitted; never taken from the data
            unless ``delta`` pays for it.
        bins : list or dict, optional
            Public edges, in the column's own unit; [lo, hi), the last one closed.
        delta : number, optional
            With ``noise="gaussian"`` as in `count`. Else the chance that a key of one
            unit alone is shown: columns without public keys get those of enough units.
        noise, rho, label
            As in `count`.

        Returns
        -------
        HistogramRelease
            ``counts`` of shape (cells,), int64, in rows, in the order of the keys (last
            column fastest), zeros included; signed and unbiased. Keys that were found
            are sorted, None last, and rare ones are missing.

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

           With found keys it charges (epsilon, delta); see `group_by`. Where a row is
           the unit, a count is the very number that passed the threshold, so one just
           above it tends to be too high.

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
        setting, schema = session.setting, source.schema
        asked = ask("count", agg.count(), setting, schema)
        if delta is not None and noise != "gaussian":
            found = open_cells(columns, setting, schema, keys=keys, bins=bins)
            loss = read_loss(Price(epsilon, noise, None, rho), delta, setting)
            return self._find(
                HistogramRelease, "histogram", [asked], found, loss, opened, label
            )
        cells_ = cells(columns, setting, schema, keys=keys, bins=bins)
        price = Price(epsilon, noise, delta, rho)
        return self._add(
            HistogramRelease, "histogram", [asked], cells_, price, opened, label
        )

    def group_by(
        self,
        *by: str | Sequence[str],
        keys: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
        bins: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
        delta: Amount | None = None,
    ) -> PrivateGroups:
        """Split the rows by key, for an aggregate of each group.

        Parameters
        ----------
        *by : str, or one sequence of str
            One or several columns.
        keys, bins
            As in `histogram`.
        delta : number, optional
            Of each verb that is called: the chance that a key of one unit alone is
            shown, far below one over the number of units. The keys of columns without
            public ones are then found in the data.

        Returns
        -------
        PrivateGroups
            With the verbs ``count``, ``sum``, ``mean``, ``variance``, ``std``,
            ``n_unique`` and ``agg``. Nothing is charged before one of them is called.

        Notes
        -----
        .. admonition:: Privacy

           With ``delta`` a verb charges (epsilon, delta). A key is shown if its number
           of units N, of the bounded rows, passes N + X > τ, with discrete Laplace X of
           scale G/ε₁ (2G/ε₁ under replace) and P(1 + X > τ) ≤ delta/G, for the
           G = min(max_groups, max_rows) keys of one unit. Of p numbers asked, ε₁ takes
           1/(1 + p) of epsilon. If units are all that is asked (``n_unique`` of the
           unit; ``count`` where a row is the unit), N + X is the answer and ε₁ is all.
           How many keys did not pass is not told. Proof: docs/proofs/unknown_keys.

           Null is a key, None. Whole numbers beyond 64 bits are none, nor is, in an
           untyped column of pandas, what is neither text nor a whole number nor a date.

        References
        ----------
        .. [1] Korolova, Kenthapadi, Mishra and Ntoulas (2009), Releasing search queries
           and clicks privately, section 4.

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
        >>> with dpf.Session(epsilon=1, delta=1e-5, unit="row"):
        ...     found = people.dp.group_by("sex", delta=1e-6).count(1)
        >>> found.loss, found.key_threshold.threshold
        (PrivacyLoss(epsilon=1, delta=1e-06), 14)
        """
        first = by[0] if len(by) == 1 else by
        listed_ = isinstance(first, Sequence) and not isinstance(first, str)
        return PrivateGroups(self, first if listed_ else by, keys, bins, delta)
