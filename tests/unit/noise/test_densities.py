import math
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.noise import Laplace, Staircase
from dpframe.noise.density import negative_log

LAWS = [
    Laplace("1/3"),
    Laplace(2),
    Laplace(1000),
    Staircase("1/4"),
    Staircase(1),
    Staircase(5),
    Staircase(1, 0),
    Staircase(1, "1/3"),
    Staircase(1, "1/2"),
    Staircase(1, "0.9"),
    Staircase(1, 1),
]


def pieces(law, most):
    """Ends of intervals on which the density is smooth, from 0 to ``most`` units."""
    if isinstance(law, Laplace):
        return np.linspace(0, 50 * float(law.scale), 5001)
    units = np.arange(most)
    return np.unique(np.append(units, units + float(law.gamma)))


def integrals(law, ends, k=0):
    """The integral of x^k pdf(x) over each piece; three points, never on a step."""
    a, b = ends[:-1], ends[1:]
    middle, half = (a + b) / 2, (b - a) / 2
    total = 0.0
    for place, weight in (
        (-math.sqrt(0.6), 5 / 9),
        (0, 8 / 9),
        (math.sqrt(0.6), 5 / 9),
    ):
        x = middle + place * half
        total = total + weight * half * law.pdf(x) * x**k
    return total


def moment(law, k):
    """E|X|^k."""
    return 2 * float(integrals(law, pieces(law, 400), k).sum())


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_density_and_moments_agree(law):
    assert moment(law, 0) == pytest.approx(1, rel=1e-12)
    assert moment(law, 2) == pytest.approx(law.variance, rel=1e-10)
    assert law.std == math.sqrt(law.variance)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_cdf_is_the_integral_of_the_density(law):
    ends = pieces(law, 60)
    assert 0.5 + np.cumsum(integrals(law, ends)) == pytest.approx(law.cdf(ends[1:]))
    x = np.linspace(-7, 7, 57)
    assert law.cdf(x) == pytest.approx(1 - law.cdf(-x), abs=1e-15)
    assert law.pdf(x[:20]) == pytest.approx(law.pdf(-x[:20]))
    assert law.cdf(0) == 0.5


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("level", ["1e-6", "0.01", "1/2", 0.95, "0.999", "1 - 1e-30"])
def test_intervals_hold_what_they_say(law, level):
    level = 1 - Fraction(1, 10**30) if level == "1 - 1e-30" else level
    low, high = law.interval(level)
    assert low == -high
    miss = float(1 - Fraction(level))
    assert 2 * law.cdf(low) == pytest.approx(miss, rel=1e-9)


def test_the_lower_tail_is_accurate():
    assert Laplace(1).cdf(-600) == pytest.approx(math.exp(-600) / 2, rel=1e-12)
    assert Staircase(1).cdf(-600) == pytest.approx(math.exp(-600) / 2, rel=1e-12)


def test_the_default_step_makes_the_mean_size_least():
    best = Staircase(2)
    assert float(best.gamma) == pytest.approx(1 / (1 + math.e))
    least = moment(best, 1)
    assert least < moment(Staircase(2, "0.25"), 1)
    assert least < moment(Staircase(2, "0.29"), 1)


def test_steps_belong_to_the_lower_side():
    law = Staircase(1, "1/2")
    assert law.pdf([0.5, -0.5, 0.75, 1, 1.25]).tolist() == [law.pdf(0.6)] * 5
    assert law.pdf(1.5) == pytest.approx(law.pdf(0) * math.exp(-2))


def test_published_variances():
    # Discrete Laplace 0.362, Laplace 0.5 at epsilon 2.
    assert Laplace("1/2").variance == 0.5
    assert Staircase(2, 0).variance == pytest.approx(0.362 + 1 / 3, abs=5e-4)


@pytest.mark.parametrize(
    "value", [0.1, "0.1", "1/10", Decimal("0.1"), Fraction(1, 10), np.float64(0.1)]
)
def test_parameters_are_kept_as_the_fraction_that_was_written(value):
    assert Laplace(value) == Laplace(Fraction(1, 10))
    assert Staircase(value, value) == Staircase("1/10", "1/10")
    assert hash(Staircase(value)) == hash(Staircase("1/10"))


@pytest.mark.parametrize(
    "value", [0, -1, float("nan"), float("inf"), True, None, "x", [1]]
)
def test_parameters_that_are_no_positive_number_are_refused(value):
    with pytest.raises(ParameterError):
        Laplace(value)
    with pytest.raises(ParameterError):
        Staircase(value)


def test_limits_of_the_staircase():
    for gamma in (-0.1, "1.01", float("nan"), True):
        with pytest.raises(ParameterError, match="gamma"):
            Staircase(1, gamma)
    with pytest.raises(ParameterError, match=r"at least 2\^-54"):
        Staircase(Fraction(1, 2**55))
    wide = Staircase(Fraction(1, 2**54))
    assert wide.std == pytest.approx(math.sqrt(2) * 2.0**54, rel=1e-6)
    assert wide.interval()[1] == pytest.approx(-math.log(0.05) * 2.0**54)


@pytest.mark.parametrize("epsilon", [700, 5000, 10**9])
def test_steep_staircases(epsilon):
    law = Staircase(epsilon)
    assert 0 < law.std < 1e-60
    assert law.pdf(0.5) < 1e-100
    assert law.interval("0.999") == pytest.approx((0, 0), abs=1e-100)
    flat = Staircase(epsilon, "1/2")  # uniform within a half
    assert flat.variance == pytest.approx(1 / 12)
    assert flat.interval("0.9")[1] == pytest.approx(0.45)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_points_of_any_size_and_shape(law):
    assert (law.cdf(-math.inf), law.cdf(math.inf)) == (0, 1)
    assert law.pdf(10**400) == law.pdf(-math.inf) == 0
    assert type(law.pdf(0)) is type(law.cdf(0)) is float
    grid = np.arange(6).reshape(2, 3)
    assert law.pdf(grid).shape == law.cdf(grid).shape == (2, 3)
    with pytest.raises(ParameterError, match="NaN"):
        law.cdf(float("nan"))
    for level in (0, 1, 1.5, -0.1):
        with pytest.raises(ParameterError, match="level"):
            law.interval(level)


@pytest.mark.parametrize("law", [Laplace(1), Staircase(1)])
def test_laws_are_frozen(law):
    with pytest.raises(AttributeError):
        setattr(law, fields(law)[0].name, 2)
    assert not hasattr(law, "__dict__")


def test_extreme_scales_neither_warn_nor_overflow():
    tiny, huge = Laplace("1e-400"), Laplace("1e400")
    assert tiny.cdf([-1, 1]).tolist() == [0, 1]
    assert tiny.std < 1e-100
    assert huge.pdf(3) == 0.0
    assert huge.cdf(1e10) == 0.5


def test_logarithms_of_shares():
    for share in ("1e-400", "1e-9", "1/2", "3/4"):
        x = Fraction(share)
        exact = float(-(Decimal(x.numerator) / Decimal(x.denominator)).ln())
        assert negative_log(x) == pytest.approx(exact, rel=1e-15)
    near = 1 - Fraction(1, 10**20)
    assert negative_log(near) == pytest.approx(1e-20, rel=1e-15, abs=0)
