"""`PrivateSeries`: the verbs on one column, which is their subject."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, final, overload

from dpframe.accessor.frame import PrivateFrame
from dpframe.accessor.quantiles import Several
from dpframe.accessor.selections import Method
from dpframe.engines.ingest import ingest
from dpframe.privacy.amounts import Amount
from dpframe.releases import (
    BoundsRelease,
    HistogramRelease,
    PTRRelease,
    ScalarRelease,
    SelectionRelease,
    SmoothRelease,
    TableRelease,
)
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

    @overload
    def quantile(
        self,
        q: Amount,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        method: Literal["exponential"] = "exponential",
        label: str | None = None,
    ) -> ScalarRelease: ...
    @overload
    def quantile(
        self,
        q: Several,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        method: Literal["exponential"] = "exponential",
        label: str | None = None,
    ) -> TableRelease: ...
    @overload
    def quantile(
        self,
        q: Amount,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        method: Literal["smooth"],
        label: str | None = None,
        **options: Any,
    ) -> SmoothRelease: ...
    def quantile(
        self, q: Any, epsilon: Amount | None = None, **options: Any
    ) -> ScalarRelease | TableRelease | SmoothRelease:
        """Choose a value with about the share q below; see `PrivateFrame.quantile`."""
        found: ScalarRelease | TableRelease | SmoothRelease = self.__frame.quantile(
            self._column, q, epsilon, **options
        )
        return found

    @overload
    def median(
        self,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        method: Literal["exponential"] = "exponential",
        label: str | None = None,
    ) -> ScalarRelease: ...
    @overload
    def median(
        self,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        method: Literal["smooth"],
        label: str | None = None,
        **options: Any,
    ) -> SmoothRelease: ...
    def median(
        self, epsilon: Amount | None = None, **options: Any
    ) -> ScalarRelease | SmoothRelease:
        """Choose a value with as many below as above; see `PrivateFrame.median`."""
        found: ScalarRelease | SmoothRelease = self.__frame.median(
            self._column, epsilon, **options
        )
        return found

    def min(
        self,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        label: str | None = None,
    ) -> ScalarRelease:
        """Choose a value with few below it; see `PrivateFrame.min`."""
        return self.__frame.min(self._column, epsilon, bounds=bounds, label=label)

    def max(
        self,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        label: str | None = None,
    ) -> ScalarRelease:
        """Choose a value with few above it; see `PrivateFrame.max`."""
        return self.__frame.max(self._column, epsilon, bounds=bounds, label=label)

    @overload
    def iqr(
        self,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        method: Literal["exponential"] = "exponential",
        label: str | None = None,
    ) -> ScalarRelease: ...
    @overload
    def iqr(
        self,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        method: Literal["smooth"],
        label: str | None = None,
        **options: Any,
    ) -> SmoothRelease: ...
    def iqr(
        self, epsilon: Amount | None = None, **options: Any
    ) -> ScalarRelease | SmoothRelease:
        """Measure the distance of the quartiles; see `PrivateFrame.iqr`."""
        found: ScalarRelease | SmoothRelease = self.__frame.iqr(
            self._column, epsilon, **options
        )
        return found

    def bounds(
        self,
        epsilon: Amount | None = None,
        *,
        coverage: Amount = 0.98,
        label: str | None = None,
    ) -> BoundsRelease:
        """Find bounds that most values lie between; see `PrivateFrame.bounds`."""
        return self.__frame.bounds(
            self._column, epsilon, coverage=coverage, label=label
        )

    def trimmed_mean(
        self,
        epsilon: Amount | None = None,
        *,
        trim: Amount = 0.1,
        bounds: Sequence[Any] | None = None,
        noise: str = "lomax",
        beta: Amount | None = None,
        delta: Amount | None = None,
        interval: bool = False,
        epsilon_interval: Amount | None = None,
        label: str | None = None,
    ) -> SmoothRelease:
        """Average without the extremes; see `PrivateFrame.trimmed_mean`."""
        return self.__frame.trimmed_mean(
            self._column, epsilon, trim=trim, bounds=bounds, noise=noise, beta=beta,
            delta=delta, interval=interval, epsilon_interval=epsilon_interval,
            label=label,
        )  # fmt: skip

    def closest_pair(
        self,
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        method: str = "smooth",
        bound: Amount | None = None,
        delta: Amount | None = None,
        test_share: Amount = 0.5,
        noise: str = "lomax",
        beta: Amount | None = None,
        interval: bool = False,
        epsilon_interval: Amount | None = None,
        label: str | None = None,
    ) -> SmoothRelease | PTRRelease:
        """Measure the least difference; see `PrivateFrame.closest_pair`."""
        return self.__frame.closest_pair(
            self._column, epsilon, bounds=bounds, method=method, bound=bound,
            delta=delta, test_share=test_share, noise=noise, beta=beta,
            interval=interval, epsilon_interval=epsilon_interval, label=label,
        )  # fmt: skip

    def propose_test_release(
        self,
        statistic: str | tuple[str, Amount] | Callable[[Any], Any],
        *,
        bound: Any = None,
        epsilon: Amount | None = None,
        delta: Amount | None = None,
        bounds: Sequence[Any] | None = None,
        test_share: Amount = 0.5,
        distance: Callable[[Any], Any] | None = None,
        trusted: bool = False,
        label: str | None = None,
    ) -> PTRRelease:
        """Propose and test a bound; see `PrivateFrame.propose_test_release`."""
        return self.__frame.propose_test_release(
            statistic, self._column, bound=bound, epsilon=epsilon, delta=delta,
            bounds=bounds, test_share=test_share, distance=distance, trusted=trusted,
            label=label,
        )  # fmt: skip

    def __repr__(self) -> str:
        return repr(self.__frame).replace("PrivateFrame", "PrivateSeries")

    def __reduce__(self) -> Any:
        return self.__frame.__reduce__()
