from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from dpframe.noise import DiscreteLaplace
from dpframe.noise.key_threshold import KeyThreshold


def rule_of(scale, delta, groups=1):
    return KeyThreshold(DiscreteLaplace(scale), Fraction(delta), groups)


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("delta", ["0.49", "0.3", "0.01", "1e-6", "1e-30"])
@pytest.mark.parametrize("scale", ["1/50", "1/3", "1", "7/2", "1000"])
def test_threshold_is_the_least_that_keeps_delta(scale, delta, groups):
    rule = rule_of(scale, delta, groups)
    width = Fraction(scale)
    most = rule.delta / groups

    def chance(threshold):
        with localcontext(prec=60):
            r = (Decimal(-width.denominator) / width.numerator).exp()
            return Fraction(r**threshold / (1 + r))

    assert rule.threshold >= 1
    assert chance(rule.threshold) <= most
    if rule.threshold > 1:
        assert chance(rule.threshold - 1) > most


def test_keys_pass_above_the_threshold_and_not_at_it():
    rule = rule_of(1, "1e-6")
    assert rule.threshold == 14
    assert rule.shows(np.array([13, 14, 15, -3])).tolist() == [
        False,
        False,
        True,
        False,
    ]


def test_a_threshold_that_no_integer_reaches():
    rule = rule_of(2**54, "1e-300")
    assert not rule.shows(np.array([2**61, -(2**61)])).any()


@pytest.mark.parametrize("units", [1, 2, 5, 14, 15, 40])
def test_chance_is_that_of_the_noise(units):
    rule = rule_of("3/2", "1e-3")
    k = np.arange(-200, 300)
    shown = rule.shows(units + k)
    assert rule.chance(units) == pytest.approx(rule.law.pmf(k[shown]).sum(), rel=1e-12)
    assert rule.chance(units + 1) > rule.chance(units)


def test_one_unit_passes_with_delta_at_most():
    for delta in (0.3, 1e-3, 1e-12):
        rule = rule_of(2, delta, groups=4)
        assert 4 * rule.chance(1) <= delta < 4 * rule.chance(2)


def test_facts_for_the_ledger():
    assert rule_of("3/2", "1e-6", 2).describe() == {
        "scale": "3/2",
        "threshold": rule_of("3/2", "1e-6", 2).threshold,
        "delta": "1/1000000",
        "groups": 2,
    }
