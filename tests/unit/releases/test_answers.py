from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from unit.releases.made import (
    BOOLEAN,
    FLOAT,
    INTEGER,
    all_noise,
    averaged,
    counted,
    lattice_of,
    measured,
    summed,
)

from dpframe.domain.lattice import fit_lattice
from dpframe.domain.schema import ColumnType
from dpframe.errors import ParameterError
from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.releases.answers import Answer

DECIMAL = ColumnType("decimal", scale=2)


def test_counts_are_the_noisy_integers():
    values = counted([5, -3, 0]).values()
    assert values.dtype == np.int64
    assert values.tolist() == [5, -3, 0]


def test_counts_are_copies():
    answer = counted([5])
    answer.values()[0] = 99
    assert answer.values().tolist() == [5]


@pytest.mark.parametrize("law", [DiscreteLaplace("7/3"), DiscreteGaussian(7)])
@pytest.mark.parametrize("level", ["0.5", "0.9", "0.999"])
def test_count_intervals_are_those_of_the_law(law, level):
    noise, chance = all_noise(law, 80, 1)
    lower, upper = counted(100 + noise[0], law=law).intervals(level)
    held = chance[(lower <= 100) & (upper >= 100)].sum()
    assert held >= float(level)
    narrower = chance[(lower < 100) & (upper > 100)].sum()
    assert narrower < float(level)


def test_scale_and_error_of_a_float_sum_are_in_the_columns_unit():
    grid = lattice_of(FLOAT, 0.0, 100.0, "sum")
    answer = summed([1], grid, DiscreteLaplace(2**40))
    assert answer.scale == 2**40 * float(grid.step)
    law = DiscreteLaplace(2**40)
    assert answer.std_errors()[0] == pytest.approx(law.std * float(grid.step))


def test_scale_of_gaussian_noise_is_sigma():
    assert counted([1], law=DiscreteGaussian(16)).scale == 4.0


def test_mean_has_no_scale():
    grid = lattice_of(INTEGER, 0, 10, "mean")
    with pytest.raises(ParameterError, match=r"'mean' is a mean.*std_error"):
        _ = averaged([1], [2], grid).scale


@pytest.mark.parametrize("level", [0, 1, -1, 1.5, "2"])
def test_level_is_a_probability(level):
    grid = lattice_of(INTEGER, 0, 10, "mean")
    for answer in (counted([1]), averaged([1], [2], grid)):
        with pytest.raises(ParameterError, match=r"level must lie.*0\.95"):
            answer.intervals(level)


def test_float_sums_are_steps_of_a_power_of_two():
    grid = lattice_of(FLOAT, -5.0, 5.0, "sum")
    assert grid.step.denominator == 2**27
    assert summed([3, -7], grid).values().tolist() == [3 * 2**-27, -7 * 2**-27]


def test_integer_sums_are_exact_beyond_float_and_int64():
    grid = lattice_of(INTEGER, 0, 2**60, "sum")
    big = 2**53 + 1
    assert summed([big], grid).estimates().value() == big
    huge = np.array([10**30 + 7], dtype=object)
    answer = summed(huge, grid)
    assert answer.estimates().value() == 10**30 + 7
    assert answer.values().tolist() == [10**30 + 7]
    assert answer.estimates().column().to_pylist() == [2**63 - 1]


def test_declared_integers_on_a_float_column_sum_to_integers():
    grid = fit_lattice("x", ColumnType("integer"), (0, 10), "sum")
    value = summed([12], grid).estimates().value()
    assert value == 12
    assert type(value) is int


def test_booleans_sum_to_integers_and_average_to_floats():
    total = summed([12], lattice_of(BOOLEAN, 0, 1, "sum")).estimates().value()
    assert (total, type(total)) == (12, int)
    share = averaged([3], [9], lattice_of(BOOLEAN, 0, 1, "mean")).estimates().value()
    assert share == 0.25


def test_decimals_answer_in_decimals():
    bounds = Decimal("0.00"), Decimal("99.99")
    total = summed([12_345], lattice_of(DECIMAL, *bounds, "sum"))
    assert total.estimates().value() == Decimal("123.45")
    assert total.bounds()[0].value() == Decimal("123.39")
    grid = lattice_of(DECIMAL, Decimal("1.00"), Decimal("2.00"), "mean")
    assert averaged([1], [3], grid).estimates().value() == Decimal("1.25")


def test_variance_of_decimals_is_in_their_square():
    grid = lattice_of(DECIMAL, Decimal("0.00"), Decimal("0.10"), "variance")
    triple = measured("triple", [300], [0], [300], lattice=grid)
    exact = Fraction(6, 4 * 5) * Fraction(1, 100)
    variance = Answer("variance", "variance", triple, grid).estimates().value()
    assert float(variance) == pytest.approx(float(exact))
    assert isinstance(variance, Decimal)
    std = Answer("std", "std", triple, grid).estimates().value()
    assert float(std) == pytest.approx(float(exact) ** 0.5)


