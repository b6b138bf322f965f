import math
from fractions import Fraction

import numpy as np
import pytest

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands.pointwise import difference, pointwise, real

POINTS = np.array([3, 0, 7, 3])


def test_a_vectorized_function_is_called_once_with_floats():
    calls = []

    def f(x):
        calls.append(x)
        return x**2

    assert pointwise(f, POINTS).tolist() == [9, 0, 49, 9]
    assert len(calls) == 1
    assert calls[0].dtype == np.float64


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * math.log(x) if x > 0 else 0.0,
        lambda x: {0: 0.0, 3: 3 * math.log(3), 7: 7 * math.log(7)}[x],
        lambda x: [0.0, None, None, 3 * math.log(3), 0, 0, 0, 7 * math.log(7)][x],
    ],
    ids=["branch", "dict", "list"],
)
def test_a_function_of_one_number_is_called_per_distinct_point(f):
    expected = [3 * math.log(3), 0, 7 * math.log(7), 3 * math.log(3)]
    assert real(pointwise(f, POINTS)).tolist() == expected


def test_a_constant_is_a_function_too():
    assert real(pointwise(lambda x: 2.5, POINTS)).tolist() == [2.5] * 4


def test_truth_values_count_as_0_and_1():
    assert pointwise(lambda x: x == 3, POINTS).tolist() == [1, 0, 0, 1]


def test_exact_results_stay_exact_until_subtracted():
    big = 10**30
    up = pointwise(lambda x: big + Fraction(int(x), 3), POINTS)
    here = pointwise(lambda x: big, POINTS)
    assert difference(up, here).tolist() == [1.0, 0.0, 7 / 3, 1.0]


def test_the_functions_own_error_comes_through():
    def f(x):
        msg = "only even counts"
        raise ValueError(msg)

    with pytest.raises(ValueError, match="only even counts"):
        pointwise(f, POINTS)


@pytest.mark.parametrize(
    "f", [lambda x: 1j * x, lambda x: "a", lambda x: (x, x), lambda x: {}]
)
def test_values_that_are_no_numbers_are_refused(f):
    with pytest.raises(ParameterError, match="one real number per count"):
        real(pointwise(f, POINTS))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_values_that_are_not_finite_are_refused(value):
    with pytest.raises(ParameterError, match="finite at every number"):
        real(pointwise(lambda x: np.where(x == 7, value, x), POINTS))


def test_an_exact_value_beyond_float64_is_unstable():
    with pytest.raises(UnstableEstimateError, match="beyond float64"):
        real(pointwise(lambda x: 10**400, POINTS))
