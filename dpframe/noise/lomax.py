"""Two-sided Lomax noise: tails so heavy that even its scale may depend on data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import final

import numpy as np

from dpframe.errors import ParameterError
from dpframe.noise.density import RealLaw, negative_log
from dpframe.noise.exponential import exp_floor, log_bounds
from dpframe.noise.law import Floats, as_float, as_positive
from dpframe.noise.table import Interval
from dpframe.privacy.amounts import Amount, show_amount
from dpframe.privacy.rounding import as_decimal, digits_below_one, precision, round_down

__all__ = ["Lomax"]

_STEEPEST = Decimal(300)  # beyond it s might leave float64; a lesser s is as private


@final
@dataclass(frozen=True, slots=True, init=False)
class Lomax(RealLaw):
    """The law of Z with density (gamma - 1) / 2 · (1 + |x|)^(-gamma).

    With gamma = 1 + epsilon / beta, f + (S / s) Z is epsilon-DP for a statistic f whose
    smooth sensitivity S is computed with beta [1]_. As beta falls to 0 the noise tends
    to Laplace noise of scale S / epsilon, but S grows.

    Parameters
    ----------
    epsilon : int, float, str, Decimal or Fraction
        Over 0; kept as an exact fraction. A float means its shortest decimal.
    beta : number
        How fast S may change between neighbors, 0 < beta < epsilon.

    Raises
    ------
    ParameterError
        If an argument is not such a number.

    Notes
    -----
    The variance of Z is 2 / ((gamma - 2) (gamma - 3)); it is infinite from beta =
    epsilon / 2 on. Every bit of epsilon is used: the worst privacy loss is epsilon.
    Drawn only on a grid, by `dpframe.noise.smooth`. Proof: docs/proofs/smooth_noise.

    References
    ----------
    .. [1] Nissim, Raskhodnikova, Smith (2007), Smooth sensitivity and sampling in
       private data analysis, STOC 2007, section 2; Hladík, Tětek (2025), Smooth
       sensitivity revisited, FORC 2025, for this family. The constants are our own.

    Examples
    --------
    >>> law = Lomax(1, "1/4")
    >>> law.gamma, law.pdf(0), law.cdf(-1)
    (Fraction(5, 1), 2.0, 0.03125)
    >>> round(float(law.s), 4), round(law.std, 4), Lomax(1, "1/2").std
    (0.2078, 0.5774, inf)
    """

    epsilon: Fraction
    beta: Fraction

    def __init__(self, epsilon: Amount, beta: Amount) -> None:
        amount, decay = as_positive(epsilon, "epsilon"), as_positive(beta, "beta")
        if decay >= amount:
            msg = (
                f"beta must be below epsilon for Lomax noise; got {show_amount(decay)} "
                f"and {show_amount(amount)}. Usual is 0.3 times epsilon."
            )
            raise ParameterError(msg)
        object.__setattr__(self, "epsilon", amount)
        object.__setattr__(self, "beta", decay)

    @property
    def gamma(self) -> Fraction:
        """The power of the density, 1 + epsilon / beta."""
        return 1 + self.epsilon / self.beta

    @property
    def s(self) -> Fraction:
        """Noise (S / s) Z is epsilon-DP; rounded down to 17 digits.

        min(e^(epsilon / gamma) - 1, e^beta (e^((epsilon - beta) / gamma) - 1)): the
        loss of a full shift with S as it is, and with S grown by e^beta.
        """
        left = self.epsilon - self.beta
        with precision(60 + digits_below_one(left) + digits_below_one(self.beta)):
            shift = _exp(self.epsilon / self.gamma) - 1
            grown = _exp(self.beta) * (_exp(left / self.gamma) - 1)
            return round_down(min(shift, grown), 17)

    @property
    def variance(self) -> float:
        """Variance of Z; infinite for beta >= epsilon / 2."""
        if self.gamma <= 3:
            return math.inf
        return as_float(2 / ((self.gamma - 2) * (self.gamma - 3)))

    @property
    def _power(self) -> float:
        return as_float(self.epsilon / self.beta)

    def sizes(self, share: Floats) -> Floats:
        """Return the x with P(|Z| > x) = share, share^(-beta / epsilon) - 1."""
        sizes: Floats = np.expm1(np.log(share) * -as_float(self.beta / self.epsilon))
        return sizes

    def tail(self, x: Floats) -> Floats:
        """Return P(|Z| > x) = (1 + x)^(-epsilon / beta) at x in [0, inf]."""
        tail: Floats = np.exp(-self._power * np.log1p(x))
        return tail

    def tail_interval(self, x: Fraction, width: int) -> Interval:
        """Enclose P(|Z| > x), x > 0, in units of 2^-width."""
        power = self.epsilon / self.beta
        low, high = log_bounds(1 + x, 20 + width // 3 + len(str(math.floor(power))))
        return exp_floor(power * high, width), exp_floor(power * low, width) + 1

    def _density(self, x: Floats) -> Floats:
        density: Floats = (
            self._power / 2 * np.exp(-(self._power + 1) * np.log1p(np.abs(x)))
        )
        return density

    def _tail(self, x: Floats) -> Floats:
        return self.tail(x)

    def _half_width(self, miss: Fraction) -> float:
        depth = negative_log(miss) * as_float(self.beta / self.epsilon)
        return math.expm1(min(depth, 690.0))


def _exp(x: Fraction) -> Decimal:
    return min(as_decimal(x), _STEEPEST).exp()
