"""Noise with a data-dependent scale, worked out by search and by other formulas.

Shares no step with `dpframe.noise`: losses are searched for over a grid of neighbors,
and draws are recomputed from quantiles in decimals, where the sampler compares tails.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from math import floor

import numpy as np

LogDensity = Callable[[np.ndarray], np.ndarray]
OUTPUTS = np.concatenate([[0.0], np.geomspace(1e-6, 1e13, 600)])


def worst_loss(log_density: LogDensity, beta: float, s: float) -> float:
    """The greatest log ratio of the densities of two neighbors' releases.

    One has its value at 0 and scale 1; the other's scale is e^λ, |λ| <= beta, and its
    value is off by up to s times the lesser scale, since S bounds the difference of
    values at both. Swapping the two is another pair of the same kind.
    """
    worst = 0.0
    for growth in np.linspace(-beta, beta, 33):
        most = s * min(1.0, np.exp(growth))
        for shift in most * np.linspace(0, 1, 9):
            outputs = np.concatenate([OUTPUTS, -OUTPUTS, shift + OUTPUTS])
            other = log_density((outputs - shift) * np.exp(-growth)) - growth
            worst = max(worst, np.abs(log_density(outputs) - other).max())
    return float(worst)


def worst_excess(beta: float, s: float, epsilon: float) -> float:
    """The greatest δ at ``epsilon`` between neighbors, for Laplace noise (S/s) Z.

    ∫ max(p − e^ε q, 0) as a sum, over the same grid of neighbors.
    """
    points = np.linspace(-60, 60, 120_001)
    worst = 0.0
    for growth in np.linspace(-beta, beta, 9):
        shift = s * min(1.0, np.exp(growth))
        for center in (-shift, 0.0, shift):
            p = np.exp(-np.abs(points)) / 2
            q = np.exp(-np.abs(points - center) * np.exp(-growth) - growth) / 2
            excess = np.maximum(p - np.exp(epsilon) * q, 0)
            worst = max(worst, float(excess.sum()) * (points[1] - points[0]))
    return worst


Quantile = Callable[[Decimal], Decimal]


def lomax_size(power: Fraction) -> Quantile:
    """|Z| from V: V^(-1/power) - 1."""
    exponent = -Decimal(power.denominator) / Decimal(power.numerator)
    return lambda share: (share.ln() * exponent).exp() - 1


def laplace_size(share: Decimal) -> Decimal:
    return -share.ln()


def student_two_size(share: Decimal) -> Decimal:
    """|Z| of two degrees: P(|Z| <= x) = x / √(2 + x²)."""
    inside = 1 - share
    return inside * (2 / (1 - inside**2)).sqrt()


def step_of(
    size: Quantile,
    bits: int,
    value: Fraction,
    scale: Fraction,
    low: Fraction,
    high: Fraction,
    grid: Fraction,
) -> int | None:
    """The output that 64 bits give, or None where they do not settle it."""
    sign, number = 1 - 2 * (bits & 1), bits >> 1
    found = set()
    with localcontext(prec=120):
        for end in (number, number + 1):
            if end == 0:
                noisy = high if sign > 0 else low
            elif end == 1 << 63:
                noisy = value
            else:
                noisy = value + sign * scale * Fraction(size(Decimal(end) / (1 << 63)))
            cut = min(max(noisy, low), high)
            found.add(floor(cut / grid + Fraction(1, 2)))
    return found.pop() if len(found) == 1 else None


def student_inside(degrees: int, x: Fraction) -> Decimal:
    """P(|Z| <= x) to seventy digits for x² < degrees.

    The power series of the density, integrated term by term; the library sums a
    trigonometric formula instead.
    """
    with localcontext(prec=110):
        u = Decimal(x.numerator) / x.denominator / Decimal(degrees).sqrt()
        half = Fraction(degrees + 1, 2)
        total, binomial, k = Decimal(0), Fraction(1), 0
        while (term := u ** (2 * k + 1) / (2 * k + 1)) > Decimal(10) ** -90:
            weighted = Decimal(binomial.numerator) / binomial.denominator * term
            total += -weighted if k % 2 else weighted
            binomial *= (half + k) / (k + 1)
            k += 1
        return total * _height(degrees)


def _height(degrees: int) -> Decimal:
    """2 Γ((d + 1)/2) / (√π Γ(d/2)): 2/π for one degree, 1 for two, and so on."""
    height = 2 / pi() if degrees % 2 else Decimal(1)
    for i in range(2 - degrees % 2, degrees - 1, 2):
        height = height * (i + 1) / i
    return height


def pi() -> Decimal:
    """π to a hundred digits, by Machin's formula."""
    with localcontext(prec=120):
        return +(16 * _arccot(5) - 4 * _arccot(239))


def _arccot(n: int) -> Decimal:
    total, power, k = Decimal(0), Decimal(1) / n, 0
    while power > Decimal(10) ** -115:
        total += (-power if k % 2 else power) / (2 * k + 1)
        power /= n * n
        k += 1
    return total
