"""Functions of one true value that are smooth over the reals, with derivatives.

Only these can be debiased from continuous Laplace noise, and of them only the
polynomials from Gaussian noise.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from dpframe.errors import UnstableEstimateError
from dpframe.estimands.pointwise import pointwise, real

__all__ = ["SmoothFunction", "TwiceDifferentiable", "UnivariatePolynomial"]

Floats = npt.NDArray[np.float64]

# Beyond, coefficients are floats that nobody wrote by hand: no use in exact sums.
_LARGEST_DENOMINATOR = 2**20


class SmoothFunction(ABC):
    """A function f of one number that has two derivatives."""

    @abstractmethod
    def __call__(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return f at whole numbers: exact objects where floats are not."""

    @abstractmethod
    def derivatives(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return f, f' and f'' at any real numbers, shape (n,) each."""


@final
@dataclass(frozen=True)
class TwiceDifferentiable(SmoothFunction):
    """A user's function with the derivatives that came with it."""

    f: Callable[[Any], Any]
    first: Callable[[Any], Any]
    second: Callable[[Any], Any]

    def __call__(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the user's f at ``x``."""
        values: npt.NDArray[Any] = self.f(x)
        return values

    def derivatives(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return all three functions at ``x``, vectorized or not."""
        here, slope, curve = (
            real(pointwise(g, x)) for g in (self.f, self.first, self.second)
        )
        return here, slope, curve


@final
@dataclass(frozen=True)
class UnivariatePolynomial(SmoothFunction):
    """The polynomial with ``coefficients`` of 1, x, x², …, none of them rounded."""

    coefficients: tuple[Fraction, ...]

    @classmethod
    def power(cls, k: int) -> Self:
        """Return x^k."""
        return cls((*(Fraction(0),) * k, Fraction(1)))

    @classmethod
    def binomial(cls, k: int) -> Self:
        """Return x(x-1)…(x-k+1)/k!."""
        product = [Fraction(1, math.factorial(k))]
        for j in range(k):
            shifted = [Fraction(0), *product]
            scaled = [j * a for a in product] + [Fraction(0)]
            product = [a - b for a, b in zip(shifted, scaled, strict=True)]
        return cls(tuple(product))

    @property
    def degree(self) -> int:
        """Highest power that is written down."""
        return len(self.coefficients) - 1

    @property
    def slope(self) -> UnivariatePolynomial:
        """The derivative."""
        return UnivariatePolynomial(
            tuple(j * a for j, a in enumerate(self.coefficients) if j) or (Fraction(0),)
        )

    def __mul__(self, other: UnivariatePolynomial) -> UnivariatePolynomial:
        product = [Fraction(0)] * (self.degree + other.degree + 1)
        for i, a in enumerate(self.coefficients):
            for j, b in enumerate(other.coefficients):
                product[i + j] += a * b
        return UnivariatePolynomial(tuple(product))

    def __sub__(self, other: UnivariatePolynomial) -> UnivariatePolynomial:
        pairs = zip_longest(
            self.coefficients, other.coefficients, fillvalue=Fraction(0)
        )
        return UnivariatePolynomial(tuple(a - b for a, b in pairs))

    def __call__(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the polynomial at whole numbers, as Python numbers where it is large.

        Floats are exact while every term, times the common denominator, is at most
        2**53.
        """
        denominator = math.lcm(*(a.denominator for a in self.coefficients))
        whole = [int(a * denominator) for a in self.coefficients]
        largest = int(np.abs(x).max(initial=0))
        if sum(abs(a) * largest**j for j, a in enumerate(whole)) <= 2**53:
            return _horner(whole, x) / denominator
        if denominator > _LARGEST_DENOMINATOR:
            return self.at(x)
        exact = _horner(whole, x.astype(np.int64).astype(object))
        return exact if denominator == 1 else exact * Fraction(1, denominator)

    def derivatives(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the polynomial and its derivatives in floats."""
        return self.at(x), self.slope.at(x), self.slope.slope.at(x)

    def at(self, x: Floats) -> Floats:
        """Return the polynomial at any real numbers, in floats."""
        try:
            return _horner([float(a) for a in self.coefficients], x)
        except OverflowError:
            msg = "the polynomial's coefficients are beyond float64 under this noise."
            raise UnstableEstimateError(msg) from None


def _horner(coefficients: Sequence[float], x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    total = np.full_like(x, coefficients[-1])
    for a in reversed(coefficients[:-1]):
        total = total * x + a
    return total
