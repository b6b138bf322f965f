r"""The inverse of discrete Laplace noise, one bin at a time.

For noise of rate a write d = 1/(e^a - 1) and c = d(1 + d) = 1/(4 sinh²(a/2)),
half the noise variance. The operator

    T f(y) = f(z) - up · [f(z+1) - f(z)] - down · [f(z-1) - f(z)]

takes z = y and up = down = c. Where the truth is known to be at least lo (0 for
counts) every y <= lo is read as z = lo with up = d, down = 0; likewise y >= hi is
read as z = hi with up = 0, down = d. Then E[T f(x + noise)] = f(x) for every x of
the domain: docs/proofs/debias.rst, theorem 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Self, final

import numpy as np
import numpy.typing as npt

from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.pointwise import difference, pointwise, real

__all__ = ["LocalValues", "Stencil", "inverse_weights"]

Floats = npt.NDArray[np.float64]


class LocalValues(NamedTuple):
    """A function near each bin's noisy count, as one value and two steps."""

    here: Floats  # f(z), shape (n,)
    up: Floats  # f(z + 1) - f(z), 0 where the stencil does not step up
    down: Floats  # f(z - 1) - f(z), 0 where the stencil does not step down

    @property
    def square(self) -> LocalValues:
        """The same description of the function's square."""
        return LocalValues(
            self.here**2,
            self.up * (2 * self.here + self.up),
            self.down * (2 * self.here + self.down),
        )

    def scaled(self, factor: npt.NDArray[Any] | float) -> LocalValues:
        """The function times a number, one for all bins or one for each."""
        return LocalValues(*(part * factor for part in self))

    def plus(self, other: LocalValues) -> LocalValues:
        """The sum of two functions."""
        return LocalValues(*(a + b for a, b in zip(self, other, strict=True)))


@final
@dataclass(frozen=True, eq=False)
class Stencil:
    """The weights of T in every bin; all arrays have shape (n,).

    ``center`` is z, ``up`` and ``down`` the weights taken from z + 1 and z - 1
    and given to z, ``d`` the edge weight 1/(e^rate - 1).
    """

    center: npt.NDArray[np.int64]
    up: Floats
    down: Floats
    d: Floats
    rate: Floats

    @classmethod
    def of(cls, noisy: NoisyCounts) -> Self:
        """Place the stencil of every bin inside the domain."""
        values, rate = noisy.values.ravel(), noisy.rate.ravel()
        center = noisy.clip(values)
        low, high = noisy.ends
        at_low = np.zeros(center.shape, bool) if low is None else center == low
        at_high = np.zeros(center.shape, bool) if high is None else center == high
        c, d = inverse_weights(rate)
        return cls(
            center=center,
            up=np.where(at_high, 0.0, np.where(at_low, d, c)),
            down=np.where(at_low, 0.0, np.where(at_high, d, c)),
            d=d,
            rate=rate,
        )

    def part(self, bins: npt.NDArray[np.bool_]) -> Self:
        """The stencil of some of the bins."""
        return replace(
            self, **{each.name: getattr(self, each.name)[bins] for each in fields(self)}
        )

    @property
    def points(self) -> npt.NDArray[np.int64]:
        """Each z, z + 1 and z - 1, shape (3, n); z again where no step is made."""
        steps = np.stack([np.zeros_like(self.up), self.rises, -1.0 * self.falls])
        return self.center + steps.astype(np.int64)

    @property
    def rises(self) -> npt.NDArray[np.bool_]:
        """Whether the stencil of a bin uses z + 1."""
        return self.up > 0

    @property
    def falls(self) -> npt.NDArray[np.bool_]:
        """Whether the stencil of a bin uses z - 1."""
        return self.down > 0

    def evaluate(self, f: Callable[[Any], Any]) -> LocalValues:
        """Evaluate ``f`` where the stencil needs it and nowhere else."""
        points = self.points
        if not points.size:
            return LocalValues(np.zeros(0), np.zeros(0), np.zeros(0))
        here, up, down = pointwise(f, points.ravel()).reshape(points.shape)
        return LocalValues(real(here), difference(up, here), difference(down, here))

    def apply(self, local: LocalValues) -> Floats:
        """Return T f(y) of every bin."""
        return local.here - self.up * local.up - self.down * local.down

    def variance(self, local: LocalValues) -> Floats:
        """Return the unbiased estimate of Var T f(y), of every bin.

        This is (T f)² - T(f²). Both parts are large and nearly equal; it does not
        change when a constant is taken from f, and with f(z) taken it is a sum of
        squares, so it is exact in floats and never negative.
        """
        return self.covariance(local, local)

    def covariance(self, one: LocalValues, other: LocalValues) -> Floats:
        """Return the unbiased estimate of Cov(T f(y), T g(y)), of every bin."""
        mean = self.up * one.up + self.down * one.down
        other_mean = self.up * other.up + self.down * other.down
        return (
            mean * other_mean
            + self.up * one.up * other.up
            + self.down * one.down * other.down
        )


def inverse_weights(rate: Floats) -> tuple[Floats, Floats]:
    """Return (c, d) for noise of the given rate.

    c = e^-a/(1 - e^-a)² and d = e^-a/(1 - e^-a): expm1, for 1 - e^-a cancels at
    small a, and e^-a rather than e^a, which underflows harmlessly at large a.
    """
    kept = np.exp(-rate)
    lost = -np.expm1(-rate)
    return kept / lost**2, kept / lost
