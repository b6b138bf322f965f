"""Charges: atomic, exact, kept for ever, and never in two places at once."""

from __future__ import annotations

import copy
import json
import linecache
import pickle
import subprocess
import sys
import textwrap
import threading
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from dpframe.errors import (
    AccountantError,
    BudgetExceededError,
    LabelConflictError,
    LedgerError,
    ParameterError,
)
from dpframe.privacy import ledger as ledger_module
from dpframe.privacy.accountants import Amounts, open_accountant
from dpframe.privacy.amounts import as_amount
from dpframe.privacy.ledger import Ledger, MemoryLedger
from dpframe.privacy.loss import PrivacyLoss

DATA = Path(__file__).parents[2] / "data" / "accounting.json"
CASES = [
    pytest.param(case, id=case["id"])
    for case in json.loads(DATA.read_text())["cases"]
    if case["kind"] == "pure_filter"
]


def opened(epsilon="1", name="adult", **more):
    ledger = MemoryLedger()
    return ledger, ledger.open(None, open_accountant(epsilon, **more), name)


def spend(ledger: Ledger, node, epsilon, **more):
    loss = epsilon if isinstance(epsilon, PrivacyLoss) else None
    return ledger.charge(
        node,
        verb="count",
        mechanism="discrete Laplace",
        parameters="{}",
        loss=loss or PrivacyLoss(Fraction(epsilon)),
        **more,
    )


@pytest.mark.parametrize("case", CASES)
def test_filter_cases(case):
    ledger, node = opened(case["budget"])
    decisions = []
    for request in case["requests"]:
        try:
            loss = PrivacyLoss(as_amount(request, "epsilon"))
            spend(ledger, node, loss)
        except BudgetExceededError:
            decisions.append("exhausted")
        except ParameterError:
            decisions.append("invalid")
        else:
            decisions.append("accept")
    assert decisions == case["expect"]["decisions"]
    assert ledger.remaining(node).primary == Fraction(case["expect"]["remaining"])


def test_a_charge_is_a_public_record():
    ledger, node = opened()
    before = datetime.now(UTC)
    charge = ledger.charge(
        node,
        verb="sum",
        mechanism="discrete Laplace",
        parameters='{"column": "pay"}',
        loss=PrivacyLoss(Fraction(1, 3)),
        label="pay",
        digest="d",
        private=False,
    )
    assert before <= charge.at <= datetime.now(UTC)
    assert (charge.id, charge.node, charge.session) == (1, node, "adult")
    assert (charge.verb, charge.mechanism) == ("sum", "discrete Laplace")
    assert charge.parameters == '{"column": "pay"}'
    assert charge.amounts == Amounts(Fraction(1, 3))
    assert (charge.label, charge.state, charge.private) == ("pay", "charged", False)
    assert ledger.charges(node) == (charge,)
    with pytest.raises(AttributeError):
        charge.state = "released"


def test_a_refusal_shows_public_figures_and_changes_nothing():
    ledger, node = opened()
    spend(ledger, node, "0.7")
    with pytest.raises(BudgetExceededError) as refused:
        spend(ledger, node, "0.4")
    message = str(refused.value)
    assert message.startswith("count asks for epsilon=0.4, and session 'adult' has")
    assert "epsilon=0.3 left of epsilon=1: epsilon=0.1 too much" in message
    assert ledger.spent(node) == Amounts(Fraction(7, 10))
    assert len(ledger.charges(node)) == 1
    spend(ledger, node, "0.3")
    assert ledger.remaining(node) == Amounts()


def test_the_least_amount_counts():
    ledger, node = opened()
    spend(ledger, node, "1e-1000")
    with pytest.raises(BudgetExceededError, match="below 1e-300 too much"):
        spend(ledger, node, "1")
    assert ledger.spent(node).primary == Fraction(1, 10**1000)


def test_delta_alone_can_run_out():
    ledger, node = opened("1", "", delta="1e-6")
    loss = PrivacyLoss(Fraction(1, 10), Fraction(6, 10**7))
    spend(ledger, node, loss)
    with pytest.raises(BudgetExceededError) as refused:
        spend(ledger, node, loss)
    assert "this session has epsilon=0.9, delta=4e-07 left" in str(refused.value)
    assert "epsilon=0, delta=2e-07 too much" in str(refused.value)


