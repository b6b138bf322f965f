"""Verbs whose keys are found in the data: answers, prices, shapes and refusals."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from fractions import Fraction

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpframe as dpf
from dpframe.accessor import PrivateFrame
from dpframe.domain.open_keys import OpenKeys
from dpframe.domain.schema import ColumnType, Schema
from dpframe.estimands import entropy
from dpframe.mechanisms import noising
from dpframe.mechanisms.noising import watch_draws
from dpframe.mechanisms.terms import Asked, Term
from dpframe.mechanisms.unknown_keys import UnknownKeys
from dpframe.noise import DiscreteLaplace
from dpframe.releases import HistogramRelease, TableRelease

ROWS = {
    "city": ["b"] * 60 + ["a"] * 50 + [None] * 40 + ["rare"],
    "ok": [True, False] * 75 + [True],
    "age": [20, 30, 40] * 50 + [50],
    "pay": [1.5, 2.5, 3.5] * 50 + [9.5],
    "person": list(range(151)),
}
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "pyarrow": pa.table,
}
#: A delta with which a key of one unit is never seen here.
FEW = {"delta": "1e-12"}
UNIT = dpf.Unit("person", max_rows=6, max_groups=2)


@pytest.fixture(params=FRAMES)
def make(request):
    return FRAMES[request.param]


def opened(frame=None, **session):
    given = {"epsilon": 20, "delta": "1e-4", "unit": "row", **session}
    held = pl.DataFrame(ROWS) if frame is None else frame
    return dpf.private(held, dpf.Session(**given))


# -- answers -------------------------------------------------------------------


def test_common_keys_come_out_sorted_and_rare_ones_do_not(make):
    people = opened(make(ROWS))
    h = people.histogram(5, "city", **FEW)
    assert isinstance(h, HistogramRelease)
    assert h.keys == ["a", "b", None]
    assert h.counts.tolist() == pytest.approx([50, 60, 40], abs=8)
    assert h.columns == ["city", "count"]
    table = people.group_by("city", **FEW).count(5)
    assert isinstance(table, TableRelease)
    assert table.keys == ["a", "b", None]


def test_several_columns_are_sorted_by_the_first(make):
    table = opened(make(ROWS)).group_by("city", "ok", **FEW).count(5)
    assert table.keys == [(c, o) for c in ("a", "b", None) for o in (False, True)]
    assert table.columns == ["city", "ok", "count"]


def test_all_aggregates_at_once(make):
    """Once shown, a key is as good as a listed one: also for quantiles."""
    table = opened(make(ROWS)).group_by("city", **FEW).agg(
        20,
        n=dpf.agg.count(),
        age=dpf.agg.mean("age", bounds=(0, 90)),
        pay=dpf.agg.sum("pay", bounds=(0, 10)),
        sd=dpf.agg.std("age", bounds=(0, 90)),
        middle=dpf.agg.median("age", bounds=(0, 90)),
        five=dpf.agg.mean("age", bounds=(5, 5)),
    )  # fmt: skip
    assert table.keys == ["a", "b", None]
    assert table["n"].tolist() == pytest.approx([50, 60, 40], abs=15)
    assert table["age"].tolist() == pytest.approx([30] * 3, abs=12)
    assert table["five"].tolist() == [5] * 3


def test_each_key_has_its_own_numbers():
    """A rare key comes first and is not shown: those behind it keep their rows."""
    frame = pl.DataFrame(
        {
            "city": ["0"] + ["a"] * 50 + ["b"] * 50 + [None] * 50,
            "age": [90] + [10] * 50 + [50] * 50 + [80] * 50,
        }
    )
    table = opened(frame).group_by("city", **FEW).agg(
        20,
        age=dpf.agg.mean("age", bounds=(0, 90)),
        middle=dpf.agg.median("age", bounds=(0, 90)),
    )  # fmt: skip
    assert table.keys == ["a", "b", None]
    assert table["age"].tolist() == pytest.approx([10, 50, 80], abs=9)
    assert table["middle"].tolist() == [10, 50, 80]


@pytest.mark.parametrize(
    "verb", ["sum", "mean", "variance", "std", "min", "max", "iqr"]
)
def test_every_verb(verb):
    groups = opened().group_by("city", **FEW)
    table = getattr(groups, verb)("age", 15, bounds=(0, 90))
    assert table.keys == ["a", "b", None]
    assert table.columns == ["city", verb]


def test_a_list_of_quantiles():
    groups = opened().group_by("city", **FEW)
    table = groups.quantile("age", [0.1, 0.9], 15, bounds=(0, 90))
    assert table.keys == [(c, q) for c in ("a", "b", None) for q in (0.1, 0.9)]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_series(make):
    with dpf.Session(20, unit="row", **FEW):
        h = make(ROWS)["city"].dp.histogram(5, **FEW)
    assert h.keys == ["a", "b", None]


def test_bins_beside_found_keys():
    h = opened().histogram(5, ["city", "pay"], bins={"pay": [0, 3, 10]}, **FEW)
    assert ("a", 0) in h.keys
    assert h.edges == {"pay": [0, 3, 10]}


def test_a_declared_column_beside_found_keys():
    people = opened(domain={"ok": bool, "age": (0, 90)})
    table = people.group_by("ok", "city", **FEW).count(5)
    assert table.keys == [(o, c) for o in (False, True) for c in ("a", "b", None)]
    assert len(people.group_by("age", **FEW).count(5)) == 3  # bounds list none


def test_units_are_counted(make):
    rows = {
        "person": [f"p{i % 30}" for i in range(300)] + ["loud"] * 40 + [None] * 99,
        "city": ["a"] * 300 + ["b"] * 40 + ["c"] * 99,
    }
    people = opened(make(rows), unit=UNIT)
    units = people.group_by("city", **FEW).n_unique("person", 10)
    assert units.keys == ["a"]
    assert units["n_unique"].tolist() == pytest.approx([30], abs=5)
    assert people.histogram(10, "city", **FEW).keys == ["a"]


def test_types_of_keys_are_those_of_the_frame():
    when = dt.datetime(2024, 1, 1, 12, tzinfo=dt.UTC)
    frame = pl.DataFrame(
        {
            "d": [dt.date(2024, 1, 1)] * 40,
            "t": [when] * 40,
            "u": [2**63] * 20 + [1] * 20,
        }
    ).cast({"t": pl.Datetime("ms", "Asia/Tokyo"), "u": pl.UInt64})
    people = opened(frame)
    day = people.histogram(5, "d", **FEW).to_frame()
    assert day["d"].to_list() == [dt.date(2024, 1, 1)]
    moment = people.histogram(5, "t", **FEW).to_frame()
    assert moment["t"].to_list() == [when]
    whole = people.histogram(5, "u", **FEW).to_frame()
    assert whole["u"].to_list() == [1, 2**63]
    assert whole["u"].dtype == pl.UInt64


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2**63, -1], [-1, 2**63]),
        (["a", 3], ["a", "3"]),
        ([3, dt.date(2024, 1, 1)], ["3", "2024-01-01"]),
    ],
)
def test_keys_that_no_one_arrow_type_holds(values, expected):
    if all(isinstance(value, int) for value in values):
        frame = pl.DataFrame({"k": pl.Series(values * 30, dtype=pl.Int128)})
    else:
        frame = pd.DataFrame({"k": pd.Series(values * 30, dtype=object)})
    h = opened(frame).histogram(5, "k", **FEW)
    assert sorted(h.keys, key=str) == sorted(values, key=str)
    assert h.to_arrow()["k"].to_pylist() == expected


# -- no key passes -------------------------------------------------------------


def test_an_empty_table_has_the_columns_and_types_of_a_full_one(make):
    people = opened(make(ROWS))

    def ask(epsilon):
        return people.group_by("city", "ok", **FEW).agg(
            epsilon,
            n=dpf.agg.count(),
            pay=dpf.agg.sum("pay", bounds=(0, 10)),
            age=dpf.agg.mean("age", bounds=(0, 90)),
            middle=dpf.agg.median("age", bounds=(0, 90)),
        )

    none, some = ask("0.001"), ask(15)
    assert len(none) == 0 < len(some)
    assert none.keys == []
    one, other = (t.to_arrow().schema.remove_metadata() for t in (none, some))
    assert one.names == other.names
    assert one.types == other.types
    assert "0 cells" in repr(none)
    assert none["n"].dtype == some["n"].dtype
    assert none.interval().shape[0] == 0


def test_an_empty_histogram(make):
    h = opened(make(ROWS)).histogram("0.001", ["city", "age"], **FEW)
    assert h.keys == []
    assert h.counts.shape == (0,)
    assert h.nonnegative().counts.shape == (0,)
    assert h.to_arrow().num_rows == 0
    assert h._repr_html_()


def test_a_frame_without_rows():
    empty = pl.DataFrame(ROWS).clear()
    for frame in (empty, empty.lazy(), empty.to_pandas(), empty.to_arrow()):
        people = opened(frame)
        assert people.histogram(5, "ok", **FEW).keys == []
        assert people.group_by("city", "person", **FEW).count(5).keys == []


# -- what is told --------------------------------------------------------------


def test_suppressed_keys_leave_no_trace():
    h = opened().histogram(5, "city", **FEW)
    table = opened().group_by("city", **FEW).agg(
        9, n=dpf.agg.count(), age=dpf.agg.mean("age", bounds=(0, 90))
    )  # fmt: skip
    for release in (h, table):
        told = [repr(release), release._repr_html_(), str(pickle.dumps(release))]
        told += [str(release.to_arrow().schema.metadata), str(release.to_frame())]
        assert not any("rare" in text for text in told)


def test_the_rule_is_public():
    h = opened().histogram(5, "city", delta="1e-6")
    rule = h.key_threshold
    assert rule.law == DiscreteLaplace("0.2")
    assert (rule.threshold, rule.groups) == (3, 1)
    assert rule.delta == Fraction(1, 10**6)
    assert "more than 3 units" in repr(h)
    record = json.loads(h.to_arrow().schema.metadata[b"dpframe"])
    assert record["key_threshold"] == {
        "scale": "1/5", "threshold": 3, "delta": "1/1000000", "groups": 1,
    }  # fmt: skip
    listed = opened().histogram(5, "city", keys=["a"])
    assert listed.key_threshold is None
    assert b"key_threshold" not in listed.to_arrow().schema.metadata[b"dpframe"]


def test_the_repr_of_groups_and_errors_hold_no_key():
    groups = opened().group_by("city", delta="1e-6")
    assert "rare" not in repr(groups)


def test_counts_cannot_be_debiased_or_converted():
    h = opened().histogram(5, "city", delta="1e-6")
    for ask in (
        lambda: h.debias(entropy),
        lambda: h.nonnegative().debias(entropy),
        lambda: h.noisy_counts(),
        lambda: h.to_laplace(),
        lambda: h.to_staircase(),
        lambda: h.to_noisier(1),
    ):
        with pytest.raises(dpf.ProvenanceError, match="found in the data"):
            ask()


# -- the price -----------------------------------------------------------------


def scales(ask, people):
    """Scales of all draws, in their order."""
    laws = []

    def watcher(what, perform):
        law = what.law
        laws.append(getattr(law, "law", law))
        return perform()

    with watch_draws(watcher):
        ask(people)
    return [law.scale for law in laws]


@pytest.mark.parametrize(("relation", "times"), [("add_remove", 1), ("replace", 2)])
def test_units_alone_take_all_of_epsilon(relation, times):
    people = opened(neighboring=relation)
    assert scales(lambda p: p.histogram(2, "city", delta="1e-6"), people) == [
        Fraction(times, 2)
    ]

    def ask(people):
        return people.group_by("city", delta="1e-6").n_unique("person", 2)

    people = opened(unit=UNIT, neighboring=relation)
    assert scales(ask, people) == [Fraction(2 * times, 2)]


def test_others_share_what_the_threshold_leaves():
    """p numbers: 1/(1 + p) for the threshold, the rest by weight."""

    def ask(people):
        return people.group_by("city", delta="1e-6").agg(
            9,
            n=dpf.agg.count(),
            age=dpf.agg.sum("age", bounds=(0, 10)),
            weights={"n": 2},
        )

    epsilon, *rest = scales(ask, opened())
    assert [epsilon, *rest] == [Fraction(1, 3), Fraction(1, 4), Fraction(10, 2)]
    units = scales(lambda p: p.histogram(9, "city", delta="1e-6"), opened(unit=UNIT))
    assert units == [2 / Fraction(9, 2), 6 / Fraction(9, 2)]


def test_constants_take_no_share_but_keys_cost():
    def ask(people):
        return people.group_by("city", delta="1e-6").mean("age", 2, bounds=(5, 5))

    people = opened()
    assert scales(ask, people) == [Fraction(1, 2)]
    table = ask(opened())
    assert table["mean"].tolist() == [5.0] * len(table)
    assert table.loss == dpf.PrivacyLoss(Fraction(2), Fraction(1, 10**6))


def test_charge_and_ledger():
    session = dpf.Session(3, delta="1e-4", unit="row")
    h = dpf.private(pl.DataFrame(ROWS), session).histogram(1, "city", delta="1e-5")
    (charge,) = session.charges
    assert charge.loss == h.loss == dpf.PrivacyLoss(Fraction(1), Fraction(1, 10**5))
    assert charge.mechanism == "key threshold"
    assert session.remaining.delta == Fraction(9, 10**5)


def test_delta_runs_out():
    people = opened(delta="3e-6")
    people.histogram(1, "city", delta="2e-6")
    with pytest.raises(dpf.BudgetExceededError):
        people.histogram(1, "city", delta="2e-6")


def test_child_sessions():
    session = dpf.Session(3, delta="1e-4", unit="row")
    child = session.child(1, delta="1e-6")
    dpf.private(pl.DataFrame(ROWS), child).histogram(1, "city", delta="1e-6")
    assert session.spent == dpf.PrivacyLoss(Fraction(1), Fraction(1, 10**6))
    bare = session.child(1)
    people = dpf.private(pl.DataFrame(ROWS), bare)
    with pytest.raises((dpf.BudgetExceededError, dpf.AccountantError)):
        people.histogram("0.1", "city", delta="1e-6")


def test_labels():
    people = opened()
    first = people.histogram(1, "city", delta="1e-6", label="cities")
    again = people.histogram(1, "city", delta="1e-6", label="cities")
    assert again.replayed
    assert again.keys == first.keys
    for other in ({"delta": "1e-7"}, {"keys": ["a"]}):
        with pytest.raises(dpf.LabelConflictError):
            people.histogram(1, "city", label="cities", **other)


def test_the_request_says_all_that_is_public():
    people = opened()
    asked = {"bins": {"pay": [0, 5, 10]}, "delta": "1e-6", "label": "pay"}
    people.histogram(1, ["city", "pay"], **asked)
    with pytest.raises(dpf.LabelConflictError):
        people.histogram(1, ["city", "pay"], **{**asked, "bins": {"pay": [0, 6, 10]}})
    request = UnknownKeys(
        verb="histogram",
        setting=dpf.Session(9, delta="1e-4", unit="row").setting,
        loss=dpf.PrivacyLoss(Fraction(1), Fraction("1e-6")),
        asked=(Asked("count", dpf.agg.count(), Term("rows")),),
        keys=OpenKeys(("city",), (None,)),
        form=HistogramRelease,
        schema=Schema({"city": ColumnType("text")}, "polars"),
    )
    told = json.loads(json.dumps(request.describe()))
    assert told["keys"] == {"columns": ["city"], "codings": [None]}
    assert told["key_threshold"]["threshold"] == 14
    assert told["loss"] == {"epsilon": "1", "delta": "1/1000000"}


def test_zcdp_session_with_a_delta():
    session = dpf.Session(rho=3, delta="1e-5", unit="row")
    people = dpf.private(pl.DataFrame(ROWS), session)
    assert people.histogram(2, "city", delta="1e-6").keys
    assert session.spent == dpf.PrivacyLoss(None, Fraction(1, 10**6), Fraction(2))
    people.group_by("city", delta="1e-6").median("age", 1, bounds=(0, 90))
    assert session.spent.rho == Fraction(5, 2)


@pytest.mark.parametrize(
    ("session", "words"),
    [
        ({"delta": 0}, "dpf.Session\\(epsilon=20, delta="),
        ({"epsilon": None, "delta": 0, "rho": 1}, "dpf.Session\\(rho=1, delta="),
        ({"epsilon": 3, "accountant": "zcdp"}, "dpf.Session\\(rho="),
    ],
)
def test_sessions_without_a_delta_name_one_to_open(session, words):
    people = opened(**session)
    with pytest.raises(dpf.AccountantError, match=words):
        people.histogram(1, "city", delta="1e-6")


def test_large_deltas_warn():
    with pytest.warns(dpf.PrivacyWarning, match="above 1e-4"):
        people = opened(delta="0.01")
    with pytest.warns(dpf.PrivacyWarning, match="above 1e-4"):
        people.histogram(1, "city", delta="0.001")


# -- bad input -----------------------------------------------------------------

REFUSALS = {
    "keys too": (
        lambda p: p.histogram(1, "city", keys=["a"], delta="1e-6"),
        dpf.ParameterError,
        "from keys=. Drop delta=.*or drop keys=",
    ),
    "no keys at all": (
        lambda p: p.group_by("city", keys=[], delta="1e-6").count(1),
        dpf.ParameterError,
        "Drop delta=",
    ),
    "tuples": (
        lambda p: p.histogram(1, ["city", "ok"], keys=[("a", True)], delta="1e-6"),
        dpf.ParameterError,
        "from keys=",
    ),
    "bins too": (
        lambda p: p.histogram(1, "pay", bins=[0, 9], delta="1e-6"),
        dpf.ParameterError,
        "from bins=",
    ),
    "keys and bins": (
        lambda p: p.histogram(
            1, ["city", "pay"], keys={"city": ["a"]}, bins={"pay": [0, 9]}, delta="1e-6"
        ),
        dpf.ParameterError,
        "from keys= and bins=",
    ),
    "bins of several": (
        lambda p: p.histogram(1, ["city", "pay"], bins=[0, 9], delta="1e-6"),
        dpf.ParameterError,
        "must be a dictionary",
    ),
    "keys of another column": (
        lambda p: p.histogram(1, "city", keys={"town": ["a"]}, delta="1e-6"),
        dpf.ParameterError,
        "'town'",
    ),
    "floats": (
        lambda p: p.histogram(1, "pay", delta="1e-6"),
        dpf.ParameterError,
        "floats.*bins=.*Int64",
    ),
    "no column": (
        lambda p: p.histogram(1, "town", delta="1e-6"),
        dpf.ColumnNotFoundError,
        "town",
    ),
    "a column twice": (
        lambda p: p.group_by("city", "city", delta="1e-6").count(1),
        dpf.ParameterError,
        "twice",
    ),
    "delta 0": (
        lambda p: p.histogram(1, "city", delta=0),
        dpf.ParameterError,
        "above 0",
    ),
    "delta below 0": (
        lambda p: p.histogram(1, "city", delta=-1),
        dpf.ParameterError,
        "delta",
    ),
    "no delta": (
        lambda p: p.histogram(1, "city", delta="some"),
        dpf.ParameterError,
        "delta",
    ),
    "no epsilon": (
        lambda p: p.histogram(by="city", delta="1e-6"),
        dpf.ParameterError,
        "how much",
    ),
    "Gaussian": (
        lambda p: p.group_by("city", delta="1e-6").count(1, noise="gaussian"),
        dpf.ParameterError,
        "Laplace noise",
    ),
    "rho": (
        lambda p: p.group_by("city", delta="1e-6").count(rho=1),
        dpf.ParameterError,
        "Laplace noise",
    ),
    "another noise": (
        lambda p: p.histogram(1, "city", noise="cauchy", delta="1e-6"),
        dpf.ParameterError,
        "'laplace' or 'gaussian'",
    ),
    "a delta for the noise too": (
        lambda p: p.group_by("city", delta="1e-6").count(1, delta="1e-6"),
        dpf.ParameterError,
        "Laplace noise needs none",
    ),
    "a scale beyond all": (
        lambda p: p.histogram("1e-20", "city", delta="1e-6"),
        dpf.ParameterError,
        "2\\*\\*54",
    ),
    "a scale of a sum beyond all": (
        lambda p: p.group_by("city", delta="1e-6").sum(
            "age", "1e-3", bounds=(0, 2**60)
        ),
        dpf.ParameterError,
        "2\\*\\*54",
    ),
    "neither keys nor delta": (
        lambda p: p.histogram(1, "city"),
        dpf.DomainError,
        "delta=1e-6",
    ),
}


@pytest.mark.filterwarnings("ignore::dpframe.PrivacyWarning")
@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(make, case):
    ask, error, words = REFUSALS[case]
    session = dpf.Session(20, delta="1e-4", unit="row")
    with pytest.raises(error, match=words):
        ask(dpf.private(make(ROWS), session))
    assert session.charges == ()


def test_keys_that_the_domain_lists_are_not_looked_for():
    people = opened(domain={"city": ["a", "b"], "age": dpf.integers(0, 90)})
    for columns in ("city", ["city", "age"]):
        with pytest.raises(dpf.ParameterError, match="from the session's domain"):
            people.histogram(1, columns, delta="1e-6")


def test_nested_columns_are_no_keys():
    frame = pl.DataFrame({"k": [[1], [2]]})
    with pytest.raises(dpf.ParameterError, match="nested"):
        opened(frame).histogram(1, "k", delta="1e-6")


def test_floats_that_the_domain_calls_integers_are_listed():
    frame = pd.DataFrame({"age": [20.0, None]})
    people = opened(frame, domain={"age": dpf.integers(0, 90)})
    with pytest.raises(dpf.ParameterError, match="'age' are public"):
        people.histogram(1, "age", delta="1e-6")


def test_units_need_a_bound():
    people = opened(unit=dpf.Unit("person"))
    with pytest.raises(dpf.ParameterError, match="max_groups"):
        people.group_by("city", delta="1e-6").n_unique("person", 1)
    with pytest.raises(dpf.ParameterError, match="max_rows"):
        people.group_by("city", delta="1e-6").count(1)


def test_gaussian_noise_under_listed_keys_still_takes_its_delta():
    h = opened().histogram(1, "city", keys=["a"], noise="gaussian", delta="1e-6")
    assert h.keys == ["a"]
    assert h.key_threshold is None


def test_every_door_of_the_engine_is_charged_first(monkeypatch):
    """Nothing is read where the budget does not suffice."""
    people = opened(pl.DataFrame(ROWS), epsilon=1)
    monkeypatch.setattr(noising, "draw", lambda *a: pytest.fail("drawn"))
    assert isinstance(people, PrivateFrame)
    with pytest.raises(dpf.BudgetExceededError):
        people.histogram(2, "city", delta="1e-6")
