"""Permute-and-flip: choose a candidate of nearly the greatest score, privately."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpframe.errors import ParameterError
from dpframe.noise.bernoulli import bernoulli_exp
from dpframe.noise.bits import random_uint64
from dpframe.noise.law import as_float, as_positive
from dpframe.privacy.amounts import Amount

__all__ = ["PermuteAndFlip", "permute_and_flip"]


@final
@dataclass(frozen=True, slots=True, init=False)
class PermuteAndFlip:
    """The law of one selection, known before any score.

    Parameters
    ----------
    epsilon, sensitivity, monotonic
        As in `permute_and_flip`.
    """

    epsilon: Fraction
    sensitivity: Fraction
    monotonic: bool

    def __init__(
        self, epsilon: Amount, sensitivity: Amount, *, monotonic: bool = False
    ) -> None:
        object.__setattr__(self, "epsilon", as_positive(epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", as_positive(sensitivity, "sensitivity"))
        object.__setattr__(self, "monotonic", bool(monotonic))

    @property
    def rate(self) -> Fraction:
        """How fast chances fall with the distance from the greatest score."""
        whole = self.epsilon / self.sensitivity
        return whole if self.monotonic else whole / 2

    def choose(self, scores: ArrayLike) -> int:
        """Return the index chosen; see `permute_and_flip`."""
        gaps, rate = _gaps(scores), self.rate
        order = _random_order(gaps.size)

        def exact(i: int) -> Fraction:
            return rate * Fraction(gaps.item(int(order[i])))

        accepted = bernoulli_exp(_exponents(gaps, rate)[order], exact)
        # Candidates of the greatest score always accept, so there is a first one.
        return int(order[np.argmax(accepted)])


def permute_and_flip(
    scores: ArrayLike,
    epsilon: Amount,
    sensitivity: Amount,
    *,
    monotonic: bool = False,
) -> int:
    """Choose one index, preferring great scores, with epsilon-DP.

    The candidates are taken in a random order, and the first whose coin of
    probability exp(-epsilon · (max - score) / (2 sensitivity)) shows heads is
    chosen. Never worse than the exponential mechanism, in law and in mean [1]_.

    Parameters
    ----------
    scores : array_like of integers, shape (k,)
        Private utilities. Fractions and floats are welcome too, but slower; a float
        counts as its exact binary value.
    epsilon : int, float, str, Decimal or Fraction
        Privacy loss, in nats; positive.
    sensitivity : int, float, str, Decimal or Fraction
        How far a score may move between neighbors; positive.
    monotonic : bool
        Drop the 2 above: sound only if all scores move the same way between
        neighbors, as counts do under "add_remove" and never under "replace", where
        that form spends 2 epsilon.

    Returns
    -------
    int
        The index chosen, from 0.

    Raises
    ------
    ParameterError
        For an epsilon or sensitivity that is not positive, and for scores that are
        not a flat, non-empty list of finite numbers.

    Notes
    -----
    .. admonition:: Privacy

       (epsilon, 0), hence epsilon² / 2 in zCDP; the smaller epsilon² / 8 of the
       exponential mechanism does not hold here. Proof: docs/proofs/noise.

    References
    ----------
    .. [1] McKenna, Sheldon (2020), Permute-and-flip: a new mechanism for
       differentially private selection, theorems 1 and 2.

    Examples
    --------
    >>> permute_and_flip([3, 1000, 5], epsilon=1, sensitivity=1)
    1
    """
    law = PermuteAndFlip(epsilon, sensitivity, monotonic=monotonic)
    return law.choose(scores)


def _gaps(scores: ArrayLike) -> NDArray[Any]:
    """Return max - score exactly: unsigned integers, or Fractions as objects."""
    given = np.asarray(scores)
    if given.ndim != 1 or not given.size:
        msg = "scores must be a flat list of numbers, with at least one candidate."
        raise ParameterError(msg)
    if given.dtype.kind in "iub":
        # Modulo 2^64, where a difference of 64-bit integers cannot overflow.
        wrapped = given.astype(np.uint64)
        gaps: NDArray[Any] = wrapped[given.argmax()] - wrapped
        return gaps
    exact = [_rational(score) for score in given.tolist()]
    known = [score for score in exact if score is not None]
    if len(known) < len(exact):
        msg = "scores must be finite numbers; drop what is missing before selecting."
        raise ParameterError(msg)
    top = max(known)
    return np.array([top - score for score in known], dtype=object)


def _rational(score: Any) -> Fraction | None:
    try:
        return Fraction(score)
    except (TypeError, ValueError, OverflowError):
        return None


def _exponents(gaps: NDArray[Any], rate: Fraction) -> NDArray[np.float64]:
    if gaps.dtype == object:
        return np.array([as_float(rate * gap) for gap in gaps])
    return gaps.astype(np.float64) * as_float(rate)


def _random_order(n: int) -> NDArray[np.intp]:
    """Return a uniform permutation: the order of random keys, all of them distinct."""
    while True:
        keys = random_uint64(n)
        order = np.argsort(keys)
        ranked = keys[order]
        if not (ranked[1:] == ranked[:-1]).any():
            return order