def test_zcdp_adds_mixed_losses_in_rho():
    ledger = MemoryLedger()
    node = ledger.open(None, open_accountant(rho=1), "")
    spend(ledger, node, PrivacyLoss(rho=Fraction(3, 8)))
    spend(ledger, node, "1")
    assert ledger.spent(node) == Amounts(Fraction(7, 8))
    with pytest.raises(BudgetExceededError, match=r"asks for rho=0\.5"):
        spend(ledger, node, "1")
    with pytest.raises(AccountantError):
        spend(ledger, node, PrivacyLoss(Fraction(1, 10), Fraction(1, 10**6)))
    assert ledger.spent(node) == Amounts(Fraction(7, 8))


def test_a_childs_charges_count_for_every_ancestor():
    ledger, root = opened("1")
    team = ledger.open(root, open_accountant("0.6"), "team")
    one = ledger.open(team, open_accountant("0.5"), "one")
    two = ledger.open(team, open_accountant("0.5"), "")
    assert ledger.spent(root) == Amounts()  # unused allowance was never taken
    charge = spend(ledger, one, "0.4")
    assert charge.session == "adult/team/one"
    assert [ledger.spent(n).primary for n in (root, team, one, two)] == [
        Fraction(2, 5),
        Fraction(2, 5),
        Fraction(2, 5),
        0,
    ]
    assert ledger.remaining(two) == Amounts(Fraction(1, 5))  # the team's, not its own
    with pytest.raises(BudgetExceededError, match=r"'adult/team' has epsilon=0\.2"):
        spend(ledger, two, "0.3")
    with pytest.raises(BudgetExceededError, match="'adult/team/one' has"):
        spend(ledger, one, "0.15")
    spend(ledger, root, "0.6")
    with pytest.raises(BudgetExceededError, match="'adult' has epsilon=0 left"):
        spend(ledger, two, "0.1")
    assert [c.id for c in ledger.charges(team)] == [1]
    assert [c.id for c in ledger.charges(root)] == [1, 2]
    assert ledger.charges(two) == ()


def test_a_child_has_the_parents_kind_and_a_ledger_one_root():
    ledger, root = opened("1")
    with pytest.raises(ParameterError, match="is 'pure' too, not 'zcdp'"):
        ledger.open(root, open_accountant(rho=1), "x")
    with pytest.raises(LedgerError, match="one session"):
        ledger.open(None, open_accountant(1), "second")
    for call in (
        lambda: ledger.open(7, open_accountant(1), "x"),
        lambda: spend(ledger, -1, "0.1"),
        lambda: ledger.charges(7),
        lambda: ledger.spent(7),
        lambda: ledger.remaining(7),
    ):
        with pytest.raises(LedgerError, match="has no session"):
            call()


def test_released_is_a_mark_and_gives_nothing_back():
    ledger, node = opened()
    charge = spend(ledger, node, "0.5")
    ledger.mark_released(charge.id, "release")
    (released,) = ledger.charges(node)
    assert released.state == "released"
    assert ledger.spent(node) == Amounts(Fraction(1, 2))
    with pytest.raises(LedgerError, match="released before"):
        ledger.mark_released(charge.id)
    for unknown in (0, 2, -1):
        with pytest.raises(LedgerError, match="no charge"):
            ledger.mark_released(unknown)


def test_labels_belong_to_the_account_and_outlive_its_budget():
    ledger, root = opened("1")
    child = ledger.open(root, open_accountant("0.5"), "child")
    assert ledger.find("daily") is None
    charge = spend(ledger, child, "0.5", label="daily", digest="d")
    assert ledger.find("daily").release is None
    ledger.mark_released(charge.id, "release")
    spend(ledger, root, "0.5")
    stored = ledger.find("daily")
    assert (stored.digest, stored.release) == ("d", "release")
    assert (stored.charge.id, stored.charge.state) == (charge.id, "released")


