"""Bernoulli(exp(-x)), exactly, for a vector of x known as floats and as rationals.

A uniform number V is compared with exp(-x). Its first 32 bits decide against the
float64 value, unless they come within 2^-30 of it: far more than any error of the
float. Such an element (2 in 10^9) is settled with its rational x, the bits already
drawn being continued. Floats decide only what they can be trusted with.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpframe.errors import DPFrameError
from dpframe.noise.bits import random_bytes, random_uint32
from dpframe.noise.exponential import exp_floor

__all__ = ["bernoulli_exp"]

_DOUBT = 4.0  # 2^-30, in units of 2^-32


def bernoulli_exp(
    x: NDArray[np.float64], exact: Callable[[int], Fraction]
) -> NDArray[np.bool_]:
    """Return independent booleans, the i-th true with probability exp(-x_i).

    Parameters
    ----------
    x : array of float64
        Exponents, at least 0, so near that exp(-x) is within 2^-31 of the truth
        (a relative error of x below 2^-40 is more than enough).
    exact : callable
        Returns the true, rational x_i of an index i.

    Raises
    ------
    DPFrameError
        If an exponent is negative or not a number, which is a bug of the caller.
    """
    if not (x >= 0).all():
        msg = "an acceptance exponent is negative or not a number: a bug in dpframe."
        raise DPFrameError(msg)
    drawn = random_uint32(x.size)
    margin = np.exp(-x)
    margin *= 2.0**32
    margin -= drawn
    accepted = margin > 0
    for i in (np.abs(margin) <= _DOUBT).nonzero()[0]:
        accepted[i] = _settle(exact(int(i)), int(drawn[i]))
    return accepted


def _settle(x: Fraction, number: int) -> bool:
    """Compare V, whose first 32 bits are ``number``, with exp(-x) in full."""
    bits = 32
    while number == (cut := exp_floor(x, bits)):
        number = (number << 64) | int.from_bytes(random_bytes(8), "little")
        bits += 64
    return number < cut
