"""Every bad or odd input: a message that names the fix, or the plain answer."""

from __future__ import annotations

import datetime as dt
import re

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpframe as dpf

ROWS = {"age": [20, 30, 40], "sex": ["F", "M", "F"], "person": [1, 1, 2]}
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "pyarrow": pa.table,
}


@pytest.fixture(params=FRAMES)
def make(request):
    return FRAMES[request.param]


@pytest.fixture
def session():
    return dpf.Session(epsilon=20, unit="row")


def refused(session, ask, error, *words):
    """The call raises ``error`` naming ``words``, and nothing is spent."""
    before = session.spent
    with pytest.raises(error) as caught:
        ask()
    assert session.spent == before
    for word in words:
        assert re.search(word, str(caught.value)), str(caught.value)


@pytest.mark.parametrize(
    ("epsilon", "word"),
    [
        (0, "positive"),
        (-1, "positive"),
        (float("nan"), "finite"),
        (float("inf"), "finite"),
        (True, "bool"),
        ("much", "number"),
        ("1e-999999999", "bits"),
        ([0.1], "list"),
    ],
)
def test_epsilon(make, session, epsilon, word):
    people = dpf.private(make(ROWS), session)
    refused(session, lambda: people.count(epsilon), dpf.ParameterError, word)
    refused(
        session,
        lambda: people.sum("age", epsilon, bounds=(0, 9)),
        dpf.ParameterError,
        word,
    )


def test_epsilon_missing(make, session):
    people = dpf.private(make(ROWS), session)
    refused(session, people.count, dpf.ParameterError, "default_epsilon")


@pytest.mark.parametrize(
    ("bounds", "error", "word"),
    [
        (None, dpf.DomainError, "bounds="),
        ((90, 17), dpf.ParameterError, "swapped|lower"),
        ((0, float("inf")), dpf.ParameterError, "finite"),
        ((float("nan"), 1), dpf.ParameterError, "finite|NaN"),
        ((0,), dpf.ParameterError, "pair"),
        ((0, None), dpf.ParameterError, "bounds"),
        ("09", dpf.ParameterError, "pair"),
        (5, dpf.ParameterError, "pair"),
        (("a", "b"), dpf.ParameterError, "numbers"),
    ],
)
@pytest.mark.parametrize("verb", ["sum", "mean", "variance", "std"])
def test_bounds(make, session, verb, bounds, error, word):
    people = dpf.private(make(ROWS), session)
    refused(
        session,
        lambda: getattr(people, verb)("age", 0.1, bounds=bounds),
        error,
        "'age'",
        word,
    )


def test_zero_bounds_are_a_free_constant(make, session):
    people = dpf.private(make(ROWS), session)
    total = people.sum("age", 0.1, bounds=(0, 0))
    assert total.value == 0
    assert session.charges == ()
    assert total.interval() == (0, 0)


def test_equal_bounds(make, session):
    people = dpf.private(make(ROWS), session)
    assert people.mean("age", 0.1, bounds=(5, 5)).value == 5
    assert people.variance("age", 0.1, bounds=(5, 5)).value == 0
    assert people.std("age", 0.1, bounds=(5, 5)).value == 0
    assert session.charges == ()
    total = people.sum("age", 0.1, bounds=(5, 5))
    assert total.scale == 50  # noised: sensitivity 5
    assert len(session.charges) == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda p: p.sum("agee", 0.1, bounds=(0, 9)),
        lambda p: p.mean("agee", 0.1, bounds=(0, 9)),
        lambda p: p.n_unique("agee", 0.1),
        lambda p: p.histogram(0.1, "agee", keys=[1]),
        lambda p: p.group_by("agee", keys=[1]).count(0.1),
        lambda p: p.group_by("sex", keys=["F"]).sum("agee", 0.1, bounds=(0, 9)),
    ],
)
def test_unknown_column_offers_the_nearest(make, session, ask):
    people = dpf.private(make(ROWS), session)
    refused(session, lambda: ask(people), dpf.ColumnNotFoundError, "'agee'", "'age'")


def test_a_column_that_is_no_number(make, session):
    people = dpf.private(make(ROWS), session)
    refused(
        session,
        lambda: people.sum("sex", 0.1, bounds=(0, 1)),
        dpf.ParameterError,
        "'sex'",
        "histogram",
    )


