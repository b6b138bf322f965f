"""zCDP to epsilon and back, Gaussian noise for a promise; against other formulas."""

from __future__ import annotations

import json
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import pytest
from scipy.special import log_ndtr

from dpframe import accounting
from dpframe.errors import ParameterError
from dpframe.privacy.conversion import (
    discrete_gaussian_variance,
    epsilon_to_zcdp,
    gaussian_sigma,
    rho_for_epsilon,
    zcdp_to_epsilon,
)
from dpframe.privacy.gaussian_curve import discrete_gaussian_delta
from dpframe.privacy.sensitivity import Sensitivity

DATA = Path(__file__).parents[2] / "data" / "accounting.json"
CASES = json.loads(DATA.read_text())["cases"]


def cases(kind):
    found = [case for case in CASES if case["kind"] == kind]
    assert found
    return [pytest.param(case, id=case["id"]) for case in found]


def one(shift):
    return Sensitivity(shift, shift**2, 1, shift)


def rho_of(event):
    match event["mechanism"]:
        case "gaussian":
            return Fraction(event["sensitivity"]) ** 2 / (
                2 * Fraction(event["sigma"]) ** 2
            )
        case "pure":
            return epsilon_to_zcdp(event["epsilon"])
        case "zcdp":
            return Fraction(event["rho"])


@pytest.mark.parametrize("case", cases("zcdp"))
def test_zcdp_cases(case):
    rho = sum(event["count"] * rho_of(event) for event in case["events"])
    assert float(rho) == pytest.approx(float(case["expect"]["rho"]), rel=1e-15)
    claimed = zcdp_to_epsilon(rho, case["delta"])
    expected = Fraction(case["expect"]["epsilon"])
    # The expected figure has 17 digits, so it may be half a last digit too large.
    assert expected * (1 - Fraction(1, 10**16)) <= claimed
    assert claimed <= expected * (1 + Fraction(1, 10**12))


def scanned_epsilon(rho, delta):
    """Minimize over the order by narrowing a grid in ln(α - 1), in 60 digits."""
    with localcontext(prec=60):
        cost = Decimal(rho.numerator) / rho.denominator
        chance = Decimal(delta.numerator) / delta.denominator

        def claim(log):
            order = 1 + log.exp()
            return (
                order * cost
                + (1 / (order * chance)).ln() / (order - 1)
                + (1 - 1 / order).ln()
            )

        low, high = Decimal(-40), -chance.ln() + 40
        while high - low > Decimal("1e-12"):
            third = (high - low) / 3
            if claim(low + third) < claim(high - third):
                high -= third
            else:
                low += third
        return Fraction(claim((low + high) / 2))


@pytest.mark.parametrize("rho", ["1e-7", "1/300", "0.5", "40"])
@pytest.mark.parametrize("delta", ["0.01", "1e-6", "1e-30"])
def test_zcdp_claim_is_the_minimum_over_orders_rounded_up(rho, delta):
    claimed = zcdp_to_epsilon(rho, delta)
    least = max(0, scanned_epsilon(Fraction(rho), Fraction(delta)))
    assert least * (1 - Fraction(1, 10**20)) <= claimed
    assert claimed <= least * (1 + Fraction(2, 10**14))


def test_zcdp_edges():
    assert zcdp_to_epsilon(0, 1e-6) == 0
    assert zcdp_to_epsilon("1e-300", 1e-6) == 0  # (0, delta) holds: TV <= sqrt(rho/2)
    assert 0 < zcdp_to_epsilon(1, "1e-1000") < 200
    assert zcdp_to_epsilon("0.5", 1e-9) > zcdp_to_epsilon("0.5", 1e-6)


@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", "1", "3.7", "25"])
@pytest.mark.parametrize("delta", ["0.01", "1e-6", "1e-12", "1e-100"])
def test_rho_for_epsilon_is_the_largest_that_keeps_the_claim(epsilon, delta):
    rho = rho_for_epsilon(epsilon, delta)
    assert rho > 0
    assert zcdp_to_epsilon(rho, delta) <= Fraction(epsilon)
    assert zcdp_to_epsilon(rho * (1 + Fraction(1, 10**11)), delta) > Fraction(epsilon)
    assert len(f"{rho.numerator}{rho.denominator}") < 130


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        ("1e-500", "1e-500"),
        ("1e-1000", "0.1"),
        ("1e600", "1e-6"),
        ("1", "1e-1200"),
        ("0.5", "0.99999999999999"),
    ],
)
def test_extreme_promises_are_kept_too(epsilon, delta):
    rho = rho_for_epsilon(epsilon, delta)
    assert rho > 0
    assert zcdp_to_epsilon(rho, delta) <= Fraction(epsilon)


def test_pure_epsilon_counts_half_its_square():
    assert epsilon_to_zcdp(0.1) == Fraction(1, 200)
    assert epsilon_to_zcdp("1/3") == Fraction(1, 18)


@pytest.mark.parametrize("case", cases("analytic_gaussian_sigma"))
def test_analytic_gaussian_sigma_cases(case):
    sigma = gaussian_sigma(case["epsilon"], case["delta"], case["sensitivity"])
    expected = Fraction(case["expect"]["sigma"])
    assert expected <= sigma <= expected * (1 + Fraction(2, 10**9))


