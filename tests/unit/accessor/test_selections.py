"""`top_k` and `mode` on every frame: what they answer, and what they refuse."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpframe as dpf

ROWS = {
    "job": ["cook"] * 900 + ["nurse"] * 500 + ["pilot"] * 100,
    "age": [20] * 1_000 + [70] * 500,
    "ok": [True] * 900 + [False] * 600,
    "person": list(range(1_500)),
}
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "pyarrow": pa.table,
}
JOBS = ["pilot", "cook", "judge", "nurse"]


@pytest.fixture(params=FRAMES)
def make(request):
    return FRAMES[request.param]


@pytest.fixture
def session():
    return dpf.Session(epsilon=20, unit="row")


def test_keys_come_out_by_their_rows(make, session):
    people = dpf.private(make(ROWS), session)
    top = people.top_k("job", 3, 2, keys=JOBS)
    assert top.keys == ["cook", "nurse", "pilot"]
    assert top.indices.tolist() == [1, 3, 0]
    assert people.mode("job", 1, keys=JOBS).keys == ["cook"]
    assert [charge.verb for charge in session.charges] == ["top_k", "mode"]
    assert session.spent.epsilon == 3


def test_keys_come_from_the_domain_or_from_bins(make):
    domain = {"job": JOBS, "age": dpf.edges([0, 18, 65, 120])}
    people = dpf.private(make(ROWS), dpf.Session(9, unit="row", domain=domain))
    assert people.mode("job", 1).keys == ["cook"]
    assert people.mode("age", 1).keys == [18]
    assert people.mode("age", 1, bins=[0, 50, 99]).keys == [0]
    assert people.mode("ok", 1).keys == [True]  # a boolean column needs no keys
    assert people.top_k(["job", "ok"], 2, 2).keys == [("cook", True), ("nurse", False)]
    listed = [("cook", False), ("nurse", False)]
    assert people.mode(["job", "ok"], 1, keys=listed).keys == [("nurse", False)]


def test_one_unit_counts_as_its_rows_allow(make):
    rows = ROWS | {"person": [0] * 900 + list(range(600))}
    unit = dpf.Unit("person", max_rows=2)
    people = dpf.private(make(rows), dpf.Session(9, unit=unit))
    assert people.mode("job", 2, keys=JOBS).keys == ["nurse"]


@pytest.mark.parametrize(
    ("make_series", "data"), [(pd.Series, "data"), (pl.Series, "values")]
)
def test_series(make_series, data, session):
    series = make_series(name="job", **{data: ROWS["job"]})
    with session:
        assert series.dp.top_k(2, 1, keys=JOBS).keys == ["cook", "nurse"]
        assert series.dp.mode(1, keys=JOBS).keys == ["cook"]
        ages = make_series(name="age", **{data: ROWS["age"]})
        assert ages.dp.mode(1, bins=[0, 50, 99]).keys == [0]


def test_default_epsilon(make):
    session = dpf.Session(9, unit="row", default_epsilon="0.25")
    people = dpf.private(make(ROWS), session)
    people.mode("job", keys=JOBS)
    assert session.spent.epsilon == dpf.Session("0.25", unit="row").budget.epsilon


def test_every_key_may_be_ranked(make, session):
    people = dpf.private(make(ROWS), session)
    assert people.top_k("job", 4, 4, keys=JOBS).keys == [
        "cook",
        "nurse",
        "pilot",
        "judge",
    ]


# -- refusals --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda p: p.top_k("job", 0, 1, keys=JOBS), dpf.ParameterError, "k must be"),
        (lambda p: p.top_k("job", -2, 1, keys=JOBS), dpf.ParameterError, "k must be"),
        (lambda p: p.top_k("job", 1.0, 1, keys=JOBS), dpf.ParameterError, "k must be"),
        (lambda p: p.top_k("job", True, 1, keys=JOBS), dpf.ParameterError, "k must be"),
        (
            lambda p: p.top_k("job", 5, 1, keys=JOBS),
            dpf.ParameterError,
            "only 4 keys",
        ),
        (
            lambda p: p.top_k("job", 1, 1, keys=[]),
            dpf.ParameterError,
            "at least one key",
        ),
        (lambda p: p.mode("job", 1, keys=[]), dpf.ParameterError, "at least one key"),
        (lambda p: p.mode("job", 1), dpf.DomainError, "keys="),
        (lambda p: p.mode("jobb", 1, keys=JOBS), dpf.ColumnNotFoundError, "'job'"),
        (lambda p: p.mode(3, 1, keys=JOBS), dpf.ParameterError, "by must be"),
        (lambda p: p.mode([], 1, keys=JOBS), dpf.ParameterError, "key columns"),
        (
            lambda p: p.mode(["job", "job"], 1, keys=JOBS),
            dpf.ParameterError,
            "key columns",
        ),
        (
            lambda p: p.mode("job", 1, keys=["a", "a"]),
            dpf.ParameterError,
            "'a'",
        ),
        (
            lambda p: p.mode("job", 1, keys=["a"], bins=[1, 2]),
            dpf.ParameterError,
            "both keys= and bins=",
        ),
        (
            lambda p: p.mode("age", 1, keys=["young"]),
            dpf.ParameterError,
            "'age'",
        ),
        (lambda p: p.mode("job", 0, keys=JOBS), dpf.ParameterError, "positive"),
        (lambda p: p.mode("job", "nan", keys=JOBS), dpf.ParameterError, "finite"),
        (lambda p: p.mode("job", keys=JOBS), dpf.ParameterError, "default_epsilon"),
        (
            lambda p: p.mode("job", 1, keys=JOBS, method="ptr"),
            dpf.ParameterError,
            "needs a delta",
        ),
        (
            lambda p: p.mode("job", 1, keys=JOBS, method="exponential"),
            dpf.ParameterError,
            "must be 'permute_and_flip' or 'ptr'; got 'exponential'",
        ),
        (
            lambda p: p.mode("job", 1, keys=JOBS, method=["ptr"]),
            dpf.ParameterError,
            "must be 'permute_and_flip'",
        ),
        (
            lambda p: p.mode("job", 1, keys=JOBS, delta=1e-6),
            dpf.ParameterError,
            "delta= is for method='ptr'",
        ),
        (
            lambda p: p.mode("job", 1, keys=JOBS, label=""),
            dpf.ParameterError,
            "label",
        ),
        (
            lambda p: p.top_k("job", 2, 21, keys=JOBS),
            dpf.BudgetExceededError,
            "",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::dpframe.PrivacyWarning")
def test_bad_input_costs_nothing(make, session, ask, error, said):
    people = dpf.private(make(ROWS), session)
    with pytest.raises(error) as caught:
        ask(people)
    assert said in str(caught.value)
    assert session.charges == ()


def test_a_frame_in_place_of_columns_prints_nothing_of_it(session):
    people = dpf.private(pl.DataFrame(ROWS), session)
    with pytest.raises(dpf.ParameterError) as caught:
        people.mode(pd.Series(["secret"]), 1, keys=JOBS)
    assert "secret" not in str(caught.value)


def test_no_session():
    with pytest.raises(dpf.NoSessionError, match="top_k needs a session"):
        dpf.private(pl.DataFrame(ROWS)).top_k("job", 1, 1, keys=JOBS)


def test_a_unit_without_max_rows_is_refused():
    people = dpf.private(
        pl.DataFrame(ROWS), dpf.Session(9, unit=dpf.Unit("person", max_groups=1))
    )
    with pytest.raises(dpf.ParameterError, match="max_rows"):
        people.mode("job", 1, keys=JOBS)