def test_duplicated_columns(session):
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with session:
        refused(
            session,
            lambda: frame.dp.count(0.1),
            dpf.DPFrameError,
            "'a'|twice|same name",
        )
    table = pa.table([[1], [2]], names=["a", "a"])
    refused(
        session,
        lambda: dpf.private(table, session).count(0.1),
        dpf.DPFrameError,
        "'a'|twice|same name",
    )


def test_missing_keys_and_bins(make, session):
    people = dpf.private(make(ROWS), session)
    refused(session, lambda: people.histogram(0.1, "sex"), dpf.DomainError, "keys=")
    refused(
        session, lambda: people.group_by("age").count(0.1), dpf.DomainError, "bins="
    )


@pytest.mark.parametrize(
    "keys",
    [["F", "F"], ["F", "M", "F"], [None, None], [None, float("nan")]],
)
def test_duplicate_keys(make, session, keys):
    people = dpf.private(make(ROWS), session)
    refused(
        session,
        lambda: people.histogram(0.1, "sex", keys=keys),
        dpf.ParameterError,
        "duplicate|twice",
    )


@pytest.mark.parametrize("keys", ["FM", 3, {"F": 1}, [["F"]]])
def test_keys_that_are_no_list_of_values(make, session, keys):
    people = dpf.private(make(ROWS), session)
    refused(
        session, lambda: people.histogram(0.1, "sex", keys=keys), dpf.ParameterError
    )


@pytest.mark.parametrize("bins", [[1], [3, 2, 1], [1, 1], [0, float("nan")], "12", 4])
def test_bins_that_are_no_edges(make, session, bins):
    people = dpf.private(make(ROWS), session)
    refused(
        session, lambda: people.histogram(0.1, "age", bins=bins), dpf.ParameterError
    )


def test_an_empty_list_of_keys_is_empty_and_free(make, session):
    people = dpf.private(make(ROWS), session)
    h = people.histogram(0.1, "sex", keys=[])
    assert h.counts.shape == (0,)
    assert len(h.keys) == 0
    table = people.group_by("sex", keys=[]).mean("age", 0.1, bounds=(0, 99))
    assert len(table) == 0
    assert session.charges == ()


def test_an_empty_frame_answers_with_noise_alone(make, session):
    rows = {"age": pa.array([], pa.int64()), "sex": pa.array([], pa.string())}
    empty = pa.table(rows)
    frame = {
        pd.DataFrame: lambda: empty.to_pandas(),
        pl.DataFrame: lambda: pl.from_arrow(empty),
        pl.LazyFrame: lambda: pl.from_arrow(empty).lazy(),
    }.get(make, lambda: empty)()
    people = dpf.private(frame, session)
    assert isinstance(people.count(0.1).value, int)
    assert 17 <= people.mean("age", 0.1, bounds=(17, 90)).value <= 90
    assert people.histogram(0.1, "sex", keys=["F", "M"]).counts.shape == (2,)


def test_a_frame_without_the_unit_column(make):
    session = dpf.Session(epsilon=1, unit=dpf.Unit("customer", max_rows=2))
    people = dpf.private(make(ROWS), session)
    refused(
        session,
        lambda: people.count(0.1),
        dpf.ColumnNotFoundError,
        "'customer'",
        "row",
    )


def test_a_verb_that_needs_max_rows_says_so(make):
    session = dpf.Session(epsilon=1, unit=dpf.Unit("person", max_groups=2))
    people = dpf.private(make(ROWS), session)
    refused(session, lambda: people.count(0.1), dpf.ParameterError, "max_rows")
    assert people.n_unique("sex", 0.1).scale == 20


def test_per_unit_needs_a_unit_column(make, session):
    people = dpf.private(make(ROWS), session)
    refused(
        session,
        lambda: people.sum("age", 0.1, bounds=(0, 9), per="unit"),
        dpf.ParameterError,
        "Unit",
    )


@pytest.mark.filterwarnings("ignore:epsilon")
def test_null_units_reach_no_release():
    frame = pl.DataFrame({"who": [None, None, float("nan")], "x": [1.0, 1.0, 1.0]})
    with dpf.Session(epsilon="1e6", unit=dpf.Unit("who", max_rows=2)):
        assert frame.dp.count(10**5).value == 0
        assert abs(frame.dp.sum("x", 10**5, bounds=(0, 1)).value) < 0.01


