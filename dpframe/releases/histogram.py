"""`HistogramRelease`: a count for each public key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from dpframe.display.report import Report
from dpframe.domain.coding import Bins
from dpframe.domain.keys import Keys
from dpframe.errors import ParameterError, ProvenanceError, shown
from dpframe.estimands.divergence import Divergence
from dpframe.estimands.estimand import Estimand
from dpframe.estimands.estimation import Estimate, Method, estimate
from dpframe.estimands.gaussian_numbers import GaussianNumbers
from dpframe.estimands.noisy_counts import CountDomain, NoisyCounts
from dpframe.estimands.noisy_numbers import NoisyNumbers
from dpframe.noise import DiscreteGaussian, Laplace, Staircase
from dpframe.noise.bits import is_private
from dpframe.noise.law import Floats
from dpframe.privacy.amounts import Amount
from dpframe.releases.answers import Answer
from dpframe.releases.conversions import as_laplace, as_staircase, noisier
from dpframe.releases.converted import ConvertedRelease
from dpframe.releases.measured import Measured
from dpframe.releases.shown import table_report

__all__ = ["HistogramRelease"]


@final
class HistogramRelease(Measured):
    """A noisy number of rows for each public key.

    Counts are signed and unbiased. `debias` estimates a statistic of the true counts
    without the bias that the noise would give it. Not so if the keys were found in the
    data: ``key_threshold`` is then the rule that chose them.

    Examples
    --------
    >>> import dpframe as dpf, polars as pl
    >>> people = pl.DataFrame({"age": [31, 45, 62]})
    >>> with dpf.Session(epsilon=1, unit="row"):
    ...     h = people.dp.histogram(0.5, by="age", bins=[0, 40, 60, 100])
    >>> h.counts.shape, h.keys, h.edges
    ((3,), [0, 40, 60], [0, 40, 60, 100])
    >>> h.debias(dpf.estimands.entropy).unit
    'nats'
    """

    __slots__ = ()

    @property
    def counts(self) -> NDArray[np.int64]:
        """The noisy counts, shape (keys,), int64, in rows."""
        return self._answer.estimates().saturated()

    @property
    def keys(self) -> list[Any]:
        """The keys: scalars of one column, tuples of several; a bin's lower edge."""
        return self._cells.labels

    @property
    def edges(self) -> list[Any] | dict[str, list[Any]] | None:
        """The edges of the bins, by column if there are several; None without bins."""
        cells = self._cells
        edges = {
            name: list(coding.edges)
            for name, coding in zip(cells.columns, cells.codings, strict=True)
            if isinstance(coding, Bins)
        }
        if len(cells.columns) > 1:
            return edges or None
        return next(iter(edges.values()), None)

    @property
    def columns(self) -> list[str]:
        """Names of the frame's columns: keys, then the counts."""
        return [*self._cells.columns, *self._named]

    @property
    def scale(self) -> float:
        """Scale of the noise in each count (sigma if Gaussian), in rows."""
        return float(self._answer.scale)

    @property
    def std_error(self) -> float:
        """Standard deviation of each count over the noise, in rows."""
        law = None if self._measurement is None else self._measurement.law
        return 0.0 if law is None else law.std

    def interval(self, level: Amount = 0.95) -> Any:
        """Return a frame of the keys and the ends of each count's interval.

        Returns
        -------
        DataFrame or Table
            Columns ``count_lower`` and ``count_upper``, of the caller's library. Each
            interval holds its true count with probability ``level``, not all at once.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1.
        """
        return self._frame(self._intervals(level))

    def nonnegative(self) -> Self:
        """Return the release with negative counts shown as 0: biased, post-processed.

        `debias` still works on it with domain "counts", with the very same result.
        """
        return replace(self, answers=(self._answer.nonnegative(),))

    def debias(
        self,
        estimand: Estimand | Callable[[Any], Any],
        *,
        domain: CountDomain = "counts",
        method: Method = "unbiased",
        total: int | None = None,
    ) -> Estimate:
        """Estimate a statistic of the true counts; free, as it sees noisy ones only.

        Parameters
        ----------
        estimand : Estimand or callable
            Such as ``dpframe.estimands.entropy``; a bare function of all counts is
            taken as `dpframe.estimands.black_box`.
        domain : {"counts", "integers"} or (lo, hi)
            What is public about the true counts: at least 0; any integer; within ends.
        method : {"unbiased", "plugin", "auto"}
            See `dpframe.estimands.estimate`.
        total : int, optional
            The sum of the true counts, if it is public; see there too.

        Raises
        ------
        ProvenanceError
            If the keys were found in the data, or the counts were clamped and the
            domain is not "counts", or the noise is Gaussian too. If it is compared
            with itself.
        NoInverseError
            If the noise is Gaussian and the estimand neither a polynomial (`power_sum`,
            `k_stars`, `moment`, `variance`, `polynomial`) nor `partition_function`: a
            ProvenanceError and a ParameterError.
        ParameterError
            If an argument is wrong.
        UnstableEstimateError
            If the unbiased estimate is beyond 1e300.
        """
        noisy = self._noisy(domain)
        if isinstance(estimand, Divergence):
            self._check_other(estimand.release)
        return estimate(noisy, estimand, method=method, total=total)

    def noisy_counts(self) -> NoisyCounts:
        """Return the counts and the rate of their noise, for estimands of two releases.

        Raises
        ------
        ProvenanceError
            If the noise is Gaussian, or the keys were found in the data.
        """
        noisy = self._noisy("counts")
        if isinstance(noisy, NoisyCounts):
            return noisy
        msg = (
            f"discrete Laplace noise is needed, and this release has {self.mechanism} "
            "noise. Release the histogram with noise='laplace'."
        )
        raise ProvenanceError(msg)

    def to_laplace(self) -> ConvertedRelease:
        """Return the counts with continuous Laplace noise of the same scale; free.

        For tools that expect it. Whatever the sensitivity, the noise then has exactly
        the law ``Laplace(scale)``.

        Raises
        ------
        ProvenanceError
            If the counts are not plain discrete Laplace releases: Gaussian noise,
            clamped by `nonnegative`, or under keys that were found in the data.

        References
        ----------
        .. [1] docs/proofs/conversions.rst, theorem 1.
        """
        self._check_keys("to_laplace()")
        return self._converted(*as_laplace(self._answer))

    def to_staircase(self, gamma: Amount | None = None) -> ConvertedRelease:
        """Return the counts with staircase noise of the same epsilon; free.

        Parameters
        ----------
        gamma : number, optional
            Where in each unit the step is, from 0 to 1; by default where it makes the
            mean size of the noise least.

        Raises
        ------
        ParameterError
            If one unit may move the counts by more than 1: then no post-processing
            of them has this law. Or if ``gamma`` is outside [0, 1].
        ProvenanceError
            As in `to_laplace`.

        References
        ----------
        .. [1] docs/proofs/conversions.rst, theorems 2 and 3.
        """
        self._check_keys("to_staircase()")
        return self._converted(*as_staircase(self._answer, gamma))

    def to_noisier(self, epsilon: Amount) -> Self:
        """Return a noisier copy, for readers who are to see less; free.

        The copy alone is a release of ``epsilon``, exactly, and `debias` works on it.
        Who sees both learns no more than from this one: together they cost what this
        one did.

        Parameters
        ----------
        epsilon : number
            Of the copy, below that of this release.

        Returns
        -------
        HistogramRelease
            With the discrete Laplace law of scale sensitivity / epsilon.

        Raises
        ------
        ParameterError
            If ``epsilon`` is not below that of this release.
        ProvenanceError
            As in `to_laplace`.

        References
        ----------
        .. [1] docs/proofs/conversions.rst, theorem 4.
        """
        self._check_keys("to_noisier()")
        answer = noisier(self._answer, epsilon)
        receipt = replace(
            self.receipt,
            verb=f"{self.receipt.verb}.to_noisier",
            loss=answer.measurement.loss,  # type: ignore[union-attr]
            private=self.receipt.private and is_private(),
        )
        return replace(self, answers=(answer,), receipt=receipt)

    def __len__(self) -> int:
        return self._cells.size

    def _converted(self, values: Floats, law: Laplace | Staircase) -> ConvertedRelease:
        return ConvertedRelease(
            self.receipt,
            self.library,
            values,
            law,
            self._cells,
            self._answer.name,
            self.key_types,
        )

    def _noisy(self, domain: CountDomain) -> NoisyCounts | NoisyNumbers:
        """Return the counts with the law of their noise, as the sampler used it."""
        self._check_keys("debias")
        counts = self._shaped(self.counts)
        law = None if self._measurement is None else self._measurement.law
        if isinstance(law, DiscreteGaussian):
            if self._answer.clamped:
                msg = (
                    "these counts were clamped at 0, and clamped Gaussian noise cannot "
                    "be undone. Debias the release before nonnegative()."
                )
                raise ProvenanceError(msg)
            sigma2 = np.asarray(float(law.sigma2))
            return GaussianNumbers(counts.astype(np.float64), sigma2, domain)
        if self._answer.clamped and not (
            isinstance(domain, str) and domain == "counts"
        ):
            msg = (
                f"these counts were clamped at 0, which domain={shown(domain)} does "
                "not allow for. Debias the release before nonnegative(), or use "
                'domain="counts".'
            )
            raise ProvenanceError(msg)
        rate = 1.0 if law is None else float(1 / law.scale)  # no keys, no noise
        return NoisyCounts(counts, np.asarray(rate), domain)

    def _check_keys(self, what: str) -> None:
        """Refuse what is about all keys, where some are not shown for their noise."""
        if self.key_threshold is None:
            return
        msg = (
            f"{what} needs the plain noisy count of every key. The keys of this "
            "histogram were found in the data: rare ones are missing, and which these "
            "are depends on their noise. Release it under public keys, "
            "histogram(epsilon, by, keys=[...])."
        )
        raise ProvenanceError(msg)

    def _check_other(self, other: object) -> None:
        """Refuse a second histogram that has the same noise, or other keys."""
        if not isinstance(other, HistogramRelease) or len(other) != len(self):
            return
        if len(self) and other.release_id == self.release_id:
            msg = (
                "both histograms are one release, or copies of it: their noise is the "
                "same, and the divergence has an estimate for independent noise only. "
                "Release the other one by a call of its own."
            )
            raise ProvenanceError(msg)
        if other.keys != self.keys:
            msg = (
                "kl_divergence compares key with key, and these histograms have other "
                "keys, or the same in another order. Release both with the same keys."
            )
            raise ParameterError(msg)

    def _shaped(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the counts of two crossed columns as a matrix."""
        cells = self._cells
        crossed = len(cells.columns) == 2 and cells.cells is None
        return counts.reshape(cells.radix) if crossed else counts

    @property
    def _answer(self) -> Answer:
        (answer,) = self.answers
        assert isinstance(answer, Answer)
        return answer

    @property
    def _measurement(self) -> Any:
        return self.answers[0].measurement

    @property
    def _cells(self) -> Keys:
        assert self.cells is not None
        return self.cells

    def _report(self) -> Report:
        form = type(self).__name__
        rule = self.key_threshold
        return table_report(form, self._cells, self._named, self.receipt, rule)
