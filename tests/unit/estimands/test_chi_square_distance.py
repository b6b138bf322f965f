import math
from decimal import Decimal

import numpy as np
import pytest
from debias_reference import enumerate_inverse

from dpframe.errors import ParameterError
from dpframe.estimands import NoisyCounts, black_box, chi_square, debias, estimate

DOMAINS = ["counts", "integers", (0, 6), (1, None), (2, 9), (-2, 5), (None, 8)]


def decimal_chi_square(proportions):
    shares = [Decimal(p) for p in proportions]

    def f(x):
        total = sum(x)
        if total <= 0:
            return Decimal(0)
        squares = sum(Decimal(z * z) / p for z, p in zip(x, shares, strict=True))
        return squares / total - total

    return f


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_sum_over_all_neighbors(domain, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    counts = rng.integers(-3, 11 if seed % 2 else 3, n)
    noisy = NoisyCounts(counts, rng.choice([0.2, 0.5, 1.0, 2.7], n), domain)
    estimand = chi_square(rng.dirichlet(np.ones(n)))
    expected = enumerate_inverse(
        noisy, decimal_chi_square(estimand.proportions.tolist())
    )
    got = estimate(noisy, estimand).value
    assert got == pytest.approx(expected, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_expected_counts_make_it_a_sum_over_bins_with_an_exact_variance(domain):
    expected = np.array([2.5, 4.0, 0.5, 3.0])
    noisy = NoisyCounts([6, 0, 4, -1], [0.5, 1.0, 2.0, 1.0], domain)
    got = estimate(noisy, chi_square(expected=expected))
    same = estimate(
        noisy, black_box(lambda x: ((x - expected) ** 2 / expected).sum(axis=1))
    )
    assert got.value == pytest.approx(same.value, rel=1e-11)
    assert got.variance == pytest.approx(same.variance, rel=1e-10)
    assert got.plug_in == pytest.approx(same.plug_in, rel=1e-14)


def test_the_plug_in_is_too_large_by_the_noise_variance_over_what_is_expected():
    x, expected = np.array([40, 60, 90]), np.array([50.0, 50.0, 90.0])
    e = debias(x, chi_square(expected=expected), epsilon=1)
    two_c = 1 / (2 * math.sinh(0.5) ** 2)
    assert e.plug_in == pytest.approx(4.0)
    assert e.plug_in - e.value == pytest.approx(two_c * (1 / expected).sum())


@pytest.mark.parametrize("domain", ["counts", "integers", (0, 50)])
def test_without_noise_to_speak_of_it_is_pearsons(domain):
    shares = np.array([0.25, 0.5, 0.125, 0.125])
    e = debias([10, 20, 0, 5], chi_square(shares), epsilon=40, domain=domain)
    expected = 35 * shares
    pearson = ((np.array([10, 20, 0, 5]) - expected) ** 2 / expected).sum()
    assert e.value == pytest.approx(pearson, rel=1e-11)
    assert e.plug_in == pytest.approx(pearson, rel=1e-13)
    assert e.std_error < 1e-7
    assert e.warnings == ()


def test_an_empty_histogram_is_at_no_distance():
    e = debias([0, 0], chi_square([0.5, 0.5]), epsilon=60)
    assert (e.value, e.plug_in) == (pytest.approx(0, abs=1e-12), 0)


def test_the_variance_is_that_of_the_tangent_sum():
    counts = np.array([30, 12, 0, -1, 7])
    shares = np.array([0.5, 0.25, 0.125, 0.0625, 0.0625])
    e = debias(counts, chi_square(shares), epsilon=1)
    c, d = 1 / (4 * math.sinh(0.5) ** 2), 1 / math.expm1(1)
    total = np.where(counts >= 1, counts, -d).sum()
    expected = 0.0
    for y, share in zip(counts.tolist(), shares, strict=True):
        row = {0: 1 + d, 1: -d} if y <= 0 else {y - 1: -c, y: 1 + 2 * c, y + 1: -c}
        psi = {z: z * z / (total * share) - z * (e.value / total + 2) for z in row}
        mean = sum(w * psi[z] for z, w in row.items())
        expected += mean**2 - sum(w * psi[z] ** 2 for z, w in row.items())
    assert e.variance == pytest.approx(expected, rel=1e-9)


ZIPF = np.round(3_000 / np.arange(1, 501)).astype(int)


@pytest.mark.parametrize(
    ("x", "rate"), [(np.full(40, 30), 1.0), (ZIPF, 0.5)], ids=["equal", "zipf"]
)
def test_the_variance_is_the_right_one_and_intervals_cover(x, rate):
    rng = np.random.default_rng(11)
    runs = 200
    shares = (x + 1) / (x + 1).sum()
    noise = rng.geometric(-math.expm1(-rate), (2, runs, x.size))
    estimand = chi_square(shares)
    found = [debias(y, estimand, epsilon=rate) for y in x + noise[0] - noise[1]]
    truth = (x**2 / (x.sum() * shares)).sum() - x.sum()
    errors = np.array([float(e) - truth for e in found])
    assert 0.7 < np.mean([e.variance for e in found]) / np.mean(errors**2) < 1.4
    intervals = [e.interval() for e in found]
    assert np.mean([low < truth < high for low, high in intervals]) > 0.9
    assert abs(errors.mean()) < 5 * errors.std() / math.sqrt(runs)
    plug_in = np.array([e.plug_in - truth for e in found])
    assert np.mean(plug_in**2) > 4 * np.mean(errors**2)


def test_warnings_are_those_of_the_entropy():
    uniform = chi_square([0.25] * 4)
    near = debias([1, 0, -1, 2], uniform, epsilon=0.5)
    assert any("within 3 standard errors of 0" in text for text in near.warnings)
    exact = debias([1, 0, -1, 2], uniform, epsilon=1, domain="integers")
    assert any("decimals" in text for text in exact.warnings)


@pytest.mark.parametrize(
    "arguments", [{}, {"proportions": [0.5, 0.5], "expected": [2, 2]}]
)
def test_one_of_the_two_is_needed(arguments):
    with pytest.raises(ParameterError, match="one of the two"):
        chi_square(**arguments)


@pytest.mark.parametrize("bad", [[0.5, 0.0], [2, -1], "ab", [math.nan], [10**400]])
def test_expectations_must_be_positive(bad):
    with pytest.raises(ParameterError, match="expected must be public, positive"):
        chi_square(expected=bad)
    with pytest.raises(ParameterError, match="proportions must be public, positive"):
        chi_square(bad)


def test_proportions_must_add_up_to_1():
    with pytest.raises(ParameterError, match="add up to 1"):
        chi_square([0.5, 0.4])


@pytest.mark.parametrize("method", ["unbiased", "plugin"])
@pytest.mark.parametrize(
    "estimand", [chi_square([0.5, 0.5]), chi_square(expected=[2, 2])]
)
def test_there_must_be_one_for_each_bin(estimand, method):
    with pytest.raises(ParameterError, match="2 expectations for 3 bins"):
        debias([1, 2, 3], estimand, epsilon=1, method=method)
