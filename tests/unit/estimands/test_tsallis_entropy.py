import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from debias_reference import enumerate_inverse

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands import (
    NoisyCounts,
    black_box,
    debias,
    entropy,
    estimate,
    gini_simpson,
    tsallis,
)
from dpframe.estimands.counts_and_total import EstimatedTotal

DOMAINS = ["counts", "integers", (0, 6), (1, None), (2, 9), (-2, 5), (None, 8)]


def decimal_tsallis(q):
    order = Decimal(q)

    def f(x):
        total = sum(x)
        if total <= 0:
            return Decimal(0)
        powers = sum((Decimal(z) / total) ** order for z in x if z > 0)
        return (1 - powers) / (order - 1)

    return f


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("q", [0.05, 0.5, 2.0, 3.5])
@pytest.mark.parametrize("seed", range(2))
def test_it_is_the_sum_over_all_neighbors(domain, q, seed):
    rng = np.random.default_rng([seed, int(100 * q)])
    n = int(rng.integers(1, 5))
    counts = rng.integers(-3, 11 if seed else 3, n)
    noisy = NoisyCounts(counts, rng.choice([0.2, 0.5, 1.0, 2.7], n), domain)
    expected = enumerate_inverse(noisy, decimal_tsallis(q))
    assert estimate(noisy, tsallis(q)).value == pytest.approx(
        expected, rel=1e-10, abs=1e-12
    )


def test_eight_bins_with_a_rate_each_agree_with_the_black_box():
    noisy = NoisyCounts([3, 5, 2, 8, 0, 1, 4, 12], np.linspace(0.8, 3, 8))

    def simpson(x):
        return 1 - (x**2).sum(axis=1) / x.sum(axis=1) ** 2

    got = estimate(noisy, gini_simpson).value
    assert got == pytest.approx(estimate(noisy, black_box(simpson)).value, rel=1e-11)


def test_gini_simpson_is_the_order_2():
    counts = [31, 12, 0, -2, 7]
    one = debias(counts, gini_simpson, epsilon=0.5)
    other = debias(counts, tsallis(2), epsilon=0.5)
    assert (one.value, one.variance) == (other.value, other.variance)
    assert (one.estimand, other.estimand) == ("gini_simpson", "tsallis(2)")
    assert one.unit == ""


def test_order_1_is_approached_from_both_sides():
    counts = [310, 120, 50, -2, 7]
    shannon = debias(counts, entropy, epsilon=0.5)
    below = debias(counts, tsallis(1 - 2**-10), epsilon=0.5)
    above = debias(counts, tsallis(1 + 2**-10), epsilon=0.5)
    assert above.value < shannon.value < below.value
    assert (above.value + below.value) / 2 == pytest.approx(shannon.value, rel=1e-5)
    assert above.variance == pytest.approx(shannon.variance, rel=1e-2)


@pytest.mark.parametrize("domain", ["counts", "integers", (0, 50)])
@pytest.mark.parametrize("q", [0.5, 2, 10])
def test_without_noise_to_speak_of_it_is_the_index(domain, q):
    e = debias([10, 20, 0, 5], tsallis(q), epsilon=40, domain=domain)
    share = np.array([10, 20, 5]) / 35
    expected = (1 - (share**q).sum()) / (q - 1)
    assert e.value == pytest.approx(expected, rel=1e-11)
    assert e.plug_in == pytest.approx(e.value, rel=1e-11)
    assert e.std_error < 1e-7
    assert e.warnings == ()


@pytest.mark.parametrize("counts", [[], [0, 0, 0], [7]])
def test_one_key_or_none_has_no_diversity(counts):
    e = debias(counts, gini_simpson, epsilon=60)
    assert e.value == pytest.approx(0, abs=1e-12)
    assert e.plug_in == 0
    assert math.copysign(1, e.plug_in) == 1


@pytest.mark.parametrize("q", [0.5, 2.0, 3.0])
def test_the_variance_is_that_of_the_tangent_sum(q):
    counts = np.array([30, 12, 0, -1, 7])
    e = debias(counts, tsallis(q), epsilon=1)
    c, d = 1 / (4 * math.sinh(0.5) ** 2), 1 / math.expm1(1)
    total = np.where(counts >= 1, counts, -d).sum()
    powers = 1 - (q - 1) * e.value

    def psi(z):
        return -((z / total) ** q - q * powers * z / total) / (q - 1)

    expected = 0.0
    for y in counts.tolist():
        row = {0: 1 + d, 1: -d} if y <= 0 else {y - 1: -c, y: 1 + 2 * c, y + 1: -c}
        mean = sum(w * psi(z) for z, w in row.items())
        expected += mean**2 - sum(w * psi(z) ** 2 for z, w in row.items())
    assert e.variance == pytest.approx(expected, rel=1e-9)


def test_equal_counts_count_as_many():
    e = debias([5, 5, 0, 5, 5, -2], gini_simpson, epsilon=40)
    assert (e.plug_in, e.value) == pytest.approx((0.75, 0.75))


