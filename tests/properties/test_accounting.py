"""Sums are exact and order-free, refusals change nothing, conversions are safe."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from dpframe.errors import BudgetExceededError
from dpframe.privacy.accountants import Amounts, open_accountant
from dpframe.privacy.composition import advanced_composition, compose
from dpframe.privacy.conversion import (
    discrete_gaussian_variance,
    gaussian_sigma,
    rho_for_epsilon,
    zcdp_to_epsilon,
)
from dpframe.privacy.gaussian_curve import (
    continuous_curve,
    discrete_curve,
    discrete_gaussian_delta,
    gaussian_delta,
)
from dpframe.privacy.ledger import MemoryLedger
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.rounding import leading_place, round_down, round_up
from dpframe.privacy.sensitivity import Sensitivity

amounts = st.fractions(Fraction(1, 1000), 3, max_denominator=1000)
deltas = st.fractions(0, Fraction(1, 10**5), max_denominator=10**9)
losses = st.builds(PrivacyLoss, amounts, deltas, st.none() | amounts)
chances = st.integers(1, 80).map(lambda k: Fraction(1, 10**k))
few = settings(max_examples=40, deadline=None)
many = settings(max_examples=100, deadline=None)
SLACK = 1 + Fraction(3, 10**12)


def logarithmic(low, high):
    """Fractions of four digits, spread evenly over their exponents."""
    exponents = st.floats(low, high).map(lambda x: f"{10**x:.4g}")
    return exponents.map(Fraction)


@few
@given(st.lists(losses, max_size=20), st.randoms(use_true_random=False))
def test_composition_is_exact_and_order_free(parts, shuffler):
    shuffled = list(parts)
    shuffler.shuffle(shuffled)
    total = compose(*parts)
    assert compose(*shuffled) == total
    assert total.epsilon == sum(loss.epsilon for loss in parts)
    assert total.delta == sum(loss.delta for loss in parts)
    half = len(parts) // 2
    if parts[:half] and parts[half:] and all(loss.rho is not None for loss in parts):
        assert compose(compose(*parts[:half]), compose(*parts[half:])) == total


@few
@given(st.lists(losses, min_size=1, max_size=20), chances)
def test_advanced_composition_is_never_below_its_formula(parts, slack):
    total = advanced_composition(parts, slack)
    squares = float(sum(loss.epsilon**2 for loss in parts))
    formula = math.sqrt(-2 * math.log(slack) * squares) + squares / 2
    assert formula * (1 - 1e-13) <= float(total.epsilon) <= formula * (1 + 1e-12)
    assert total.delta == slack + sum(loss.delta for loss in parts)


requests = st.lists(st.tuples(st.integers(0, 3), losses), max_size=30)
openings = st.sampled_from(
    [
        {"epsilon": 5, "delta": "1e-5"},
        {"rho": 2, "delta": "1e-5"},
        {"rho": "7/3", "delta": "1e-4"},
    ]
)


@few
@given(openings, requests)
def test_a_tree_of_filters_against_a_plain_model(opening, asked):
    """Root, two children, a grandchild: granted exactly while all totals hold."""
    accountant = open_accountant(**opening)
    currency = accountant.currency
    ledger = MemoryLedger()
    nodes = [ledger.open(None, accountant, "root")]
    parents = {0: None, 1: 0, 2: 0, 3: 2}
    caps = [accountant]
    for node, cap in ((1, "3/2"), (2, "1"), (3, "1/2")):
        caps.append(accountant.child(**{currency: cap, "delta": "1e-5"}))
        nodes.append(ledger.open(nodes[parents[node]], caps[node], f"n{node}"))
    spent = [Amounts()] * 4
    for node, loss in asked:
        primary = loss.epsilon
        if currency == "rho":
            primary = loss.rho if loss.rho is not None else loss.epsilon**2 / 2
        cost, chain = Amounts(primary, loss.delta), [node]
        while parents[chain[-1]] is not None:
            chain.append(parents[chain[-1]])
        fits = all((spent[n] + cost).within(caps[n].total) for n in chain)
        try:
            charge = ledger.charge(nodes[node], verb="v", parameters="{}", loss=loss)
        except BudgetExceededError:
            assert not fits
        else:
            assert fits
            assert charge.amounts == cost
            for n in chain:
                spent[n] += cost
        assert [ledger.spent(n) for n in nodes] == spent
    for node in nodes:
        total = Amounts()
        for charge in ledger.charges(node):
            total += charge.amounts
        assert total == spent[node]
    left = ledger.remaining(nodes[3])
    assert left.primary == min((caps[n].total - spent[n]).primary for n in (0, 2, 3))
    assert left.delta == min((caps[n].total - spent[n]).delta for n in (0, 2, 3))


@many
@given(st.fractions(0, 100), st.integers(1, 20))
def test_rounding_brackets_and_is_close(value, digits):
    down, up = round_down(value, digits), round_up(value, digits)
    assert down <= value <= up
    if value:
        place = leading_place(value)
        assert place <= value * (1 + Fraction(1, 10**29)) < 10 * place * 2
        assert up - down <= 10 * place / 10 ** (digits - 1)


@many
@given(logarithmic(-8, 2), chances)
def test_zcdp_round_trip_is_safe_and_tight(epsilon, delta):
    rho = rho_for_epsilon(epsilon, delta)
    assert zcdp_to_epsilon(rho, delta) <= epsilon
    assert zcdp_to_epsilon(rho * (1 + Fraction(1, 10**11)), delta) > epsilon


@many
@given(logarithmic(-10, 3), chances, st.floats(-12, 40))
def test_every_order_is_above_the_claimed_minimum(rho, delta, log):
    gap = math.exp(log)
    cost, need = float(rho), -math.log(delta)
    at_order = (1 + gap) * cost + (need - math.log1p(gap)) / gap - math.log1p(1 / gap)
    scale = (1 + gap) * cost + need / gap + 1
    assert float(zcdp_to_epsilon(rho, delta)) <= max(0, at_order) + 1e-12 * scale


@few
@given(logarithmic(-4, 1.3), chances)
def test_sigma_is_the_least_that_its_curve_allows(epsilon, delta):
    sigma = gaussian_sigma(epsilon, delta)
    assert gaussian_delta(sigma**2, epsilon) <= delta
    assert gaussian_delta((sigma * (1 - Fraction(1, 10**8))) ** 2, epsilon) > delta


@few
@given(logarithmic(-4, 1.3), chances, st.integers(1, 10**9))
def test_variance_fits_and_no_smaller_shift_needs_more(epsilon, delta, shift):
    spread = Sensitivity(shift, shift**2, 1, shift)
    sigma2 = discrete_gaussian_variance(epsilon, delta, spread)
    for less in {shift, shift // 2, 1} - {0}:
        assert discrete_gaussian_delta(sigma2, epsilon, less) <= delta * SLACK
    assert discrete_gaussian_delta(sigma2, epsilon, shift) <= delta
    assert sigma2 <= shift**2 / (2 * rho_for_epsilon(epsilon, delta)) * SLACK


@many
@given(logarithmic(-2, 3), logarithmic(-4, 1.5), st.integers(1, 100))
def test_the_bound_for_wide_noise_is_above_the_sum(sigma2, epsilon, shift):
    summed = discrete_curve(sigma2, epsilon, Fraction(shift))
    bound = continuous_curve(sigma2, epsilon, Fraction(shift), lattice=True)
    assert summed <= bound * SLACK
