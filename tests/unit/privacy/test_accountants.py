"""Opening a session's accountant, and what each kind lets a mechanism cost."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpframe.errors import AccountantError, ParameterError, PrivacyWarning
from dpframe.privacy.accountant import Accountant
from dpframe.privacy.accountants import (
    Amounts,
    ApproxAccountant,
    PureAccountant,
    ZCDPAccountant,
    open_accountant,
)
from dpframe.privacy.conversion import rho_for_epsilon, zcdp_to_epsilon
from dpframe.privacy.loss import PrivacyLoss

HALF, MILLIONTH = Fraction(1, 2), Fraction(1, 10**6)
PURE = PrivacyLoss(HALF)
APPROX = PrivacyLoss(HALF, MILLIONTH)
RHO = PrivacyLoss(rho=HALF)


def test_the_amounts_choose_the_accountant():
    assert open_accountant(epsilon="0.1") == PureAccountant(Fraction(1, 10))
    assert open_accountant(epsilon=1, delta=1e-6) == ApproxAccountant(
        Fraction(1), MILLIONTH
    )
    assert open_accountant(rho=0.5) == ZCDPAccountant(HALF)
    assert open_accountant(rho=0.5, delta="1e-6") == ZCDPAccountant(HALF, MILLIONTH)
    assert open_accountant(epsilon=1, accountant="pure").name == "pure"
    assert open_accountant(rho=1, accountant="zcdp").name == "zcdp"


def test_epsilon_and_delta_become_the_largest_rho():
    accountant = open_accountant(epsilon=1, delta=1e-6, accountant="zcdp")
    assert accountant.total == Amounts(rho_for_epsilon(1, 1e-6))
    assert accountant.budget.epsilon == 1
    assert accountant.budget.delta == MILLIONTH
    assert zcdp_to_epsilon(accountant.total.primary, 1e-6) <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, r"Type\n    session = dpf\.Session\(epsilon=1\.0, unit=\.\.\.\)"),
        ({"delta": 1e-6}, r"dpf\.Session\(epsilon=1\.0"),
        ({"epsilon": 1, "rho": 1}, "epsilon or rho, not both"),
        ({"epsilon": 1, "accountant": "approx"}, r"Session\(epsilon=1\.0, delta=1e-6"),
        ({"rho": 1, "accountant": "approx"}, "an epsilon and a delta"),
        ({"epsilon": 1, "delta": 1e-6, "accountant": "pure"}, "an epsilon alone"),
        ({"rho": 1, "accountant": "pure"}, "an epsilon alone"),
        ({"epsilon": 1, "accountant": "zcdp"}, "the delta at which it holds"),
        ({"epsilon": 1, "accountant": "pld"}, "one of 'pure', 'approx', 'zcdp'"),
        ({"epsilon": 1, "accountant": "advanced"}, "got 'advanced'"),
        ({"epsilon": 0}, "epsilon must be positive"),
        ({"epsilon": True}, "epsilon must be a number"),
        ({"epsilon": 1, "delta": 1}, "delta must be in"),
        ({"rho": -1}, "rho must be positive"),
    ],
)
def test_missing_and_contradicting_amounts(arguments, message):
    with pytest.raises(ParameterError, match=message):
        open_accountant(**arguments)


def test_a_huge_epsilon_is_legal_but_warned_of():
    with pytest.warns(PrivacyWarning, match="above 20"):
        assert open_accountant(epsilon=25).total == Amounts(Fraction(25))


@pytest.mark.parametrize(
    ("accountant", "loss", "amounts"),
    [
        (open_accountant(1), PURE, Amounts(HALF)),
        (open_accountant(1), PrivacyLoss(HALF, rho=Fraction(1, 9)), Amounts(HALF)),
        (open_accountant(1, 1e-5), PURE, Amounts(HALF)),
        (open_accountant(1, 1e-5), APPROX, Amounts(HALF, MILLIONTH)),
        (open_accountant(rho=1), RHO, Amounts(HALF)),
        (open_accountant(rho=1), PURE, Amounts(Fraction(1, 8))),
        (
            open_accountant(rho=1),
            PrivacyLoss(HALF, rho=Fraction(1, 9)),
            Amounts(Fraction(1, 9)),
        ),
        (
            open_accountant(rho=1, delta=1e-5),
            APPROX,
            Amounts(Fraction(1, 8), MILLIONTH),
        ),
    ],
)
def test_a_loss_in_the_currency_of_the_session(accountant, loss, amounts):
    assert accountant.cost(loss) == amounts


@pytest.mark.parametrize(
    ("accountant", "loss", "message"),
    [
        (open_accountant(2), APPROX, r"Session\(epsilon=2, delta=1e-06, unit"),
        (open_accountant(2), RHO, r"'pure'.*\n    session = dpf\.Session\(rho=0\.5"),
        (open_accountant(2, 1e-5), RHO, r"'approx'.*\n    session = dpf\.Session\(rho"),
        (open_accountant(rho=1), APPROX, r"Session\(rho=1, delta=1e-06, unit"),
        (
            open_accountant(1, 1e-5, accountant="zcdp"),
            APPROX,
            "turning rho into epsilon uses it all",
        ),
    ],
)
def test_a_refusal_names_the_session_to_open(accountant, loss, message):
    with pytest.raises(AccountantError, match=message):
        accountant.cost(loss)


@pytest.mark.parametrize(
    "loss",
    [
        PrivacyLoss(),
        PrivacyLoss(Fraction(0)),
        PrivacyLoss(Fraction(-1)),
        PrivacyLoss(HALF, -MILLIONTH),
        PrivacyLoss(HALF, rho=Fraction(-1)),
    ],
)
@pytest.mark.parametrize(
    "accountant", [open_accountant(1), open_accountant(1, 1e-5), open_accountant(rho=1)]
)
def test_there_is_no_charge_of_nothing_and_no_refund(accountant, loss):
    with pytest.raises(ParameterError, match="a charge must be positive"):
        accountant.cost(loss)


def test_a_delta_alone_is_no_zcdp_loss():
    with pytest.raises(ParameterError, match="only a delta"):
        open_accountant(rho=1, delta=1e-5).cost(PrivacyLoss(delta=MILLIONTH))


def test_running_totals_under_zcdp_have_no_epsilon():
    spent = Amounts(Fraction(1, 100))
    for accountant in (
        open_accountant(rho=1),
        open_accountant(1, 1e-6, accountant="zcdp"),
    ):
        assert accountant.spent_loss(spent) == PrivacyLoss(rho=Fraction(1, 100))
        left = accountant.remaining_loss(spent)
        assert left.epsilon is None
        assert left.rho == accountant.total.primary - Fraction(1, 100)


def test_what_is_spent_and_left_of_the_others():
    pure, approx = open_accountant(1), open_accountant(1, 1e-6)
    spent = Amounts(HALF, MILLIONTH / 4)
    assert pure.remaining_loss(Amounts(HALF)) == PrivacyLoss(HALF)
    assert approx.spent_loss(spent) == PrivacyLoss(HALF, MILLIONTH / 4)
    assert approx.remaining_loss(spent) == PrivacyLoss(HALF, MILLIONTH * 3 / 4)
    budgets = [a.budget for a in (pure, approx, open_accountant(rho=1, delta=1e-6))]
    assert budgets == [
        PrivacyLoss(Fraction(1)),
        PrivacyLoss(Fraction(1), MILLIONTH),
        PrivacyLoss(None, MILLIONTH, Fraction(1)),
    ]


def test_children_keep_kind_and_currency():
    assert open_accountant(1).child(epsilon=0.5) == PureAccountant(HALF)
    approx = open_accountant(1, 1e-5)
    assert approx.child(epsilon=0.5) == ApproxAccountant(HALF, Fraction(0))
    assert approx.child(0.5, 1e-6) == ApproxAccountant(HALF, MILLIONTH)
    assert open_accountant(rho=1).child(rho=0.5) == ZCDPAccountant(HALF)
    promised = open_accountant(1, 1e-6, accountant="zcdp")
    assert promised.child(rho=0.01).budget == PrivacyLoss(rho=Fraction(1, 100))


@pytest.mark.parametrize(
    ("parent", "cap", "message"),
    [
        (open_accountant(1), {}, r"capped in epsilon.*session\.child\(epsilon="),
        (open_accountant(1), {"rho": 0.1}, "capped in epsilon"),
        (open_accountant(rho=1), {"epsilon": 0.1}, r"session\.child\(rho="),
        (open_accountant(1), {"epsilon": 2}, "cannot be larger than its parent"),
        (open_accountant(1), {"epsilon": 1, "delta": 1e-6}, "delta=1e-06"),
        (open_accountant(1, 1e-6), {"epsilon": 1, "delta": 1e-5}, "larger"),
    ],
)
def test_caps_that_do_not_fit(parent, cap, message):
    with pytest.raises(ParameterError, match=message):
        parent.child(**cap)


def test_the_base_is_never_instantiated():
    with pytest.raises(TypeError, match="abstract"):
        Accountant()
