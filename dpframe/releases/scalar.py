"""`ScalarRelease`: one number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self, final

from dpframe.display.report import Report
from dpframe.errors import ParameterError
from dpframe.privacy.amounts import Amount
from dpframe.releases.answers import Answer
from dpframe.releases.chosen import Chosen
from dpframe.releases.measured import Measured
from dpframe.releases.shown import scalar_report

__all__ = ["ScalarRelease"]


@final
class ScalarRelease(Measured):
    """One released number, of the column's own kind.

    ``float(r)`` is the number, ``int(r)`` too where the answer is an integer; f-strings
    take the usual formats, such as ``f"{r:.2f}"``.

    Examples
    --------
    >>> import dpframe as dpf, polars as pl
    >>> people = pl.DataFrame({"age": [31, 45, 62]})
    >>> with dpf.Session(epsilon=1, unit="row"):
    ...     n = people.dp.count(0.5)
    >>> type(n.value), float(n.epsilon), n.scale
    (<class 'int'>, 0.5, 2.0)
    >>> low, high = n.interval(0.99)
    >>> low < n.value < high
    True
    """

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The number: int, float, Decimal, date, datetime or timedelta.

        Integers are exact, whatever their size. Counts are signed and unbiased.
        """
        return self._answer.estimates().value()

    @property
    def scale(self) -> Any:
        """Scale of the noise (sigma if Gaussian), in the unit of `value`.

        Raises
        ------
        ParameterError
            If the number comes from several noisy ones (mean, variance, std), or was
            chosen (quantile, median, min, max, iqr).
        """
        return self._answer.scale

    @property
    def std_error(self) -> Any:
        """Standard deviation over the noise, in the unit of `value`.

        By the delta method for mean, variance and std; a timedelta where values are
        points in time.

        Raises
        ------
        ParameterError
            If the number was chosen.
        """
        return self._answer.errors().value()

    def interval(self, level: Amount = 0.95) -> tuple[Any, Any]:
        """Return lower and upper end, of the kind of `value`.

        The noise leaves the truth inside with probability at least ``level``, exactly
        computed from its law. A mean, variance or std combines the intervals of its j
        noisy numbers, each at 1 − (1 − level)/j.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1; and if the number was chosen.
        """
        lower, upper = self._answer.bounds(level)
        return lower.value(), upper.value()

    def rank_error(self, level: Amount = 0.95) -> float:
        """Return how many rows a quantile may be off, with probability ``level``.

        Returns
        -------
        float
            (2Δ/ε) ln(candidates / (1 − level)): so many rows may lie between the rank
            that was asked for and the answer; of a min or max, that of the rows set
            aside. Both quantiles of an iqr keep to this. 0 of a public constant.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1, and the number was chosen.

        Notes
        -----
        Public: it follows from the request alone. The bound is that of the exponential
        mechanism, which permute-and-flip never exceeds (McKenna and Sheldon 2020).
        """
        answer = self._answer
        if not isinstance(answer, Chosen):
            msg = (
                f"{answer.name!r} is a noisy number and has no rank; use std_error or "
                "interval()."
            )
            raise ParameterError(msg)
        return answer.rank_error(level)

    def nonnegative(self) -> Self:
        """Return a count with a negative value shown as 0: biased, post-processed.

        Raises
        ------
        ParameterError
            If the release counts nothing.
        """
        return replace(self, answers=(self._answer.nonnegative(),))

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        value = self.value
        if not isinstance(value, int):
            msg = f"the answer is no integer but a {type(value).__name__}; use .value."
            raise TypeError(msg)
        return value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    @property
    def _answer(self) -> Answer | Chosen:
        return self.answers[0]

    def _report(self) -> Report:
        return scalar_report(type(self).__name__, self._answer, self.receipt)
