import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.estimands.on_rows import on_rows

ROWS = np.array([[3, 0, 7], [1, 1, 2]])


def test_a_vectorized_function_is_called_once_with_integers():
    calls = []

    def f(x):
        calls.append(x)
        return np.sqrt(x).sum(axis=1)

    found = on_rows(f, ROWS)
    assert found.dtype == np.float64
    assert found == pytest.approx([math.sqrt(3) + math.sqrt(7), 2 + math.sqrt(2)])
    (block,) = calls
    assert block.dtype == np.int64
    assert block.tolist() == ROWS.tolist()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: max(x) / sum(x),
        lambda x: x.max() / x.sum(),
        lambda x: x[0] / 10 if x[0] == 1 else x[2] / 10,
        lambda x: {(3, 0, 7): 0.7, (1, 1, 2): 0.5}[tuple(x)],
    ],
)
def test_a_function_of_one_row_is_called_row_by_row(f):
    found = on_rows(f, ROWS)
    assert found.dtype == np.float64
    assert found == pytest.approx([float(f(row)) for row in ROWS])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9])
def test_as_many_rows_as_bins_are_not_mistaken(n):
    rows = np.arange(n * n).reshape(n, n)
    first = on_rows(lambda x: x[0] * 1.0, rows)  # of a block this is its first row
    assert first.tolist() == rows[:, 0].tolist()
    assert on_rows(lambda x: x[:, 0] * 1.0, rows).tolist() == first.tolist()


def test_exact_results_are_plain_python_numbers():
    whole = on_rows(lambda x: x.sum(axis=1), ROWS)
    assert [(type(v), v) for v in whole] == [(int, 10), (int, 4)]
    truth = on_rows(lambda x: x[:, 0] > 2, ROWS)
    assert truth.tolist() == [True, False]
    assert truth.dtype == object
    (share, _) = on_rows(lambda x: Fraction(x[0], x[2]), ROWS)
    assert share == Fraction(3, 7)
    assert type(share.numerator) is type(share.denominator) is int
    large = on_rows(lambda x: 2**63 + int(x[0]), ROWS)
    assert large.tolist() == [2**63 + 3, 2**63 + 1]
    assert on_rows(lambda x: [2**70, 1], ROWS).tolist() == [2**70, 1]


def test_a_constant_is_a_function_too():
    assert on_rows(lambda x: 2.5, ROWS).tolist() == [2.5, 2.5]


def test_the_function_cannot_change_the_rows():
    def f(x):
        x[...] = 0
        return 1.0

    with pytest.raises(ValueError, match="read-only"):
        on_rows(f, ROWS)
    assert ROWS.max() == 7


def test_the_functions_own_error_comes_through():
    def f(x):
        msg = "no such ratio"
        raise ValueError(msg)

    with pytest.raises(ValueError, match="no such ratio"):
        on_rows(f, ROWS)


@pytest.mark.parametrize("value", [(1, 2, 3), None, "a", 1j, {}, [None, 1], "ab"])
def test_what_is_no_number_for_each_row_is_refused(value):
    with pytest.raises(ParameterError, match=r"one real number.*separable\(f\)"):
        on_rows(lambda x: value, ROWS)


def test_a_function_of_one_count_is_refused():
    with pytest.raises(ParameterError, match=r"one real number.*separable\(f\)"):
        on_rows(lambda x: x**2, ROWS)


def test_decimals_are_exact_too():
    found = on_rows(lambda x: Decimal(int(x[0])) / 10, ROWS)
    assert found.tolist() == [Decimal("0.3"), Decimal("0.1")]