@pytest.mark.parametrize("name", ["dp", "index", "count", "len", "a column", "", "__x"])
def test_any_column_name_works(make, name):
    session = dpf.Session(epsilon=20, unit=dpf.Unit(name or "u", max_rows=2))
    frame = make({name or "u": [1, 1, 2], name + "2": [1, 2, 3]})
    people = dpf.private(frame, session)
    people.count(0.1)
    people.sum(name + "2", 0.1, bounds=(0, 9))
    h = people.histogram(0.1, name + "2", keys=[1, 2])
    assert h.to_frame() is not None
    people.group_by(name or "u", keys=[1]).agg(
        0.1, count=dpf.agg.count(), len=dpf.agg.sum(name + "2", bounds=(0, 9))
    )


def test_a_column_called_dp_does_not_hide_the_accessor(session):
    frame = pd.DataFrame({"dp": [1, 2]})
    with session:
        frame.dp.sum("dp", 0.1, bounds=(0, 9))
    assert frame["dp"].tolist() == [1, 2]


def test_a_key_column_called_count_pushes_the_aggregate_aside(make, session):
    people = dpf.private(make({"count": [1, 2]}), session)
    h = people.histogram(0.1, "count", keys=[1, 2])
    assert list(pl.from_arrow(h.to_arrow()).columns) == ["count", "count_"]
    table = people.group_by("count", keys=[1, 2]).count(0.1)
    assert list(table.columns) == ["count", "count_"]


def test_unused_nested_columns_do_not_matter(session):
    frame = pl.DataFrame({"x": [1, 2], "tags": [["a"], []], "at": [{"u": 1}, {"u": 2}]})
    for native in (frame, frame.lazy(), frame.to_arrow(), frame.to_pandas()):
        people = dpf.private(native, session)
        people.count(0.1)
        people.sum("x", 0.1, bounds=(0, 9))
        people.histogram(0.1, "x", keys=[1, 2])


def test_nested_columns_cannot_be_keys_or_sums(session):
    people = dpf.private(pl.DataFrame({"tags": [["a"], []]}), session)
    refused(
        session, lambda: people.histogram(0.1, keys=["a"]), dpf.ParameterError, "'tags'"
    )
    refused(
        session,
        lambda: people.sum("tags", 0.1, bounds=(0, 1)),
        dpf.ParameterError,
        "'tags'",
    )


@pytest.mark.parametrize("thing", [3, "people.csv", [1, 2], {"a": [1]}, None])
def test_things_that_are_no_frame(thing):
    with pytest.raises(dpf.UnsupportedFrameError, match="pandas"):
        dpf.private(thing)


def test_a_scale_that_does_not_fit_names_the_bound_that_would(make, session):
    people = dpf.private(make(ROWS), session)
    refused(
        session,
        lambda: people.sum("age", "1e-12", bounds=(0, 10**9)),
        dpf.ParameterError,
        r"2\*\*54",
        "epsilon",
    )
    refused(session, lambda: people.count("1e-300"), dpf.ParameterError, r"2\*\*54")


def test_noise_and_delta_that_make_no_sense(make, session):
    people = dpf.private(make(ROWS), session)
    refused(
        session, lambda: people.count(1, noise="cauchy"), dpf.ParameterError, "laplace"
    )
    refused(session, lambda: people.count(1, delta=1e-6), dpf.ParameterError, "delta")


@pytest.mark.parametrize(
    ("ask", "word"),
    [
        (lambda g: g.agg(1), "aggregate"),
        (lambda g: g.agg(1, n=3), "dpf.agg"),
        (lambda g: g.agg(1, n=dpf.agg.count(), weights={"m": 2}), "'n'"),
        (lambda g: g.agg(1, n=dpf.agg.count(), weights={"n": 0}), "positive"),
        (lambda g: g.n_unique("age", 1), "unit"),
    ],
)
def test_groups(make, session, ask, word):
    groups = dpf.private(make(ROWS), session).group_by("sex", keys=["F", "M"])
    refused(session, lambda: ask(groups), dpf.ParameterError, word)


