"""Basic and advanced composition."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from dpframe.errors import ParameterError
from dpframe.privacy.composition import advanced_composition, compose
from dpframe.privacy.loss import PrivacyLoss

DATA = Path(__file__).parents[2] / "data" / "accounting.json"
CASES = json.loads(DATA.read_text())["cases"]


def cases(*kinds):
    found = [case for case in CASES if case["kind"] in kinds]
    assert found
    return [pytest.param(case, id=case["id"]) for case in found]


def losses(case):
    return [
        PrivacyLoss(Fraction(event["epsilon"]), Fraction(event.get("delta", 0)))
        for event in case["events"]
        for _ in range(event["count"])
    ]


@pytest.mark.parametrize("case", cases("pure_sum", "approx_sum"))
def test_basic_composition_is_the_exact_sum(case):
    expect = case["expect"]
    assert compose(*losses(case)) == PrivacyLoss(
        Fraction(expect["epsilon"]), Fraction(expect.get("delta", 0))
    )


@pytest.mark.parametrize("case", cases("adaptive_advanced"))
def test_advanced_composition_cases(case):
    total = advanced_composition(losses(case), case["slack_delta"])
    expected = Fraction(case["expect"]["epsilon"])
    assert expected * (1 - Fraction(1, 10**16)) <= total.epsilon
    assert total.epsilon <= expected * (1 + Fraction(1, 10**9))
    assert total.delta == Fraction(case["expect"]["delta"])


def test_measures_that_every_loss_has_are_kept():
    pure, half = PrivacyLoss(Fraction(1)), Fraction(1, 2)
    gaussian = PrivacyLoss(rho=half)
    tight = PrivacyLoss(Fraction(1), rho=Fraction(1, 8))
    assert compose(pure, pure) == PrivacyLoss(Fraction(2))
    assert compose(pure, gaussian) == PrivacyLoss(rho=Fraction(1))
    assert compose(pure, tight) == PrivacyLoss(Fraction(2), rho=Fraction(5, 8))
    approximate = PrivacyLoss(Fraction(1), Fraction(1, 10**6))
    assert compose(approximate, gaussian) == PrivacyLoss(
        None, Fraction(1, 10**6), Fraction(1)
    )
    assert compose() == PrivacyLoss(Fraction(0))


def test_a_loss_without_a_measure_is_refused():
    for call in (
        lambda: compose(PrivacyLoss(delta=Fraction(1, 10**6))),
        lambda: compose(PrivacyLoss(Fraction(1)), PrivacyLoss()),
        lambda: advanced_composition([PrivacyLoss(rho=Fraction(1))], 1e-6),
    ):
        with pytest.raises(ParameterError, match="states no epsilon"):
            call()
    with pytest.raises(ParameterError, match="delta"):
        advanced_composition([PrivacyLoss(Fraction(1))], 0)
