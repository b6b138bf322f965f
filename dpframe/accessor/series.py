"""`PrivateSeries`: the verbs on one column, which is their subject."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from dpframe.accessor.frame import PrivateFrame
from dpframe.accessor.selections import Method
from dpframe.engines.ingest import ingest
from dpframe.privacy.amounts import Amount
from dpframe.releases import HistogramRelease, ScalarRelease, SelectionRelease
from dpframe.session import Session

__all__ = ["PrivateSeries"]


@final
class PrivateSeries:
    """Differentially private verbs on a pandas or Polars Series.

    The same as the frame's verbs on a frame of that one column, so the session's unit
    is the row: a single column cannot name another.

    Examples
    --------
    >>> import pandas as pd
    >>> import dpframe as dpf
    >>> age = pd.Series([23, 35, 61], name="age")
    >>> with dpf.Session(epsilon=1, unit="row"):
    ...     mean = age.dp.mean(1, bounds=(17, 90))
    >>> 17 <= mean.value <= 90
    True
    """

    __slots__ = ("__frame", "__held")

    def __init__(self, held: object, session: Session | None = None) -> None:
        self.__held = held
        self.__frame = PrivateFrame(held, session)

    @property
    def _column(self) -> str:
        return next(iter(ingest(self.__held).schema.columns))

    def count(
        self,
        epsilon: Amount | None = None,
        *,
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> ScalarRelease:
        """Count rows, nulls included; see `PrivateFrame.count`."""
        return self.__frame.count(
            epsilon, noise=noise, delta=delta, rho=rho, label=label
        )

    def sum(
        self,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> ScalarRelease:
        """Sum the values, clamped to public bounds; see `PrivateFrame.sum`."""
        return self.__frame.sum(
            self._column, epsilon, bounds=bounds, noise=noise, delta=delta, rho=rho,
            label=label,
        )  # fmt: skip

    def mean(
        self,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> ScalarRelease:
        """Average the usable values; see `PrivateFrame.mean`."""
        return self.__frame.mean(
            self._column, epsilon, bounds=bounds, noise=noise, delta=delta, rho=rho,
            label=label,
        )  # fmt: skip

    def variance(
        self,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> ScalarRelease:
        """Estimate the variance of the usable values; see `PrivateFrame.variance`."""
        return self.__frame.variance(
            self._column, epsilon, bounds=bounds, noise=noise, delta=delta, rho=rho,
            label=label,
        )  # fmt: skip

    def std(
        self,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> ScalarRelease:
        """Estimate the standard deviation; see `PrivateFrame.std`."""
        return self.__frame.std(
            self._column, epsilon, bounds=bounds, noise=noise, delta=delta, rho=rho,
            label=label,
        )  # fmt: skip

    def n_unique(
        self,
        epsilon: Amount | None = None,
        *,
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> ScalarRelease:
        """Count the distinct non-null values; see `PrivateFrame.n_unique`."""
        return self.__frame.n_unique(
            self._column, epsilon, noise=noise, delta=delta, rho=rho, label=label
        )

    def histogram(
        self,
        epsilon: Amount | None = None,
        *,
        keys: Sequence[Any] | None = None,
        bins: Sequence[Any] | None = None,
        noise: str = "laplace",
        delta: Amount | None = None,
        rho: Amount | None = None,
        label: str | None = None,
    ) -> HistogramRelease:
        """Count the rows of each public key or bin; see `PrivateFrame.histogram`."""
        return self.__frame.histogram(
            epsilon, keys=keys, bins=bins, noise=noise, delta=delta, rho=rho,
            label=label,
        )  # fmt: skip

    def top_k(
        self,
        k: int,
        epsilon: Amount | None = None,
        *,
        keys: Sequence[Any] | None = None,
        bins: Sequence[Any] | None = None,
        label: str | None = None,
    ) -> SelectionRelease:
        """Find the k public keys with the most rows; see `PrivateFrame.top_k`."""
        return self.__frame.top_k(
            self._column, k, epsilon, keys=keys, bins=bins, label=label
        )

    def mode(
        self,
        epsilon: Amount | None = None,
        *,
        keys: Sequence[Any] | None = None,
        bins: Sequence[Any] | None = None,
        method: Method = "permute_and_flip",
        delta: Amount | None = None,
        label: str | None = None,
    ) -> SelectionRelease:
        """Find the public key with the most rows; see `PrivateFrame.mode`."""
        return self.__frame.mode(
            self._column, epsilon, keys=keys, bins=bins, method=method, delta=delta,
            label=label,
        )  # fmt: skip

    def __repr__(self) -> str:
        return repr(self.__frame).replace("PrivateFrame", "PrivateSeries")

    def __reduce__(self) -> Any:
        return self.__frame.__reduce__()
