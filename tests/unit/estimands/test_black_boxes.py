import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from debias_reference import enumerate_inverse

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands import (
    BlackBox,
    NoisyCounts,
    black_box,
    debias,
    estimate,
    power_sum,
    profile,
    separable,
)

DOMAINS = ["counts", "integers", (2, 6), (1, None), (None, 4), (3, 3), (0, 1)]


def patternless(seed):
    table = np.random.default_rng(seed).uniform(-1, 1, 997)
    primes = np.array([101, 211, 307, 401, 503, 601, 701, 809])

    def f(x):
        x = np.asarray(x)
        return table[(x * primes[: x.shape[-1]]).sum(axis=-1) % table.size]

    return f


def random_counts(seed, n, domain):
    rng = np.random.default_rng(seed)
    return NoisyCounts(rng.integers(-3, 9, n), rng.uniform(0.4, 4.0, n), domain)


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_it_is_the_sum_over_all_neighbors(domain, n):
    noisy, f = random_counts(n, n, domain), patternless(n)
    got = black_box(f).debias(noisy)
    value = enumerate_inverse(noisy, lambda z: Decimal(float(f(z))))
    square = enumerate_inverse(noisy, lambda z: Decimal(float(f(z))) ** 2)
    assert got.value == pytest.approx(value, rel=1e-12, abs=1e-13)
    assert got.variance == pytest.approx(value**2 - square, rel=1e-9, abs=1e-11)
    center = noisy.clip(noisy.values)
    assert black_box(f).plug_in(noisy) == float(f(center))


@pytest.mark.parametrize("domain", ["counts", "integers", (0, 9)], ids=str)
@pytest.mark.parametrize("counts", [[3, 0, 7], [1, -2, 2]])
def test_sums_over_bins_agree_with_the_separable_form(domain, counts):
    rates = [0.5, 1.0, 3.0]
    for one, all_ in (
        (power_sum(2), lambda x: (x**2).sum(axis=1)),
        (profile(1), lambda x: (x == 1).sum(axis=1)),
        (separable(np.cos), lambda x: np.cos(x).sum(axis=1)),
    ):
        expected = debias(counts, one, epsilon=rates, domain=domain)
        got = debias(counts, black_box(all_), epsilon=rates, domain=domain)
        assert got.value == pytest.approx(expected.value, rel=1e-13)
        assert got.variance == pytest.approx(expected.variance, rel=1e-12)
        assert got.plug_in == expected.plug_in


def test_rows_and_blocks_give_the_same_estimate():
    counts = [4, 0, 1, 9]
    block = debias(counts, lambda x: np.sqrt(1 + x.max(axis=1)), epsilon=1)
    row = debias(counts, lambda x: math.sqrt(1 + max(x)), epsilon=1)
    assert row.value == pytest.approx(block.value, rel=1e-14)
    assert row.variance == pytest.approx(block.variance, rel=1e-12)


def test_it_is_called_in_blocks_inside_the_domain_once_for_each_point():
    calls = []

    def f(x):
        calls.append(x.copy())
        return x.sum(axis=1) * 1.0

    noisy = NoisyCounts(np.array([0, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5]), 1.0)
    black_box(f).debias(noisy)
    assert [len(x) for x in calls] == [65_536, 2 * 3**10 - 65_536]
    points = np.concatenate(calls)
    assert len(np.unique(points, axis=0)) == len(points)
    assert points[:, 0].tolist().count(0) == 3**10
    assert (points[:, 0].max(), points.min()) == (1, 0)
    assert (points[:, 1:].min(), points[:, 1:].max()) == (4, 6)


def test_exact_functions_keep_their_digits():
    noisy = NoisyCounts(np.array([40, 41, 39]), 1.0, "integers")
    constant = 10**25

    def f(x):
        return Fraction(int(x[0]) * int(x[1]), 3) + int(x[2]) ** 5 + constant

    got = black_box(f).debias(noisy)
    small = black_box(lambda x: f(x) - constant).debias(noisy)
    assert got.value == constant + small.value
    assert got.variance == pytest.approx(small.variance, rel=1e-12)
    value = enumerate_inverse(
        noisy, lambda z: Decimal(z[0] * z[1]) / 3 + Decimal(z[2]) ** 5
    )
    assert small.value == pytest.approx(value, rel=1e-14)
    rounded = black_box(lambda x: float(f(x))).debias(noisy)
    assert rounded.variance != pytest.approx(small.variance, rel=1e-3)


def test_the_condition_number_and_its_warning():
    noisy = NoisyCounts(np.array([40, 41, 39, 37]), 0.05, "integers")
    smooth = black_box(lambda x: np.log(x).sum(axis=1))
    norm = math.prod([1 + 4 / (4 * math.sinh(0.025) ** 2)] * 4)
    assert smooth.condition_number(noisy) == pytest.approx(norm, rel=0.1)
    debiased = smooth.debias(noisy)
    assert any("condition number 6e+12" in text for text in debiased.warnings)
    exact = black_box(lambda x: x.sum(axis=1))
    assert exact.condition_number(noisy) < 50
    assert not exact.debias(noisy).warnings
    assert black_box(lambda x: 0).condition_number(noisy) == math.inf