@pytest.mark.parametrize("q", [0.5, 2.0])
def test_the_tangent_has_the_slope_of_the_index(q):
    x = np.array([30.0, 12.0, 1.0, 7.0])

    def index(x):
        share = x / x.sum()
        return (1 - (share**q).sum()) / (q - 1)

    total = EstimatedTotal.behind(NoisyCounts(x, 40.0))
    psi = tsallis(q)._tangent(total, index(x))
    h = 1e-5
    for i in range(4):
        step = h * np.eye(4)[i]
        slope = (index(x + step) - index(x - step)) / (2 * h)
        own = (psi(x[i] + h) - psi(x[i] - h)) / (2 * h)
        assert own == pytest.approx(slope, rel=1e-5, abs=1e-9)


ZIPF = np.round(3_000 / np.arange(1, 501)).astype(int)


@pytest.mark.parametrize(
    ("x", "rate", "q"),
    [(np.full(40, 30), 1.0, 2.0), (ZIPF, 0.5, 2.0), (ZIPF, 0.5, 0.5)],
    ids=["equal", "zipf", "zipf_half"],
)
def test_the_variance_is_the_right_one_and_intervals_cover(x, rate, q):
    rng = np.random.default_rng(11)
    runs = 200
    noise = rng.geometric(-math.expm1(-rate), (2, runs, x.size))
    found = [debias(y, tsallis(q), epsilon=rate) for y in x + noise[0] - noise[1]]
    share = x / x.sum()
    truth = (1 - (share**q).sum()) / (q - 1)
    errors = np.array([float(e) - truth for e in found])
    mean_variance = np.mean([e.variance for e in found])
    assert 0.7 < mean_variance / np.mean(errors**2) < 1.4
    intervals = [e.interval() for e in found]
    assert np.mean([low < truth < high for low, high in intervals]) > 0.9
    assert abs(errors.mean()) < 5 * errors.std() / math.sqrt(runs)


@pytest.mark.parametrize("half", [10**9, 10**12, 10**15])
@pytest.mark.parametrize("q", [0.5, 2, 10])
def test_the_size_of_the_counts_does_not_matter(half, q):
    e = debias([half, half], tsallis(q), epsilon=0.1)
    assert e.value == pytest.approx((1 - 2 ** (1 - q)) / (q - 1), rel=1e-12)
    assert e.std_error < 1e-6


def test_roads_and_warnings_are_those_of_the_entropy():
    near = debias([1, 0, -1, 2, 0, 0], gini_simpson, epsilon=0.5)
    assert any("astronomically large" in text for text in near.warnings)
    assert any("within 3 standard errors of 0" in text for text in near.warnings)
    exact = debias([1, 0, -1, 2], tsallis(0.5), epsilon=1, domain="integers")
    assert any("decimals" in text for text in exact.warnings)
    counts = np.tile([3, -3], 600)
    with pytest.raises(UnstableEstimateError, match="domain='counts'"):
        debias(counts, gini_simpson, epsilon=1, domain="integers")
    left = debias(counts, gini_simpson, epsilon=1, domain="integers", method="auto")
    assert left.method == "plugin"


def test_auto_debiases_many_bins_and_not_a_few():
    rng = np.random.default_rng(2)
    noise = rng.geometric(-math.expm1(-0.5), (2, 2_000))
    many = 5 + noise[0] - noise[1]
    found = debias(many, tsallis(0.5), epsilon=0.5, method="auto")
    assert found.method == "unbiased"
    few = debias([3, 5, 2, 8, 0, 1, 4], gini_simpson, epsilon=1, method="auto")
    assert few.method == "plugin"
    assert few.value == few.plug_in


@pytest.mark.parametrize("q", ["1/2", Fraction(1, 2), np.float64(0.5), Decimal("0.5")])
def test_the_order_may_be_written_in_many_ways(q):
    assert tsallis(q) == tsallis(0.5)
    assert repr(tsallis(q)) == "tsallis(0.5)"


@pytest.mark.parametrize("q", [1.0, 1 + 1e-9, 1 - 1e-12, "1.00000000000000000000001"])
def test_order_1_and_what_float64_cannot_tell_from_it_is_sent_to_entropy(q):
    with pytest.raises(ParameterError, match="use entropy"):
        tsallis(q)


def test_the_orders_next_to_1_keep_their_digits():
    counts = [310, 120, 50, 0, 7]
    shannon = debias(counts, entropy, epsilon=0.5).value
    for q in 1 - 2e-6, 1 + 2e-6:
        e = debias(counts, tsallis(q), epsilon=0.5)
        assert e.value == pytest.approx(shannon, rel=1e-5)
        assert e.value != shannon


@pytest.mark.parametrize("q", [0, -0.5, 10.5, 1e9, "1e1000", "1e-1000"])
def test_orders_outside_are_refused(q):
    with pytest.raises(ParameterError, match=r"inside \(0, 10\] and not 1"):
        tsallis(q)
