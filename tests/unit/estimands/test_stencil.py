import math

import numpy as np
import pytest

from dpframe.estimands import NoisyCounts
from dpframe.estimands.stencil import Stencil, inverse_weights

DOMAINS = ["counts", "integers", (2, 6), (1, None), (None, 4), (3, 3), (0, 1)]


@pytest.mark.parametrize("rate", [1e-8, 1e-3, 0.5, 1.0, 6.0, 40.0])
def test_weights_agree_with_the_hyperbolic_forms(rate):
    c, d = inverse_weights(np.array([rate]))
    assert c[0] == pytest.approx(1 / (4 * math.sinh(rate / 2) ** 2), rel=1e-14)
    assert d[0] == pytest.approx(1 / math.expm1(rate), rel=1e-14)
    assert d[0] * (1 + d[0]) == pytest.approx(c[0], rel=1e-14)


def test_extreme_rates_neither_warn_nor_overflow():
    c, d = inverse_weights(np.array([1e-100, 800.0, 1e6]))
    assert np.isfinite(c).all()
    assert (c[1:] == 0).all()
    assert (d[1:] == 0).all()


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_function_is_asked_inside_the_domain_and_near_the_counts_only(domain):
    values = np.arange(-4, 9)
    asked = set()

    def f(x):
        asked.update(x.tolist())
        return x

    noisy = NoisyCounts(values, 1.0, domain)
    Stencil.of(noisy).evaluate(f)
    low, high = noisy.ends
    assert min(asked) >= (-5 if low is None else low)
    assert max(asked) <= (9 if high is None else high)


@pytest.mark.parametrize("domain", DOMAINS)
def test_rows_as_the_specification_writes_them(domain):
    rate = 0.7
    c, d = 1 / (4 * math.sinh(rate / 2) ** 2), 1 / math.expm1(rate)
    f = {z: math.sin(z) + z * z for z in range(-9, 12)}
    noisy = NoisyCounts(np.arange(-6, 10), rate, domain)
    low, high = noisy.ends
    stencil = Stencil.of(noisy)
    got = stencil.apply(stencil.evaluate(lambda x: f[x]))
    for y, value in zip(range(-6, 10), got, strict=True):
        if low is not None and low == high:
            expected = f[low]
        elif low is not None and y <= low:
            expected = (1 + d) * f[low] - d * f[low + 1]
        elif high is not None and y >= high:
            expected = (1 + d) * f[high] - d * f[high - 1]
        else:
            expected = (1 + 2 * c) * f[y] - c * f[y + 1] - c * f[y - 1]
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("domain", DOMAINS)
def test_variance_is_square_of_mean_less_mean_of_square(domain):
    noisy = NoisyCounts(np.arange(-6, 10), 0.9, domain)
    stencil = Stencil.of(noisy)
    local = stencil.evaluate(lambda x: np.cos(x) + x)
    expected = stencil.apply(local) ** 2 - stencil.apply(local.square)
    assert stencil.variance(local) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    squares = stencil.evaluate(lambda x: (np.cos(x) + x) ** 2)
    assert local.square.up == pytest.approx(squares.up)
    assert local.square.down == pytest.approx(squares.down)
    assert (stencil.variance(local) >= 0).all()


def test_variance_keeps_its_digits_where_the_two_squares_lose_theirs():
    c, _ = inverse_weights(np.array([0.1]))
    stencil = Stencil.of(NoisyCounts(np.array([10**8]), 0.1))
    got = stencil.variance(stencil.evaluate(lambda x: x**2))[0]
    # T(x⁴) - (T x²)² in exact algebra: c(8y² + 2) + 4c².
    assert got == pytest.approx(c[0] * (8e16 + 2) + 4 * c[0] ** 2, rel=1e-9)


def test_a_part_of_the_bins_and_sums_of_functions():
    noisy = NoisyCounts(np.arange(-2, 5), np.linspace(0.5, 2, 7))
    stencil = Stencil.of(noisy)
    some = noisy.values % 2 == 0
    part = stencil.part(some)
    alone = Stencil.of(NoisyCounts(noisy.values[some], noisy.rate[some]))
    assert part.apply(part.evaluate(np.cos)).tolist() == pytest.approx(
        alone.apply(alone.evaluate(np.cos)).tolist()
    )
    weights = np.arange(7.0)
    sum_ = stencil.evaluate(np.cos).scaled(weights).plus(stencil.evaluate(np.exp))
    each = [lambda z, w=w: w * np.cos(z) + np.exp(z) for w in weights]
    for i, f in enumerate(each):
        expected = stencil.apply(stencil.evaluate(f))[i]
        assert stencil.apply(sum_)[i] == pytest.approx(expected, rel=1e-13)


def test_two_dimensional_counts_are_read_in_row_order():
    flat = Stencil.of(NoisyCounts(np.arange(6), np.linspace(1, 2, 6)))
    square = Stencil.of(
        NoisyCounts(np.arange(6).reshape(2, 3), np.linspace(1, 2, 6).reshape(2, 3))
    )
    assert flat.center.tolist() == square.center.tolist()
    assert flat.up.tolist() == square.up.tolist()


@pytest.mark.parametrize("domain", DOMAINS)
def test_covariances_are_the_differences_of_the_definition(domain):
    rate = np.array([0.5, 1.0, 2.0, 0.7])
    stencil = Stencil.of(NoisyCounts(np.array([-1, 2, 4, 9]), rate, domain))
    functions = (lambda x: x, lambda x: x**2, lambda x: np.sin(x))
    for f in functions:
        for g in functions:
            one, other = stencil.evaluate(f), stencil.evaluate(g)
            joint = stencil.evaluate(lambda x, f=f, g=g: f(x) * g(x))
            plain = stencil.apply(one) * stencil.apply(other) - stencil.apply(joint)
            got = stencil.covariance(one, other)
            assert got == pytest.approx(plain, rel=1e-9, abs=1e-9)
