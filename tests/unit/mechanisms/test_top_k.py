"""The law of `top_k`, what it is calibrated to, and what it is charged."""

from __future__ import annotations

import itertools
import math
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from selection_reference import exact_law

import dpframe as dpf
from dpframe.domain.keys import Keys
from dpframe.domain.schema import ColumnType, Schema
from dpframe.errors import ParameterError
from dpframe.mechanisms.noising import watch_draws
from dpframe.mechanisms.request import Setting
from dpframe.mechanisms.selection import TopK
from dpframe.noise import selection
from dpframe.noise.selection import PermuteAndFlip
from dpframe.privacy.accountants import open_accountant
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.unit import ROW, Unit
from dpframe.releases.receipt import Receipt
from dpframe.secret import Aggregates, Secret

SCHEMA = Schema({"job": ColumnType("text"), "person": ColumnType("text")}, "polars")
RECEIPT = Receipt(
    "top_k", PrivacyLoss(Fraction(1)), "row", "add_remove", "1", datetime.now(UTC)
)
JOBS = ["cook", "nurse", "pilot", "judge"]


def request(k, epsilon=1, *, unit=ROW, relation="add_remove", keys=JOBS, budget=None):
    budget = budget or {"epsilon": 9, "delta": 0, "rho": None, "accountant": None}
    return TopK(
        "top_k",
        Setting(unit, relation, open_accountant(**budget)),
        Fraction(epsilon),
        k,
        Keys.resolve("job", domain=None, keys=keys),
        SCHEMA,
    )


def chosen(top, counts):
    secret = Secret(Aggregates(np.array(counts), None, (), (), ()))
    return tuple(top.answer(secret, RECEIPT).indices.tolist())


def peeled(scores, rate, k):
    """Exact law of k rounds: {choices: chance}."""
    law = {(): 1.0}
    for _ in range(k):
        longer = {}
        for before, chance in law.items():
            left = [i for i in range(len(scores)) if i not in before]
            for i, p in zip(
                left, exact_law([scores[i] for i in left], rate), strict=True
            ):
                longer[*before, i] = chance * p
        law = longer
    return law


# -- the law ---------------------------------------------------------------------------


def rounds(left):
    """Every order and every outcome of the coins, in all rounds over so many keys."""
    if not left:
        return [()]
    first, *rest = left
    orders = list(itertools.permutations(range(first)))
    coins = list(itertools.product([False, True], repeat=first))
    return [
        ((np.array(order), heads, len(orders)), *later)
        for order in orders
        for heads in coins
        for later in rounds(rest)
    ]


def enumerated(monkeypatch, top, counts):
    """The law of the mechanism itself: all that its randomness may be, weighed."""
    law = dict.fromkeys(itertools.permutations(range(len(counts)), top.k), 0.0)
    script, weight = iter(()), 1.0
    heads = ()

    def order_of(n):
        nonlocal heads, weight
        order, heads, orders = next(script)
        weight /= orders
        return order

    def coins(exponents, exact):
        nonlocal weight
        for i, head in enumerate(heads):
            chance = math.exp(-exact(i))
            weight *= chance if head else 1 - chance
        return np.array(heads)

    monkeypatch.setattr(selection, "_random_order", order_of)
    monkeypatch.setattr(selection, "bernoulli_exp", coins)
    for path in rounds([len(counts) - i for i in range(top.k)]):
        script, weight = iter(path), 1.0
        law[chosen(top, counts)] += weight
    return law


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("counts", [[3, 1, 2], [2, 2, 0]])
def test_law_by_enumeration(monkeypatch, relation, counts):
    epsilon, k = Fraction(3, 2), 2
    top = request(k, epsilon, relation=relation, keys=JOBS[:3])
    law = enumerated(monkeypatch, top, counts)
    rate = float(epsilon) / k / (1 if relation == "add_remove" else 2)
    assert law == pytest.approx(peeled(counts, rate, k), abs=1e-12)
    assert law != pytest.approx(peeled(counts, 1.05 * rate, k), abs=1e-3)


def moved(unit, relation, keys):
    """Every way in which one unit may move the counts: in rows, at most m."""
    m = 1 if unit is ROW else unit.max_rows
    gained = [v for v in itertools.product(range(m + 1), repeat=keys) if sum(v) <= m]
    if relation == "add_remove":
        return [np.array(v) for v in gained]
    return [np.array(a) - np.array(b) for a in gained for b in gained]


@pytest.mark.parametrize("unit", [ROW, Unit("person", max_rows=2)])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("k", [1, 2])
def test_loss_of_every_pair_is_within_epsilon(unit, relation, k):
    """Exact ratios over all small counts: kept, nearly attained, not kept by half."""
    epsilon = 2.0
    top = request(k, 2, unit=unit, relation=relation, keys=JOBS[:3])
    rate = float(top.law.rate)

    def worst(rate):
        losses = [0.0]
        for counts in itertools.product((0, 3, 9), repeat=3):
            here = peeled(counts, rate, k)
            for move in moved(unit, relation, 3):
                if (np.array(counts) + move < 0).any():
                    continue
                there = peeled(tuple(counts + move), rate, k)
                losses += [abs(math.log(here[o] / there[o])) for o in here]
        return max(losses)

    assert 0.6 * epsilon < worst(rate) <= epsilon + 1e-9
    assert worst(2 * rate) > 1.2 * epsilon


