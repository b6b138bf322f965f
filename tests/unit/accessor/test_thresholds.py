"""Sparse vector verbs on every frame: what they answer, charge and refuse."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers_frames import CONVERTERS

import dpframe as dpf
from dpframe.engines.source import FrameSource

FRAME = pl.DataFrame(
    {
        "topic": ["ai"] * 2_000 + ["tea"] * 10 + [None] * 990 + ["go"] * 1_000,
        "pay": [1.5] * 2_000 + [-2.0] * 2_000,
        "age": [30] * 3_000 + [70] * 1_000,
        "ok": [True] * 1_000 + [False] * 3_000,
        "who": list(range(2_000)) * 2,
    },
    schema_overrides={"age": pl.Int32},
)
DOMAIN = dpf.Domain(
    {
        "topic": ["tea", "ai", "go", "rust", None],
        "age": dpf.edges([0, 18, 65, 120]),
        "pay": dpf.bounds(-2, 2),
    }
)
VERBS = {
    "above_threshold": {},
    "sparse_vector": {"max_above": 2},
    "numeric_sparse": {"max_above": 2},
    "adaptive_sparse_vector": {"max_above": 2},
}
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}
c = dpf.col


@lru_cache
def frame_of(engine):
    return CONVERTERS[engine](FRAME)


@pytest.fixture(params=CONVERTERS)
def engine(request):
    return request.param


@pytest.fixture
def session():
    return dpf.Session(epsilon=20, unit="row", domain=DOMAIN)


@pytest.fixture
def people(engine, session):
    return dpf.private(frame_of(engine), session)


def opened(**settings):
    """The Polars frame in a session of its own."""
    settings = {"unit": "row", "domain": DOMAIN, **settings}
    if "rho" not in settings:
        settings.setdefault("epsilon", 20)
    session = dpf.Session(**settings)
    return dpf.private(FRAME, session), session


# -- on every frame ------------------------------------------------------------


def test_first_key_of_a_column(people, session):
    hot = people.above_threshold("topic", 1_500, 1)
    assert (hot.index, hot.query, hot.n_examined, hot.gap) == (1, "ai", 2, None)
    assert isinstance(hot, dpf.AboveThresholdRelease)
    assert session.spent.epsilon == 1
    (charge,) = session.charges
    assert charge.verb == "above_threshold"
    assert charge.mechanism == "sparse vector, geometric noise"


def test_nothing_found_costs_as_much(people, session):
    none = people.above_threshold("topic", 3_000, 1)
    assert (none.index, none.query, none.n_examined) == (None, None, 5)
    assert session.spent.epsilon == 1


def test_order_is_that_of_the_domain_or_of_keys(people):
    assert people.above_threshold("topic", 900, 1).query == "ai"
    keys = ["go", "rust", "ai"]
    hot = people.sparse_vector("topic", 900, 1, max_above=3, keys=keys)
    assert (hot.queries, hot.indices.tolist()) == (["go", "ai"], [0, 2])
    assert (hot.n_examined, hot.exhausted) == (3, False)


def test_null_is_a_key_like_others(people):
    hot = people.sparse_vector("topic", 700, 1, max_above=5)
    assert hot.queries == ["ai", "go", None]
    assert hot.indices.tolist() == [1, 2, 4]


def test_bins_booleans_and_pairs(people):
    assert people.sparse_vector("age", 500, 1, max_above=2).queries == [18, 65]
    assert people.above_threshold("age", 500, 1, bins=[0, 50, 99]).query == 0
    assert people.sparse_vector("ok", 2_500, 1, max_above=1).queries == [False]
    pairs = dpf.marginals(["ok", "age"])
    assert people.sparse_vector(pairs, 900, 1, max_above=3).queries == [
        (False, 18),
        (False, 65),
        (True, 18),
    ]


def test_predicates_and_families(people):
    queries = [c("age") > 80, (c("topic") == "ai") & c("ok"), ~c("ok"), c("age") < 50]
    hot = people.sparse_vector(queries, 900, 1, max_above=2)
    assert hot.queries == [queries[1], queries[2]]
    assert (hot.n_examined, hot.exhausted, hot.keys) == (3, True, None)
    mixed = [c("age") > 80, *dpf.marginals("topic"), *dpf.cdf("age")]
    assert people.sparse_vector(mixed, 2_500, 1, max_above=3).indices.tolist() == [7, 8]


def test_sums(people):
    total = people.sparse_vector(
        dpf.sum_by("ok", "pay", bounds=(-2, 2)), 1_000, 1, max_above=1, values=True
    )
    assert total.queries == [True]
    assert total.values == pytest.approx([1_500], abs=200)
    low = people.above_threshold([dpf.sum_by([], "pay")], 0, 1, direction="below")
    assert low.index == 0  # 3,000 - 4,000
    ages = people.numeric_sparse(
        [dpf.sum_by([], "age", bounds=(0, 99))], 1_000, 2, max_above=1
    )
    assert ages.values.dtype == np.int64
    assert ages.values[0] == pytest.approx(160_000, abs=9_000)


def test_below(people):
    rare = people.sparse_vector("topic", 500, 1, max_above=3, direction="below")
    assert rare.queries == ["tea", "rust"]
    assert people.above_threshold("topic", 500, 1, direction="below").query == "tea"


def test_numbers(people):
    hot = people.above_threshold("topic", 1_500, 1, gap=True)
    assert hot.estimate == pytest.approx(2_000, abs=200)
    assert hot.gap == pytest.approx(hot.estimate - 1_500)
    both = people.numeric_sparse("topic", 900, 2, max_above=3, gap=True)
    assert both.values == pytest.approx([2_000, 1_000, 990], abs=200)
    assert both.gaps.shape == both.estimates.shape == (3,)
    assert both.exhausted
    plain = people.sparse_vector("topic", 900, 2, max_above=3)
    assert (plain.values, plain.gaps) == (None, None)
    clear = people.adaptive_sparse_vector("topic", 300, 2, max_above=2)
    assert (clear.queries, clear.branches) == (["ai", "go", None], ["clear"] * 3)
    assert clear.gaps.shape == (3,)
    assert (
        people.adaptive_sparse_vector(
            "topic", 300, 2, max_above=2, gap=False, margin=10**6
        ).branches
        == ["near"] * 2
    )


@pytest.mark.parametrize("verb", VERBS)
def test_frames_come_back_in_the_library_of_the_frame(engine, people, verb):
    release = getattr(people, verb)("topic", 1_500, 1, gap=True, **VERBS[verb])
    native = release.to_frame()
    assert isinstance(native, LIBRARIES[engine.split(" ")[0]])
    table = pl.from_arrow(release.to_arrow())
    assert table["index"].to_list() == [1]
    assert table["topic"].to_list() == ["ai"]
    assert set(table.columns) >= {"index", "topic", "gap", "estimate"}
    assert len(release.interval()) == 1


def test_a_unit_of_several_rows(engine):
    """Half of its rows are left, and noise is that of one row."""
    unit = dpf.Unit("who", max_rows=1)
    session = dpf.Session(epsilon=20, unit=unit, domain=DOMAIN)
    people = dpf.private(frame_of(engine), session)
    hot = people.numeric_sparse("ok", 1_200, 5, max_above=1)
    assert hot.queries == [False]
    assert 1_300 < hot.values[0] < 1_700
    assert people.above_threshold("ok", 1_700, 1).index is None


# -- charges and noise ---------------------------------------------------------


def test_adjacency_decides_sensitivity_and_monotonicity():
    for unit, moved in (("row", 1), (dpf.Unit("who", max_rows=4), 4)):
        for neighboring in ("add_remove", "replace"):
            people, _ = opened(unit=unit, neighboring=neighboring)
            noise = people.above_threshold("topic", 9, 1).crossings.noise
            assert noise.sensitivity == moved
            assert noise.monotonic is (neighboring == "add_remove")


def test_groups_of_a_unit_do_not_matter():
    one, _ = opened(unit=dpf.Unit("who", max_rows=4, max_groups=1))
    many, _ = opened(unit=dpf.Unit("who", max_rows=4))
    assert (
        one.above_threshold("topic", 9, 1).scales
        == many.above_threshold("topic", 9, 1).scales
    )


@pytest.mark.parametrize(
    ("queries", "monotonic"),
    [
        ([c("ok"), c("age") > 3], True),
        ([c("ok"), dpf.sum_by([], "age", bounds=(0, 99))], True),
        ([dpf.sum_by([], "pay", bounds=(-2, 0))], True),
        ([c("ok"), dpf.sum_by([], "pay", bounds=(-2, 0))], False),
        ([dpf.sum_by([], "pay", bounds=(-2, 2))], False),
    ],
    ids=repr,
)
def test_monotone_lists_are_known(queries, monotonic):
    people, session = opened()
    noise = people.above_threshold(queries, 9, 1).crossings.noise
    assert noise.monotonic is monotonic
    assert not people.above_threshold(
        queries, 9, 1, monotonic=False
    ).crossings.noise.monotonic
    spent = session.spent
    if monotonic:
        assert people.above_threshold(
            queries, 9, 1, monotonic=True
        ).crossings.noise.monotonic
    else:
        with pytest.raises(dpf.ParameterError, match="Leave monotonic='auto'"):
            people.above_threshold(queries, 9, 1, monotonic=True)
        assert session.spent == spent


def test_options_reach_the_noise():
    people, _ = opened()

    def noise(verb="sparse_vector", **options):
        options = {**VERBS[verb], **options}
        return getattr(people, verb)("topic", 9, "1/2", **options).crossings.noise

    assert noise("above_threshold").max_above == 1
    assert noise(max_above=7).max_above == 7
    assert noise(noise="laplace").family == "laplace"
    assert noise(ratio="even").ratio == 1
    assert noise(ratio=3).ratio == 3
    assert noise().refresh is False
    assert noise(refresh=True).runs == 2
    assert noise().fresh is None
    assert noise(values=True).epsilon_values == Fraction(1, 4)
    assert noise("numeric_sparse").epsilon_values == Fraction(1, 4)
    assert noise("adaptive_sparse_vector", margin=5).margin == 5


def test_a_margin_is_in_the_unit_of_the_answers():
    people, _ = opened()
    sums = [dpf.sum_by([], "pay", bounds=(-2, 2))]
    found = people.adaptive_sparse_vector(sums, 9, 1, max_above=2, margin=5).crossings
    assert found.threshold.grid < 1
    assert found.noise.margin == 5 / found.threshold.grid


def test_values_over_disjoint_keys_need_less_noise():
    people, _ = opened()
    by_key = people.numeric_sparse("topic", 900, 2, max_above=4)
    listed = people.numeric_sparse(["topic", c("ok")], 900, 2, max_above=4)
    assert (by_key.scale, listed.scale) == (1, 4)


@pytest.mark.parametrize("verb", VERBS)
def test_zcdp_sessions_charge_rho(verb):
    people, session = opened(rho=3)
    release = getattr(people, verb)("topic", 1_500, 1, **VERBS[verb])
    noise = release.crossings.noise
    assert release.queries == ["ai"]
    assert noise.concentrated
    assert noise.refresh is (verb in ("sparse_vector", "numeric_sparse"))
    assert session.spent == release.loss == noise.loss
    assert session.spent.epsilon is None
    most = {"above_threshold": Fraction(281, 1000), "adaptive_sparse_vector": 1 / 2}
    assert 0 < session.spent.rho <= most.get(verb, 1 / 2) + 1e-3


def test_other_sessions_do_not_refresh():
    for settings in ({"epsilon": 2}, {"epsilon": 2, "delta": 1e-6}):
        people, session = opened(**settings)
        hot = people.sparse_vector("topic", 1_500, 1, max_above=3)
        assert not hot.crossings.noise.refresh
        assert (session.spent.epsilon, session.spent.delta) == (1, 0)


@pytest.mark.parametrize("verb", VERBS)
def test_labels(verb):
    people, session = opened()
    ask = getattr(people, verb)
    first = ask("topic", 1_500, 1, label="hot", **VERBS[verb])
    again = ask("topic", 1_500, 1, label="hot", **VERBS[verb])
    assert session.spent.epsilon == 1
    assert again.release_id == first.release_id
    assert again.indices.tolist() == first.indices.tolist()
    assert again.receipt.replayed
    for changed in (
        {"threshold": 1_501},
        {"epsilon": 2},
        {"queries": "ok"},
        {"keys": ["ai", "tea"]},
        {"direction": "below"},
        {"noise": "laplace"},
        {"ratio": 3},
        {"monotonic": False},
        {"gap": verb != "adaptive_sparse_vector"},
    ):
        given = {"queries": "topic", "threshold": 1_500, "epsilon": 1, **VERBS[verb]}
        with pytest.raises(dpf.LabelConflictError):
            ask(**given | changed, label="hot")
    assert session.spent.epsilon == 1


def test_one_label_is_not_shared_by_verbs():
    people, _ = opened()
    people.sparse_vector("topic", 9, 1, max_above=1, values=True, label="x")
    for verb, options in VERBS.items():
        with pytest.raises(dpf.LabelConflictError):
            getattr(people, verb)("topic", 9, 1, label="x", **options)


def test_children_and_default_epsilon():
    _, session = opened(default_epsilon="1/4", epsilon=1)
    child = session.child(epsilon="1/2")
    people = dpf.private(FRAME, child)
    people.above_threshold("topic", 9)
    people.numeric_sparse("topic", 9, max_above=1)
    assert child.spent.epsilon == session.spent.epsilon == Fraction(1, 2)
    with pytest.raises(dpf.BudgetExceededError):
        people.sparse_vector("topic", 9, max_above=1)
    assert session.spent.epsilon == Fraction(1, 2)


def test_the_accessor_asks_the_active_session(session):
    with session:
        for native in (FRAME, FRAME.lazy(), frame_of("pandas numpy")):
            assert native.dp.above_threshold("topic", 1_500, 1).query == "ai"
    assert session.spent.epsilon == 3


def test_several_hold_a_hint_where_top_k_serves_better():
    people, _ = opened()
    assert "top_k" in people.sparse_vector("topic", 9, 1, max_above=2).hint
    assert people.sparse_vector([c("ok")], 9, 1, max_above=2).hint is None


@pytest.mark.parametrize("verb", VERBS)
def test_a_release_holds_no_hidden_number(verb):
    people, _ = opened()
    release = getattr(people, verb)("topic", 1_500, 1, **VERBS[verb])
    public = {name for name in dir(release) if not name.startswith("_")}
    assert not public & {"rho", "noisy_threshold", "compared", "answers", "counts"}
    with pytest.raises(TypeError):
        vars(release)


# -- refusals ------------------------------------------------------------------

NAN, INFINITE = float("nan"), float("inf")

#: Arguments in place of right ones, for every verb; the error and what it says.
WRONG = [
    ({"epsilon": 0}, dpf.ParameterError, "epsilon must be positive"),
    ({"epsilon": -1}, dpf.ParameterError, "epsilon must be positive"),
    ({"epsilon": NAN}, dpf.ParameterError, "It must be finite."),
    ({"epsilon": INFINITE}, dpf.ParameterError, "It must be finite."),
    ({"epsilon": None}, dpf.ParameterError, "default_epsilon"),
    ({"threshold": NAN}, dpf.ParameterError, "must be one finite, public number"),
    ({"threshold": INFINITE}, dpf.ParameterError, "must be one finite, public number"),
    ({"threshold": None}, dpf.ParameterError, "must be one finite, public number"),
    ({"threshold": "age"}, dpf.ParameterError, "must be one finite, public number"),
    ({"threshold": FRAME["age"]}, dpf.ParameterError, "got <Series>. A column or"),
    ({"threshold": pl.col("age").mean()}, dpf.ParameterError, "expression of the priv"),
    ({"threshold": 2**61}, dpf.ParameterError, "threshold is beyond 2**60 steps"),
    ({"queries": []}, dpf.ParameterError, "the list of queries is empty"),
    ({"keys": []}, dpf.ParameterError, "the list of keys is empty"),
    ({"queries": "topics"}, dpf.ColumnNotFoundError, "Did you mean 'topic'?"),
    ({"queries": [c("topics") == "a"]}, dpf.ColumnNotFoundError, "'topic'"),
    ({"queries": "who"}, dpf.DomainError, "keys of column 'who' are not declared"),
    ({"queries": FRAME["topic"]}, dpf.ParameterError, "got <Series>. Answers that you"),
    ({"queries": np.array([1, 2])}, dpf.ParameterError, "mechanisms.sparse_vector"),
    ({"queries": {"topic", "ok"}}, dpf.ParameterError, "got <set>"),  # it has no order
    ({"queries": pl.col("topic")}, dpf.ParameterError, "queries are a column name"),
    ({"queries": [3]}, dpf.ParameterError, "got 3"),
    ({"queries": None}, dpf.ParameterError, "queries are a column name"),
    ({"queries": ["topic", "ok"], "keys": ["a"]}, dpf.ParameterError, "one column of"),
    ({"queries": [c("topic") > 3]}, dpf.ParameterError, "which have no order"),
    ({"keys": ["ai", "ai"]}, dpf.ParameterError, "'ai'"),
    ({"keys": ["ai"], "bins": [1, 2]}, dpf.ParameterError, "both keys= and bins="),
    ({"noise": None}, dpf.ParameterError, "noise must be 'geometric'"),
    ({"noise": "gaussian"}, dpf.ParameterError, "noise must be 'geometric'"),
    ({"ratio": 0}, dpf.ParameterError, "ratio must be positive"),
    ({"ratio": "best"}, dpf.ParameterError, "ratio must be 'optimal'"),
    ({"direction": "up"}, dpf.ParameterError, "direction must be 'above' or 'below'"),
    ({"monotonic": 1}, dpf.ParameterError, "monotonic must be 'auto', True or False"),
    ({"gap": "yes"}, dpf.ParameterError, "gap must be True or False"),
    ({"label": ""}, dpf.ParameterError, "label must be a name"),
    ({"epsilon": 99}, dpf.BudgetExceededError, "Nothing was charged"),
]

#: Arguments that only some verbs have.
OWN = [
    *(
        (verb, {"max_above": wrong}, "max_above must be an integer of 1 or more")
        for verb in list(VERBS)[1:]
        for wrong in (0, -3, 2.0, True, None, "2")
    ),
    ("sparse_vector", {"values": 1}, "values must be True or False"),
    ("sparse_vector", {"refresh": None}, "refresh must be True or False or 'auto'"),
    ("numeric_sparse", {"refresh": 1}, "refresh must be True or False or 'auto'"),
    ("adaptive_sparse_vector", {"margin": -1}, "margin must not be negative"),
    ("adaptive_sparse_vector", {"margin": NAN}, "margin must be a number"),
    ("adaptive_sparse_vector", {"margin": 2**61}, "margin is beyond 2**60 steps"),
]


@pytest.fixture
def unread(monkeypatch):
    """Any reading of a frame fails the test."""

    def read(self, *args):
        pytest.fail("the frame was read")

    monkeypatch.setattr(FrameSource, "aggregate", read)
    monkeypatch.setattr(FrameSource, "crosstab", read)


@pytest.mark.filterwarnings("ignore::dpframe.PrivacyWarning")
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(("arguments", "error", "said"), WRONG)
def test_wrong_arguments_cost_nothing(session, unread, verb, arguments, error, said):
    people = dpf.private(FRAME, session)
    given = {"queries": "topic", "threshold": 9, "epsilon": 1, **VERBS[verb]}
    with pytest.raises(error) as caught:
        getattr(people, verb)(**given | arguments)
    assert said in str(caught.value)
    assert session.charges == ()


@pytest.mark.parametrize(("verb", "arguments", "said"), OWN)
def test_wrong_arguments_of_one_verb_cost_nothing(
    session, unread, verb, arguments, said
):
    people = dpf.private(FRAME, session)
    with pytest.raises(dpf.ParameterError) as caught:
        getattr(people, verb)("topic", 9, 1, **VERBS[verb] | arguments)
    assert said in str(caught.value)
    assert session.charges == ()


@pytest.mark.parametrize(
    ("verb", "name"),
    [
        *((verb, name) for verb in VERBS for name in ("seed", "rho", "sensitivity")),
        ("adaptive_sparse_vector", "values"),
        ("adaptive_sparse_vector", "refresh"),
        ("above_threshold", "max_above"),
    ],
)
def test_arguments_that_are_not_there(session, verb, name):
    """No seed, no variance to choose, no values where there may be 2c - 1 of them."""
    people = dpf.private(FRAME, session)
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
        getattr(people, verb)("topic", 9, 1, **{name: 1})
    assert session.charges == ()


@pytest.mark.parametrize("verb", list(VERBS)[1:])
def test_the_limit_is_typed(session, verb):
    with pytest.raises(TypeError, match="max_above"):
        getattr(dpf.private(FRAME, session), verb)("topic", 9, 1)


@pytest.mark.parametrize("verb", VERBS)
def test_a_unit_without_max_rows_is_refused(verb, unread):
    people, session = opened(unit=dpf.Unit("who", max_groups=2))
    with pytest.raises(dpf.ParameterError, match="give max_rows, as in"):
        getattr(people, verb)("topic", 9, 1, **VERBS[verb])
    assert session.charges == ()


@pytest.mark.parametrize("verb", VERBS)
def test_a_session_is_needed(verb):
    with pytest.raises(dpf.NoSessionError, match=f"{verb} needs a session"):
        getattr(dpf.private(FRAME), verb)("topic", 9, 1, **VERBS[verb])


@pytest.mark.parametrize("verb", VERBS)
def test_keys_that_are_not_declared_are_asked_for(verb, unread):
    people, session = opened(domain=None)
    with pytest.raises(dpf.DomainError) as caught:
        getattr(people, verb)("topic", 9, 1, **VERBS[verb])
    assert "Pass keys=[...]" in str(caught.value)
    assert session.charges == ()


def test_noise_that_integers_cannot_hold_is_refused(session, unread):
    people = dpf.private(FRAME, session)
    with pytest.raises(dpf.ParameterError, match="at most 2\\^54"):
        people.above_threshold([dpf.sum_by([], "age", bounds=(0, 2**60))], 1, 1)
    assert session.charges == ()


def test_an_engine_that_fails_keeps_the_charge_and_tells_nothing(session):
    def fail(batch):
        msg = "row 7 holds 31337"
        raise ValueError(msg)

    broken = FRAME.lazy().map_batches(fail, schema=dict(FRAME.schema))
    with pytest.raises(dpf.EngineError) as caught:
        dpf.private(broken, session).above_threshold("topic", 9, 1)
    assert "31337" not in str(caught.value)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert session.spent.epsilon == 1
