"""The test of propose-test-release, which sees the distance through noise.

For a whole distance D of sensitivity 1 the test passes where D + X > t, with X discrete
Laplace of scale 1/epsilon, p = exp(-epsilon), and t >= 0 least with

    P(X > t) = p^(t+1) / (1 + p) <= delta.

At D = 0 it passes with probability delta at most. The continuous threshold
ln(1/(2 delta)) / epsilon belongs to continuous noise: with this one it may pass twice
as often.
Proof: docs/proofs/sensitivity, theorem 11.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from dpframe.errors import ParameterError, shown
from dpframe.noise.laplace import DiscreteLaplace
from dpframe.noise.law import as_float, as_positive
from dpframe.privacy.amounts import Amount, as_fraction

__all__ = ["ptr_pass_probability", "stability_threshold"]


def stability_threshold(epsilon: Fraction, delta: Fraction) -> int:
    """Return the least whole t >= 0 with P(X > t) <= delta, for delta below 1/2."""
    return DiscreteLaplace(1 / epsilon).interval(1 - 2 * delta)[1]


def ptr_pass_probability(
    distance: float,
    epsilon: Amount,
    delta: Amount,
    *,
    noise: Literal["discrete", "laplace"] = "discrete",
) -> float:
    """Private unless the distance is public: return how probably a PTR test passes.

    For planning propose-test-release with a distance that somebody imagines, or that of
    public data.

    Parameters
    ----------
    distance : int or inf
        D, the changes within which the proposed bound surely holds.
    epsilon : number
        Of the test alone.
    delta : number
        Above 0 and below 1/2.
    noise : {"discrete", "laplace"}
        The integer test, which the library runs, or the textbook's continuous one:
        ``D + Lap(1/epsilon) > ln(1/(2 delta))/epsilon``.

    Returns
    -------
    float
        Probability in [0, 1].

    Raises
    ------
    ParameterError
        For a distance that is negative (or not whole, with discrete noise), and
        amounts out of their range.

    References
    ----------
    .. [1] Dwork and Lei (2009), Differential privacy and robust statistics, section 4.
    .. [2] docs/proofs/sensitivity, theorem 11.

    Examples
    --------
    >>> from dpframe.sensitivity import ptr_pass_probability
    >>> round(ptr_pass_probability(7, 0.5, 1e-4), 6)
    0.002544
    >>> ptr_pass_probability(30, 1, 1e-6) > 0.999
    True
    """
    rate, most = as_positive(epsilon, "epsilon"), as_fraction(delta, "delta")
    if not 0 < most < Fraction(1, 2):
        msg = f"delta must be above 0 and below 1/2; got {shown(delta)}."
        raise ParameterError(msg)
    if noise not in ("discrete", "laplace"):
        msg = f"noise must be 'discrete' or 'laplace'; got {shown(noise)}."
        raise ParameterError(msg)
    far = _read_distance(distance, whole=noise == "discrete")
    if math.isinf(far):
        return 1.0
    if noise == "laplace":
        return _above(as_float(rate) * far + math.log(2 * float(most)))
    law = DiscreteLaplace(1 / rate)
    # X is symmetric: P(X > t - D) = P(X < D - t).
    return float(law.cdf(far - stability_threshold(rate, most) - 1))


def _above(margin: float) -> float:
    """Return P(Lap(1) > -margin)."""
    return math.exp(margin) / 2 if margin < 0 else 1 - math.exp(-margin) / 2


def _read_distance(distance: float, *, whole: bool) -> float:
    if distance == math.inf:
        return math.inf
    far = as_fraction(distance, "distance")
    if far < 0 or (whole and far.denominator > 1):
        kind = "a whole number, not negative," if whole else "not negative"
        msg = f"distance must be {kind} or infinity; got {shown(distance)}."
        raise ParameterError(msg)
    return float(far)
