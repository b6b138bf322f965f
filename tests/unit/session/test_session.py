"""The budget, the door, labels, children, and which session is active."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import threading
from fractions import Fraction

import pandas as pd
import polars as pl
import pytest

import dpframe as dpf
from dpframe.session import active

PEOPLE = pl.DataFrame({"age": [20, 30, 40], "sex": ["F", "M", "F"]})


def session(**more):
    return dpf.Session(**({"epsilon": 1, "unit": "row"} | more))


def test_ten_charges_of_a_tenth_spend_exactly_one():
    s = session()
    with s:
        for _ in range(10):
            PEOPLE.dp.count(0.1)
        assert s.spent.epsilon == 1
        assert s.remaining.epsilon == 0
        with pytest.raises(dpf.BudgetExceededError):
            PEOPLE.dp.count("1e-9")
    assert len(s.charges) == 10


def test_a_refused_request_leaves_the_balance_and_smaller_ones_may_pass():
    s = session()
    with s:
        PEOPLE.dp.count(0.7)
        with pytest.raises(dpf.BudgetExceededError, match=r"0\.4"):
            PEOPLE.dp.count(0.4)
        assert s.spent.epsilon == Fraction(7, 10)
        PEOPLE.dp.count(0.3)
    assert s.remaining.epsilon == 0


def test_one_call_is_one_charge():
    s = session()
    with s:
        PEOPLE.dp.mean("age", 0.1, bounds=(17, 90))
        PEOPLE.dp.std("age", 0.1, bounds=(17, 90))
        PEOPLE.dp.group_by("sex", keys=["F", "M"]).agg(
            0.1, n=dpf.agg.count(), s=dpf.agg.sum("age", bounds=(17, 90))
        )
    assert [c.loss.epsilon for c in s.charges] == [Fraction(1, 10)] * 3


def test_a_failure_after_the_charge_keeps_it():
    s = session()
    broken = pl.LazyFrame({"x": ["a"]}).select(pl.col("x").cast(pl.Int64))
    with s, pytest.raises(dpf.EngineError) as caught:
        broken.dp.sum("x", 0.25, bounds=(0, 1))
    assert s.spent.epsilon == Fraction(1, 4)
    assert s.charges[0].state == "charged"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "'a'" not in str(caught.value)


def test_a_wrong_argument_costs_nothing():
    s = session()
    with s:
        with pytest.raises(dpf.ParameterError):
            PEOPLE.dp.sum("age", 0.5, bounds=(90, 17))
        with pytest.raises(dpf.ColumnNotFoundError):
            PEOPLE.dp.sum("agee", 0.5, bounds=(17, 90))
    assert s.spent.epsilon == 0
    assert s.charges == ()


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({}, "pure"),
        ({"delta": 1e-6}, "approx"),
        ({"epsilon": None, "rho": 0.1}, "zcdp"),
        ({"delta": 1e-6, "accountant": "zcdp"}, "zcdp"),
    ],
)
def test_accountants_follow_from_the_amounts(more, name):
    assert session(**more).setting.accountant.name == name


def test_a_concentrated_session_takes_rho_and_pure_epsilon():
    s = dpf.Session(rho=1, unit="row")
    with s:
        PEOPLE.dp.count(rho=0.25)
        PEOPLE.dp.count(1)  # a pure mechanism costs epsilon² / 2
    assert s.spent.rho == Fraction(3, 4)
    assert s.spent.epsilon is None
    assert s.remaining.epsilon is None


def test_gaussian_noise_costs_epsilon_and_delta():
    s = session(delta=1e-6)
    with s:
        n = PEOPLE.dp.count(0.5, noise="gaussian", delta=1e-7)
    assert s.spent == dpf.PrivacyLoss(Fraction(1, 2), Fraction(1, 10**7))
    assert n.mechanism == "discrete Gaussian"


def test_a_pure_session_refuses_gaussian_noise_and_names_another():
    with session(), pytest.raises(dpf.AccountantError, match="delta=1e-6"):
        PEOPLE.dp.count(0.5, noise="gaussian", delta=1e-7)
    with session(), pytest.raises(dpf.AccountantError, match="rho="):
        PEOPLE.dp.count(rho=0.5)


# -- which session -------------------------------------------------------------


def test_no_session_is_an_error_that_shows_the_line_to_type():
    with pytest.raises(dpf.NoSessionError, match=r"dpf\.Session\(epsilon=1\.0"):
        PEOPLE.dp.count(0.1)


def test_with_goes_before_activate_and_explicit_before_both():
    first, second, third = session(), session(), session()
    first.activate()
    try:
        PEOPLE.dp.count(0.1)
        with second:
            PEOPLE.dp.count(0.1)
            dpf.private(PEOPLE, third).count(0.1)
        PEOPLE.dp.count(0.1)
    finally:
        first.deactivate()
    assert [len(s.charges) for s in (first, second, third)] == [2, 1, 1]
    assert active.current() is None


def test_a_session_may_be_entered_twice():
    s = session()
    with s, s:
        PEOPLE.dp.count(0.1)
    assert active.current() is None


def test_an_exception_leaves_the_block_and_the_session():
    with pytest.raises(KeyError), session():
        raise KeyError
    assert active.current() is None


def test_threads_and_tasks_do_not_inherit_or_leak_a_session():
    seen = []
    with session():
        thread = threading.Thread(target=lambda: seen.append(active.current()))
        thread.start()
        thread.join()
    assert seen == [None]

    async def ask(s):
        with s:
            await asyncio.sleep(0)
            PEOPLE.dp.count(0.1)

    async def both():
        await asyncio.gather(ask(first), ask(second))

    first, second = session(), session()
    asyncio.run(both())
    assert (len(first.charges), len(second.charges)) == (1, 1)


def test_threads_cannot_overspend_together():
    s = session(epsilon=2)
    granted, refused = [], []

    def worker():
        people = dpf.private(PEOPLE, s)
        for _ in range(10):
            try:
                granted.append(people.count(0.1))
            except dpf.BudgetExceededError:
                refused.append(1)

    threads = [threading.Thread(target=worker) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert (len(granted), len(refused)) == (20, 20)


# -- labels --------------------------------------------------------------------


def test_a_label_replays_without_a_charge_and_without_reading():
    s = session()
    with s:
        first = PEOPLE.dp.count(0.5, label="rows")
        again = PEOPLE.head(0).dp.count(0.5, label="rows")
    assert again.value == first.value
    assert again.replayed
    assert not first.replayed
    assert "was not read" in repr(again)
    assert len(s.charges) == 1


def test_a_label_works_when_the_budget_is_spent():
    s = session()
    with s:
        first = PEOPLE.dp.histogram(1, "sex", keys=["F", "M"], label="sexes")
        again = PEOPLE.dp.histogram(1, "sex", keys=["F", "M"], label="sexes")
    assert list(again.counts) == list(first.counts)


@pytest.mark.parametrize(
    "other",
    [
        lambda d: d.count(0.2, label="x"),
        lambda d: d.sum("age", 0.1, bounds=(0, 90), label="x"),
        lambda d: d.sum("age", 0.1, bounds=(0, 99), per="row", label="x"),
        lambda d: d.n_unique("age", 0.1, label="x"),
        lambda d: d.histogram(0.1, "sex", keys=["F", "M"], label="x"),
        lambda d: d.histogram(0.1, "sex", keys=["M", "F"], label="x"),
    ],
)
def test_the_same_label_with_another_request_is_refused(other):
    s = session()
    with s:
        PEOPLE.dp.count(0.1, label="x")
        with pytest.raises(dpf.LabelConflictError, match="'x'"):
            other(PEOPLE.dp)
    assert s.spent.epsilon == Fraction(1, 10)


def test_a_null_that_changes_pandas_types_is_the_same_request():
    whole = pd.DataFrame({"age": [20, 30]})
    holed = pd.DataFrame({"age": [20, None]})
    assert whole["age"].dtype != holed["age"].dtype
    with session():
        first = whole.dp.mean("age", 0.1, bounds=(17, 90), label="m")
        assert (
            holed.dp.mean("age", 0.1, bounds=(17, 90), label="m").value == first.value
        )


def test_a_label_after_a_failure_is_a_new_charge():
    s = session()
    broken = pl.LazyFrame({"age": ["a"]}).select(pl.col("age").cast(pl.Int64))
    with s:
        with pytest.raises(dpf.EngineError):
            broken.dp.sum("age", 0.1, bounds=(0, 9), label="x")
        PEOPLE.dp.sum("age", 0.1, bounds=(0, 9), label="x")
        PEOPLE.dp.sum("age", 0.1, bounds=(0, 9), label="x")
    assert [c.state for c in s.charges] == ["charged", "released"]


def test_a_label_is_a_name():
    with session(), pytest.raises(dpf.ParameterError, match="label"):
        PEOPLE.dp.count(0.1, label="")


# -- children ------------------------------------------------------------------


def test_a_child_is_a_cap_inside_its_parent():
    parent = session()
    child = parent.child(epsilon=0.5, name="report")
    with child:
        PEOPLE.dp.count(0.5)
        with pytest.raises(dpf.BudgetExceededError):
            PEOPLE.dp.count(0.1)
    assert child.remaining.epsilon == 0
    assert parent.remaining.epsilon == Fraction(1, 2)


def test_a_parent_out_of_budget_stops_its_child():
    parent = session()
    child = parent.child(epsilon=0.5)
    with parent:
        PEOPLE.dp.count(0.8)
    with child, pytest.raises(dpf.BudgetExceededError):
        PEOPLE.dp.count(0.5)
    assert child.spent.epsilon == 0
    assert parent.spent.epsilon == Fraction(4, 5)


def test_children_add_up_and_the_parent_lists_their_charges():
    parent = session()
    for name in ("a", "b"):
        with parent.child(epsilon=1, name=name):
            PEOPLE.dp.count(0.5)
    assert parent.remaining.epsilon == 0
    assert len(parent.charges) == 2


def test_a_concentrated_child_is_capped_in_rho():
    child = dpf.Session(rho=1, unit="row").child(rho="1/2")
    with child:
        PEOPLE.dp.count(rho="1/2")
    assert child.remaining.rho == 0


# -- copies, people ------------------------------------------------------------


def test_a_session_cannot_be_copied():
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="double"):
            attempt(session())


def test_repr_shows_budget_and_ledger_and_no_data():
    s = session(account="census")
    with s:
        PEOPLE.dp.count(0.25, label="rows")
    for shown in (repr(s), s._repr_html_()):
        for part in ("census", "0.25", "0.75", "count", "rows", "memory"):
            assert part in shown
    assert len(s._repr_html_()) < 20_000


def test_html_escapes_what_people_typed():
    s = session(account="<b>x</b>")
    with s:
        PEOPLE.dp.count(0.25, label="<script>")
    assert "<script>" not in s._repr_html_()
    assert "<b>x" not in s._repr_html_()


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_the_ledger_is_a_frame(library):
    s = session()
    with s:
        PEOPLE.dp.count(0.25, label="rows")
    frame = s.to_frame(library)
    assert type(frame).__module__.startswith(library)
    assert list(frame["verb"]) == ["count"]
    assert list(frame["epsilon"]) == [0.25]


def test_charges_are_public_records():
    s = session()
    with s:
        PEOPLE.dp.sum("age", 0.25, bounds=(17, 90))
    (charge,) = s.charges
    assert charge.verb == "sum"
    assert charge.loss == dpf.PrivacyLoss(Fraction(1, 4))
    assert charge.state == "released"
    assert json.loads(charge.parameters)["neighboring"] == "add_remove"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"unit": "row"}, "epsilon"),
        ({"epsilon": 0, "unit": "row"}, "positive"),
        ({"epsilon": 1, "unit": "person"}, "Unit"),
        ({"epsilon": 1, "unit": None}, "Unit"),
        ({"epsilon": 1, "unit": "row", "neighboring": "bounded"}, "add_remove"),
        ({"epsilon": 1, "unit": "row", "rho": 1}, "rho"),
        ({"epsilon": 1, "unit": "row", "delta": 1}, "delta"),
        ({"epsilon": 1, "unit": "row", "default_epsilon": -1}, "default_epsilon"),
        ({"epsilon": 1, "unit": "row", "account": 3}, "account"),
        ({"epsilon": 1, "unit": "row", "accountant": "renyi"}, "accountant"),
    ],
)
def test_opening_refuses_what_makes_no_sense(arguments, message):
    with pytest.raises(dpf.ParameterError, match=message):
        dpf.Session(**arguments)


def test_default_epsilon_serves_verbs_without_one():
    s = session(default_epsilon="0.1")
    with s:
        PEOPLE.dp.count()
    assert s.spent.epsilon == Fraction(1, 10)
