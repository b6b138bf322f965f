r"""Numbers with Gaussian noise, discrete or continuous: polynomials and exponentials.

With 1/E e^(s noise) = Σ q_j s^j/j! the inverse is T x^k = Σ C(k, j) q_j y^(k-j) and
T e^(tx) = e^(ty)/E e^(t noise). No other f is inverted: on the integers its filter has
no end, and a norm of e^(π² sigma2/2). The ends of the domain do not help, for the law
has no memoryless tail; they cut the plug-in only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError
from dpframe.estimands.gaussian_moments import inverse_moments, log_transform
from dpframe.estimands.noisy_numbers import (
    ExponentialTerms,
    NoInverseError,
    NoisyNumbers,
    RealDomain,
    read_numbers,
    read_parameter,
    read_real_domain,
)
from dpframe.estimands.smooth_functions import SmoothFunction, UnivariatePolynomial

__all__ = ["GaussianNumbers"]

Floats = npt.NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class GaussianNumbers(NoisyNumbers):
    """Numbers with independent Gaussian noise.

    Parameters
    ----------
    values : array of float, shape (n,) or (r, s)
        Noisy numbers; whole ones if the noise is discrete.
    sigma2 : float or array of shape (n,)
        Parameter of the noise, Pr[k] ∝ exp(-k² / (2 sigma2)), or its density.
    domain : {"counts", "integers"} or (lo, hi)
        What is public about the true values; it cuts the plug-in only.
    discrete : bool
        Whether the noise lives on the integers.

    Raises
    ------
    ParameterError
        If one of them is none of these.

    References
    ----------
    .. [1] docs/proofs/debias_polynomials.rst, theorem 6.
    """

    values: Floats
    sigma2: Floats
    domain: RealDomain = "counts"
    discrete: bool = True

    def __post_init__(self) -> None:
        values = read_numbers(self.values)
        if self.discrete and not (np.floor(values) == values).all():
            msg = (
                "counts must be whole numbers: discrete Gaussian noise leaves "
                "integers. Say noise='continuous_gaussian' if it was continuous."
            )
            raise ParameterError(msg)
        sigma2 = read_parameter(self.sigma2, values.size, "sigma2")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "sigma2", sigma2)
        object.__setattr__(self, "domain", read_real_domain(self.domain))

    @property
    def reach(self) -> float:
        """Infinity: every exponential has an expectation."""
        return math.inf

    def inverts(self, f: object) -> bool:
        """Return whether f is a polynomial."""
        return isinstance(f, UnivariatePolynomial)

    def apply(self, f: SmoothFunction) -> Floats:
        """Return T f(y) of a polynomial."""
        assert isinstance(f, UnivariatePolynomial)
        return self._by_law(lambda sigma2: self._inverse(f, sigma2))

    def covariance(self, f: SmoothFunction, g: SmoothFunction) -> Floats:
        """Return T f T g - T(f g): a polynomial whose leading terms cancel exactly."""
        assert isinstance(f, UnivariatePolynomial)
        assert isinstance(g, UnivariatePolynomial)

        def difference(sigma2: Fraction) -> UnivariatePolynomial:
            product = self._inverse(f, sigma2) * self._inverse(g, sigma2)
            return product - self._inverse(f * g, sigma2)

        return self._by_law(difference)

    def power(self, place: int, k: int) -> Fraction:
        """Return Σ C(k, j) q_j y^(k-j)."""
        y, sigma2 = (Fraction(float(a[place])) for a in (self.values, self.sigma2))
        q = inverse_moments(sigma2, k, discrete=self.discrete)
        return sum(
            (math.comb(k, j) * q[j] * y ** (k - j) for j in range(k + 1)), Fraction(0)
        )

    def exponential(self, t: float) -> ExponentialTerms:
        """Return the factor 1 / E e^(t noise), and the variance it leaves."""
        logs, spreads = np.zeros(self.values.shape), np.zeros(self.values.shape)
        for sigma2 in np.unique(self.sigma2):
            once, twice = (
                log_transform(Fraction(sigma2), Fraction(u), discrete=self.discrete)
                for u in (t, 2 * t)
            )
            excess = float(twice - 2 * once)  # in decimals, for it may be tiny
            bins = self.sigma2 == sigma2
            logs[bins] = -float(once)
            spread = -math.expm1(-excess)
            spreads[bins] = math.log(spread) - 2 * float(once) if spread else -math.inf
        return ExponentialTerms(
            exponent=t * self.values,
            sign=np.ones(self.values.shape),
            log_factor=logs,
            log_spread=spreads,
        )

    def refuse(self, name: str) -> NoInverseError:
        """Say that only polynomials and exponentials have an inverse."""
        return NoInverseError(
            f"{name} has no exact inverse under Gaussian noise: only polynomials "
            "(power_sum, moment, variance, k_stars, polynomial) and "
            "partition_function have one. Release the histogram with noise='laplace'."
        )

    def _inverse(
        self, f: UnivariatePolynomial, sigma2: Fraction
    ) -> UnivariatePolynomial:
        """Return T f as a polynomial in the noisy number."""
        q = inverse_moments(sigma2, f.degree, discrete=self.discrete)
        result = [Fraction(0)] * (f.degree + 1)
        for k, a in enumerate(f.coefficients):
            for j in range(0, k + 1, 2):
                result[k - j] += a * math.comb(k, j) * q[j]
        return UnivariatePolynomial(tuple(result))

    def _by_law(self, polynomial: Callable[[Fraction], UnivariatePolynomial]) -> Floats:
        """Evaluate in every bin the polynomial that belongs to its sigma2."""
        result = np.zeros(self.values.shape)
        for sigma2 in np.unique(self.sigma2):
            bins = self.sigma2 == sigma2
            result[bins] = polynomial(Fraction(sigma2)).at(self.values[bins])
        return result
