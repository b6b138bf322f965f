import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from debias_reference import enumerate_inverse

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands import NoisyCounts, data_quantile, debias, estimate, quantile

DOMAINS = ["counts", (0, 3), (1, None), (2, 2), (0, None)]
LEVELS = [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(7, 10), Fraction(1)]


def bin_of(counts, q):
    """The definition: the first bin with at least q N rows up to it."""
    upto = np.cumsum(counts).tolist()
    return next(b for b, s in enumerate(upto) if s >= q * upto[-1])


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("q", LEVELS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_sum_over_all_neighbors(domain, q, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    choice = [0.4, 1.0, 2.7]
    rates = rng.choice(choice, n) if seed % 2 else np.full(n, rng.choice(choice))
    noisy = NoisyCounts(rng.integers(-2, 3 + 4 * (seed // 2), n), rates, domain)
    value = enumerate_inverse(noisy, lambda z: Decimal(bin_of(z, q)))
    square = enumerate_inverse(noisy, lambda z: Decimal(bin_of(z, q) ** 2))
    got = data_quantile(q).debias(noisy)
    assert got.value == pytest.approx(value, rel=1e-10, abs=1e-10)
    assert got.variance == pytest.approx(
        value**2 - square, rel=1e-9, abs=1e-9 * (1 + value**2)
    )
    assert data_quantile(q).plug_in(noisy) == bin_of(noisy.clip(noisy.values), q)


def test_it_is_not_the_quantile_of_the_counts():
    counts = [5, 90, 5]
    assert debias(counts, data_quantile(0.5), epsilon=30).value == pytest.approx(1)
    assert debias(counts, quantile(0.5), epsilon=30).value == pytest.approx(5)
    assert data_quantile("1/4").name == "data_quantile(0.25)"


def test_where_no_noise_could_move_it_any_number_of_bins_will_do():
    rng = np.random.default_rng(3)
    counts = rng.integers(500, 1_000, 4_001)
    counts[1_700] = 10**7
    e = debias(counts, data_quantile(0.5), epsilon=0.1)
    assert (e.value, e.variance, e.plug_in, e.warnings) == (1_700, 0, 1_700, ())


def test_a_hundred_bins_are_averaged_to_the_truth():
    # Bins 48 and 49 share the median's row: noise moves it by one bin or none.
    x = np.full(100, 1_000)
    x[49] += 30
    rng = np.random.default_rng(5)
    rate, runs = 4.0, 60
    noise = rng.geometric(-math.expm1(-rate), (2, runs, x.size))
    found = [
        debias(y, data_quantile(0.5), epsilon=rate) for y in x + noise[0] - noise[1]
    ]
    values = np.array([e.value for e in found])
    spread = max(values.std(), 0.05)
    assert abs(values.mean() - bin_of(x, Fraction(1, 2))) < 5 * spread / math.sqrt(runs)


@pytest.mark.parametrize(
    ("n", "q", "std_error"), [(4, 0.6, 4.187), (5, 0.7, 4.938), (8, 0.55, 12.72)]
)
def test_a_standard_error_of_more_bins_than_there_are_is_flagged(n, q, std_error):
    e = debias([8 if n == 8 else 4] * n, data_quantile(q), epsilon=1)
    assert e.std_error == pytest.approx(std_error, rel=1e-3)
    assert bool(e.warnings) == (std_error > n)


def test_a_hopeless_estimate_says_so():
    counts = [1, 0, 2, 1, 1, 0, 3, 1, 0, 1, 2, 0]
    e = debias(counts, data_quantile(0.5), epsilon=0.5)
    assert e.std_error > len(counts)
    assert any("more than the number of bins" in text for text in e.warnings)
    assert debias(counts, data_quantile(0.5), epsilon=0.5, method="auto").value == (
        bin_of(counts, Fraction(1, 2))
    )


@pytest.mark.parametrize(
    ("n", "epsilon", "match"),
    [(501, 30, "501 bins"), (400, 0.5, "norm 1e489")],
)
def test_too_large_a_sum_is_refused(n, epsilon, match):
    with pytest.raises(UnstableEstimateError, match=match):
        debias([3] * n, data_quantile(0.5), epsilon=epsilon)


@pytest.mark.parametrize("domain", ["integers", (None, 5), (-1, 5)])
def test_counts_of_rows_are_not_negative(domain):
    for method in ("unbiased", "plugin"):
        with pytest.raises(ParameterError, match="domain='counts'"):
            debias([1], data_quantile(0.5), epsilon=1, domain=domain, method=method)


@pytest.mark.parametrize("q", [-0.1, 1.5])
def test_a_level_is_a_share(q):
    with pytest.raises(ParameterError, match="from 0 to 1"):
        data_quantile(q)


def test_no_bins_hold_no_rows():
    with pytest.raises(ParameterError, match="at least one bin"):
        estimate(NoisyCounts(np.array([], dtype=int), 1.0), data_quantile(0.5))


@pytest.mark.parametrize("counts", [[7], [0, 0, 0]])
def test_one_bin_or_no_rows_are_bin_zero(counts):
    assert debias(counts, data_quantile(0.5), epsilon=60).value == pytest.approx(0)
