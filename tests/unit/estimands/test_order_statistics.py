import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from debias_reference import enumerate_inverse

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands import (
    NoisyCounts,
    debias,
    estimate,
    maximum,
    median,
    minimum,
    order_statistic,
    quantile,
    quantile_range,
)

DOMAINS = ["counts", "integers", (0, 3), (1, None), (None, 2), (2, 2), (-1, 2)]


def inverse_and_variance(noisy, f):
    """T f(y) and (T f)² - T(f²) over all neighbors, f counted from its value at y."""
    start = f(noisy.clip(noisy.values).tolist())
    mean = enumerate_inverse(noisy, lambda z: f(z) - start)
    square = enumerate_inverse(noisy, lambda z: (f(z) - start) ** 2)
    return float(start) + mean, mean**2 - square


def ranked(weights):
    def f(z):
        z = sorted(z)
        return sum(Decimal(w) * z[k - 1] for k, w in weights.items())

    return f


def random_case(seed, domain):
    """Up to eight bins with ties, with one rate or one for each."""
    rng = np.random.default_rng(seed)
    n = 8 if seed == 0 else int(rng.integers(1, 7))
    counts = rng.integers(-2, [2, 5, 9][seed % 3], n)
    choice = [0.3, 0.5, 1.0, 2.7]
    rates = rng.choice(choice, n) if seed % 2 else np.full(n, rng.choice(choice))
    return rng, NoisyCounts(counts, rates, domain)


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_an_order_statistic_is_the_sum_over_all_neighbors(domain, seed):
    rng, noisy = random_case(seed, domain)
    k = int(rng.integers(1, noisy.values.size + 1))
    value, variance = inverse_and_variance(noisy, ranked({k: 1}))
    got = order_statistic(k).debias(noisy)
    assert got.value == pytest.approx(value, rel=1e-10, abs=1e-10)
    assert got.variance == pytest.approx(variance, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("seed", range(10))
def test_a_quantile_range_is_the_sum_over_all_neighbors(domain, seed):
    rng, noisy = random_case(seed, domain)
    n = noisy.values.size
    low, high = sorted(rng.choice(21, 2, replace=False).tolist())
    weights = {k: 0 for k in range(1, n + 2)}
    for level, sign in ((high, 1), (low, -1)):
        place, part = divmod(level * (n - 1), 20)
        weights[place + 1] += sign * (1 - Decimal(part) / 20)
        weights[place + 2] += sign * Decimal(part) / 20
    weights.pop(n + 1)
    value, variance = inverse_and_variance(noisy, ranked(weights))
    got = quantile_range(Fraction(low, 20), Fraction(high, 20)).debias(noisy)
    assert got.value == pytest.approx(value, rel=1e-10, abs=1e-10)
    assert got.variance == pytest.approx(variance, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("gap", range(5))
@pytest.mark.parametrize("rates", [1.0, [0.7, 1.0, 1.3, 0.9, 1.1, 0.8]])
def test_the_covariance_is_right_at_every_distance(gap, rates):
    # Two clusters, so that the quartiles are `gap` apart, with bins between and beside.
    counts = np.array([4, 5, 5, 5 + gap, 5 + gap, 6 + gap])
    noisy = NoisyCounts(counts, rates, "integers")
    value, variance = inverse_and_variance(noisy, ranked({2: -1, 5: 1}))
    got = quantile_range(Fraction(1, 5), Fraction(4, 5)).debias(noisy)
    assert got.value == pytest.approx(value, rel=1e-11)
    assert got.variance == pytest.approx(variance, rel=1e-10)


@pytest.mark.parametrize("q", [0, 1, 0.5, 0.25, "1/3", Fraction(3, 7), 0.9])
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_quantiles_interpolate_as_numpy_does(q, n):
    counts = np.random.default_rng(n).integers(0, 100, n)
    e = debias(counts, quantile(q), epsilon=60)
    assert e.plug_in == pytest.approx(np.quantile(counts, float(Fraction(q))))
    assert e.value == pytest.approx(e.plug_in, abs=1e-9)


def test_the_named_ones_are_order_statistics():
    counts = [4, -3, 0, 9, 4, 2]
    pairs = [
        (minimum, order_statistic(1)),
        (maximum, order_statistic(6)),
        (quantile(0), minimum),
        (quantile(1), maximum),
        (median, quantile(0.5)),
    ]
    for one, other in pairs:
        first, second = (debias(counts, e, epsilon=0.7) for e in (one, other))
        assert (first.value, first.variance) == (second.value, second.variance)
        assert first.plug_in == second.plug_in
    halves = [debias(counts, order_statistic(k), epsilon=0.7).value for k in (3, 4)]
    assert debias(counts, median, epsilon=0.7).value == pytest.approx(sum(halves) / 2)
    ends = [debias(counts, e, epsilon=0.7).value for e in (minimum, maximum)]
    found = debias(counts, quantile_range(0, 1), epsilon=0.7).value
    assert found == pytest.approx(ends[1] - ends[0])
    names = [e.name for e in (minimum, maximum, median, quantile("1/3"))]
    assert names == ["minimum", "maximum", "median", "quantile(0.333333)"]
    assert repr(quantile_range(0.25, 0.75)) == "quantile_range(0.25, 0.75)"
    assert repr(order_statistic(np.int64(2))) == "order_statistic(2)"


def test_the_plug_in_is_cut_to_the_domain():
    counts = [-5, 9, 3]
    assert debias(counts, minimum, epsilon=1).plug_in == 0
    assert debias(counts, maximum, epsilon=1, domain=(None, 4)).plug_in == 4
    assert debias(counts, minimum, epsilon=1, domain="integers").plug_in == -5


def test_counts_below_zero_are_read_as_zero():
    # Read as they are, the threshold at 1 would be missed.
    assert debias([-3, -2, 0], median, epsilon=1).value == pytest.approx(1.41, abs=5e-3)


@pytest.mark.parametrize("rate", [0.5, 1.0, 3.0])
def test_extremes_of_integers_have_a_closed_form(rate):
    counts = [4, 4, 4, 5, 5, 6, 11, 12, 12]
    c = 1 / (4 * math.sinh(rate / 2) ** 2)
    least = 3 + (1 + c) ** 3 + (1 + c) ** 2 * (-c) ** 3
    most = 13 - (1 + c) ** 2 - (1 + c) * (-c) ** 2
    for estimand, expected in ((minimum, least), (maximum, most)):
        e = debias(counts, estimand, epsilon=rate, domain="integers")
        assert e.value == pytest.approx(expected, rel=1e-12)


def binomial_sum(at, before, need, rate):
    """The published formula of T 1[need or more at t], bins at t and at t - 1."""
    c = 1 / (Decimal(rate).exp() - 2 + (-Decimal(rate)).exp())

    def law(count, stays):
        return [
            math.comb(count, j) * ((1 + c) ** j * (-c) ** (count - j))
            if stays
            else math.comb(count, j) * ((-c) ** j * (1 + c) ** (count - j))
            for j in range(count + 1)
        ]

    first, second = law(at, True), law(before, False)
    return sum(
        p * sum(second[max(need - j, 0) :], Decimal(0)) for j, p in enumerate(first)
    )


@pytest.mark.parametrize("k", [1, 137, 250, 500, 501, 700])
def test_five_hundred_ties(k):
    counts = [7] * 500 + [8] * 20 + [9] * 300
    with localcontext() as context:
        context.prec = 600
        m = 820 - k + 1
        v = 7 if k <= 500 else 8 if k <= 520 else 9
        at = {7: 500, 8: 20, 9: 300}
        above = {7: 320, 8: 300, 9: 0}
        expected = Decimal(v - 1)
        for t in (v, v + 1):
            beyond = above.get(t, 0)
            need = max(m - beyond, 0)
            expected += binomial_sum(at.get(t, 0), at.get(t - 1, 0), need, 1.0)
    e = debias(counts, order_statistic(k), epsilon=1, domain="integers")
    assert e.value == pytest.approx(float(expected), rel=1e-12)


def test_the_variance_of_the_middle_of_many_ties_keeps_its_digits():
    # As many may rise as fall, p each: (T f)² - T(f²) is -2p, and p² is far larger.
    with localcontext() as context:
        context.prec = 600
        p = binomial_sum(0, 301, 151, 1.0)
    e = debias([7] * 301, median, epsilon=1, domain="integers")
    assert e.value == 7
    assert e.variance == pytest.approx(-2 * float(p), rel=1e-12)


@pytest.mark.parametrize("counts", [[3, 3], [3, 4]])
def test_a_small_variance_of_large_terms_keeps_its_digits(counts):
    # The median of two is their mean: its variance is c, that of each order
    # statistic about c².
    e = debias(counts, median, epsilon=1e-20, domain="integers")
    assert e.value == sum(counts) / 2
    assert e.variance == pytest.approx(1e40, rel=1e-12)


def test_a_norm_beyond_1e300_is_refused_and_named():
    log_norm = math.log10(1 + 2 / (4 * math.sinh(0.5) ** 2))
    most = math.floor(300 / log_norm)
    assert math.isfinite(debias([3] * most, minimum, epsilon=1).value)
    with pytest.raises(UnstableEstimateError, match="norm 1e300"):
        debias([3] * (most + 1), minimum, epsilon=1)
    with pytest.raises(UnstableEstimateError, match="norm 1e473"):
        debias([3] * 500, median, epsilon=0.5)
    assert debias([3] * 500, median, epsilon=0.5, method="auto").method == "plugin"
    for lonely in ([3, *[4] * 700], [5, *[4] * 700]):
        estimand = minimum if lonely[0] == 3 else maximum
        with pytest.raises(UnstableEstimateError, match="norm 1e318"):
            debias(lonely, estimand, epsilon=1)
    spread = [100 * i for i in range(5_000)]
    assert debias(spread, median, epsilon=0.5).value == pytest.approx(249_950)


def test_many_ties_under_little_noise():
    rate, n = 20.0, 5_000
    d = 1 / math.expm1(rate)
    c = d * (1 + d)
    e = debias([7] * n, minimum, epsilon=rate)
    assert e.value == pytest.approx(6 + (1 + c) ** n, rel=1e-15)
    assert e.variance == pytest.approx(n * c, rel=1e-4)
    assert debias([7] * n, median, epsilon=rate).value == 7
    assert e.warnings == ()


def test_a_variance_is_accurate_where_it_is_tiny():
    # One bin far from the others: that of the bin, 2c.
    c = 1 / (4 * math.sinh(20.0) ** 2)
    e = debias([5, 50, 100], median, epsilon=40, domain="integers")
    assert e.variance == pytest.approx(2 * c, rel=1e-12)
    e = debias([5, 50, 100], quantile_range(0, 1), epsilon=40, domain="integers")
    assert e.variance == pytest.approx(4 * c, rel=1e-12)


def test_crowded_counts_are_flagged_and_auto_takes_the_plug_in():
    counts = [30] * 15
    e = debias(counts, minimum, epsilon=1)
    assert e.std_error > 1_000
    assert any("10 times the noise of one bin" in text for text in e.warnings)
    auto = debias(counts, minimum, epsilon=1, method="auto")
    assert (auto.method, auto.value) == ("plugin", 30.0)
    # The same noise up and down: the median stays, and its estimated variance is
    # far below 0. That is no small variance.
    e = debias(counts, median, epsilon=1)
    assert e.value == pytest.approx(30)
    assert e.variance < -1_000
    assert any("10 times the noise of one bin" in text for text in e.warnings)


@pytest.mark.parametrize(("ties", "ratio"), [(7, 9.92), (8, 13.81)])
def test_ten_times_the_noise_of_one_bin_is_where_it_is_flagged(ties, ratio):
    e = debias([30] * ties, minimum, epsilon=1.5)
    noise = 1 / (math.sqrt(2) * math.sinh(0.75))
    assert e.std_error / noise == pytest.approx(ratio, rel=1e-3)
    assert bool(e.warnings) == (ratio > 10)


@pytest.mark.parametrize("estimand", [minimum, median, quantile_range(0.25, 0.75)])
def test_spread_counts_are_not_flagged(estimand):
    e = debias(range(0, 210, 10), estimand, epsilon=1)
    assert e.warnings == ()
    assert 0.9 < e.std_error < 3
    assert debias(range(0, 210, 10), estimand, epsilon=1, method="auto").method == (
        "unbiased"
    )


def test_the_noise_that_counts_is_that_of_the_bins_at_hand():
    far = [5_000, 6_000]
    loose = debias([30] * 6 + far, minimum, epsilon=[1.0] * 6 + [0.001] * 2)
    alone = debias([30] * 6, minimum, epsilon=1.0)
    assert loose.value == pytest.approx(alone.value)
    assert any("10 times" in text for text in loose.warnings)


def test_a_variance_too_long_to_sum_is_nan_and_says_so():
    e = debias([7] * 3_000, quantile_range(0.25, 0.75), epsilon=20)
    assert e.value == pytest.approx(0)
    assert math.isnan(e.variance)
    assert math.isnan(e.std_error)
    assert any("not known" in text for text in e.warnings)
    assert len(e.warnings) == 1
    crowded = debias([7] * 3_000, quantile_range(0, 0.5), epsilon=7)
    assert any("10 times" in text for text in crowded.warnings)


@pytest.mark.parametrize("estimand", [minimum, maximum, median, quantile(0.3)])
def test_tables_are_read_bin_by_bin(estimand):
    rates = np.array([[0.5, 1.0], [2.0, 0.7]])
    counts = np.array([[3, 4], [2, 3]])
    table = estimate(NoisyCounts(counts, rates), estimand)
    assert table == estimate(NoisyCounts(counts.ravel(), rates.ravel()), estimand)


@pytest.mark.parametrize("rate", [1e-90, 800.0, 1e6, 1e300])
def test_rates_at_the_ends_of_float64(rate):
    e = debias([1, 40, 90], median, epsilon=rate, domain="integers")
    assert e.value == 40
    assert e.variance == pytest.approx(2 / rate**2 if rate < 1 else 0, rel=1e-9)


@pytest.mark.parametrize("k", [0, -1, 1.0, True, "1", None])
def test_a_rank_counts_from_one(k):
    with pytest.raises(ParameterError, match="rank k >= 1"):
        order_statistic(k)


def test_a_rank_beyond_the_bins_is_refused():
    with pytest.raises(ParameterError, match=r"order_statistic\(4\) was asked of 3"):
        debias([1, 2, 3], order_statistic(4), epsilon=1)


@pytest.mark.parametrize("q", [-0.1, 1.5])
def test_levels_are_shares(q):
    with pytest.raises(ParameterError, match="from 0 to 1"):
        quantile(q)
    with pytest.raises(ParameterError, match="from 0 to 1"):
        quantile_range(0, q)


@pytest.mark.parametrize("levels", [(0.5, 0.5), (0.75, 0.25)])
def test_the_lower_level_comes_first(levels):
    with pytest.raises(ParameterError, match="lower level first"):
        quantile_range(*levels)


@pytest.mark.parametrize(
    "estimand", [minimum, maximum, median, quantile(0.5), quantile_range(0, 1)]
)
def test_no_bins_have_no_order(estimand):
    with pytest.raises(ParameterError, match="at least one bin"):
        debias([], estimand, epsilon=1)