# -- the draws -------------------------------------------------------------------------


def draws_of(top, counts, places):
    """What each round is shown, when the rounds choose these places."""
    seen, script = [], iter(places)

    def watcher(draw, perform):
        seen.append(draw)
        return (np.array([next(script)]),)

    with watch_draws(watcher):
        return seen, chosen(top, counts)


@pytest.mark.parametrize(
    ("places", "indices", "left"),
    [
        ((0, 0, 0), (0, 1, 2), [[7, 1, 5, 2], [1, 5, 2], [5, 2]]),
        ((3, 2, 1), (3, 2, 1), [[7, 1, 5, 2], [7, 1, 5], [7, 1]]),
        ((1, 1, 1), (1, 2, 3), [[7, 1, 5, 2], [7, 5, 2], [7, 2]]),
    ],
)
def test_each_round_chooses_among_the_counts_that_are_left(places, indices, left):
    draws, found = draws_of(request(3), [7, 1, 5, 2], places)
    assert found == indices
    assert [draw.exact[0].tolist() for draw in draws] == left


@pytest.mark.parametrize(
    ("unit", "relation", "moves", "monotonic"),
    [
        (ROW, "add_remove", 1, True),
        (ROW, "replace", 1, False),
        (Unit("person", max_rows=5), "add_remove", 5, True),
        (Unit("person", max_rows=5, max_groups=2), "replace", 5, False),
    ],
)
def test_each_round_has_its_share_and_the_right_sensitivity(
    unit, relation, moves, monotonic
):
    top = request(3, "3/2", unit=unit, relation=relation)
    draws, _ = draws_of(top, [7, 1, 5, 2], (0, 0, 0))
    law = PermuteAndFlip(Fraction(1, 2), moves, monotonic=monotonic)
    assert [draw.law for draw in draws] == [law] * 3
    assert {draw.sensitivity.linf for draw in draws} == {moves}


def test_choices_cannot_be_written_to():
    secret = Secret(Aggregates(np.array([3, 1, 2, 0]), None, (), (), ()))
    indices = request(2).answer(secret, RECEIPT).indices
    with pytest.raises(ValueError, match="read-only"):
        indices[0] = 1


def test_certain_choices():
    """With gaps of a million no coin but those of the greatest shows heads."""
    assert chosen(request(4), [10**6, 3 * 10**6, 0, 2 * 10**6]) == (1, 3, 0, 2)


# -- the charge ------------------------------------------------------------------------


PURE = {"epsilon": 9}
APPROX = {"epsilon": 9, "delta": "1e-6"}
ZCDP = {"rho": 9}


@pytest.mark.parametrize(
    ("budget", "k", "loss"),
    [
        (PURE, 1, PrivacyLoss(Fraction(1, 3))),
        (PURE, 2, PrivacyLoss(Fraction(1, 3))),
        (APPROX, 2, PrivacyLoss(Fraction(1, 3))),
        (ZCDP, 1, PrivacyLoss(rho=Fraction(1, 18))),
        (ZCDP, 2, PrivacyLoss(rho=Fraction(1, 36))),
    ],
)
def test_what_is_charged(budget, k, loss):
    session = dpf.Session(**budget, unit="row")
    people = dpf.private(pl.DataFrame({"job": ["cook"]}), session)
    release = people.top_k("job", k, "1/3", keys=JOBS)
    assert release.loss == loss
    (charge,) = session.charges
    assert charge.loss == loss
    assert (charge.verb, charge.mechanism) == ("top_k", "permute-and-flip")
    assert release.law.epsilon == Fraction(1, 3) / k


def test_a_label_is_for_one_request():
    session = dpf.Session(9, unit="row")
    people = dpf.private(pl.DataFrame({"job": ["cook"]}), session)
    first = people.top_k("job", 2, 1, keys=JOBS, label="jobs")
    again = people.top_k("job", 2, 1, keys=JOBS, label="jobs")
    assert again.keys == first.keys
    assert again.replayed
    assert len(session.charges) == 1
    for other in (
        lambda: people.top_k("job", 3, 1, keys=JOBS, label="jobs"),
        lambda: people.top_k("job", 2, 1, keys=JOBS[::-1], label="jobs"),
        lambda: people.top_k("job", 2, 2, keys=JOBS, label="jobs"),
        lambda: people.mode("job", 1, keys=JOBS, label="jobs"),
    ):
        with pytest.raises(dpf.LabelConflictError):
            other()


@pytest.mark.parametrize("k", [0, -1, 5, True, 1.5, "2", None])
def test_k_that_does_not_fit(k):
    with pytest.raises(ParameterError, match="k "):
        request(k)


def test_no_keys():
    with pytest.raises(ParameterError, match="at least one key"):
        request(1, keys=[])
