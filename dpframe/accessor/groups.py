"""`PrivateGroups`: the verbs of ``group_by``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, final

from dpframe.accessor.private import Private
from dpframe.accessor.quantiles import Several
from dpframe.domain.lattice import Per
from dpframe.errors import ParameterError, nearest, shown
from dpframe.mechanisms.spend import Price
from dpframe.mechanisms.terms import ask, cells
from dpframe.mechanisms.unknown_keys import open_cells, read_loss
from dpframe.privacy.amounts import Amount, as_fraction
from dpframe.queries import agg
from dpframe.queries.agg import Aggregate
from dpframe.releases import TableRelease

__all__ = ["PrivateGroups"]


@final
class PrivateGroups:
    """The groups of a private frame, under public keys or those that enough units have.

    Every verb returns a `TableRelease` with one row for each key, in the order of the
    keys, present in the data or not. With the ``delta`` of `PrivateFrame.group_by` it
    has the keys of enough units, sorted, and each verb charges that delta too.
    """

    __slots__ = ("__bins", "__by", "__delta", "__frame", "__keys")

    def __init__(
        self,
        frame: Private,
        by: Sequence[Any],
        keys: object,
        bins: object,
        delta: object = None,
    ) -> None:
        columns = tuple(by)
        if not columns or not all(isinstance(column, str) for column in columns):
            msg = (
                "group_by needs the names of columns, as in group_by('region', "
                f"'year'); got {shown(columns)}."
            )
            raise ParameterError(msg)
        if isinstance(keys, Iterator):
            keys = list(keys)  # a generator would be empty the next time
        self.__frame, self.__keys, self.__bins = frame, keys, bins
        self.__delta = delta
        self.__by: tuple[str, ...] = columns

    def count(
        self,
        epsilon: Amount | None = None,
        *,
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> TableRelease:
        """Count the rows of each group; see `PrivateFrame.histogram`.

        Examples
        --------
        >>> import pandas as pd
        >>> import dpframe as dpf
        >>> people = pd.DataFrame({"sex": ["F", "M", "F"]})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     n = people.dp.group_by("sex", keys=["F", "M", "X"]).count(1)
        >>> n.keys
        ['F', 'M', 'X']
        """
        return self._one(agg.count(), Price(epsilon, noise, delta, rho), label)

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
    ) -> TableRelease:
        """Sum a clamped column in each group; see `PrivateFrame.sum`."""
        aggregate = agg.sum(column, bounds=bounds, per=per)
        return self._one(aggregate, Price(epsilon, noise, delta, rho), label)

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
    ) -> TableRelease:
        """Average a clamped column in each group; see `PrivateFrame.mean`."""
        aggregate = agg.mean(column, bounds=bounds, per=per)
        return self._one(aggregate, Price(epsilon, noise, delta, rho), label)

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
    ) -> TableRelease:
        """Estimate the variance in each group; see `PrivateFrame.variance`."""
        aggregate = agg.variance(column, bounds=bounds, per=per)
        return self._one(aggregate, Price(epsilon, noise, delta, rho), label)

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
    ) -> TableRelease:
        """Estimate the standard deviation in each group; see `PrivateFrame.std`."""
        aggregate = agg.std(column, bounds=bounds, per=per)
        return self._one(aggregate, Price(epsilon, noise, delta, rho), label)

    def n_unique(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> TableRelease:
        """Count the privacy units in each group.

        Parameters
        ----------
        column : str
            The session's unit column.
        epsilon, noise, delta, rho, label
            As in `PrivateFrame.count`.

        Notes
        -----
        .. admonition:: Privacy

           A unit is counted once under each of at most ``min(max_groups, max_rows)``
           keys: L1 sensitivity that number, twice it under replace.
        """
        return self._one(agg.n_unique(column), Price(epsilon, noise, delta, rho), label)

    def quantile(
        self,
        column: str,
        q: Amount | Several,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        label: str | None = None,
    ) -> TableRelease:
        """Choose quantiles of a column in each group; see `PrivateFrame.quantile`.

        Every group's choice gets the whole epsilon. A list of q gives one row for each
        key and q, with a column ``q``.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> people = pl.DataFrame({"age": [23, 35] * 99, "sex": ["F", "M"] * 99})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     by_sex = people.dp.group_by("sex", keys=["F", "M"])
        ...     ages = by_sex.quantile("age", [0.25, 0.5], 1, bounds=(17, 90))
        >>> ages.columns, len(ages)
        (['sex', 'q', 'quantile'], 4)
        """
        if agg.is_list(q):
            several = Aggregate("quantile", column, bounds, per, agg.read_several(q))
            named, price = {"quantile": several}, Price(epsilon)
            return self._release(
                "group_by.quantile", named, price, label, {}, by_q=True
            )
        aggregate = Aggregate("quantile", column, bounds, per, (agg.read_q(q),))
        return self._one(aggregate, Price(epsilon), label)

    def median(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        label: str | None = None,
    ) -> TableRelease:
        """Choose the median in each group; see `PrivateFrame.median`."""
        aggregate = agg.median(column, bounds=bounds, per=per)
        return self._one(aggregate, Price(epsilon), label)

    def min(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        label: str | None = None,
    ) -> TableRelease:
        """Choose a value with few below it in each group; see `PrivateFrame.min`."""
        aggregate = agg.min(column, bounds=bounds, per=per)
        return self._one(aggregate, Price(epsilon), label)

    def max(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        label: str | None = None,
    ) -> TableRelease:
        """Choose a value with few above it in each group; see `PrivateFrame.max`."""
        aggregate = agg.max(column, bounds=bounds, per=per)
        return self._one(aggregate, Price(epsilon), label)

    def iqr(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        label: str | None = None,
    ) -> TableRelease:
        """Measure the quartiles' distance in each group; see `PrivateFrame.iqr`."""
        aggregate = agg.iqr(column, bounds=bounds, per=per)
        return self._one(aggregate, Price(epsilon), label)

    def agg(
        self,
        epsilon: Amount | None = None,
        *,
        weights: Mapping[str, Amount] | None = None,
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
        **aggregates: Aggregate,
    ) -> TableRelease:
        """Release several aggregates of each group in one charge.

        Parameters
        ----------
        epsilon : number, optional
            Privacy loss of the whole call, shared by what has to be measured: equal
            parts are measured once, public constants take no share.
        weights : dict, optional
            Relative shares by name; 1 where not given.
        noise, delta, rho, label
            As in `PrivateFrame.count`.
        **aggregates : Aggregate
            Columns of the answer, as in ``n=dpf.agg.count()``.

        Returns
        -------
        TableRelease
            The key columns, then one column for each aggregate.

        Raises
        ------
        ParameterError
            If nothing is asked, or a weight names no aggregate or is not positive.

        Notes
        -----
        .. admonition:: Privacy

           One charge of epsilon (or rho) in all, by composition over the measured
           parts. All of them see the same bounded rows.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> people = pl.DataFrame({"age": [23, 35, 61], "sex": ["F", "M", "F"]})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     table = people.dp.group_by("sex", keys=["F", "M"]).agg(
        ...         1.0, n=dpf.agg.count(), age=dpf.agg.mean("age", bounds=(17, 90))
        ...     )
        >>> table.to_frame().shape
        (2, 3)
        """
        if not aggregates:
            msg = "agg needs an aggregate, as in agg(0.5, n=dpf.agg.count())."
            raise ParameterError(msg)
        for name, aggregate in aggregates.items():
            if not isinstance(aggregate, Aggregate):
                msg = f"{name}= must be made by dpf.agg, as in {name}=dpf.agg.count()."
                raise ParameterError(msg)
        shares = _read_weights(weights or {}, aggregates)
        return self._release(
            "agg", aggregates, Price(epsilon, noise, delta, rho), label, shares
        )

    def _one(
        self, aggregate: Aggregate, price: Price, label: str | None
    ) -> TableRelease:
        verb = aggregate.statistic
        return self._release(f"group_by.{verb}", {verb: aggregate}, price, label, {})

    def _release(
        self,
        verb: str,
        aggregates: Mapping[str, Aggregate],
        price: Price,
        label: str | None,
        weights: Mapping[str, Fraction],
        *,
        by_q: bool = False,
    ) -> TableRelease:
        opened = session, source = self.__frame._open(verb)
        setting, schema = session.setting, source.schema
        given = {"keys": self.__keys, "bins": self.__bins}
        found = (
            None
            if self.__delta is None
            else open_cells(self.__by, setting, schema, **given)
        )
        keys = cells(self.__by, setting, schema, **given) if found is None else None
        asked = [
            ask(
                name,
                aggregate,
                setting,
                schema,
                weights.get(name, Fraction(1)),
            )
            for name, aggregate in aggregates.items()
        ]
        if found is not None:
            loss = read_loss(price, self.__delta, setting)
            return self.__frame._find(
                TableRelease, verb, asked, found, loss, opened, label, by_q=by_q
            )
        return self.__frame._add(
            TableRelease, verb, asked, keys, price, opened, label, by_q=by_q
        )

    def __repr__(self) -> str:
        return (
            f"<PrivateGroups by {', '.join(map(repr, self.__by))} of {self.__frame!r}>"
        )


def _read_weights(
    weights: Mapping[str, Amount], aggregates: Mapping[str, Aggregate]
) -> dict[str, Fraction]:
    if not isinstance(weights, Mapping):
        msg = f"weights must be a dictionary of name -> weight; got {shown(weights)}."
        raise ParameterError(msg)
    shares = {}
    for name, weight in weights.items():
        if name not in aggregates:
            msg = (
                f"weights name {name!r}, which is not asked.{nearest(name, aggregates)}"
            )
            raise ParameterError(msg)
        shares[name] = as_fraction(weight, f"weight of {name!r}")
        if shares[name] <= 0:
            msg = f"the weight of {name!r} must be positive."
            raise ParameterError(msg)
    return shares
