from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.estimands import NoisyCounts, debias, entropy, estimate, power_sum

COUNTS = [4, 0, -1, 12]


@pytest.mark.parametrize(
    ("epsilon", "sensitivity"),
    [
        (0.5, 1),
        ("1/2", 1),
        (Fraction(1, 2), "1"),
        (Decimal("0.5"), Fraction(1)),
        (1, 2),
        (np.float64(1.5), np.int64(3)),
        ([0.5] * 4, 1),
        (np.full(4, 0.5), np.ones(4)),
        (1, [2, 2, 2, 2]),
        (["1/2", "0.5", 0.5, Fraction(1, 2)], 1),
    ],
)
def test_the_rate_is_epsilon_over_sensitivity(epsilon, sensitivity):
    expected = estimate(NoisyCounts(np.array(COUNTS), 0.5), entropy)
    found = debias(COUNTS, entropy, epsilon=epsilon, sensitivity=sensitivity)
    assert found.value == expected.value


def test_rates_may_differ_from_bin_to_bin():
    epsilon, sensitivity = [1, 2, 0.5, 1], np.array([1, 1, 1, 4])
    noisy = NoisyCounts(np.array(COUNTS), np.array([1, 2, 0.5, 0.25]))
    for estimand in (entropy, power_sum(2)):
        found = debias(COUNTS, estimand, epsilon=epsilon, sensitivity=sensitivity)
        assert found == estimate(noisy, estimand)


@pytest.mark.parametrize("bad", [0, -1, "0", [1, 1, 0, 1], [1, -2, 1, 1]])
@pytest.mark.parametrize("name", ["epsilon", "sensitivity"])
def test_amounts_must_be_positive(name, bad):
    with pytest.raises(ParameterError, match=f"{name} must be positive"):
        debias(COUNTS, entropy, **{"epsilon": 1, name: bad})


@pytest.mark.parametrize(
    "bad", [None, "x", True, float("nan"), float("inf"), "1e400", "1e-400", [1, 2]]
)
def test_amounts_must_be_numbers_that_fit(bad):
    with pytest.raises(ParameterError, match="epsilon"):
        debias(COUNTS, entropy, epsilon=bad)


def test_the_range_and_the_method_are_passed_on():
    found = debias(COUNTS, power_sum(1), epsilon=1, domain=(0, 5), method="plugin")
    assert (found.value, found.method) == (9.0, "plugin")
