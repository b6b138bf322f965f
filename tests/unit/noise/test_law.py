import math
from dataclasses import fields
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.noise import DiscreteGaussian, DiscreteLaplace, Geometric
from dpframe.noise.law import MAX_NOISE, MAX_SCALE

LAWS = [DiscreteLaplace, Geometric, DiscreteGaussian]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    "value", [0.1, "0.1", "1/10", Decimal("0.1"), Fraction(1, 10), np.float64(0.1)]
)
def test_parameters_are_kept_as_the_fraction_that_was_written(law, value):
    assert law(value) == law(Fraction(1, 10))
    assert hash(law(value)) == hash(law("0.1"))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    "value", [0, -1, float("nan"), float("inf"), True, None, "x", [1], 2**200]
)
def test_parameters_that_are_no_positive_number_are_refused(law, value):
    with pytest.raises(ParameterError):
        law(value)


def test_scales_end_at_two_to_the_54():
    for law, limit in (
        (DiscreteLaplace, MAX_SCALE),
        (Geometric, MAX_SCALE),
        (DiscreteGaussian, MAX_SCALE**2),
    ):
        assert abs(law(limit).sample(1000)).max() <= MAX_NOISE
        with pytest.raises(ParameterError, match=r"at most 2\^.*coarser grid"):
            law(limit + Fraction(1, 3))


@pytest.mark.parametrize("law", LAWS)
def test_laws_are_frozen(law):
    one = law(1)
    with pytest.raises(AttributeError):
        setattr(one, fields(one)[0].name, 2)
    assert not hasattr(one, "__dict__")


@pytest.mark.parametrize("law", LAWS)
def test_shapes_and_types_of_samples(law):
    assert type(law(5).sample()) is int
    for size in (0, 1, 17, np.int64(3), 65_537):
        drawn = law(5).sample(size)
        assert drawn.dtype == np.int64
        assert drawn.shape == (size,)
        assert drawn.flags.writeable
    for size in (-1, 2.0, True, (3,), "3"):
        with pytest.raises(ParameterError, match="size"):
            law(5).sample(size)


@pytest.mark.parametrize("law", LAWS)
def test_tiny_scales_are_constants_for_practical_purposes(law):
    for scale in ("1e-400", Fraction(1, 2**4000), "1e-300", "1/1000"):
        tiny = law(scale)
        assert not tiny.sample(100).any()
        assert tiny.pmf([-1, 0, 1]).tolist() == pytest.approx([0, 1, 0], abs=1e-200)
        assert tiny.cdf([-1, 0]).tolist() == pytest.approx([0, 1], abs=1e-200)
        assert tiny.interval("0.999") == (0, 0)
        assert tiny.std == pytest.approx(0, abs=1e-100)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("parameter", ["1/3", 1, 40, 10**13, MAX_SCALE])
def test_points_of_any_size_and_shape(law, parameter):
    one = law(parameter)
    assert one.pmf(10**400) == one.pmf(-(10**400)) == 0
    assert (one.cdf(-(10**400)), one.cdf(10**400)) == (0, 1)
    assert type(one.pmf(0)) is type(one.cdf(0)) is float
    grid = np.arange(6).reshape(2, 3)
    assert one.pmf(grid).shape == one.cdf(grid).shape == (2, 3)
    assert one.pmf([0, 10**30]).tolist() == [one.pmf(0), one.pmf(10**30)]
    assert one.pmf(1.5) == 0
    assert one.cdf(1.5) == one.cdf(1)
    with pytest.raises(ParameterError, match="NaN"):
        one.cdf(float("nan"))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("parameter", ["1/3", "3/4", 1, "10/3", 40, 1000])
def test_pmf_cdf_and_variance_agree(law, parameter):
    one = law(parameter)
    low, high = one.interval(1 - Fraction(1, 10**30))
    k = np.arange(min(low, 0) - 2, high + 3)
    mass = one.pmf(k)
    assert math.fsum(mass) == pytest.approx(1, abs=1e-13)
    total = np.cumsum(mass) + one.cdf(k[0] - 1)
    assert one.cdf(k) == pytest.approx(total, rel=1e-11, abs=0)
    mean = math.fsum(mass * k)
    variance = math.fsum(mass * (k - mean) ** 2)
    assert variance == pytest.approx(one.variance, rel=1e-11, abs=0)
    assert one.std == math.sqrt(one.variance)
    assert mean == pytest.approx(getattr(one, "mean", 0.0), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("parameter", ["1/3", 1, "10/3", 40, 1000])
@pytest.mark.parametrize("level", ["1e-9", "0.5", "0.95", "0.999999"])
def test_interval_is_the_narrowest(law, parameter, level):
    one = law(parameter)
    low, half = one.interval(level)
    assert low == (0 if law is Geometric else -half)

    def held(h):
        return math.fsum(one.pmf(np.arange(-h, h + 1)))

    assert half >= 0
    assert held(half) >= float(level)
    assert half == 0 or held(half - 1) < float(level)


def test_intervals_stay_exact_at_the_greatest_scale():
    level = Fraction(95, 100)
    with localcontext() as context:
        context.prec = 100
        r = (Decimal(-1) / MAX_SCALE).exp()

        def missed(h, both_sides):
            tail = (Decimal(-h - 1) / MAX_SCALE).exp()
            return 2 * tail / (1 + r) if both_sides else tail

        for law, both in ((DiscreteLaplace, True), (Geometric, False)):
            _, half = law(MAX_SCALE).interval(level)
            assert missed(half, both) <= 1 - Decimal("0.95") < missed(half - 1, both)


@pytest.mark.parametrize("law", LAWS)
def test_intervals_of_the_least_levels_hold_zero(law):
    for parameter in ("1/3", 40, MAX_SCALE):
        assert law(parameter).interval(Fraction(1, 10**300)) == (0, 0)


def test_gaussian_intervals_of_any_width_and_level():
    for sigma in (10**7, 10**12, MAX_SCALE):
        _, half = DiscreteGaussian(sigma**2).interval(0.95)
        assert half / sigma == pytest.approx(1.959963984540054, rel=1e-6)
    _, half = DiscreteGaussian(100).interval(1 - Fraction(1, 10**400))
    # The normal tail bound, where no float64 reaches.
    assert half == math.ceil(10 * math.sqrt(2 * math.log(2) + 800 * math.log(10)))


@pytest.mark.parametrize("law", LAWS)
def test_levels_outside_zero_and_one_are_refused(law):
    for level in (0, 1, -0.5, 1.5, "nan", True):
        with pytest.raises(ParameterError, match="level"):
            law(5).interval(level)


@pytest.mark.parametrize("scale", [1, 25, 10**13])
def test_tails_keep_their_relative_accuracy(scale):
    """P(X < -m) of the Laplace law is r^(m + 1) / (1 + r), also far out."""
    one = DiscreteLaplace(scale)
    for steps in (5, 50, 600):
        m = steps * scale
        truth = math.exp(-(m + 1) / scale) / (1 + math.exp(-1 / scale))
        assert one.cdf(-m - 1) == pytest.approx(truth, rel=1e-12, abs=0)
