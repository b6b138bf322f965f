r"""Polynomials of several counts.

T of a monomial is the product of its bins' T x^k, for bins are independent. The
variance is estimated by V = g² - T(f²), f² being a polynomial again. Both are sums of
large terms of either sign, so they are added up as fractions and rounded once. Pairs of
monomials without a common bin have T(ab) = T a T b and add nothing to V.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, final

import numpy as np

from dpframe.errors import ParameterError, UnstableEstimateError, shown
from dpframe.estimands.estimand import Debiased, Estimand, swamped
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.noisy_numbers import NoisyNumbers
from dpframe.estimands.power_sums import MOST_POWER
from dpframe.estimands.stencil import Stencil
from dpframe.privacy.amounts import Amount, as_fraction

__all__ = ["Polynomial", "polynomial"]

Monomial = tuple[tuple[int, int], ...]  # (bin, power) in order of bins, powers over 0
Powers = Callable[[int, int], Fraction]  # a bin and k to x^k, or to T x^k

_EXAMPLE = "polynomial([(2, {0: 2, 1: 1}), (-1.5, {2: 3})])"


@final
@dataclass(frozen=True, repr=False)
class Polynomial(Estimand):
    """A polynomial of several counts; made by `polynomial`."""

    terms: dict[Monomial, Fraction]
    name: str

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the polynomial of the noisy counts, cut to the domain."""
        return _as_float(self._value(self._plain(noisy)))

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the unbiased estimate and its unbiased variance."""
        return self._estimate(self._plain(noisy), self._inverse(noisy))

    def debias_numbers(self, noisy: NoisyNumbers) -> tuple[float, Debiased]:
        """Return the plug-in and the unbiased estimate."""
        plain = self._plain(noisy)
        found = self._estimate(plain, cache(noisy.power))
        return _as_float(self._value(plain)), found

    def _value(self, power: Powers) -> Fraction:
        return sum((a * _product(m, power) for m, a in self.terms.items()), Fraction(0))

    def _estimate(self, plain: Powers, inverse: Powers) -> Debiased:
        variance = _as_float(self._variance(inverse))
        sizes = (abs(a * _product(m, plain)) for m, a in self.terms.items())
        size = _as_float(sum(sizes, Fraction(0)))
        return Debiased(
            _as_float(self._value(inverse)), variance, swamped(variance, size)
        )

    def _variance(self, inverse: Powers) -> Fraction:
        """Return the sum over pairs of T a T b - T(ab)."""
        means = {m: _product(m, inverse) for m in self.terms}
        holders: defaultdict[int, set[Monomial]] = defaultdict(set)
        for m in self.terms:
            for place, _ in m:
                holders[place].add(m)
        total = Fraction(0)
        for m, a in self.terms.items():
            for other in set().union(*(holders[place] for place, _ in m)):
                if other > m:
                    continue  # met from the other side, and counted twice there
                joint = means[m] * means[other] - _product(_times(m, other), inverse)
                total += (1 if other == m else 2) * a * self.terms[other] * joint
        return total

    def _plain(self, noisy: NoisyCounts | NoisyNumbers) -> Powers:
        places = self._places(noisy)
        numbers = noisy.clip(noisy.values.ravel()[places])  # type: ignore[arg-type]
        known = dict(zip(places, map(Fraction, numbers.tolist()), strict=True))
        return lambda place, k: known[place] ** k

    def _inverse(self, noisy: NoisyCounts) -> Powers:
        places = self._places(noisy)
        used = NoisyCounts(
            noisy.values.ravel()[places], noisy.rate.ravel()[places], noisy.domain
        )
        stencil = Stencil.of(used)
        weights = zip(
            *(map(Fraction, a.tolist()) for a in (stencil.up, stencil.down)),
            strict=True,
        )
        known = dict(
            zip(places, zip(stencil.center.tolist(), weights, strict=True), strict=True)
        )

        @cache
        def power(place: int, k: int) -> Fraction:
            z, (up, down) = known[place]
            rise, fall = (z + 1) ** k - z**k, (z - 1) ** k - z**k
            return Fraction(z**k - up * rise - down * fall)

        return power

    def _places(self, noisy: NoisyCounts | NoisyNumbers) -> list[int]:
        places = sorted({place for m in self.terms for place, _ in m})
        size = noisy.values.size
        if places and places[-1] >= size:
            msg = (
                f"the polynomial uses bin {places[-1]}, and there are {size} counts: "
                "bins are numbered from 0 in the order of the counts."
            )
            raise ParameterError(msg)
        return places


def polynomial(terms: Iterable[tuple[Amount, Mapping[int, int]]]) -> Polynomial:
    """Make the estimand: a polynomial of several counts.

    Exact sums of fractions: 1,000 terms that share bins take seconds, the time grows
    with the number of pairs of terms that have a bin in common. For sums of one
    function over all bins `power_sum` and `separable` are faster.

    Parameters
    ----------
    terms : list of (coefficient, {bin: power, …})
        Bins are numbered from 0, a table row by row; powers are whole numbers from 0
        to 1,000. ``{}`` is the constant 1. Like terms are added.

    Raises
    ------
    ParameterError
        If a term is none of these; when it is estimated, if a bin is not there.

    Examples
    --------
    >>> from dpframe.estimands import debias, polynomial
    >>> squared_difference = polynomial([(1, {0: 2}), (-2, {0: 1, 1: 1}), (1, {1: 2})])
    >>> e = debias([110, 100], squared_difference, epsilon=1.0)
    >>> e.plug_in, e.plug_in - e.value  # 4c: the noise variance of a difference
    (100.0, 3.68269...)
    """
    if isinstance(terms, (str, bytes, Mapping)) or not isinstance(terms, Iterable):
        msg = f"polynomial needs a list of terms, for example {_EXAMPLE}."
        raise ParameterError(msg)
    collected: defaultdict[Monomial, Fraction] = defaultdict(Fraction)
    for term in terms:
        coefficient, monomial = _read(term)
        collected[monomial] += coefficient
    kept = {m: a for m, a in collected.items() if a}
    return Polynomial(kept, f"polynomial({len(kept)} terms)")


def _read(term: Any) -> tuple[Fraction, Monomial]:
    pair = isinstance(term, Sequence) and not isinstance(term, str) and len(term) == 2
    if not pair or not isinstance(term[1], Mapping):
        msg = f"a term is a pair (coefficient, {{bin: power}}), as in {_EXAMPLE}."
        raise ParameterError(msg)
    coefficient, powers = term
    for place, power in powers.items():
        if not _is_whole(place) or place < 0:
            msg = (
                f"a bin is its number from 0 on, as in {_EXAMPLE}; got {shown(place)}."
            )
            raise ParameterError(msg)
        if not _is_whole(power) or not 0 <= power <= MOST_POWER:
            msg = (
                f"a power must be a whole number from 0 to {MOST_POWER:,}; "
                f"got {shown(power)}."
            )
            raise ParameterError(msg)
    monomial = sorted((int(place), int(k)) for place, k in powers.items() if k)
    return as_fraction(coefficient, "a coefficient"), tuple(monomial)


def _is_whole(number: Any) -> bool:
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def _times(one: Monomial, other: Monomial) -> Monomial:
    powers = defaultdict(int, one)
    for place, k in other:
        powers[place] += k
    return tuple(powers.items())


def _product(monomial: Monomial, power: Powers) -> Fraction:
    return math.prod((power(place, k) for place, k in monomial), start=Fraction(1))


def _as_float(number: Fraction) -> float:
    if abs(number) < 10**300:
        return float(number)
    msg = (
        "the polynomial or its variance is beyond 1e300 at these counts. Use smaller "
        "powers or coefficients."
    )
    raise UnstableEstimateError(msg)
