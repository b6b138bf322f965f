r"""The variance of the counts over bins, with n - 1 below.

Let m_i = T x_i be the unbiased counts and v_i, u_i, w_i the estimated covariances of
(T x, T x), (T x², T x) and (T x², T x²) in bin i, S = Σ m_i. Then

    g = (sample variance of the m_i) - (1/n) Σ v_i,
    V = [ (1 - 1/n)² Σ w_i - (4/n)(1 - 1/n) Σ u_i (S - m_i)
          + (4/n²) Σ v_i (S - m_i)² - (2/n²) ((Σ v_i)² - Σ v_i²) ] / (n - 1)²

are unbiased for the variance of x and for Var g: docs/proofs/debias_polynomials.rst,
theorem 8. Counting from the mean changes neither and keeps all terms small.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError
from dpframe.estimands.estimand import Debiased, Estimand, swamped
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.noisy_numbers import NoisyNumbers
from dpframe.estimands.separable_sums import add_up
from dpframe.estimands.smooth_functions import UnivariatePolynomial
from dpframe.estimands.stencil import LocalValues, Stencil

__all__ = ["SampleVariance", "variance"]

Floats = npt.NDArray[np.float64]

_FIRST, _SECOND = UnivariatePolynomial.power(1), UnivariatePolynomial.power(2)


@final
class SampleVariance(Estimand):
    """Variance of the counts over bins, Σ (x_i - mean)² / (n - 1), in squared rows.

    Use the instance `dpframe.estimands.variance`. The estimate is the sample variance
    of the unbiased counts less their mean noise variance; its own variance is
    estimated without bias, in O(n), and may come out negative.

    Raises
    ------
    ParameterError
        When it is estimated from fewer than two bins.

    References
    ----------
    .. [1] docs/proofs/debias_polynomials.rst, theorem 8.

    Examples
    --------
    >>> from dpframe.estimands import debias, variance
    >>> e = debias([102, 98, 100], variance, epsilon=1.0)
    >>> e.plug_in
    4.0
    >>> e.plug_in - e.value  # 2c, the noise variance
    1.84134...
    """

    name = "variance"

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the variance of the noisy counts, cut to the domain."""
        distinct, numbers = noisy.tally
        return _spread(noisy.clip(distinct.values.ravel()), numbers)

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the unbiased estimate and its unbiased variance."""
        distinct, numbers = noisy.tally
        center = _center(noisy.clip(distinct.values.ravel()), numbers)
        low, high = (None if end is None else end - center for end in noisy.ends)
        values = distinct.values - center
        shifted = replace(distinct, values=values, domain=(low, high))
        stencil = Stencil.of(shifted)
        first, second = stencil.evaluate(_FIRST), stencil.evaluate(_SECOND)
        terms = _Terms(
            m=stencil.apply(first),
            v=stencil.covariance(first, first),
            u=stencil.covariance(second, first),
            w=stencil.covariance(second, second),
            numbers=numbers,
        )
        return _estimate(terms, self.plug_in(noisy))

    def given_total(self, stencil: Stencil, total: int) -> LocalValues:
        """Return the terms (z - N/n)² / (n - 1): with N known, so is the mean."""
        n = _two_or_more(stencil.center.size)
        mean = total / n
        return stencil.evaluate(lambda z: (z - mean) ** 2).scaled(1 / (n - 1))

    def debias_numbers(self, noisy: NoisyNumbers) -> tuple[float, Debiased]:
        """Return the plug-in and the unbiased estimate."""
        values, numbers = noisy.clip(noisy.values), np.ones_like(noisy.values)
        plug_in = _spread(values, numbers)
        shifted = noisy.shifted(_center(values, numbers))
        with np.errstate(over="ignore"):
            terms = _Terms(
                m=shifted.apply(_FIRST),
                v=shifted.covariance(_FIRST, _FIRST),
                u=shifted.covariance(_SECOND, _FIRST),
                w=shifted.covariance(_SECOND, _SECOND),
                numbers=numbers,
            )
        return plug_in, _estimate(terms, plug_in)


variance = SampleVariance()


class _Terms(NamedTuple):
    """Per bin: T x, the estimated covariances of the formula, and how many equal it."""

    m: Floats
    v: Floats
    u: Floats
    w: Floats
    numbers: npt.NDArray[Any]


def _estimate(terms: _Terms, plug_in: float) -> Debiased:
    m, v, u, w, numbers = terms
    n = int(numbers.sum())
    noise = add_up(v * numbers)
    others = add_up(m * numbers) - m
    with np.errstate(over="ignore", invalid="ignore"):
        single = (1 - 1 / n) ** 2 * w - (4 / n) * (1 - 1 / n) * u * others
        crossed = (4 / n**2) * v * others**2 + (2 / n**2) * v * (v - noise)
    value = _spread(m, numbers) - noise / n
    own = add_up((single + crossed) * numbers) / (n - 1) ** 2
    return Debiased(value, own, swamped(own, plug_in))


def _spread(values: npt.NDArray[Any], numbers: npt.NDArray[Any]) -> float:
    """Return the sample variance of ``values``, each so many times."""
    n = _two_or_more(int(numbers.sum()))
    off = (values - _center(values, numbers)).astype(np.float64)
    off -= math.fsum((off * numbers).tolist()) / n
    return add_up(off**2 * numbers) / (n - 1)


def _two_or_more(n: int) -> int:
    if n < 2:
        msg = "the variance over bins needs at least two counts."
        raise ParameterError(msg)
    return n


def _center(values: npt.NDArray[Any], numbers: npt.NDArray[Any]) -> int:
    """Return a whole number near the mean."""
    return round(float(values @ (numbers / numbers.sum()))) if values.size else 0
