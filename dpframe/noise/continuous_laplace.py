"""Continuous Laplace noise, density ∝ exp(-|x| / scale)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from dpframe.noise.density import RealLaw, negative_log
from dpframe.noise.exponential import exp_floor
from dpframe.noise.law import Floats, as_float, as_positive
from dpframe.noise.table import Interval
from dpframe.privacy.amounts import Amount

__all__ = ["Laplace"]


@final
@dataclass(frozen=True, slots=True, init=False)
class Laplace(RealLaw):
    """The Laplace law with density exp(-|x| / scale) / (2 scale).

    Parameters
    ----------
    scale : int, float, str, Decimal or Fraction
        In grid steps, over 0; kept as an exact fraction. A float means its shortest
        decimal.

    Raises
    ------
    ParameterError
        If the scale is not such a number.

    Notes
    -----
    Variance 2 scale². Counts with this noise come from `HistogramRelease.to_laplace`.

    References
    ----------
    .. [1] Dwork, McSherry, Nissim, Smith (2006), Calibrating noise to sensitivity in
       private data analysis, TCC 2006, example 1.

    Examples
    --------
    >>> law = Laplace(2)
    >>> law.pdf(0), law.cdf(0), law.variance
    (0.25, 0.5, 8.0)
    >>> [round(end, 3) for end in law.interval(0.95)]
    [-5.991, 5.991]
    """

    scale: Fraction

    def __init__(self, scale: Amount) -> None:
        object.__setattr__(self, "scale", as_positive(scale, "scale"))

    @property
    def variance(self) -> float:
        """Variance 2 scale², in squared grid steps."""
        scale = as_float(self.scale)
        return 2 * scale * scale

    @property
    def _rate(self) -> float:
        return as_float(1 / self.scale)

    def sizes(self, share: Floats) -> Floats:
        """Return the x with P(|X| > x) = share, -scale ln(share)."""
        sizes: Floats = np.log(share) * -as_float(self.scale)
        return sizes

    def tail(self, x: Floats) -> Floats:
        """Return P(|X| > x) = exp(-x / scale) at x in [0, inf]."""
        tail: Floats = np.exp(-self._rate * x)
        return tail

    def tail_interval(self, x: Fraction, width: int) -> Interval:
        """Enclose P(|X| > x), x > 0, in units of 2^-width."""
        floor = exp_floor(x / self.scale, width)
        return floor, floor + 1

    def _density(self, x: Floats) -> Floats:
        density: Floats = np.exp(-self._rate * np.abs(x)) * (self._rate / 2)
        return density

    def _tail(self, x: Floats) -> Floats:
        return self.tail(x)

    def _half_width(self, miss: Fraction) -> float:
        return as_float(self.scale) * negative_log(miss)
