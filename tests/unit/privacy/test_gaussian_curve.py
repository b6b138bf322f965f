"""The delta curves, against the plain definition in many digits."""

from __future__ import annotations

import json
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import pytest

from dpframe.errors import ParameterError
from dpframe.privacy.gaussian_curve import (
    continuous_curve,
    discrete_curve,
    discrete_gaussian_delta,
    gaussian_delta,
)

DATA = Path(__file__).parents[2] / "data" / "accounting.json"
CASES = [
    pytest.param(case, id=case["id"])
    for case in json.loads(DATA.read_text())["cases"]
    if case["kind"] == "discrete_gaussian_delta"
]


def defined_delta(sigma2, epsilon, shift, digits=220):
    """Σ max(0, P(k) - e^ε P(k + D)) over the integers, as defined."""
    with localcontext(prec=digits):
        rate = -Decimal(sigma2.denominator) / (2 * Decimal(sigma2.numerator))
        loss = Decimal(epsilon.numerator) / epsilon.denominator
        reach = int(float(sigma2) ** 0.5 * 35 + float(epsilon * sigma2)) + 40
        f = {k: (rate * k * k).exp() for k in range(reach + shift + 1)}
        mass = 2 * sum(f.values()) - 1
        factor = loss.exp()
        return Fraction(
            sum(
                max(Decimal(0), f[abs(k)] - factor * f[abs(k + shift)])
                for k in range(-reach, reach + 1)
            )
            / mass
        )


@pytest.mark.parametrize("case", CASES)
def test_discrete_gaussian_delta_cases(case):
    delta = discrete_gaussian_delta(
        case["sigma2"], case["epsilon"], case["sensitivity"]
    )
    ratio = delta / Fraction(case["expect"]["delta"])
    assert 1 <= ratio <= 1 + Fraction(1, 10**9)


@pytest.mark.parametrize("sigma2", ["1/50", "0.3", "1", "4", "17.3", "300"])
@pytest.mark.parametrize("epsilon", ["0", "0.01", "0.9", "4"])
@pytest.mark.parametrize("shift", [1, 3])
def test_discrete_curve_is_the_definition_rounded_up(sigma2, epsilon, shift):
    expected = defined_delta(Fraction(sigma2), Fraction(epsilon), shift)
    delta = discrete_gaussian_delta(sigma2, epsilon, shift)
    if expected < Fraction(1, 10**150):  # beyond what the definition resolves
        assert delta < Fraction(1, 10**140)
    else:
        assert expected <= delta
        assert delta <= expected * (1 + Fraction(3, 10**12)) or delta == 1


def test_wide_noise_bounds_the_sum_from_above_and_closely():
    for sigma2 in map(Fraction, (1, 9, 100, 10**4, 10**6)):
        for epsilon in map(Fraction, ("0.001", "0.1", "1")):
            for shift in (1, 4, 60):
                summed = discrete_curve(sigma2, epsilon, Fraction(shift))
                bound = continuous_curve(sigma2, epsilon, Fraction(shift), lattice=True)
                if Fraction(1, 10**300) < summed < Fraction(999, 1000):
                    assert summed <= bound * (1 + Fraction(2, 10**12))
    wide = continuous_curve(
        Fraction(10**6), Fraction("0.01"), Fraction(4), lattice=True
    )
    summed = discrete_curve(Fraction(10**6), Fraction("0.01"), Fraction(4))
    assert wide <= summed * (1 + Fraction(1, 10**5))


def test_the_sum_hands_over_to_the_bound_without_a_step():
    epsilon, shift = Fraction(1, 500), Fraction(3)
    narrow = discrete_curve(Fraction(1490**2), epsilon, shift)
    wide = discrete_curve(Fraction(1500**2), epsilon, shift)
    far = continuous_curve(Fraction(1490**2), epsilon, shift)
    assert far < narrow < far * (1 + Fraction(1, 10**6))
    assert wide < narrow


def test_delta_grows_with_the_shift():
    for sigma2 in ("0.2", "1", "30"):
        curve = [discrete_gaussian_delta(sigma2, "0.7", d) for d in range(1, 12)]
        assert curve == sorted(curve)


def test_delta_of_narrow_noise_may_grow_with_sigma():
    assert discrete_gaussian_delta("0.22", 3) > discrete_gaussian_delta("0.2", 3)


def test_continuous_delta_at_zero_epsilon_is_the_total_variation():
    # 2 Φ(1/2) - 1, from a table.
    assert float(gaussian_delta(1, 0)) == pytest.approx(0.3829249225480263, rel=1e-14)
    assert gaussian_delta(9, "0.4", 3) == gaussian_delta(1, "0.4", 1)


def test_extreme_arguments_stay_on_the_safe_side():
    least = Fraction(1, 10**1200)
    assert discrete_gaussian_delta(10**9, 20) == least
    assert gaussian_delta(10**9, 20) == least
    assert discrete_gaussian_delta("1e-300", 1) == 1
    assert discrete_gaussian_delta(1, 1, 10**40) == 1
    assert discrete_gaussian_delta("1e-250", 5 * 10**249 - 10**125) == 1
    assert 0 < discrete_gaussian_delta(10**60, "1e-12", 10**22) < 1


@pytest.mark.parametrize(
    "arguments",
    [(0, 1, 1), (-1, 1, 1), (1, -1, 1), (1, 1, 0), (1, 1, 1.0), (1, 1, True)],
)
def test_wrong_arguments_are_refused(arguments):
    with pytest.raises(ParameterError, match=r"positive|integer"):
        discrete_gaussian_delta(*arguments)
