"""Quantiles: scores of all candidates, what they are calibrated to, what they cost."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import polars as pl
import pytest
from selection_reference import exact_law

import dpframe as dpf
from dpframe.mechanisms.noising import watch_draws
from dpframe.mechanisms.quantile import Selection, line_up
from dpframe.noise.bits import use_source_for_tests
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Sensitivity
from dpframe.secret import Occurrences
from dpframe.testing.deterministic import ShakeStream

HALF = Fraction(1, 2)


def occurrences(keyed):
    """Rows of each key as the engine counts them."""
    found = [
        (key, value, rows.count(value))
        for key, rows in enumerate(keyed)
        for value in sorted(set(rows))
    ]
    cells, values, times = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return Occurrences(cells, values[:, np.newaxis], times)


def selection(q, candidates, epsilon=1, moved=1):
    sensitivity = Sensitivity(moved, moved**2, 1, moved)
    return Selection(
        Fraction(q), Fraction(epsilon), candidates, sensitivity, exponential=False
    )


def spelled_out(rows, y, chosen):
    """The score of one candidate, by the words of the module."""
    below, above = sum(x < y for x in rows), sum(x > y for x in rows)
    upto, from_it = sum(x <= y for x in rows), sum(x >= y for x in rows)
    q, t = chosen.q, chosen.set_aside
    if q == 0:
        return -max(below - t, t - upto, 0)
    if q == 1:
        return -max(above - t, t - from_it, 0)
    missed = max((1 - q) * below - q * from_it, q * above - (1 - q) * upto, 0)
    if below + above == len(rows):
        assert missed == abs((1 - q) * below - q * above)
    return -missed * q.denominator


# -- the scores ------------------------------------------------------------------------


@pytest.mark.parametrize("q", ["1/2", "1/3", "9/10", 0, 1])
def test_scores_of_runs_are_those_of_their_candidates(q):
    rng = np.random.default_rng(7)
    for _ in range(60):
        candidates = int(rng.integers(1, 9))
        keyed = [
            rng.integers(0, candidates, rng.integers(0, 7)).tolist()
            for _ in range(rng.integers(1, 5))
        ]
        chosen = selection(q, candidates, epsilon=3)
        line = line_up(occurrences(keyed), len(keyed), candidates)
        lengths = line.runs.lengths
        found = np.repeat(chosen.scores(line), lengths).reshape(len(keyed), candidates)
        expected = [
            [spelled_out(rows, y, chosen) for y in range(candidates)] for rows in keyed
        ]
        assert found.tolist() == expected
        assert lengths.min() > 0
        if q not in (0, 1):
            assert found.max(axis=1).tolist() == [0] * len(keyed)
        # A run for each value, one before it and one at the end, at most.
        assert line.runs.sizes.tolist() <= [2 * len(set(r)) + 1 for r in keyed]


def test_runs_are_few_where_rows_are():
    line = line_up(occurrences([[5, 900_000], []]), 2, 2**20)
    assert line.runs.lengths.tolist() == [
        5, 1, 899_994, 1, 2**20 - 900_001, 2**20,
    ]  # fmt: skip
    assert line.runs.heads.tolist() == [0, 5]


def test_many_rows_and_a_fine_q_do_not_overflow():
    times = np.array([2**41, 2**41])
    two = Occurrences(np.zeros(2, np.int64), np.array([[0], [3]]), times)
    chosen = selection(Fraction(999_999, 10**6), 4)
    scores = chosen.scores(line_up(two, 1, 4)).tolist()
    assert scores == [-999_998 * 2**41, -999_998 * 2**41, 0]


@pytest.mark.parametrize(
    ("candidates", "epsilon", "moved", "t"),
    [(121, 1, 1, 10), (121, "1/2", 3, 58), (2, 1000, 1, 1), (121, "1e-300", 1, 2**60)],
)
def test_rows_set_aside_by_min_and_max(candidates, epsilon, moved, t):
    """t = ceil(2 Δ ln N / epsilon)."""
    for q in (0, 1):
        assert selection(q, candidates, epsilon, moved).set_aside == t
    assert selection(HALF, candidates, epsilon, moved).set_aside == 0


# -- through the verbs -----------------------------------------------------------------

DOMAIN = {"value": dpf.integers(0, 3)}
SCHEMA = {"person": pl.String, "key": pl.String, "value": pl.Float64}


def drawn(verb, frame, seed="1", **session):
    """The draws of a verb, of whose outputs the first candidate is taken."""
    draws = []

    def watcher(draw, perform):
        draws.append(draw)
        return (np.zeros(draw.exact[0].shape[0], dtype=np.int64),)

    opened = dpf.Session(**{"epsilon": 9, "unit": "row"} | session, domain=DOMAIN)
    with use_source_for_tests(ShakeStream(seed)), watch_draws(watcher):
        verb(dpf.private(frame, opened))
    (charge,) = opened.charges
    return draws, charge


def world(content, others):
    mine = [("a", *row) for row in content]
    return pl.DataFrame([*others, *mine], schema=SCHEMA, orient="row")


#: Rows of other units: a few, and those where one more row may move the most.
FEW = (("z", "a", 1.0), ("z", "a", 3.0), ("y", "b", 2.0), (None, "a", 0.0))
MANY = tuple(
    (f"z{i}", key, value)
    for key in "ab"
    for value, times in ((0.0, 9), (1.0, 6))
    for i in range(times)
)

QS = {
    "median": (lambda p: p.median("value", "3/2"), [HALF]),
    "quantile": (lambda p: p.quantile("value", 0.9, "3/2"), [Fraction(9, 10)]),
    "min": (lambda p: p.min("value", "3/2"), [Fraction(0)]),
    "max": (lambda p: p.max("value", "3/2"), [Fraction(1)]),
    "iqr": (lambda p: p.iqr("value", "3/2"), [Fraction(1, 4), Fraction(3, 4)]),
    "list": (
        lambda p: p.quantile("value", [0.5, 0, "1/3"], "3/2"),
        [HALF, Fraction(0), Fraction(1, 3)],
    ),
}


def by_key(name):
    verb, q = QS[name]
    return (lambda p: verb(p.group_by("key", keys=["a", "b"]))), q


@pytest.mark.parametrize("name", QS)
@pytest.mark.parametrize("keyed", [False, True])
def test_verbs_draw_from_the_scores_of_the_rows(name, keyed):
    mine = [("a", math.inf), ("b", math.nan), ("a", None), ("c", 1.0)]
    frame = world(mine, FEW)
    verb, qs = by_key(name) if keyed else QS[name]
    draws, _ = drawn(verb, frame)
    assert len(draws) == len(qs)
    rows = {key: [] for key in "abc"}
    for _, key, value in frame.rows():
        if value is not None and not math.isnan(value):
            rows[key].append(min(max(round(value), 0), 3) if value < 9 else 3)
    whole = [*rows["a"], *rows["b"], *rows["c"]]
    lists = [rows["a"], rows["b"]] if keyed else [whole]
    for draw, q in zip(draws, qs, strict=True):
        chosen = selection(q, 4, draw.law.epsilon, draw.law.sensitivity)
        expected = [[spelled_out(r, y, chosen) for y in range(4)] for r in lists]
        assert draw.exact[0].tolist() == expected
        assert draw.law.epsilon == Fraction(3, 2) / len(qs)


def unit(rows, groups=None):
    return dpf.Unit("person", max_rows=rows, max_groups=groups)


def contents(most):
    """All contents of one unit, the empty one first."""
    rows = [(key, value) for key in "ab" for value in (0.0, 3.0)]
    rows += [("a", None), ("unlisted", 2.0)]
    return [
        content
        for size in range(most + 1)
        for content in itertools.combinations_with_replacement(rows, size)
    ]


@lru_cache
def exact(name, keyed, protected, others, relation, most):
    """Scores of each content, and the laws: (draw, contents, keys, candidates)."""
    verb, _ = by_key(name) if keyed else QS[name]
    draws = [
        drawn(verb, world(content, others), unit=protected, neighboring=relation)[0]
        for content in contents(most)
    ]
    scores = np.array([[draw.exact[0] for draw in each] for each in draws])
    return scores.swapaxes(0, 1), [(d.law, d.sensitivity) for d in draws[0]]


def worst(scores, rates, rule, relation):
    """The greatest loss of any pair, summed over the draws and the keys."""
    total = np.zeros(1)
    for each, rate in zip(scores, rates, strict=True):
        flat = each.reshape(-1, each.shape[-1])
        different, place = np.unique(flat, axis=0, return_inverse=True)
        laws = np.log([rule(row, float(rate)) for row in different.tolist()])
        logs = laws[place.ravel()].reshape(each.shape)
        base = logs[:1] if relation == "add_remove" else logs
        losses = np.abs(logs[:, np.newaxis] - base).max(axis=-1).sum(axis=-1)
        total = total + losses
    return total.max()


def exponential_law(scores, rate):
    weights = [math.exp(rate * score) for score in scores]
    return [weight / sum(weights) for weight in weights]


PERSON, ROW = unit(2), "row"
CASES = [
    ("median", False, PERSON, 2),
    ("iqr", False, PERSON, 2),
    ("quantile", False, ROW, 1),
    ("quantile", True, ROW, 1),
    ("quantile", True, PERSON, 2),
    ("list", True, ROW, 1),
    ("min", True, unit(2, 1), 3),
]
cases = pytest.mark.parametrize(("name", "keyed", "protected", "most"), CASES, ids=str)
relations = pytest.mark.parametrize("relation", ["add_remove", "replace"])


@cases
@relations
def test_loss_of_every_pair_is_within_epsilon(name, keyed, protected, most, relation):
    """Exact likelihood ratios of all neighbors that these contents make, both rules."""
    attained = 0.0
    for others in (FEW, MANY):
        scores, laws = exact(name, keyed, protected, others, relation, most)
        rates = [law.rate for law, _ in laws]
        attained = max(attained, worst(scores, rates, exact_law, relation))
        assert worst(scores, rates, exponential_law, relation) <= 1.5 + 1e-9
    assert 0.35 * 1.5 < attained <= 1.5 + 1e-9


def test_sensitivity_without_the_other_key_is_seen():
    """At q = 0.9 a row that changes its key moves two scores by 0.9 each."""
    scores, ((law, moved),) = exact("quantile", True, ROW, MANY, "replace", 1)
    assert (law.sensitivity, moved.linf) == (18, 10)
    too_fast = law.epsilon / (2 * moved.linf)
    assert worst(scores, [too_fast], exact_law, "replace") > 1.15 * 1.5


@cases
@relations
def test_declared_sensitivity_is_attained_and_never_exceeded(
    name, keyed, protected, most, relation
):
    totals, ones = [], []
    for others in (FEW, MANY):
        scores, laws = exact(name, keyed, protected, others, relation, most)
        base = scores[:, :1] if relation == "add_remove" else scores
        moves = np.abs(scores[:, :, np.newaxis] - base[:, np.newaxis])
        totals.append(moves.max(axis=-1).sum(axis=-1).max(axis=(1, 2)))
        ones.append(moves.max(axis=(1, 2, 3, 4)))
    declared = [(law.sensitivity, moved) for law, moved in laws]
    assert np.max(ones, axis=0).tolist() == [moved.linf for _, moved in declared]
    found = np.max(totals, axis=0).tolist()
    assert found == [total for total, _ in declared]
    assert found == [moved.l1 // 4 for _, moved in declared]


def test_totals_of_units():
    """One total for each key: max_groups of them, however many rows."""
    frame = world([("a", 1.0), ("a", 2.0), ("b", 9.0), ("b", None)], FEW)
    protected = unit(None, 2)
    grouped = dict(unit=protected, neighboring="add_remove")
    verb = lambda p: p.group_by("key", keys=["a", "b", "c"]).median(  # noqa: E731
        "value", 1, per="unit"
    )
    (draw,), _ = drawn(verb, frame, **grouped)
    # Under a: 3 of unit a, 3 (of 4) of unit z; under b: 3 (of 9), 2 of unit y.
    assert draw.exact[0].tolist() == [
        [-2, -2, -2, 0], [-2, -2, 0, 0], [0, 0, 0, 0],
    ]  # fmt: skip
    assert draw.law.sensitivity == 2
    (draw,), _ = drawn(verb, frame, unit=protected, neighboring="replace")
    assert (draw.law.sensitivity, draw.sensitivity.linf) == (4, 2)
    whole = lambda p: p.median("value", 1, per="unit")  # noqa: E731
    (draw,), _ = drawn(whole, frame, unit=unit(None), neighboring="add_remove")
    assert draw.law.sensitivity == 1
    (draw,), _ = drawn(whole, frame, unit=unit(None), neighboring="replace")
    assert draw.law.sensitivity == 2


# -- the charge ------------------------------------------------------------------------

FRAME = world([("a", 1.0)], FEW)


@pytest.mark.parametrize(
    ("name", "rho"),
    [
        ("median", Fraction(9, 32)),
        ("iqr", Fraction(9, 64)),
        ("list", Fraction(9, 96)),
    ],
)
def test_what_is_charged(name, rho):
    """epsilon in all; in zCDP epsilon²/8, over the number of choices."""
    for keyed in (False, True):
        verb, qs = by_key(name) if keyed else QS[name]
        for session in ({"epsilon": 9}, {"epsilon": 9, "delta": "1e-6"}):
            draws, charge = drawn(verb, FRAME, **session)
            assert charge.loss == PrivacyLoss(Fraction(3, 2))
            assert charge.mechanism == "permute-and-flip"
            assert {draw.law.rule for draw in draws} == {"permute_and_flip"}
        draws, charge = drawn(verb, FRAME, epsilon=None, rho=9)
        assert charge.loss == PrivacyLoss(rho=rho)
        assert charge.mechanism == "exponential mechanism"
        assert {draw.law.rule for draw in draws} == {"exponential"}
        assert {draw.law.epsilon for draw in draws} == {Fraction(3, 2) / len(qs)}


def agg(**price):
    ask = dpf.agg
    return lambda p: p.group_by("key", keys=["a", "b"]).agg(
        mean=ask.mean("value"),
        middle=ask.median("value"),
        half=ask.quantile("value", 0.5),
        most=ask.max("value"),
        weights={"most": 2},
        **price,
    )


def shares(verb, **session):
    taken = []

    def watcher(draw, perform):
        taken.append(draw.law)
        return perform()

    opened = dpf.Session(**{"unit": "row"} | session, domain=DOMAIN)
    with watch_draws(watcher):
        verb(dpf.private(FRAME, opened))
    (charge,) = opened.charges
    return taken, charge


def test_equal_quantiles_are_chosen_once_in_an_agg():
    (mean, middle, most), charge = shares(agg(epsilon=2), epsilon=9)
    assert 3 / mean.scale == middle.epsilon == Fraction(1, 2)
    assert most.epsilon == 1
    assert charge.loss == PrivacyLoss(Fraction(2))
    assert charge.mechanism == "discrete Laplace, permute-and-flip"


def test_a_rho_is_shared_among_noise_and_choices():
    """rho/4 buys epsilon²/8 of a choice, rounded down by a hair."""
    (mean, middle, most), charge = shares(agg(rho=1), rho=9)
    assert mean.sigma2 == Fraction(3**2, 2) * 4
    assert (middle.rule, middle.rho <= Fraction(1, 4)) == ("exponential", True)
    assert float(middle.epsilon) == pytest.approx(math.sqrt(2), rel=1e-15)
    assert float(most.epsilon) == pytest.approx(2)
    assert middle.rho + most.rho <= Fraction(3, 4)
    assert charge.loss == PrivacyLoss(rho=Fraction(1))


def test_a_rho_is_shared_by_the_quartiles():
    def spread(p):
        return p.group_by("key", keys=["a"]).agg(rho=2, spread=dpf.agg.iqr("value"))

    laws, charge = shares(spread, rho=9)
    assert [float(law.rho) for law in laws] == pytest.approx([1, 1], rel=1e-15)
    assert sum(law.rho for law in laws) <= 2
    assert charge.loss == PrivacyLoss(rho=Fraction(2))


def test_an_epsilon_for_noise_and_choices_is_a_pure_one_in_zcdp():
    _, charge = shares(agg(epsilon=2), rho=9)
    assert charge.loss == PrivacyLoss(Fraction(2))


def test_a_label_is_for_one_request():
    session = dpf.Session(9, unit="row", domain=DOMAIN)
    people = dpf.private(FRAME, session)
    first = people.quantile("value", [0.5], 1, label="middle")
    again = people.quantile("value", ["1/2"], 1, label="middle")
    assert again.replayed
    assert again["quantile"].tolist() == first["quantile"].tolist()
    for other in (
        lambda: people.quantile("value", 0.5, 1, label="middle"),
        lambda: people.quantile("value", [0.6], 1, label="middle"),
        lambda: people.quantile("value", [0.5], 1, bounds=(0, 9), label="middle"),
    ):
        with pytest.raises(dpf.LabelConflictError):
            other()
