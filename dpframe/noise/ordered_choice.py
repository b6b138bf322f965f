"""A choice among many candidates that form runs of equal scores.

Let p = exp(-rate · gap) be a candidate's chance, gap its distance from the greatest
score. Permute-and-flip is a race: every candidate arrives at its own uniform time, its
coin shows heads with chance p, and the first head wins. So is the exponential
mechanism, with exponential times of rate p and no coins. In a run of L equal candidates
the first of them arrives at

    T = (1 - V^(1/L)) / p,    and    T = -ln(V) / (L p),    V uniform in (0, 1):

one number for each run, however long it is (T > 1 is nobody, but then the best run,
whose p is 1, comes first). ln T is compared in floats, with the interval that the known
bits of V leave open. Where two runs cannot be told apart (once in 10^10 choices), more
bits are drawn and the ends worked out in decimals until they can: the law is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from dpframe.noise.bits import random_bytes, random_uint64
from dpframe.noise.exponential import context
from dpframe.noise.law import as_float, as_positive
from dpframe.privacy.amounts import Amount

__all__ = ["OrderedChoice", "Rule", "Runs"]

Rule = Literal["permute_and_flip", "exponential"]

_BITS = 53  # of V to begin with: a float holds them, and both ends of their interval
_MORE = 64  # in each further step
_SLACK = 2.0**-40  # beyond any error of the floats, relative to 1 + rate · gap
_LARGEST_RATE = 1e200  # at which a gap of 1 is out of the race
_EARLIEST = 100.0  # more than ln(2^53 · length): -ln T is less where p is 1

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class Runs:
    """Candidates of one or several choices, by runs of equal score.

    Parameters
    ----------
    lengths : ndarray of int64, shape (runs,)
        Number of candidates of each run, at least 1.
    heads : ndarray of int64, shape (choices,)
        The first run of each choice; its runs stand together, at least one.
    """

    lengths: Integers
    heads: Integers

    @property
    def sizes(self) -> Integers:
        """Number of runs of each choice."""
        return np.diff(self.heads, append=self.lengths.size)


@final
@dataclass(frozen=True, slots=True, init=False)
class OrderedChoice:
    """The law of one choice, known before any score.

    Parameters
    ----------
    epsilon : int, float, str, Decimal or Fraction
        Privacy loss of one choice, in nats.
    sensitivity : int, float, str, Decimal or Fraction
        How far a score may move between neighbors.
    rule : {"permute_and_flip", "exponential"}
        Permute-and-flip errs less; the exponential mechanism costs epsilon²/8 in zCDP,
        and not epsilon²/2.
    """

    epsilon: Fraction
    sensitivity: Fraction
    rule: Rule

    def __init__(
        self,
        epsilon: Amount,
        sensitivity: Amount,
        rule: Rule = "permute_and_flip",
    ) -> None:
        object.__setattr__(self, "epsilon", as_positive(epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", as_positive(sensitivity, "sensitivity"))
        object.__setattr__(self, "rule", rule)

    @property
    def rate(self) -> Fraction:
        """How fast chances fall with the distance from the greatest score."""
        return self.epsilon / (2 * self.sensitivity)

    @property
    def mechanism(self) -> str:
        """The rule, in words."""
        exponential = self.rule == "exponential"
        return "exponential mechanism" if exponential else "permute-and-flip"

    @property
    def rho(self) -> Fraction:
        """Loss of one choice in zCDP."""
        return self.epsilon**2 / (8 if self.rule == "exponential" else 2)

    def error(self, candidates: int, miss: Fraction) -> float:
        """Return how far below the greatest score a choice falls with chance ``miss``.

        At most: (2Δ/ε) ln(candidates / miss), for either rule.
        """
        return float(1 / self.rate) * math.log(candidates / miss)

    def choose(self, scores: Integers, runs: Runs) -> Integers:
        """Choose a candidate for each choice.

        Parameters
        ----------
        scores : ndarray of int64, shape (runs,)
            Of every candidate of a run.
        runs : Runs
            How the candidates stand together.

        Returns
        -------
        ndarray of int64, shape (choices,)
            Position among the candidates of the choice, from 0.
        """
        greatest = np.maximum.reduceat(scores, runs.heads)
        gaps = np.repeat(greatest, runs.sizes) - scores
        chosen = self._first_to_arrive(gaps, runs)
        before = np.cumsum(runs.lengths) - runs.lengths  # candidates, of all choices
        first = before[chosen] - before[runs.heads]
        return first + _uniform_below(runs.lengths[chosen])

    def _first_to_arrive(self, gaps: Integers, runs: Runs) -> Integers:
        """Return the run that wins each choice."""
        known = (random_uint64(gaps.size) >> np.uint64(64 - _BITS)).astype(np.int64)
        x = gaps.astype(np.float64) * min(as_float(self.rate), _LARGEST_RATE)
        # Far runs lose, as 1 - V > 0 in what is known: bounds serve, and are enough.
        low, high = x - _EARLIEST, np.full(x.shape, np.inf)
        near = ((x < 2 * _EARLIEST) | (known == 0)).nonzero()[0]
        slack = _SLACK * (1 + x[near])
        for ends, end, beyond in ((low, 0, -slack), (high, 1, slack)):
            known_ = known[near] + end
            ends[near] = self._arrival(x[near], known_, runs.lengths[near]) + beyond
        soonest = np.minimum.reduceat(high, runs.heads)
        able = (low <= np.repeat(soonest, runs.sizes)).nonzero()[0]
        choice = np.searchsorted(runs.heads, able, side="right") - 1
        first = np.searchsorted(choice, np.arange(runs.heads.size))
        winners = able[first]
        for i in (np.bincount(choice) > 1).nonzero()[0].tolist():
            winners[i] = self._settle(
                [
                    _Runner(int(run), Fraction(int(gaps[run])) * self.rate,
                            int(runs.lengths[run]), int(known[run]))
                    for run in able[choice == i]
                ]
            )  # fmt: skip
        return winners

    def _arrival(self, x: Floats, known: Integers, lengths: Integers) -> Floats:
        """Return ln T where 1 - V is known / 2^53."""
        with np.errstate(divide="ignore"):
            late = -np.log1p(-known * 2.0**-_BITS) / lengths
            late = late if self.rule == "exponential" else -np.expm1(-late)
            return np.asarray(x + np.log(late), dtype=np.float64)

    def _settle(self, runners: Sequence[_Runner]) -> int:
        """Return the run that arrives first, drawing more of each V."""
        bits, left = _BITS, list(runners)
        while len(left) > 1:
            bits += _MORE
            left = [runner.extended() for runner in left]
            ends = [self._enclosed(runner, bits) for runner in left]
            soonest = min(high for _, high in ends)
            left = [r for r, (low, _) in zip(left, ends, strict=True) if low <= soonest]
        return left[0].run

    def _enclosed(self, runner: _Runner, bits: int) -> tuple[Decimal, Decimal]:
        """Return ln T at both ends of what is known of V, rounded outwards.

        Of 60 + bits digits, 1 - exp(-late) loses at most those of 2^bits · length: what
        is left is far better than the slack.
        """
        working = context(60 + bits)
        x = working.divide(Decimal(runner.x.numerator), Decimal(runner.x.denominator))
        slack = working.scaleb(working.add(1, x), -(30 + bits // 2))
        found = []
        for number in (runner.known, runner.known + 1):
            survived = working.divide(Decimal((1 << bits) - number), Decimal(1 << bits))
            late = working.divide(-working.ln(survived), Decimal(runner.length))
            if self.rule == "permute_and_flip":
                late = working.subtract(1, working.exp(late.copy_negate()))
            found.append(working.add(x, working.ln(late)))
        return working.subtract(found[0], slack), working.add(found[1], slack)


@final
@dataclass(frozen=True, slots=True)
class _Runner:
    """A run that may have won: its exponent, and the bits known of 1 - V."""

    run: int
    x: Fraction
    length: int
    known: int

    def extended(self) -> _Runner:
        more = int.from_bytes(random_bytes(_MORE // 8), "little")
        known = (self.known << _MORE) | more
        return _Runner(self.run, self.x, self.length, known)


def _uniform_below(limits: Integers) -> Integers:
    """Return independent uniform integers, 0 <= n < limit."""
    bounds = limits.astype(np.uint64)
    # Words from the last whole multiple of the limit on are drawn again.
    excess = (np.uint64(2**63) % bounds * np.uint64(2)) % bounds
    last = np.uint64(2**64 - 1) - excess
    words = random_uint64(limits.size).copy()
    while (again := (words > last).nonzero()[0]).size:
        words[again] = random_uint64(again.size)
    return (words % bounds).astype(np.int64)
