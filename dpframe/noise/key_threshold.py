"""Which keys may be shown: those with more units than a threshold, after noise.

A key that is there has N >= 1 units and is shown where N + X > τ, with X discrete
Laplace, r = exp(-1/scale); one that is not there draws no noise and is never shown. One
unit can be the first of at most G keys, and each of these is shown with probability

    P(1 + X > τ) = r^τ / (1 + r) <= δ/G,        τ least such, and at least 1.

With ``>=`` in place of ``>`` it would be 1/r times as probable.
Proof: docs/proofs/unknown_keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

from dpframe.noise.laplace import DiscreteLaplace

__all__ = ["KeyThreshold"]

Integers = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True)
class KeyThreshold:
    """The rule by which keys that are found in the data are shown.

    Parameters
    ----------
    law : DiscreteLaplace
        Of the noise in the number of units with a key.
    delta : Fraction
        The probability with which a key of one unit may be shown, for all keys that one
        unit has together.
    groups : int
        Keys that one unit may have, G.

    Examples
    --------
    >>> rule = KeyThreshold(DiscreteLaplace(1), Fraction("1e-6"), groups=1)
    >>> rule.threshold, rule.chance(30) > 0.999
    (14, True)
    >>> rule.chance(1) <= 1e-6
    True
    """

    law: DiscreteLaplace
    delta: Fraction
    groups: int

    @property
    def threshold(self) -> int:
        """τ: a key is shown if its noisy number of units is greater."""
        # P(|X| > h) = 2 r^(h + 1) / (1 + r) for h >= 0, and τ = h + 1.
        return self.law.interval(1 - 2 * self.delta / self.groups)[1] + 1

    def shows(self, noisy: Integers) -> NDArray[np.bool_]:
        """Tell the keys that are shown from their noisy numbers of units."""
        return noisy > self.threshold

    def chance(self, units: int) -> float:
        """Return the probability that a key of so many units, 1 or more, is shown."""
        # X is symmetric: P(X > t) = P(X <= -t - 1).
        return float(self.law.cdf(units - self.threshold - 1))

    def describe(self) -> dict[str, str | int]:
        """Return the public parameters, exactly, for ledgers and metadata."""
        return {
            "scale": str(self.law.scale),
            "threshold": self.threshold,
            "delta": str(self.delta),
            "groups": self.groups,
        }
