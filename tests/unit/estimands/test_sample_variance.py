from decimal import Decimal

import numpy as np
import pytest
from debias_reference import enumerate_inverse

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands import NoisyCounts, debias, estimate, polynomial, variance
from dpframe.estimands.stencil import inverse_weights

DOMAINS = ["counts", "integers", (0, 7), (1, None), (None, 6), (3, 3)]


def written_out(n):
    """The sample variance as a polynomial of several counts."""
    squares = [(f"1/{n}", {i: 2}) for i in range(n)]
    pairs = [(f"-2/{n * (n - 1)}", {i: 1, j: 1}) for i in range(n) for j in range(i)]
    return polynomial(squares + pairs)


def decimal_variance(z):
    n, total = len(z), Decimal(sum(z))
    return (sum(a * a for a in z) - total * total / n) / (n - 1)


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("n", [2, 3, 7])
def test_both_estimates_agree_with_the_polynomial_written_out(domain, n):
    rng = np.random.default_rng(n)
    counts, rates = rng.integers(-3, 12, n), rng.uniform(0.3, 2.0, n)
    found = debias(counts, variance, epsilon=rates, domain=domain)
    exact = debias(counts, written_out(n), epsilon=rates, domain=domain)
    assert found.value == pytest.approx(exact.value, rel=1e-12, abs=1e-12)
    assert found.plug_in == pytest.approx(exact.plug_in, rel=1e-12, abs=1e-12)
    assert found.variance == pytest.approx(exact.variance, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize(
    "law",
    [
        {
            "noise": "continuous_laplace",
            "epsilon": [0.5, 1, 2, 0.7],
            "domain": "counts",
        },
        {"noise": "continuous_laplace", "epsilon": 1.0, "domain": (0.5, 6)},
        {"noise": "gaussian", "sigma2": [0.3, 2, 5, 120]},
        {"noise": "continuous_gaussian", "sigma2": 0.4},
    ],
)
def test_so_they_do_under_other_noise(law):
    counts = [4, -1, 0, 9]
    found = debias(counts, variance, **law)
    exact = debias(counts, written_out(4), **law)
    assert found.value == pytest.approx(exact.value, rel=1e-12)
    assert found.variance == pytest.approx(exact.variance, rel=1e-11)


def test_on_integers_it_is_the_variance_less_that_of_the_noise():
    counts = np.array([5, -3, 14, 2, 2])
    c, _ = inverse_weights(np.array([0.5]))
    found = debias(counts, variance, epsilon=0.5, domain="integers")
    assert found.value == pytest.approx(counts.var(ddof=1) - 2 * c[0], rel=1e-14)


@pytest.mark.parametrize("domain", ["counts", "integers", (0, 9)])
def test_it_is_the_sum_over_all_neighbors(domain):
    noisy = NoisyCounts([4, 0, -1, 7, 2, 10, 1], np.linspace(0.5, 2, 7), domain)
    found = estimate(noisy, variance)
    assert found.value == pytest.approx(enumerate_inverse(noisy, decimal_variance))
    square = enumerate_inverse(noisy, lambda z: decimal_variance(z) ** 2)
    assert found.variance == pytest.approx(found.value**2 - square, rel=1e-9)


@pytest.mark.parametrize("shift", [10**9, 2**52])
@pytest.mark.parametrize("noise", ["laplace", "continuous_laplace"])
def test_counts_far_from_0_lose_no_digits(shift, noise):
    counts = np.array([3, 7, -2, 11])
    law = {"epsilon": 1, "domain": "integers", "noise": noise}
    near, far = (debias(y, variance, **law) for y in (counts, counts + shift))
    assert far.value == pytest.approx(near.value, rel=1e-13)
    assert far.variance == pytest.approx(near.variance, rel=1e-13)


def test_the_order_of_bins_does_not_matter():
    one = debias([[5, 1], [3, 9]], variance, epsilon=[[1, 2], [3, 4]])
    other = debias([9, 3, 1, 5], variance, epsilon=[4, 3, 2, 1])
    assert one.value == pytest.approx(other.value, rel=1e-14)
    assert one.variance == pytest.approx(other.variance, rel=1e-14)


@pytest.mark.parametrize("counts", [[], [4]])
@pytest.mark.parametrize("law", [{"epsilon": 1}, {"sigma2": 2, "noise": "gaussian"}])
def test_fewer_than_two_bins_have_no_variance(counts, law):
    with pytest.raises(ParameterError, match="at least two counts"):
        debias(counts, variance, **law)


def test_auto_is_unbiased():
    found = debias([5, 9, 1], variance, epsilon=1, method="auto")
    assert found.method == "unbiased"
    assert any("could not be estimated" in text for text in found.warnings)


def test_noise_that_drowns_the_plug_in_is_flagged():
    found = debias([5, 5, 5, 6], variance, epsilon=0.1)
    assert any("10 times the plug-in" in text for text in found.warnings)


def test_a_huge_variance_is_unstable():
    law = {"noise": "continuous_laplace", "epsilon": 1}
    with pytest.raises(UnstableEstimateError, match="beyond 1e300"):
        debias([0] + [9e149] * 20, variance, **law)
