import math

import numpy as np
import pytest
from debias_reference import decimal_entropy, enumerate_inverse

from dpframe.errors import UnstableEstimateError
from dpframe.estimands import NoisyCounts, debias, entropy, estimate

DOMAINS = ["counts", "integers", (0, 6), (1, None), (2, 9), (-2, 5), (None, 8)]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_sum_of_entropies_over_all_neighbors(domain, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    counts = rng.integers(-3, 11 if seed % 2 else 3, n)
    rates = rng.choice([0.2, 0.5, 1.0, 2.7], n)
    noisy = NoisyCounts(counts, rates, domain)
    expected = enumerate_inverse(noisy, decimal_entropy)
    assert estimate(noisy, entropy).value == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("domain", ["counts", "integers", (0, 50)])
def test_without_noise_to_speak_of_it_is_the_entropy(domain):
    e = debias([10, 20, 0, 5], entropy, epsilon=40, domain=domain)
    share = np.array([10, 20, 5]) / 35
    assert e.value == pytest.approx(-(share * np.log(share)).sum(), rel=1e-12)
    assert e.plug_in == pytest.approx(e.value, rel=1e-12)
    assert e.std_error < 1e-8
    assert (e.unit, e.warnings) == ("nats", ())


@pytest.mark.parametrize("counts", [[], [0, 0, 0], [7]])
def test_one_key_or_none_has_no_entropy(counts):
    e = debias(counts, entropy, epsilon=60)
    assert e.value == pytest.approx(0, abs=1e-12)
    assert e.plug_in == 0
    assert math.copysign(1, e.plug_in) == 1


def test_equal_counts_count_as_many():
    e = debias([5, 5, 0, 5, 5, -2], entropy, epsilon=40)
    assert (e.plug_in, e.value) == pytest.approx((math.log(4), math.log(4)))


def test_the_plug_in_is_cut_to_the_domain():
    counts = [6, -2, 2]
    two = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert debias(counts, entropy, epsilon=1).plug_in == pytest.approx(two)
    raw = debias(counts, entropy, epsilon=1, domain="integers").plug_in
    assert raw == pytest.approx(math.log(3) / 3)  # the sum of all three is 6


def test_the_variance_is_that_of_the_tangent_sum():
    counts = np.array([30, 12, 0, -1, 7])
    e = debias(counts, entropy, epsilon=1)
    c, d = 1 / (4 * math.sinh(0.5) ** 2), 1 / math.expm1(1)
    total = np.where(counts >= 1, counts, -d).sum()

    def psi(z):
        share = z / total
        return -share * (math.log(share) + e.value - 1) if z > 0 else 0.0

    expected = 0.0
    for y in counts.tolist():
        row = {0: 1 + d, 1: -d} if y <= 0 else {y - 1: -c, y: 1 + 2 * c, y + 1: -c}
        mean = sum(w * psi(z) for z, w in row.items())
        expected += mean**2 - sum(w * psi(z) ** 2 for z, w in row.items())
    assert e.variance == pytest.approx(expected, rel=1e-9)


ZIPF = np.round(3_000 / np.arange(1, 501)).astype(int)


@pytest.mark.parametrize(
    ("x", "rate", "domain"),
    [
        # The tangent's -1 decides here: without it the variance is 60 times too big.
        (np.full(40, 30), 1.0, "counts"),
        (ZIPF, 0.5, "counts"),
        # Many bins go below 0 and still act on N: else the variance is too small.
        (ZIPF // 4, 0.5, "integers"),
    ],
    ids=["equal", "zipf", "zipf_integers"],
)
def test_the_variance_is_the_right_one_and_intervals_cover(x, rate, domain):
    rng = np.random.default_rng(11)
    runs = 200
    noise = rng.geometric(-math.expm1(-rate), (2, runs, x.size))
    found = [
        debias(y, entropy, epsilon=rate, domain=domain) for y in x + noise[0] - noise[1]
    ]
    truth = float(decimal_entropy(x.tolist()))
    errors = np.array([float(e) - truth for e in found])
    mean_variance = np.mean([e.variance for e in found])
    assert 0.7 < mean_variance / np.mean(errors**2) < 1.4
    intervals = [e.interval() for e in found]
    assert np.mean([low < truth < high for low, high in intervals]) > 0.9
    assert abs(errors.mean()) < 5 * errors.std() / math.sqrt(runs)


def test_a_dictionary_of_twelve_thousand_words():
    rng = np.random.default_rng(7)
    n, rate = 12_373, 0.5
    words = np.maximum(1, 20_000 / np.arange(1, n + 1)).astype(int)
    noise = rng.geometric(-math.expm1(-rate), (2, n))
    e = debias(words + noise[0] - noise[1], entropy, epsilon=rate)
    share = words / words.sum()
    truth = -(share * np.log(share)).sum()
    assert abs(e.value - truth) < 5 * e.std_error
    assert e.std_error < 0.01
    assert abs(e.plug_in - truth) > 3 * e.std_error
    assert not e.warnings


def test_a_total_near_zero_is_flagged():
    e = debias([1, 0, -1, 2, 0, 0], entropy, epsilon=0.5)
    assert any("within 3 standard errors of 0" in text for text in e.warnings)
    assert any("astronomically large" in text for text in e.warnings)
    assert math.isfinite(e.std_error)


def test_integers_with_a_small_sum_take_the_decimal_road_and_say_so():
    e = debias([1, 0, -1, 2], entropy, epsilon=1, domain="integers")
    assert any("decimals" in text for text in e.warnings)
    assert not any(
        "decimals" in text for text in debias([1, 0], entropy, epsilon=1).warnings
    )


def test_too_many_bins_for_that_road_are_unstable_but_the_plug_in_remains():
    counts = np.tile([3, -3], 600)
    with pytest.raises(UnstableEstimateError, match="domain='counts'"):
        debias(counts, entropy, epsilon=1, domain="integers")
    for method in ("plugin", "auto"):
        e = debias(counts, entropy, epsilon=1, domain="integers", method=method)
        assert e.method == "plugin"
        assert math.isnan(e.std_error)
        assert any("nothing is known about the bias" in text for text in e.warnings)


def test_auto_debiases_many_bins_and_not_a_few():
    rng = np.random.default_rng(2)
    noise = rng.geometric(-math.expm1(-0.5), (2, 2_000))
    many = 5 + noise[0] - noise[1]
    assert debias(many, entropy, epsilon=0.5, method="auto").method == "unbiased"
    few = debias([3, 5, 2, 8, 0, 1, 4], entropy, epsilon=1, method="auto")
    assert few.method == "plugin"
    assert few.value == few.plug_in


def test_tables_are_read_as_one_histogram():
    table = np.array([[5, 0, 3], [2, 9, 1]])
    flat = debias(table.ravel(), entropy, epsilon=1)
    assert debias(table, entropy, epsilon=1) == flat


def test_auto_leaves_an_estimate_with_a_second_lobe_alone():
    rng = np.random.default_rng(3)
    noise = rng.geometric(-math.expm1(-0.2), (2, 100))
    counts = rng.poisson(3, 100) + noise[0] - noise[1]
    counts[0] += max(0, 101 - counts.sum())
    unbiased = debias(counts, entropy, epsilon=0.2, domain="integers")
    assert abs(unbiased.value) > 1_000
    for method in ("auto", "plugin"):
        e = debias(counts, entropy, epsilon=0.2, domain="integers", method=method)
        assert (e.value, e.method) == (e.plug_in, "plugin")
        assert 0 < e.std_error < 10


@pytest.mark.parametrize("half", [10**9, 10**12, 10**15])
def test_the_size_of_the_counts_does_not_matter(half):
    e = debias([half, half], entropy, epsilon=0.1)
    assert e.value == pytest.approx(math.log(2), rel=1e-13)
    assert e.std_error < 1e-6
