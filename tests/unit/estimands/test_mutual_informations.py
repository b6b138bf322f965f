import math
from decimal import Decimal

import numpy as np
import pytest
from debias_reference import decimal_entropy, enumerate_inverse

from dpframe.errors import ParameterError
from dpframe.estimands import (
    NoisyCounts,
    black_box,
    debias,
    estimate,
    mutual_information,
)


def decimal_information(shape):
    def f(z):
        if sum(z) <= 0:
            return Decimal(0)
        table = np.array(z, dtype=object).reshape(shape)
        apart = [decimal_entropy(table.sum(axis=i).tolist()) for i in (0, 1)]
        return sum(apart) - decimal_entropy(z)

    return f


def information(table):
    share = table / table.sum()

    def h(p):
        return -(p[p > 0] * np.log(p[p > 0])).sum()

    return h(share.sum(axis=0)) + h(share.sum(axis=1)) - h(share)


@pytest.mark.parametrize("shape", [(2, 2), (1, 3), (3, 1), (2, 3), (1, 1)])
@pytest.mark.parametrize("seed", range(2))
def test_it_is_the_sum_over_all_neighbors(shape, seed):
    rng = np.random.default_rng([seed, *shape])
    counts = rng.integers(-3, 11 if seed else 3, shape)
    rates = rng.choice([0.2, 0.5, 1.0, 2.7], shape)
    flat = NoisyCounts(counts.ravel(), rates.ravel())
    expected = enumerate_inverse(flat, decimal_information(shape))
    got = estimate(NoisyCounts(counts, rates), mutual_information).value
    assert got == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_eight_cells_agree_with_the_black_box():
    counts = np.array([[12, 3, 5, 9], [4, 6, 2, 7]])
    noisy = NoisyCounts(counts, np.linspace(1, 3, 8).reshape(2, 4))

    def phi(z):
        return z * np.log(np.maximum(z, 1))

    def f(x):
        table = x.reshape(-1, 2, 4)
        total = x.sum(axis=1)
        rows, columns = table.sum(axis=2), table.sum(axis=1)
        parts = [phi(z).sum(axis=1) for z in (x, rows, columns)]
        return np.log(total) + (parts[0] - parts[1] - parts[2]) / total

    got = estimate(noisy, mutual_information).value
    assert got == pytest.approx(estimate(noisy, black_box(f)).value, rel=1e-10)


def test_without_noise_to_speak_of_it_is_the_information():
    table = np.array([[10, 0, 3], [2, 14, 6]])
    e = debias(table, mutual_information, epsilon=40)
    assert e.value == pytest.approx(information(table), rel=1e-11)
    assert e.plug_in == pytest.approx(information(table), rel=1e-12)
    assert e.std_error < 1e-7
    assert (e.unit, e.warnings) == ("nats", ())


def test_rows_and_columns_may_be_exchanged():
    table = np.array([[30, 4, 13], [2, 24, 6]])
    rates = np.array([[1, 2, 0.5], [3, 1, 1]])
    one = debias(table, mutual_information, epsilon=rates)
    other = debias(table.T, mutual_information, epsilon=rates.T)
    assert other.value == pytest.approx(one.value, rel=1e-11)
    assert other.variance == pytest.approx(one.variance, rel=1e-11)


def test_counts_of_a_billion():
    table = np.array([[3 * 10**9, 10**9], [10**9, 2 * 10**9]])
    e = debias(table, mutual_information, epsilon=0.1)
    assert e.value == pytest.approx(information(table), abs=1e-12)


@pytest.mark.parametrize("shape", [(0, 3), (0, 0), (2, 2)])
def test_an_empty_table_has_none(shape):
    e = debias(np.zeros(shape), mutual_information, epsilon=60)
    assert (e.value, e.plug_in) == (pytest.approx(0, abs=1e-12), 0)


def test_the_variance_is_that_of_the_tangent_sum():
    table = np.array([[30, 12, 0], [7, -1, 25]])
    e = debias(table, mutual_information, epsilon=1)
    c, d = 1 / (4 * math.sinh(0.5) ** 2), 1 / math.expm1(1)
    cut = np.where(table >= 1, table, -d)
    total = cut.sum()
    expected = 0.0
    for (i, j), y in np.ndenumerate(table):
        product = cut.sum(axis=1)[i] * cut.sum(axis=0)[j]

        def psi(z, product=product):
            log = math.log(z * total / product) if z > 0 else 0.0
            return z / total * (log - e.value - 1)

        row = {0: 1 + d, 1: -d} if y <= 0 else {y - 1: -c, y: 1 + 2 * c, y + 1: -c}
        mean = sum(w * psi(z) for z, w in row.items())
        expected += mean**2 - sum(w * psi(z) ** 2 for z, w in row.items())
    assert e.variance == pytest.approx(expected, rel=1e-9)


def test_of_large_counts_the_variance_is_that_of_the_gradient():
    table = np.array([[9_000.0, 2_000.0, 4_500.0], [3_000.0, 8_500.0, 6_000.0]])
    e = debias(table, mutual_information, epsilon=1)
    variance = 0.0
    for place in np.ndindex(2, 3):
        step = np.zeros((2, 3))
        step[place] = 1.0
        slope = (information(table + step) - information(table - step)) / 2
        variance += slope**2 / (2 * math.sinh(0.5) ** 2)
    assert e.variance == pytest.approx(variance, rel=1e-3)


@pytest.mark.slow
def test_the_variance_is_the_right_one_and_intervals_cover():
    rng = np.random.default_rng(11)
    runs, rate = 100, 1.0
    table = np.array([[90, 20, 45], [30, 85, 60]])
    noise = rng.geometric(-math.expm1(-rate), (2, runs, 2, 3))
    found = [
        debias(y, mutual_information, epsilon=rate) for y in table + noise[0] - noise[1]
    ]
    truth = information(table)
    errors = np.array([float(e) - truth for e in found])
    assert 0.6 < np.mean([e.variance for e in found]) / np.mean(errors**2) < 1.7
    intervals = [e.interval() for e in found]
    assert np.mean([low < truth < high for low, high in intervals]) > 0.85
    assert abs(errors.mean()) < 5 * errors.std() / math.sqrt(runs)


def test_a_faint_row_or_column_is_flagged():
    table = np.array([[300, 200, 2], [150, 260, -1]])
    for counts in (table, table.T):
        e = debias(counts, mutual_information, epsilon=0.5)
        assert any("row's or a column's total" in text for text in e.warnings)
    strong = debias(table[:, :2], mutual_information, epsilon=0.5)
    assert not strong.warnings


@pytest.mark.parametrize("counts", [[4, 0, 3], np.zeros((2, 2, 2), int)])
@pytest.mark.parametrize("method", ["unbiased", "plugin"])
def test_it_needs_a_table(counts, method):
    with pytest.raises(ParameterError, match="two-dimensional counts"):
        debias(counts, mutual_information, epsilon=1, method=method)


@pytest.mark.parametrize("domain", ["integers", (0, 50), (1, None)])
def test_it_is_for_counts_only(domain):
    with pytest.raises(ParameterError, match="use domain='counts'"):
        debias([[4, 0], [3, 1]], mutual_information, epsilon=1, domain=domain)
