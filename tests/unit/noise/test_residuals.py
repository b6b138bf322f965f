"""The laws of Y: what added to discrete Laplace noise gives another law exactly."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from dpframe.noise import DiscreteLaplace, Laplace, Staircase
from dpframe.noise.bits import use_source_for_tests
from dpframe.noise.residuals import _stays, to_laplace, to_noisier, to_staircase

SCALES = ["1/5", "1/2", 1, "7/3", 20]
STEPS = [None, 0, "1/4", "1/2", "0.9", 1]
GRID = np.linspace(-4, 4, 161) + 0.0123  # off the steps


def laplace_kernel(y, scale):
    """The density of Y as published: ln(1/p) / (2(1-p)²) (p^|y| - p^(2-|y|))."""
    a = 1 / float(scale)
    p, size = math.exp(-a), np.abs(y)
    inside = a / (2 * (1 - p) ** 2) * (p**size - p ** (2 - size))
    return np.where(size < 1, inside, 0.0)


def staircase_kernel(y, law):
    """The density of Y: constant on |y| < m and on m <= |y| < M, as specified."""
    p, gamma, size = math.exp(-float(law.epsilon)), float(law.gamma), np.abs(y)
    a = (1 - p) / (2 * (gamma + p * (1 - gamma)))
    near, far = min(gamma, 1 - gamma), max(gamma, 1 - gamma)
    outer = a * (p if gamma <= 0.5 else 1) / (1 - p)
    density = np.where(size < near, a * (1 + p) / (1 - p), outer)
    return np.where(size < far, density, 0.0)


def convolved(kernel, scale):
    """The density of X + Y on GRID, X discrete Laplace: a finite sum at each point."""
    k = np.arange(-6, 7)  # |Y| <= 1, so these are all that matter
    mass = DiscreteLaplace(scale).pmf(k)
    return (mass * kernel(GRID[:, None] - k)).sum(axis=1)


def of_bits(numbers):
    """A source of bytes that hands out given 64-bit numbers."""
    data = np.array(numbers, dtype="<u8").tobytes()
    return use_source_for_tests(lambda n: data[:n])


def spread_bits(n, sign):
    """Uniform numbers spread evenly over (0, 1), with one sign."""
    shares = (2 * np.arange(n, dtype=np.uint64) + 1) * np.uint64(2**63 // n)
    return shares >> np.uint64(1) << np.uint64(1) | np.uint64(sign)


@pytest.mark.parametrize("scale", SCALES)
def test_the_kernel_of_laplace_noise(scale):
    scale = Fraction(scale)
    got = convolved(lambda y: laplace_kernel(y, scale), scale)
    assert got == pytest.approx(Laplace(scale).pdf(GRID), rel=1e-11)
    for off in (Fraction(95, 100), Fraction(105, 100)):
        wrong = convolved(lambda y: laplace_kernel(y, scale), scale * off)
        assert wrong != pytest.approx(Laplace(scale).pdf(GRID), rel=1e-3)


@pytest.mark.parametrize("gamma", STEPS)
@pytest.mark.parametrize("epsilon", ["1/20", 1, 4])
def test_the_kernel_of_staircase_noise(epsilon, gamma):
    law = Staircase(epsilon, gamma)
    got = convolved(lambda y: staircase_kernel(y, law), 1 / law.epsilon)
    assert got == pytest.approx(law.pdf(GRID), rel=1e-12)


def test_no_kernel_gives_a_staircase_of_sensitivity_two():
    # T of the staircase's density is the only candidate: it is negative.
    unit = Staircase("1/2")
    p = math.exp(-0.25)
    c = p / (1 - p) ** 2
    x = np.linspace(-6, 6, 4801) + 1e-4

    def density(x):  # steps two apart
        return unit.pdf(x / 2) / 2

    candidate = density(x) - c * (density(x + 1) - 2 * density(x) + density(x - 1))
    assert candidate.min() < -0.1


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("scale", [*SCALES, "1/12", "1/500", "1/699", "1/701"])
def test_sizes_follow_the_kernel(scale, sign):
    """P(|Y| > size) of the uniform number U is U itself, in closed form."""
    scale, n = Fraction(scale), 64
    with of_bits(spread_bits(n, sign)):
        y = to_laplace(scale, n)
    assert (np.sign(y) == 1 - 2 * sign).all()
    half, share = 1 / (2 * float(scale)), (np.arange(n) + 0.5) / n
    rest = (1 - np.abs(y)) * half
    # sinh(rest)² / sinh(half)², written so that neither overflows
    ratio = np.exp(2 * (rest - half)) * (np.expm1(-2 * rest) / np.expm1(-2 * half)) ** 2
    assert ratio == pytest.approx(share, rel=1e-9)
    assert np.abs(y).max() <= 1


@pytest.mark.parametrize("scale", SCALES)
def test_the_closed_form_is_the_kernels_integral(scale):
    half, y = 1 / (2 * float(Fraction(scale))), np.linspace(0, 1, 20_001)
    density = 2 * laplace_kernel(y, Fraction(scale))
    below = np.cumsum((density[1:] + density[:-1]) / 2) * (y[1] - y[0])
    closed = 1 - (np.sinh((1 - y[1:]) * half) / math.sinh(half)) ** 2
    assert below == pytest.approx(closed, abs=1e-7)


@pytest.mark.parametrize("gamma", STEPS)
@pytest.mark.parametrize("epsilon", ["1/20", 1, 4])
def test_sizes_follow_the_staircase_kernel(epsilon, gamma):
    law, n = Staircase(epsilon, gamma), 64
    with of_bits(spread_bits(n, 1)):
        y = to_staircase(law, n)
    assert (y < 0).all()
    size, share = np.abs(y), (np.arange(n) + 0.5) / n
    near = min(float(law.gamma), 1 - float(law.gamma))
    inner = 2 * staircase_kernel(0.0, law) * np.minimum(size, near)
    outer = 2 * staircase_kernel(near, law) * np.maximum(size - near, 0)
    assert inner + outer == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize(("scale", "larger"), [(1, 2), ("1/3", 5), ("7/3", "5/2")])
def test_the_noisier_law_is_a_mixture(scale, larger):
    one, other = DiscreteLaplace(scale), DiscreteLaplace(larger)
    stays = one.variance / other.variance
    reach = math.ceil(45 * float(Fraction(larger)))
    k = np.arange(-reach, reach + 1)
    mass = np.convolve(one.pmf(k), other.pmf(k), mode="same")
    got = stays * one.pmf(k) + (1 - stays) * mass
    near = np.abs(k) < reach / 3
    assert got[near] == pytest.approx(other.pmf(k)[near], rel=1e-10)
    wrong = 1.05 * stays * one.pmf(k) + (1 - 1.05 * stays) * mass
    assert wrong[near] != pytest.approx(other.pmf(k)[near], rel=2e-4)


@pytest.mark.parametrize(
    ("scale", "larger"),
    [(1, 2), ("1/3", 5), (10**9, 10**9 + 1), (2**53, 2**54), ("1/30", "1/29")],
)
def test_the_coin_is_cut_exactly(scale, larger):
    scale, larger = Fraction(scale), Fraction(larger)
    with localcontext() as context:
        context.prec = 120
        a, b = (Decimal(s.denominator) / s.numerator for s in (scale, larger))
        p, q = (-a).exp(), (-b).exp()
        chance = p * (1 - q) ** 2 / (q * (1 - p) ** 2)
        exact = int(chance * 2**64)
    assert int(_stays(scale, larger)._cuts[0]) == exact
    assert float(chance) == pytest.approx(
        DiscreteLaplace(scale).variance / DiscreteLaplace(larger).variance, rel=1e-6
    )


@pytest.mark.parametrize(
    ("scale", "larger"),
    [
        ("1e-300", "1e-299"),
        ("1e-300", Fraction("1e-300") * Fraction(10**9 + 1, 10**9)),
        (Fraction(1, 10**30), Fraction(1, 10**30 - 1)),
        ("1/1000", 2**54),
    ],
)
def test_coins_of_extreme_scales_end(scale, larger):
    drawn = to_noisier(Fraction(scale), Fraction(larger), 100)
    assert drawn.dtype == np.int64
    assert drawn.shape == (100,)


def test_a_coin_keeps_the_integer_or_adds_fresh_noise():
    # Sixteen bits choose each noise, sixteen more each coin; 0 is below every cut.
    script = [np.array([60_000] * 3, "<u2"), np.array([0, 65_535, 0], "<u2")]
    with use_source_for_tests(lambda n: script.pop(0).tobytes()):
        kept, moved, again = to_noisier(Fraction(1), Fraction(2), 3)
    assert (kept, again) == (0, 0)
    assert moved > 0
    assert script == []


def test_nothing_to_draw():
    assert to_laplace(Fraction(1), 0).shape == (0,)
    assert to_staircase(Staircase(1), 0).shape == (0,)
    assert to_noisier(Fraction(1), Fraction(2), 0).shape == (0,)
