"""Student's T noise: another law with tails heavy enough for a data-dependent scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from scipy.special import stdtr, stdtrit

from dpframe.errors import ParameterError
from dpframe.noise.arctangent import arctan_of_root, pi_interval, root_interval
from dpframe.noise.density import RealLaw
from dpframe.noise.law import Floats, as_float, as_positive
from dpframe.noise.table import Interval
from dpframe.privacy.amounts import Amount, show_amount
from dpframe.privacy.rounding import as_decimal, precision, round_down

__all__ = ["StudentT", "as_degrees"]

_MOST_DEGREES = 30


@final
@dataclass(frozen=True, slots=True, init=False)
class StudentT(RealLaw):
    """The law of Z with density ∝ (1 + x² / degrees)^(-(degrees + 1) / 2).

    f + (S / s) Z is epsilon-DP for a statistic f whose smooth sensitivity S is computed
    with beta [1]_. One degree is the Cauchy law. `Lomax` noise is less at every beta.

    Parameters
    ----------
    epsilon : int, float, str, Decimal or Fraction
        Over 0; kept as an exact fraction. A float means its shortest decimal.
    beta : number
        How fast S may change between neighbors, 0 < beta < epsilon / degrees.
    degrees : int
        Degrees of freedom, 1 to 30.

    Raises
    ------
    ParameterError
        If an argument is not such a number.

    Notes
    -----
    The variance of Z is degrees / (degrees - 2); infinite for 1 and 2 degrees.
    Drawn only on a grid, by `dpframe.noise.smooth`. Proof: docs/proofs/smooth_noise.

    References
    ----------
    .. [1] Bun, Steinke (2019), Average-case averages, NeurIPS 2019, with
       (degrees + 1) beta where degrees · beta is enough.

    Examples
    --------
    >>> law = StudentT(1, "0.1", degrees=3)
    >>> round(float(law.s), 6), round(law.std, 6)
    (0.606218, 1.732051)
    >>> round(StudentT(1, "0.1", degrees=1).cdf(-1), 6)
    0.25
    """

    epsilon: Fraction
    beta: Fraction
    degrees: int

    def __init__(self, epsilon: Amount, beta: Amount, degrees: int = 3) -> None:
        amount, decay = as_positive(epsilon, "epsilon"), as_positive(beta, "beta")
        degrees = as_degrees(degrees)
        if decay * degrees >= amount:
            msg = (
                f"beta must be below epsilon / {degrees} for Student noise with "
                f"degrees={degrees}; got {show_amount(decay)} and epsilon "
                f"{show_amount(amount)}. Usual is half of that limit."
            )
            raise ParameterError(msg)
        object.__setattr__(self, "epsilon", amount)
        object.__setattr__(self, "beta", decay)
        object.__setattr__(self, "degrees", degrees)

    @property
    def s(self) -> Fraction:
        """Noise (S / s) Z is epsilon-DP; rounded down to 17 digits.

        (epsilon - degrees · beta) · 2 √degrees / (degrees + 1): what the change of
        scale leaves, over the steepest slope of the density's logarithm.
        """
        left = self.epsilon - self.degrees * self.beta
        with precision(60):
            root = as_decimal(Fraction(self.degrees)).sqrt()
            return round_down(as_decimal(2 * left / (self.degrees + 1)) * root, 17)

    @property
    def variance(self) -> float:
        """Variance of Z; infinite for 1 and 2 degrees."""
        return self.degrees / (self.degrees - 2) if self.degrees > 2 else math.inf

    @property
    def _series(self) -> list[Fraction]:
        """The coefficients c_i of P(|Z| <= x).

        With d degrees and q = d / (d + x²) it is
        √(1 - q) Σ c_i q^i for even d, c_0 = 1, c_i / c_(i-1) = (2i - 1) / 2i; and
        (2/π) (atan(x / √d) + √(q (1 - q)) Σ c_i q^i) for odd d,
        c_i / c_(i-1) = 2i / (2i + 1) (Abramowitz and Stegun, 26.7.3 and 26.7.4).
        """
        odd, terms = self.degrees % 2, self.degrees // 2
        found = [Fraction(1)]
        for i in range(1, terms):
            found.append(found[-1] * Fraction(2 * i - 1 + odd, 2 * i + odd))
        return found[:terms]

    def sizes(self, share: Floats) -> Floats:
        """Return about the x with P(|Z| > x) = share."""
        sizes: Floats = -stdtrit(self.degrees, share / 2)
        return sizes

    def tail(self, x: Floats) -> Floats:
        """Return P(|Z| > x) at x in [0, inf], to within 2^-47 (not of itself)."""
        x = np.minimum(x / math.sqrt(self.degrees), 1e150)
        q = 1 / (1 + x * x)
        total = np.zeros_like(x)
        for coefficient in reversed(self._series):
            total = total * q + float(coefficient)
        if self.degrees % 2:
            inside = 2 / math.pi * (np.arctan(x) + x * q * total)
        else:
            inside = x * np.sqrt(q) * total
        tail: Floats = 1 - inside
        return tail

    def tail_interval(self, x: Fraction, width: int) -> Interval:
        """Enclose P(|Z| > x), x > 0, in units of 2^-width."""
        one, square = 1 << width, x * x / self.degrees
        q = 1 / (1 + square)
        total = sum((c * q**i for i, c in enumerate(self._series)), Fraction(0))
        if self.degrees % 2 == 0:
            low, high = root_interval((1 - q) * total**2, width)
            return one - high, one - low
        angle = arctan_of_root(square, width)
        part = root_interval(q * (1 - q) * total**2, width)
        pi_low, pi_high = pi_interval(width)
        low = 2 * (angle[0] + part[0]) * one // pi_high
        high = 2 * (angle[1] + part[1]) * one // pi_low + 1
        return one - high, one - low

    def _density(self, x: Floats) -> Floats:
        d = self.degrees
        ratio = math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
        shape: Floats = (1 + x * x / d) ** (-(d + 1) / 2)
        return shape * (ratio / math.sqrt(d * math.pi))

    def _tail(self, x: Floats) -> Floats:
        tail: Floats = 2 * stdtr(self.degrees, -x)
        return tail

    def _half_width(self, miss: Fraction) -> float:
        return -float(stdtrit(self.degrees, max(as_float(miss), 1e-15) / 2))


def as_degrees(degrees: int) -> int:
    """Read degrees of freedom, or raise `ParameterError`."""
    if isinstance(degrees, bool) or not isinstance(degrees, (int, np.integer)):
        msg = f"degrees must be a whole number, not {type(degrees).__name__}."
        raise ParameterError(msg)
    if not 1 <= degrees <= _MOST_DEGREES:
        msg = f"degrees must be from 1 to {_MOST_DEGREES}; got {degrees}."
        raise ParameterError(msg)
    return int(degrees)