def test_dates_average_to_a_date_with_a_duration_for_error():
    grid = lattice_of(ColumnType("date"), date(2024, 1, 1), date(2024, 12, 31), "mean")
    answer = averaged([10 * 365], [30 * 365], grid, DiscreteLaplace(365))
    assert answer.estimates().value() == date(2024, 4, 1)
    lower, upper = (end.value() for end in answer.bounds())
    assert date(2024, 1, 1) <= lower < date(2024, 4, 1) < upper
    assert timedelta(days=1) < answer.errors().value() < timedelta(days=30)
    assert answer.values().dtype == np.dtype("datetime64[D]")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_datetimes_average_to_a_datetime(unit):
    kind = ColumnType("datetime", unit=unit)
    grid = lattice_of(kind, datetime(2024, 1, 1), datetime(2024, 1, 2), "mean")
    answer = averaged([grid.width], [3 * grid.width], grid)
    assert answer.estimates().value() == datetime(2024, 1, 1, 6)
    column = answer.estimates().column()
    assert column.to_pylist()[0] == datetime(2024, 1, 1, 6)


def test_far_nanoseconds_keep_their_ticks():
    kind = ColumnType("datetime", unit="ns")
    low = datetime(2024, 1, 1, 0, 0, 0, 1)
    grid = lattice_of(kind, low, low + timedelta(microseconds=2), "mean")
    answer = averaged([1], [1], grid)
    assert answer.estimates().value() == low + timedelta(microseconds=1)


def test_durations_sum_and_spread_in_durations():
    kind = ColumnType("duration", unit="ms")
    day = timedelta(days=1)
    total = summed([5_000], lattice_of(kind, timedelta(0), day, "sum"))
    assert total.estimates().value() == timedelta(seconds=5)
    assert total.scale == timedelta(milliseconds=2)
    grid = lattice_of(kind, timedelta(0), timedelta(milliseconds=10), "variance")
    triple = measured("triple", [500], [0], [500], lattice=grid)
    std = Answer("std", "std", triple, grid).estimates().value()
    assert std == timedelta(milliseconds=(250 / 9) ** 0.5)
    variance = Answer("variance", "variance", triple, grid).estimates().value()
    assert variance == pytest.approx(std.total_seconds() ** 2, rel=1e-3)


def test_a_sum_of_durations_beyond_timedelta_is_saturated():
    kind = ColumnType("duration", unit="s")
    most = timedelta(days=999_999_999)
    huge = np.array([10**20], dtype=object)
    answer = summed(huge, lattice_of(kind, timedelta(0), most, "sum"))
    assert answer.estimates().value() == most


def test_huge_float_bounds_make_no_infinity():
    grid = lattice_of(FLOAT, -(2.0**1000), 2.0**1000, "sum")
    answer = summed(np.array([2**62]), grid)
    assert np.isfinite(answer.values()).all()
    grid = lattice_of(FLOAT, 0.0, 2.0**1000, "variance")
    w2 = grid.width**2
    triple = measured("triple", [3 * w2], [0], [3 * w2], lattice=grid)
    for statistic in ("variance", "std", "mean"):
        answer = Answer(statistic, statistic, triple, grid)
        assert np.isfinite(answer.values()).all()
        assert np.isfinite(answer.std_errors()).all()


@pytest.mark.parametrize(
    ("statistic", "value"), [("mean", 5.0), ("variance", 0.0), ("std", 0.0)]
)
def test_equal_bounds_are_a_public_constant(statistic, value):
    use = "mean" if statistic == "mean" else "variance"
    answer = Answer(statistic, statistic, None, lattice_of(FLOAT, 5.0, 5.0, use), 3)
    assert answer.values().tolist() == [value] * 3
    assert answer.std_errors().tolist() == [0.0] * 3
    assert [end.tolist() for end in answer.intervals()] == [[value] * 3] * 2
    assert answer.scale == 0
    assert answer.mechanism == "public constant"


def test_constant_sum_is_an_exact_zero():
    answer = Answer("sum", "sum", None, lattice_of(INTEGER, 0, 0, "sum"), 2)
    assert answer.values().tolist() == [0, 0]
    assert type(answer.estimates().value()) is int


def test_constant_date_is_the_bound():
    day = date(2024, 5, 1)
    grid = lattice_of(ColumnType("date"), day, day, "mean")
    answer = Answer("mean", "mean", None, grid)
    assert answer.estimates().value() == day
    assert answer.scale == timedelta(0)


def test_nonnegative_counts():
    answer = counted([-3, 4]).nonnegative()
    assert answer.values().tolist() == [0, 4]
    lower, upper = answer.intervals(0.5)
    assert lower.min() >= 0
    assert (upper >= lower).all()
    with pytest.raises(ParameterError, match="'sum' is none"):
        summed([1], lattice_of(INTEGER, 0, 9, "sum")).nonnegative()


def test_intervals_near_the_end_of_int64_do_not_wrap():
    values = np.array([2**62 + 2**61])
    lower, upper = counted(values, law=DiscreteLaplace(2**54)).intervals("0.999999")
    assert lower[0] < values[0] < upper[0]
    level = 1 - Fraction(1, 2**200)
    lower, upper = counted(values, law=DiscreteLaplace(2**54)).intervals(level)
    assert lower[0] < values[0] < upper[0]


def test_no_cells():
    grid = lattice_of(INTEGER, 0, 10, "variance")
    empty = np.zeros(0, dtype=np.int64)
    triple = measured("triple", empty, empty, empty, lattice=grid)
    for statistic in ("mean", "variance", "std"):
        answer = Answer(statistic, statistic, triple, grid)
        assert answer.values().size == 0
        assert answer.std_errors().size == 0
        assert answer.intervals()[0].size == 0