def test_bins_that_are_not_used_are_dropped():
    counts, rates = np.arange(100) - 2, np.linspace(0.5, 3, 100)
    asked = []

    def f(x):
        asked.append(x.shape[1])
        return x[:, 0] * x[:, 1]

    used = debias(counts, black_box(f, uses=[7, 3]), epsilon=rates)
    own = debias(counts[[7, 3]], f, epsilon=rates[[7, 3]])
    assert set(asked) == {2}
    assert (used.value, used.variance) == (own.value, own.variance)
    assert used.plug_in == 5.0 * 1.0
    array = black_box(f, uses=np.array([7, 3]))
    assert array.uses == (7, 3)


def test_two_dimensional_counts_come_row_after_row():
    table = [[1, 2], [3, 4]]
    got = debias(table, black_box(lambda x: x[:, 2]), epsilon=1)
    assert (got.plug_in, got.value) == (3.0, 3.0)


def test_too_many_points_are_refused_before_they_are_evaluated():
    calls = []

    def f(x):
        calls.append(len(x))
        return x.sum(axis=1)

    box = black_box(f)
    counts = [5] * 13
    with pytest.raises(ParameterError, match=r"13 counts.*531,441.*separable\(f\)"):
        box.debias(NoisyCounts(counts, 1.0))
    assert calls == []
    assert box.debias(NoisyCounts(counts[1:], 1.0)).value == 60.0
    # Six ends of the domain have two neighbors each, fixed counts have one.
    six = NoisyCounts([0] * 19, 1.0)
    assert black_box(f, limit=2**19).debias(six).variance > 0
    with pytest.raises(ParameterError, match="524,287"):
        black_box(f, limit=2**19 - 1).debias(six)
    assert box.debias(NoisyCounts([7] * 1000, 1.0, (4, 4))) == (4000.0, 0.0, (), True)
    with pytest.raises(ParameterError, match="more than 531,441 points"):
        box.debias(NoisyCounts(np.full(10**5, 9), 1.0))


def test_any_callable_is_a_black_box():
    noisy = NoisyCounts([3, 1, 4], 1.0)

    def largest(x):
        return x.max(axis=1)

    bare = estimate(noisy, largest)
    named = estimate(noisy, black_box(largest))
    assert bare == named
    assert bare.estimand == "largest"
    assert estimate(noisy, largest, method="plugin").value == 4.0
    auto = estimate(noisy, largest, method="auto")
    assert auto.method == "unbiased"
    assert any("could not be estimated" in text for text in auto.warnings)


def test_names():
    assert black_box(lambda x: 0).name == "black_box"
    assert black_box(np.median).name == "median"
    assert black_box(np.median, "middle").name == "middle"
    assert repr(black_box(np.median)) == "median"
    assert isinstance(black_box(np.median), BlackBox)


def test_no_bins():
    got = debias([], lambda x: x.sum(axis=1) + 2, epsilon=1)
    assert (got.value, got.plug_in, got.variance) == (2.0, 2.0, 0.0)


def test_what_is_no_number_is_refused():
    noisy = NoisyCounts([3, 1], 1.0)
    with pytest.raises(ParameterError, match=r"separable\(f\)"):
        estimate(noisy, lambda x: x**2)
    for value in (None, "a", 1j, float("nan"), float("inf")):
        with pytest.raises(ParameterError, match="must"):
            estimate(noisy, lambda x, value=value: value)


def test_a_huge_estimate_is_unstable():
    noisy = NoisyCounts([3, 1], 0.1)
    with pytest.raises(UnstableEstimateError, match="beyond 1e300"):
        estimate(noisy, lambda x: 1e200 * x[:, 0])
    with pytest.raises(UnstableEstimateError, match="beyond 1e300"):
        estimate(noisy, lambda x: 1e150 * x[:, 0])  # its variance
    with pytest.raises(UnstableEstimateError, match="beyond float64"):
        estimate(noisy, lambda x: 10**400)


def test_noise_that_drowns_the_function_is_flagged():
    got = debias([1, 2, 3], lambda x: x[:, 0] == 1, epsilon=0.02)
    assert any("10 times the plug-in" in text for text in got.warnings)
    assert not debias([90, 80], lambda x: x[:, 0], epsilon=1).warnings


@pytest.mark.parametrize(
    "uses", [[], [0, 0], [-1], [1.0], [True], "01", {0: 1}, [None], [[0, 1]][0:0]]
)
def test_wrong_bins_are_refused(uses):
    with pytest.raises(ParameterError, match=r"uses must list"):
        black_box(np.max, uses=uses)


def test_a_bin_that_is_not_there_is_refused():
    with pytest.raises(ParameterError, match=r"bin 3, and there are 3 bins"):
        debias([1, 2, 3], black_box(lambda x: x[:, 0], uses=[3]), epsilon=1)


@pytest.mark.parametrize("limit", [0, -1, 2.5, True, "9", None])
def test_wrong_limits_are_refused(limit):
    with pytest.raises(ParameterError, match="limit must be"):
        black_box(np.max, limit=limit)


def test_something_that_cannot_be_called_is_refused():
    with pytest.raises(ParameterError, match="a function of all counts, not int"):
        black_box(3)
