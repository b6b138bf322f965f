import math
from fractions import Fraction

import numpy as np
import pytest

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands import debias, separable, smooth


def test_vectorized_and_plain_functions_give_the_same_estimate():
    counts = [4, 0, -3, 11, 1, 1]
    plain = separable(lambda x: math.sqrt(x) if x > 2 else 0.0)
    whole = separable(lambda x: np.where(x > 2, np.sqrt(x), 0.0))
    for method in ("unbiased", "plugin", "auto"):
        one = debias(counts, plain, epsilon=1, method=method)
        other = debias(counts, whole, epsilon=1, method=method)
        assert one.value == pytest.approx(other.value, rel=1e-14)
        assert one.variance == pytest.approx(other.variance, rel=1e-12)


def test_a_single_bin_is_not_taken_for_a_number():
    assert debias([2], separable(math.exp), epsilon=50).value == pytest.approx(
        math.exp(2)
    )


def test_no_bins_sum_to_0():
    e = debias([], separable(lambda x: 1 / 0), epsilon=1)
    assert (e.value, e.plug_in, e.variance) == (0.0, 0.0, 0.0)


def test_the_name_is_the_functions_own_or_the_one_given():
    def root(x):
        return np.sqrt(x)

    assert separable(root).name == "root"
    assert separable(root, name="sum of roots").name == "sum of roots"
    assert separable(lambda x: x).name == "separable"
    assert repr(separable(root)) == "root"


def test_something_that_cannot_be_called_is_refused():
    with pytest.raises(ParameterError, match="a function of one count, not int"):
        separable(3)


def test_a_huge_sum_is_unstable():
    with pytest.raises(UnstableEstimateError, match="beyond 1e300"):
        debias([5, 6], separable(lambda x: 1e299 * x), epsilon=1)
    with pytest.raises(UnstableEstimateError, match="beyond 1e300"):
        debias([5, 6], separable(lambda x: 1e200 * x**2), epsilon=1)


def test_noise_that_drowns_the_plug_in_is_flagged():
    few = debias([1, 0, 2, 5, 9], separable(lambda x: x == 1), epsilon=0.02)
    assert any("10 times the plug-in" in text for text in few.warnings)
    assert not debias([100] * 9, separable(lambda x: x), epsilon=1).warnings


def test_a_numpy_polynomial_is_a_function_with_exact_coefficients():
    cubic = np.polynomial.Polynomial([0.1, -2, 0, 3])
    y, c = 3 * 10**6, 1 / (4 * math.sinh(0.5) ** 2)
    found = debias([y], separable(cubic), epsilon=1)
    exact = Fraction(1, 10) - 2 * y + 3 * y**3 - 18 * y * Fraction(c)
    assert found.value == pytest.approx(float(exact), rel=1e-15)
    assert separable(cubic).name == "separable"
    assert separable(cubic, name="cubic").name == "cubic"


def test_a_smooth_function_is_separable_under_discrete_noise():
    waves = smooth(np.sin, np.cos, lambda x: -np.sin(x))
    assert waves.name == "sin"
    assert smooth(lambda x: x, np.ones_like, np.zeros_like).name == "smooth"
    counts = [4, 0, -3, 11]
    for method in ("unbiased", "plugin", "auto"):
        one = debias(counts, waves, epsilon=1, method=method)
        assert one == debias(counts, separable(np.sin), epsilon=1, method=method)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_smooth_needs_three_functions(place):
    given = [np.sin, np.cos, np.sin]
    given[place] = 3
    name = ("f", "first", "second")[place]
    with pytest.raises(ParameterError, match=f"two derivatives; {name} is int"):
        smooth(*given)
