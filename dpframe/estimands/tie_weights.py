r"""How bins that share a noisy count step away from it, in decimals.

T of an event is a signed probability: it adds up to 1, and bins are independent under
it. A bin steps up with -up, down with -down and stays with 1 + up + down (see
`dpframe.estimands.stencil`). A law is the list of the probabilities of 0, 1, 2, …; it
alternates in sign and its absolute values may add up to 1e300, so that the weights
themselves are computed to the digits of the current decimal context.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from functools import reduce
from itertools import accumulate, repeat
from operator import mul
from typing import NamedTuple

__all__ = ["Law", "StepWeights", "Tie", "product"]

Law = list[Decimal]

_MOST_TERMS = 1_000_000


class StepWeights(NamedTuple):
    """The weights of one bin, to the digits of the current decimal context."""

    up: Decimal
    down: Decimal

    @classmethod
    def of(cls, rate: float, *, rises: bool, falls: bool) -> StepWeights:
        """Return the weights for noise of ``rate``, away from an end or at one."""
        kept = (-Decimal(rate)).exp()
        d = kept / (1 - kept)
        step = d * (1 + d) if rises and falls else d
        return cls(step * rises, step * falls)

    @property
    def stay(self) -> Decimal:
        """The weight of the noisy count itself."""
        return 1 + self.up + self.down


class Tie(NamedTuple):
    """Bins with the same noisy count: how many there are with which weights."""

    bins: tuple[tuple[StepWeights, int], ...]

    @property
    def risers(self) -> Law:
        """The law of how many bins step up."""
        return _product_of(_power(1 + w.up, -w.up, n) for w, n in self.bins)

    @property
    def fallers(self) -> Law:
        """The law of how many bins step down."""
        return _product_of(_power(1 + w.down, -w.down, n) for w, n in self.bins)

    @property
    def size(self) -> int:
        """How many bins there are."""
        return sum(count for _, count in self.bins)

    def expect(self, by_fall: Law, by_rise: Law) -> Decimal | None:
        """Return the expectation of by_fall[fallers] · by_rise[risers].

        Zeros at the start of both shorten the sum: they say that few bins may stay.
        None if it had more than about a million terms.
        """
        kinds = len(self.bins)
        stay = self.size - _zeros(by_fall) - _zeros(by_rise)
        if stay < 0 or not kinds:
            return Decimal(0) if stay < 0 else by_fall[0] * by_rise[0]
        if (stay + 1) * max(stay + 1, (self.size + 1) * (kinds - 1)) > _MOST_TERMS:
            return None
        if kinds == 1:
            return _expect_of_one_kind(*self.bins[0], by_fall, by_rise)
        laws = [_trinomial(weights, count, stay) for weights, count in self.bins]
        joint = reduce(lambda p, q: _product_of_rows(p, q, stay), laws)
        return _expect_of_joint(joint, by_fall, by_rise)


def product(p: Law, q: Law) -> Law:
    """Return the law of the sum of two independent numbers."""
    if len(p) < len(q):
        p, q = q, p
    result = [Decimal(0)] * (len(p) + len(q) - 1)
    for shift, factor in enumerate(q):
        for place, term in enumerate(p, start=shift):
            result[place] += factor * term
    return result


def _product_of(laws: Iterable[Law]) -> Law:
    result = [Decimal(1)]
    for law in laws:
        result = product(result, law)
    return result


def _power(stay: Decimal, step: Decimal, count: int) -> Law:
    """Return the coefficients of (stay + step s)^count."""
    binomials = accumulate(
        range(count), lambda b, j: b * (count - j) / (j + 1), initial=Decimal(1)
    )
    stays = _powers(stay, count)[::-1]
    return list(map(mul, binomials, map(mul, stays, _powers(step, count))))


def _powers(base: Decimal, most: int) -> Law:
    return list(accumulate(repeat(base, most), mul, initial=Decimal(1)))


def _expect_of_one_kind(
    weights: StepWeights, count: int, by_fall: Law, by_rise: Law
) -> Decimal:
    """Return the expectation by the multinomial theorem, one product a term."""
    stay = _exponential(weights.stay, count)
    fall = list(map(mul, _exponential(-weights.down, count), by_fall))
    rise = list(map(mul, _exponential(-weights.up, count), by_rise))
    least = _zeros(by_rise)
    total = Decimal(0)
    for i in range(_zeros(by_fall), count - least + 1):
        terms = map(mul, rise[least:], stay[count - least - i :: -1])
        total += fall[i] * sum(terms, Decimal(0))
    return _factorial(count) * total


def _expect_of_joint(joint: list[Law], by_fall: Law, by_rise: Law) -> Decimal:
    total = Decimal(0)
    for i, law in enumerate(joint):
        values = map(mul, by_fall, by_rise[len(by_rise) - 1 - i :: -1])
        total += sum(map(mul, law, values), Decimal(0))
    return total


def _zeros(law: Law) -> int:
    """Return how many zeros ``law`` starts with."""
    return next((i for i, term in enumerate(law) if term), len(law))


def _trinomial(weights: StepWeights, count: int, most: int) -> list[Law]:
    """Return the law by [stayers][fallers], for no more than ``most`` that stay."""
    n = _factorial(count)
    stay = [n * x for x in _exponential(weights.stay, min(most, count))]
    fall, rise = (_exponential(-w, count) for w in (weights.down, weights.up))
    return [
        [m * f * r for f, r in zip(fall, rise[count - i :: -1], strict=False)]
        for i, m in enumerate(stay)
    ]


def _factorial(n: int) -> Decimal:
    return math.prod(map(Decimal, range(2, n + 1)), start=Decimal(1))


def _exponential(base: Decimal, most: int) -> Law:
    """Return base^i / i! for i up to ``most``."""
    return list(
        accumulate(range(1, most + 1), lambda x, i: x * base / i, initial=Decimal(1))
    )


def _product_of_rows(p: list[Law], q: list[Law], most: int) -> list[Law]:
    """Multiply joint laws; row m of one holds as many fallers as bins less m."""
    fallers = len(p[0]) + len(q[0]) - 1
    rows = min(most + 1, len(p) + len(q) - 1)
    result = [[Decimal(0)] * (fallers - row) for row in range(rows)]
    for i, first in enumerate(p):
        for j, second in enumerate(q[: rows - i]):
            terms = product(first, second)
            result[i + j] = [x + y for x, y in zip(result[i + j], terms, strict=True)]
    return result