def balle_wang(sigma, epsilon):
    first = log_ndtr(1 / (2 * sigma) - epsilon * sigma)
    second = epsilon + log_ndtr(-1 / (2 * sigma) - epsilon * sigma)
    return math.exp(first) * -math.expm1(second - first)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.01, 1e-6), (0.3, 1e-9), (1, 0.2), (4, 1e-40), (60, 1e-5)]
)
def test_sigma_meets_the_textbook_formula(epsilon, delta):
    sigma = float(gaussian_sigma(epsilon, delta))
    assert balle_wang(sigma, epsilon) == pytest.approx(delta, rel=2e-7)
    assert balle_wang(0.999999 * sigma, epsilon) > delta


def test_sigma_is_proportional_to_the_sensitivity():
    assert gaussian_sigma(1, 1e-6, "2.5") == gaussian_sigma(1, 1e-6) * Fraction(5, 2)


def exact_delta(sigma2, epsilon, shifts):
    """Sum max(0, P(x) - e^ε P(x + shift)) over a box of integer vectors."""
    reach = 12 * math.ceil(math.sqrt(sigma2)) + 12
    pmf = {k: math.exp(-(k**2) / (2 * sigma2)) for k in range(-reach, reach + 1)}
    mass = math.fsum(pmf.values())
    law = {k: p / mass for k, p in pmf.items()}
    factor, points = math.exp(epsilon), [((), 1.0, 1.0)]
    for shift in shifts:
        points = [
            ((*x, k), p * law[k], q * law.get(k + shift, 0.0))
            for x, p, q in points
            for k in law
        ]
    return math.fsum(max(0.0, p - factor * q) for _, p, q in points)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_variance_for_one_integer_covers_every_smaller_change(epsilon, delta, shift):
    sigma2 = float(discrete_gaussian_variance(epsilon, delta, one(shift)))
    curve = [exact_delta(sigma2, epsilon, [d]) for d in range(1, shift + 1)]
    assert max(curve) <= delta * (1 + 1e-9)
    assert curve == sorted(curve)
    assert exact_delta(0.95 * sigma2, epsilon, [shift]) > delta


@pytest.mark.parametrize(
    ("epsilon", "delta", "shift"),
    [
        ("0.5", "1e-6", 1),
        ("8", "1e-3", 1),
        ("0.001", "1e-9", 1),
        ("1", "1e-6", 10**9),
        ("0.5", "1e-10", 1000),
        ("1e-5", "0.01", 7),
    ],
)
def test_variance_is_tight_and_short(epsilon, delta, shift):
    sigma2 = discrete_gaussian_variance(epsilon, delta, one(shift))
    assert discrete_gaussian_delta(sigma2, epsilon, shift) <= Fraction(delta)
    less = sigma2 * (1 - Fraction(1, 10**6))
    assert discrete_gaussian_delta(less, epsilon, shift) > Fraction(delta)
    assert sigma2 < shift**2 / (2 * rho_for_epsilon(epsilon, delta))
    assert len(f"{sigma2.numerator}{sigma2.denominator}") < 40


def test_wide_variance_is_nearly_the_continuous_one():
    discrete = discrete_gaussian_variance(1, "1e-6", one(10**9))
    continuous = gaussian_sigma(1, "1e-6", 10**9) ** 2
    assert float(discrete / continuous) == pytest.approx(1, abs=1e-7)


def test_integers_that_change_together_go_through_rho():
    apart = Sensitivity(2, 2, 2, 1)  # (+1, -1), a row that changes its cell
    sigma2 = discrete_gaussian_variance(1, "1e-2", apart)
    assert sigma2 >= 2 / (2 * rho_for_epsilon(1, "1e-2"))
    assert exact_delta(float(sigma2), 1.0, [1, -1]) <= 1e-2
    # The curve of one coordinate would not have been enough.
    single = float(discrete_gaussian_variance(1, "1e-2", one(1)))
    assert exact_delta(single, 1.0, [1, -1]) > 1.5e-2


@pytest.mark.parametrize("delta", [0, 1, -1e-6, 2])
def test_conversions_need_a_delta_inside(delta):
    for convert in (zcdp_to_epsilon, rho_for_epsilon, gaussian_sigma):
        with pytest.raises(ParameterError, match="delta must be above 0 and below 1"):
            convert(1, delta)


def test_wrong_amounts_are_refused():
    for call in (
        lambda: zcdp_to_epsilon(-1, 1e-6),
        lambda: epsilon_to_zcdp(-1),
        lambda: rho_for_epsilon(0, 1e-6),
        lambda: gaussian_sigma(1, 1e-6, 0),
        lambda: discrete_gaussian_variance(0, 1e-6, one(1)),
        lambda: zcdp_to_epsilon(float("nan"), 1e-6),
    ):
        with pytest.raises(ParameterError):
            call()


def test_accounting_hands_out_the_names():
    for name in accounting.__all__:
        assert callable(getattr(accounting, name))