def test_group_by_nothing_or_twice(make, session):
    people = dpf.private(make(ROWS), session)
    with pytest.raises(dpf.ParameterError, match="column"):
        people.group_by()
    refused(
        session,
        lambda: people.group_by("sex", "sex", keys={"sex": ["F"]}).count(1),
        dpf.ParameterError,
        "twice|duplicate",
    )


def test_epsilon_above_twenty_warns_at_the_users_line():
    with pytest.warns(dpf.PrivacyWarning, match="20") as opened:
        session = dpf.Session(epsilon=100, unit="row")
    people = dpf.private(pl.DataFrame(ROWS), session)
    with pytest.warns(dpf.PrivacyWarning, match="20") as asked:
        people.count(21)
    assert [w.filename for w in (*opened, *asked)] == [__file__] * 2


def test_points_in_time_have_no_sum(session):
    dates = pl.DataFrame({"day": [dt.date(2024, 1, 1)]})
    people = dpf.private(dates, session)
    bounds = (dt.date(2024, 1, 1), dt.date(2024, 12, 31))
    for verb in ("sum", "variance", "std"):
        refused(
            session,
            lambda verb=verb: getattr(people, verb)("day", 0.1, bounds=bounds),
            dpf.ParameterError,
            "'day'",
            "mean",
        )
    assert isinstance(people.mean("day", 0.1, bounds=bounds).value, dt.date)


@pytest.mark.parametrize(
    ("ask", "word"),
    [
        (lambda p: p.histogram("sex", 0.1), "Epsilon comes"),
        (lambda p: p.histogram(0.1, "age", keys=["20"]), "kind 'integer'"),
        (lambda p: p.histogram(0.1, "sex", bins=[0, 1]), "bins"),
        (lambda p: p.group_by(3), "columns"),
        (lambda p: p.group_by([]), "columns"),
        (
            lambda p: p.group_by("sex", keys=["F"]).agg(
                1, n=dpf.agg.count(), weights=[1]
            ),
            "dictionary",
        ),
    ],
)
def test_arguments_in_the_wrong_place(make, session, ask, word):
    people = dpf.private(make(ROWS), session)
    refused(session, lambda: ask(people), dpf.ParameterError, word)


@pytest.mark.parametrize("domain", [["age"], "adult.json", 42])
def test_a_domain_is_a_domain_or_a_dictionary(domain):
    with pytest.raises(dpf.ParameterError, match="domain"):
        dpf.Session(epsilon=1, unit="row", domain=domain)


def test_private_takes_a_session():
    with pytest.raises(dpf.ParameterError, match="session"):
        dpf.private(pl.DataFrame(ROWS), "session")


@pytest.mark.parametrize(
    "ask",
    [
        lambda p, x: p.sparse_vector("sex", 1, 0.1, max_above=1, ratio=x),
        lambda p, x: p.mode("sex", 0.1, method=x),
        lambda p, x: p.quantile("age", 0.5, 0.1, method=x, bounds=(0, 99)),
        lambda p, x: p.mean("age", 0.1, bounds=(0, 99), per=x),
        lambda p, x: p.plan.above_threshold(3, 0.1, monotonic=x),
        lambda p, x: p.histogram(0.1, "age", bins=x.to_frame()),
    ],
    ids=["ratio", "mode", "quantile", "per", "plan", "bins"],
)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_an_option_given_a_column_is_refused(library, ask):
    """A comparison of a column with a name has no truth, and may warn."""
    column = FRAMES[library](ROWS)["sex"]
    session = dpf.Session(epsilon=20, unit="row", domain={"sex": ["F", "M"]})
    people = dpf.private(pl.DataFrame(ROWS), session)
    refused(session, lambda: ask(people, column), dpf.ParameterError)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_an_option_of_a_release_given_a_column_is_refused(library, session):
    column = FRAMES[library](ROWS)["sex"]
    h = dpf.private(pl.DataFrame(ROWS), session).histogram(1, "sex", keys=["F", "M"])
    entropy = dpf.estimands.entropy
    for ask in (
        lambda: h.to_frame(column),
        lambda: h.to_arrow(carry=column),
        lambda: h.debias(entropy, method=column),
        lambda: h.nonnegative().debias(entropy, domain=column),
        lambda: dpf.debias([1, 2], entropy, epsilon=1, noise=column),
        lambda: dpf.Domain({"sex": ["F", "M"]}).cells("sex", library=column),
    ):
        refused(session, ask, dpf.DPFrameError)
