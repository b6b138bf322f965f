"""The noise that leaves through the verbs follows the law that the release declares.

An empty frame under 100,000 public keys gives as many draws in one call. The declared
law passes; laws five per cent narrower and wider do not.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from helpers import assert_law, assert_not_law

import dpframe as dpf
from dpframe.noise import DiscreteGaussian, DiscreteLaplace

N = 100_000
KEYS = dpf.Domain({"code": dpf.integers(1, N), "x": dpf.integers(-2, 3)})
EMPTY = pl.DataFrame(schema={"person": pl.String, "code": pl.Int64, "x": pl.Int64})
FIVE = Fraction(1, 20)
ROW = {"unit": "row"}
PERSON = {"unit": dpf.Unit("person", max_rows=3, max_groups=2)}


def numbers(verb, session):
    """What the verb releases on the empty frame: noise alone, in steps."""
    with dpf.Session(**session, domain=KEYS):
        release = verb(EMPTY.dp)
    (answer,) = release.answers
    return np.concatenate(answer.measurement.values)


def histogram(dp, **price):
    return dp.histogram(by="code", **price)


def group_count(dp, **price):
    return dp.group_by("code").count(**price)


def group_sum(dp, **price):
    return dp.group_by("code").sum("x", **price)


def group_mean(dp, **price):
    return dp.group_by("code").mean("x", **price)


def units(dp, **price):
    return dp.group_by("code").n_unique("person", **price)


def total(dp, **price):
    return dp.group_by("code").sum("x", per="unit", **price)


PURE = {"epsilon": 10}
REPLACE = {"neighboring": "replace"}

#: Verb, session, price, and the scale that the definitions give: L1 / epsilon.
LAPLACE = {
    "histogram": (histogram, PURE | ROW, Fraction(1, 2), 2),
    "histogram, replace": (histogram, PURE | ROW | REPLACE, Fraction(1, 2), 4),
    "histogram, three rows": (histogram, PURE | PERSON, Fraction(2), Fraction(3, 2)),
    "group count": (group_count, PURE | ROW, Fraction(1), 1),
    "group sum": (group_sum, PURE | ROW, Fraction(1), 3),
    "group sum, replace": (group_sum, PURE | ROW | REPLACE, Fraction(1), 6),
    "group mean": (group_mean, PURE | ROW, Fraction(1), 5),
    "units": (units, PURE | PERSON, Fraction(1), 2),
    "total per unit": (total, PURE | PERSON, Fraction(2), 3),
    "zcdp": (histogram, {"rho": 10} | ROW, Fraction(1, 2), 2),
}


@pytest.mark.parametrize("name", LAPLACE)
def test_laplace_noise_has_the_declared_scale(name):
    verb, session, epsilon, scale = LAPLACE[name]
    noise = numbers(lambda dp: verb(dp, epsilon=epsilon), session)
    assert noise.size % N == 0
    assert_law(noise, DiscreteLaplace(scale))
    assert_not_law(noise, DiscreteLaplace(scale * (1 - FIVE)))
    assert_not_law(noise, DiscreteLaplace(scale * (1 + FIVE)))


#: Verb, session, price, and the variance: L2 squared / 2 rho.
GAUSSIAN = {
    "histogram": (histogram, {"rho": 10} | ROW, Fraction(1, 8), 4),
    "histogram, replace": (histogram, {"rho": 10} | ROW | REPLACE, Fraction(1, 4), 4),
    "group sum, replace": (group_sum, {"rho": 10} | ROW | REPLACE, Fraction(1), 25 / 2),
    "units": (units, {"rho": 10} | PERSON, Fraction(1, 2), 2),
}


@pytest.mark.parametrize("name", GAUSSIAN)
def test_gaussian_noise_has_the_declared_variance(name):
    verb, session, rho, variance = GAUSSIAN[name]
    noise = numbers(lambda dp: verb(dp, rho=rho), session)
    assert_law(noise, DiscreteGaussian(variance))
    for sigma in 1 - FIVE, 1 + FIVE:
        assert_not_law(noise, DiscreteGaussian(Fraction(variance) * sigma**2))


def test_gaussian_noise_of_epsilon_and_delta_has_the_released_variance():
    session = dpf.Session(10, delta="1e-5", unit="row", domain=KEYS)
    release = dpf.private(EMPTY, session).histogram(
        1, "code", noise="gaussian", delta="1e-6"
    )
    law = release.answers[0].measurement.law
    assert_law(release.counts, law)
    # One cell changes by one: the curve of one integer decides, at 17.9 (design).
    assert 17 < law.sigma2 < 19
    for sigma in 1 - FIVE, 1 + FIVE:
        assert_not_law(release.counts, DiscreteGaussian(law.sigma2 * sigma**2))


def test_aggregates_of_one_call_draw_independent_noise_at_their_shares():
    session = dpf.Session(10, unit="row", domain=KEYS)
    release = (
        dpf.private(EMPTY, session)
        .group_by("code")
        .agg(2, n=dpf.agg.count(), x=dpf.agg.sum("x"), weights={"n": 3})
    )
    n, x = (answer.measurement.values[0] for answer in release.answers)
    assert_law(n, DiscreteLaplace(Fraction(2, 3)))  # 1 / (2 · 3/4)
    assert_law(x, DiscreteLaplace(6))  # 3 / (2 · 1/4)
    assert_not_law(x, DiscreteLaplace(6 * (1 + FIVE)))
    # Independent: the correlation of N pairs is within 7 of its standard deviations.
    assert abs(np.corrcoef(n, x)[0, 1]) < 7 / N**0.5


def test_two_calls_draw_other_noise():
    session = PURE | ROW
    first, second = (
        numbers(lambda dp: histogram(dp, epsilon=1), session) for _ in "ab"
    )
    assert abs(np.corrcoef(first, second)[0, 1]) < 7 / N**0.5
