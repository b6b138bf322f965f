import json
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from smooth_reference import student_inside, worst_loss

from dpframe.errors import ParameterError
from dpframe.noise import StudentT

CASES = [
    case
    for case in json.loads(
        (Path(__file__).parents[2] / "data/sensitivity.json").read_text("utf-8")
    )["cases"]
    if case["type"] == "noise"
]
DEGREES = [1, 2, 3, 4, 5, 8, 30]


def of_degrees(degrees):
    return StudentT(1, Fraction(1, 100), degrees)


def log_density(degrees):
    return lambda z: -(degrees + 1) / 2 * np.log1p(z * z / degrees)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_published_figures(case):
    law = StudentT(case["eps"], case["student3_beta"], 3)
    assert float(law.s) == pytest.approx(case["student3_s"], rel=1e-11)


@pytest.mark.parametrize("share", ["0.05", "0.2", "0.4", "0.6", "0.9"])
@pytest.mark.parametrize("epsilon", ["0.1", 1, 5])
@pytest.mark.parametrize("degrees", [1, 2, 3, 6])
def test_the_worst_loss_is_at_most_epsilon(epsilon, share, degrees):
    law = StudentT(epsilon, Fraction(epsilon) * Fraction(share) / degrees, degrees)
    epsilon, beta, s = float(law.epsilon), float(law.beta), float(law.s)
    worst = worst_loss(log_density(degrees), beta, s)
    assert 0.4 * epsilon <= worst <= epsilon


def test_the_cauchy_law():
    law = StudentT(1, "0.25", degrees=1)
    assert float(law.s) == 0.75  # epsilon - beta
    x = np.array([-1e9, -1.0, 0.0, 0.5, 1.0])
    assert law.pdf(x) == pytest.approx(1 / (math.pi * (1 + x * x)), rel=1e-12)
    assert law.cdf(x[1:]) == pytest.approx(0.5 + np.arctan(x[1:]) / math.pi, rel=1e-12)
    assert law.cdf(x[0]) == pytest.approx(1 / (math.pi * 1e9), rel=1e-9)


@pytest.mark.parametrize("degrees", DEGREES)
def test_density_and_tails(degrees):
    law = of_degrees(degrees)
    x, h = np.linspace(0.01, 6, 60), 1e-5
    slope = (law.cdf(x + h) - law.cdf(x - h)) / (2 * h)
    assert slope == pytest.approx(law.pdf(x), rel=1e-5)
    assert law.tail(x) == pytest.approx(2 * law.cdf(-x), abs=2.0**-47)
    assert law.tail(np.array([0.0, math.inf])).tolist() == [1.0, 0.0]
    moment = degrees / (degrees - 2) if degrees > 2 else math.inf
    assert law.variance == moment
    assert law.std == math.sqrt(moment)


@pytest.mark.parametrize("degrees", DEGREES)
def test_tails_are_enclosed(degrees):
    law, width = of_degrees(degrees), 200
    for x in ("1e-20", "1/9", "2/3", "4/5"):
        low, high = law.tail_interval(Fraction(x), width)
        with localcontext(prec=100):
            true = (1 - student_inside(degrees, Fraction(x))) * 2**width
            assert Decimal(low) - 1 <= true <= Decimal(high) + 1
        assert 0 < high - low <= 8


@pytest.mark.parametrize("degrees", DEGREES)
def test_floats_stay_in_the_enclosure(degrees):
    law = of_degrees(degrees)
    points = np.concatenate([np.geomspace(1e-9, 1e12, 80), np.linspace(0.5, 5, 40)])
    tails = law.tail(points)
    for x, tail in zip(points.tolist(), tails.tolist(), strict=True):
        low, high = law.tail_interval(Fraction(x), 120)
        assert high - low <= 8
        assert abs(Fraction(tail) - Fraction(low, 2**120)) < Fraction(1, 2**48)


@pytest.mark.parametrize("level", ["0.001", "1/2", "0.95", "0.999999"])
@pytest.mark.parametrize("degrees", DEGREES)
def test_interval(level, degrees):
    law = of_degrees(degrees)
    low, high = law.interval(level)
    assert low == -high
    assert law.cdf(high) - law.cdf(low) == pytest.approx(float(Fraction(level)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, "0.1", 0), "degrees must be from 1 to 30; got 0."),
        ((1, "0.1", 31), "degrees must be from 1 to 30; got 31."),
        ((1, "0.1", 2.5), "degrees must be a whole number, not float."),
        ((1, "0.1", True), "degrees must be a whole number, not bool."),
        ((1, "1/3", 3), r"beta must be below epsilon / 3 for Student noise .*0.333333"),
        ((1, 0, 3), "beta must be positive"),
        ((0, "0.1", 3), "epsilon must be positive"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ParameterError, match=message):
        StudentT(*arguments)


def test_degrees_may_be_numpys():
    assert StudentT(1, "0.1", np.int64(2)) == StudentT(1, "0.1", 2)