def test_another_request_never_takes_a_label():
    ledger, node = opened()
    charge = spend(ledger, node, "0.1", label="daily", digest="d")
    with pytest.raises(LabelConflictError, match="another request"):
        spend(ledger, node, "0.1", label="daily", digest="e")
    ledger.mark_released(charge.id)
    with pytest.raises(LabelConflictError, match="released already"):
        spend(ledger, node, "0.1", label="daily", digest="d")
    with pytest.raises(ParameterError, match="digest"):
        spend(ledger, node, "0.1", label="other")
    assert len(ledger.charges(node)) == 1


def test_after_a_failure_the_label_is_charged_again():
    ledger, node = opened()
    spend(ledger, node, "0.1", label="daily", digest="d")
    retry = spend(ledger, node, "0.1", label="daily", digest="d")
    assert ledger.spent(node) == Amounts(Fraction(1, 5))
    ledger.mark_released(retry.id, "release")
    assert ledger.find("daily").charge.id == retry.id


def test_threads_that_race_get_exactly_what_there_is():
    ledger, root = opened("10")
    nodes = [ledger.open(root, open_accountant("10"), str(i)) for i in range(8)]
    start, granted = threading.Barrier(len(nodes)), []

    def race(node):
        start.wait()
        for _ in range(40):
            try:
                granted.append(spend(ledger, node, "0.1").id)
            except BudgetExceededError:
                return

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=race, args=(node,)) for node in nodes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert sorted(granted) == list(range(1, 101))
    assert ledger.remaining(root) == Amounts()
    assert sum(ledger.spent(node).primary for node in nodes) == 10


def test_an_interrupt_at_any_line_charges_all_or_nothing():
    module = ledger_module.__file__
    lines = 0

    def interrupted_at(stop):
        """Charge a child, and raise as Ctrl-C would at the ``stop``-th line."""
        ledger, root = opened("1")
        child = ledger.open(root, open_accountant("0.5"), "child")
        spend(ledger, child, "0.1")
        count = 0

        def trace(frame, event, arg):
            nonlocal count
            if frame.f_code.co_filename != module:
                return None
            # Python takes no signal between a block and the release of its lock.
            line = linecache.getline(module, frame.f_lineno)
            if event == "line" and "with self._owned" not in line:
                count += 1
                if count == stop:
                    raise KeyboardInterrupt
            return trace

        outer = sys.gettrace()
        sys.settrace(trace)
        try:
            spend(ledger, child, "0.2")
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(outer)
        return ledger, root, child, count

    outcomes = set()
    while True:
        lines += 1
        ledger, root, child, count = interrupted_at(lines)
        charged = len(ledger.charges(root)) - 1
        outcomes.add(charged)
        spent = Amounts(Fraction(1, 10) + charged * Fraction(1, 5))
        assert ledger.spent(root) == ledger.spent(child) == spent
        spend(ledger, root, "0.1")  # the lock was given back
        if count < lines:
            break
    assert lines > 30
    assert outcomes == {0, 1}


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_ledger_in_memory_is_never_copied(copier):
    ledger, _ = opened()
    with pytest.raises(LedgerError, match="a copy would double the budget"):
        copier(ledger)


def test_a_forked_process_is_refused_and_does_not_hang():
    script = """
        import os, signal
        from fractions import Fraction
        from dpframe.errors import LedgerError
        from dpframe.privacy.accountants import open_accountant
        from dpframe.privacy.ledger import MemoryLedger
        from dpframe.privacy.loss import PrivacyLoss

        ledger = MemoryLedger()
        node = ledger.open(None, open_accountant(1), "")
        calls = [
            lambda: ledger.charge(
                node, verb="count", parameters="{}", loss=PrivacyLoss(Fraction(1))
            ),
            lambda: ledger.spent(node),
            lambda: ledger.find("x"),
            lambda: ledger.open(node, open_accountant(1), "child"),
        ]

        def refused(call):
            try:
                call()
            except LedgerError as error:
                return "session of its own" in str(error)
            return False

        with ledger._lock:  # held by another thread, as far as the child can tell
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                os._exit(0 if all(map(refused, calls)) else 1)
            status = os.waitpid(child, 0)[1]
        calls[0]()
        print(os.waitstatus_to_exitcode(status), ledger.spent(node).primary)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0 1\n"


def test_its_repr_says_where_it_lives():
    ledger, node = opened()
    spend(ledger, node, "0.1")
    assert repr(ledger) == "MemoryLedger(1 charges, in memory only)"
