r"""Numbers with continuous Laplace noise: g = f - b² f''.

Noise of density e^(-|s|/b)/(2b) has the transform 1/(1 - b² t²), so 1 - b² d²/dx²
undoes it. Where the truth is known to be at least lo, every y <= lo is read as
f(lo) - b f'(lo); likewise y >= hi as f(hi) + b f'(hi): docs/proofs/debias_polynomials,
theorem 5. The variance of the estimate follows without a difference of large numbers,

    T f T g - T(f g) = b⁴ f'' g'' + 2 b² f' g'   inside,   b² f' g'   at an end.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
import numpy.typing as npt

from dpframe.estimands.noisy_numbers import (
    ExponentialTerms,
    NoInverseError,
    NoisyNumbers,
    RealDomain,
    read_numbers,
    read_parameter,
    read_real_domain,
)
from dpframe.estimands.smooth_functions import SmoothFunction

__all__ = ["LaplaceNumbers"]

Floats = npt.NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class LaplaceNumbers(NoisyNumbers):
    """Numbers with independent continuous Laplace noise.

    Parameters
    ----------
    values : array of float, shape (n,) or (r, s)
        Noisy numbers.
    scale : float or array of shape (n,)
        Scale b = sensitivity / epsilon of the noise; its variance is 2 b².
    domain : {"counts", "integers"} or (lo, hi)
        What is public about the true values, which may be fractional: at least 0;
        any number; within ``lo`` and ``hi``, ``None`` for an open end.

    Raises
    ------
    ParameterError
        If one of them is none of these.

    References
    ----------
    .. [1] docs/proofs/debias_polynomials.rst, theorem 5.
    """

    values: Floats
    scale: Floats
    domain: RealDomain = "counts"

    def __post_init__(self) -> None:
        values = read_numbers(self.values)
        scale = read_parameter(self.scale, values.size, "epsilon and sensitivity")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "domain", read_real_domain(self.domain))

    @property
    def reach(self) -> float:
        """1 / b, the least of all bins."""
        return float((1 / self.scale).min(initial=np.inf))

    def inverts(self, f: object) -> bool:
        """Return whether f knows its derivatives."""
        return isinstance(f, SmoothFunction)

    def apply(self, f: SmoothFunction) -> Floats:
        """Return f - b² f'', at an end f ∓ b f'."""
        here, slope, curve = f.derivatives(self.clip(self.values))
        b = self.scale
        return here - np.where(self._inside, b * b * curve, self._side * b * slope)

    def covariance(self, f: SmoothFunction, g: SmoothFunction) -> Floats:
        """Return the estimated covariance of T f and T g; never negative for f = g."""
        z, b = self.clip(self.values), self.scale
        _, f_slope, f_curve = f.derivatives(z)
        _, g_slope, g_curve = g.derivatives(z)
        slopes = b * f_slope * (b * g_slope)
        curves = b * b * f_curve * (b * b * g_curve)
        return np.where(self._inside, 2 * slopes + curves, self._side**2 * slopes)

    def power(self, place: int, k: int) -> Fraction:
        """Return y^k - b² k (k-1) y^(k-2), at an end z^k ∓ b k z^(k-1)."""
        z = Fraction(float(self.clip(self.values[place])))
        b = Fraction(float(self.scale[place]))
        if self._inside[place]:
            return z**k - (b * b * k * (k - 1) * z ** (k - 2) if k >= 2 else 0)
        return z**k - (int(self._side[place]) * b * k * z ** (k - 1) if k else 0)

    def exponential(self, t: float) -> ExponentialTerms:
        """Return the factors (1 - b t)(1 + b t), at an end the one of its side."""
        bt = self.scale * t
        edge = self._side * bt
        factor = np.where(self._inside, (1 - bt) * (1 + bt), 1 - edge)
        spread = np.where(self._inside, bt**4 + 2 * bt**2, edge**2)
        with np.errstate(divide="ignore"):
            return ExponentialTerms(
                exponent=t * self.clip(self.values),
                sign=np.sign(factor),
                log_factor=np.log(np.abs(factor)),
                log_spread=np.log(spread),
            )

    def refuse(self, name: str) -> NoInverseError:
        """Say that kinks and jumps rule an unbiased estimate out."""
        return NoInverseError(
            f"{name} has no unbiased estimate that is known under continuous Laplace "
            "noise. Where the statistic has kinks or jumps there is none: the "
            "expectation of any estimate is continuously differentiable in the true "
            "value. Polynomials, partition_function and smooth(f, first, second) have "
            "one; for all else release integers with discrete noise (noise='laplace')."
        )

    @property
    def _inside(self) -> npt.NDArray[np.bool_]:
        """Bins whose noisy number is strictly within the ends."""
        low, high = self.ends
        inside = np.ones(self.values.shape, dtype=bool)
        if low is not None:
            inside &= self.values > low
        return inside if high is None else inside & (self.values < high)

    @property
    def _side(self) -> Floats:
        """1 at a lower end, -1 at an upper one, 0 inside or where both are one."""
        low, high = self.ends
        side = np.zeros(self.values.shape)
        if low is not None and low == high:
            return side
        if low is not None:
            side[self.values <= low] = 1
        if high is not None:
            side[self.values >= high] = -1
        return side
