"""Reading, merging, and counting the rows of measurements."""

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.models.measurements import as_measurement, estimate_total, merge

SIZES = {"b": 3, "a": 2}


def test_values_are_read_in_the_order_of_the_columns_given():
    flat = [1, 2, 3, 4, 5, 6]
    by_a = as_measurement(SIZES, ("a", "b"), flat, 2)
    assert by_a.block == ("b", "a")
    np.testing.assert_array_equal(by_a.values, np.reshape(flat, (2, 3)).T)
    by_b = as_measurement(SIZES, ("b", "a"), np.reshape(flat, (3, 2)), 2)
    np.testing.assert_array_equal(by_b.values, np.reshape(flat, (3, 2)))


def test_merging_weighs_by_inverse_variance():
    one = as_measurement(SIZES, ("a",), [10, 20], 2)
    two = as_measurement(SIZES, ("a",), [16, 14], 4)
    other = as_measurement(SIZES, ("b",), [1, 2, 3], 5)
    merged = merge([one, other, two])
    assert [m.block for m in merged] == [("a",), ("b",)]
    np.testing.assert_allclose(merged[0].values, [12, 18])
    assert merged[0].variance == pytest.approx(4 / 3)
    assert merged[1].variance == pytest.approx(5)


def test_the_total_weighs_sums_by_inverse_variance():
    told = [
        as_measurement(SIZES, ("a",), [10, 20], 2),  # 30, variance 4
        as_measurement(SIZES, ("b",), [10, 20, 4], 4),  # 34, variance 12
        as_measurement(SIZES, (), [50], 6),
    ]
    expected = (30 / 4 + 34 / 12 + 50 / 6) / (1 / 4 + 1 / 12 + 1 / 6)
    assert estimate_total(told) == pytest.approx(expected)
    assert estimate_total(merge([*told, *told])) == pytest.approx(expected)


def test_fewer_rows_than_one_are_one():
    assert estimate_total([as_measurement(SIZES, ("a",), [-5, 2], 2)]) == 1


@pytest.mark.parametrize("values", [[1, 2, 3], [1, np.nan], [1, np.inf], []])
def test_wrong_values(values):
    with pytest.raises(ParameterError, match="finite number for each of 2 cells"):
        as_measurement(SIZES, ("a",), values, 1)


@pytest.mark.parametrize("variance", [0, -1, np.inf, np.nan])
def test_wrong_variances(variance):
    with pytest.raises(ParameterError, match="variance"):
        as_measurement(SIZES, ("a",), [1, 2], variance)
