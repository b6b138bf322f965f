"""Quantiles on every frame: what they answer, in which kind, and what they refuse."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpframe as dpf
from dpframe.noise.ordered_choice import OrderedChoice

#: Great epsilons, so that answers are certain, warn.
pytestmark = pytest.mark.filterwarnings("ignore::dpframe.PrivacyWarning")

N = 600  # rows; three kinds of them
UTC = dt.UTC
NOON = dt.datetime(2024, 5, 5, 12)

#: Column, its three values, bounds, and what is its iqr.
KINDS = {
    "int": ([20, 40, 90], (0, 120), 70),
    "big": ([2**60 + 3, 2**60 + 5, 2**60 + 9], (2**60, 2**60 + 10), 6),
    "float": ([0.5, 2.25, 7.0], (0, 8), 6.5),
    "bool": ([False, True, True], None, 1),
    "decimal": ([Decimal("0.05"), Decimal("1.10"), Decimal("3.33")],
                (Decimal(0), Decimal("9.99")), Decimal("3.28")),
    "date": ([dt.date(1969, 1, 1), dt.date(2024, 2, 29), dt.date(2030, 1, 1)],
             (dt.date(1960, 1, 1), dt.date(2040, 1, 1)), dt.timedelta(22280)),
    "datetime": ([NOON, NOON + dt.timedelta(0, 0, 7), NOON + dt.timedelta(0, 1)],
                 (NOON, NOON + dt.timedelta(0, 1)), dt.timedelta(0, 1)),
    "zoned": ([NOON.replace(tzinfo=UTC) + dt.timedelta(0, i) for i in (0, 0, 1)],
              (NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=UTC) + dt.timedelta(0, 1)),
              dt.timedelta(0, 1)),
    "span": ([dt.timedelta(0, i) for i in (-1, 0, 1)],
             (dt.timedelta(0, -1), dt.timedelta(0, 1)), dt.timedelta(0, 2)),
}  # fmt: skip
ROWS = {
    name: [v for v in values for _ in range(N // 3)]
    for name, (values, *_) in KINDS.items()
}
ROWS |= {
    "text": ["a", "b", "c"] * (N // 3),
    "key": ["x", "y"] * (N // 2),
    "person": list(range(N // 2)) * 2,
}
TABLE = pa.table(ROWS)
FRAMES = {
    "pandas": lambda table: table.to_pandas(date_as_object=False),
    "pandas arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "lazy": lambda table: pl.from_arrow(table).lazy(),
    "pyarrow": lambda table: table,
}


@pytest.fixture(params=FRAMES)
def make(request):
    return FRAMES[request.param]


def private(frame, **session):
    settings = {"epsilon": 10**6, "unit": "row"} | session
    return dpf.private(frame, dpf.Session(**settings))


#: numpy columns of pandas hold no days, and objects for decimals.
TYPED = [
    (make, name)
    for make in FRAMES
    for name in KINDS
    if make != "pandas" or name not in ("decimal", "date")
]
typed = pytest.mark.parametrize(("make", "name"), TYPED, indirect=["make"])


# -- answers ---------------------------------------------------------------------------


@typed
def test_answers_are_of_the_columns_kind(make, name):
    values, bounds, iqr = KINDS[name]
    people = private(make(TABLE.select([name])))
    first, middle, last = values
    median = people.median(name, 500, bounds=bounds).value
    assert median == middle
    assert type(median) is type(middle if name != "bool" else 1)
    assert people.quantile(name, 0.1, 500, bounds=bounds).value == first
    assert people.min(name, 500, bounds=bounds).value == first
    assert people.max(name, 500, bounds=bounds).value == last
    assert people.iqr(name, 500, bounds=bounds).value == iqr
    table = people.quantile(name, [0.1, 0.9], 100, bounds=bounds)
    assert table.keys == [0.1, 0.9]
    assert table.columns == ["q", "quantile"]
    column = table.to_arrow()["quantile"]
    if name != "bool":
        assert column.to_pylist() == [first, last]


@typed
def test_types_do_not_depend_on_the_data(make, name):
    """An empty frame has the same columns as a full one."""
    _, bounds, _ = KINDS[name]
    full, empty = (make(part.select([name])) for part in (TABLE, TABLE.slice(0, 0)))
    for ask in (
        lambda p: p.median(name, 1, bounds=bounds),
        lambda p: p.iqr(name, 1, bounds=bounds),
        lambda p: p.quantile(name, [0, 0.3], 1, bounds=bounds),
    ):
        one, other = (ask(private(frame)) for frame in (full, empty))
        assert one.to_arrow().schema.types == other.to_arrow().schema.types
        if not isinstance(one, dpf.TableRelease):
            assert type(one.value) is type(other.value)


def test_missing_values_count_nowhere_and_infinities_are_clamped(make):
    values = [None, math.nan, math.inf, -math.inf, 3.0] * 40 + [7.0] * 10
    people = private(make(pa.table({"x": pa.array(values, pa.float64())})))
    # 40 at 0, 40 at 3, 10 at 7, 40 at 8
    several = people.quantile("x", [0.2, 0.5, 0.65, 0.9], 200, bounds=(0, 8))
    assert several["quantile"].tolist() == [0, 3, 7, 8]


def test_domain_gives_bounds_and_kind():
    """Declared integers answer in integers, on a float column too."""
    domain = {
        "x": dpf.integers(0, 100),
        "day": dpf.dates("2024-01-01", "2024-12-31", every="1mo"),
    }
    frame = pl.DataFrame(
        {"x": [1.0, 2.4, 2.6, None] * 50, "day": [dt.date(2024, 3, 1)] * 200}
    )
    people = private(frame, domain=domain)
    assert people.median("x", 500).value == 2
    assert type(people.median("x", 500).value) is int
    assert people.median("day", 500).value == dt.date(2024, 3, 1)
    assert people.median("x", 500, bounds=(5, 9)).value == 5


@pytest.mark.parametrize("bounds", [(0, 10**7), (-(2**62), 2**62), (-3, 2**21)])
def test_beyond_a_million_integers_there_is_a_stride(bounds):
    """Zero stays zero where it is a candidate, and no answer leaves the bounds."""
    frame = pl.DataFrame({"n": [0] * 300 + [bounds[0]] * 100 + [bounds[1]] * 100})
    people = private(frame)
    found = people.median("n", 500, bounds=bounds)
    lattice = found.answers[0].lattice
    assert 2**19 < lattice.width <= 2**20
    assert found.value == 0
    assert people.quantile("n", 0.05, 500, bounds=bounds).value == bounds[0]
    assert people.max("n", 500, bounds=bounds).value == bounds[1]
    assert people.iqr("n", 500, bounds=bounds).value >= 0


def test_candidates_are_public():
    people = private(pl.DataFrame({"n": [1], "x": [1.0]}), epsilon=50)
    for column, bounds, most in [
        ("n", (17, 90), 74), ("n", (0, 2**20), 2**20 + 1),
        ("n", (0, 2**20 + 1), 2**19 + 2),
        ("x", (0, 1), 2**16 + 1), ("x", (-5, 50.25), 55.25 * 1024 + 1),
    ]:  # fmt: skip
        assert people.plan.quantile(column, 0.5, 1, bounds=bounds).candidates == most
        (choice,) = people.median(column, 1, bounds=bounds).answers[0].choices
        assert choice.candidates == most


def test_many_equal_rows_do_not_mislead_min_and_max():
    """More rows at the end than are set aside: the end itself, and no bound."""
    people = private(pl.DataFrame({"n": [30] * 500 + [40] * 500}))
    assert people.min("n", 500, bounds=(0, 100)).value == 30
    assert people.max("n", 500, bounds=(0, 100)).value == 40


def test_totals_of_units(make):
    """300 people of two rows each."""
    unit = dpf.Unit("person", max_groups=1)
    people = private(make(TABLE.select(["int", "person", "key"])), unit=unit)
    # 0-99: 20 + 40, 100-199: 20 + 90, 200-299: 40 + 90
    totals = people.quantile("int", [0.1, 0.5, 0.9], 200, bounds=(0, 120), per="unit")
    assert totals["quantile"].tolist() == [60, 110, 120]


# -- by key ----------------------------------------------------------------------------


def test_groups(make):
    frame = TABLE.select(["int", "key", "bool"])
    groups = private(make(frame)).group_by("key", keys=["y", "none", "x"])
    bounds = (0, 120)
    for name in ("median", "min", "max", "iqr"):
        table = getattr(groups, name)("int", 500, bounds=bounds)
        assert table.columns == ["key", name]
        assert table.keys == ["y", "none", "x"]
        expected = {"median": 40, "min": 20, "max": 90, "iqr": 70}[name]
        assert table[name].dtype == np.int64
        assert table[name][[0, 2]].tolist() == [expected, expected]
    assert groups.quantile("int", 0.1, 500, bounds=bounds)["quantile"][0] == 20
    several = groups.quantile("int", [0.9, 0.1], 500, bounds=bounds)
    assert several.columns == ["key", "q", "quantile"]
    assert several.keys[:3] == [("y", 0.9), ("y", 0.1), ("none", 0.9)]
    assert several["quantile"][[0, 1, 4, 5]].tolist() == [90, 20, 90, 20]


def test_lists_of_keys_and_clashing_names():
    frame = pl.DataFrame(
        {"q": ["a", "b"] * 50, "ok": [True, False] * 50, "n": [1, 2] * 50}
    )
    keys = [("b", False), ("c", True), ("a", True)]
    table = (
        private(frame)
        .group_by("q", "ok", keys=keys)
        .quantile("n", [0, 1], 500, bounds=(0, 9))
    )
    assert table.columns == ["q", "ok", "q_", "quantile"]
    assert table.keys[:2] == [("b", False, 0.0), ("b", False, 1.0)]
    assert table["quantile"][[0, 1, 4, 5]].tolist() == [2, 2, 1, 1]


def test_agg_mixes_noise_and_choices():
    groups = private(TABLE).group_by("key", keys=["x", "y"])
    table = groups.agg(
        2000,
        n=dpf.agg.count(),
        low=dpf.agg.min("int", bounds=(0, 120)),
        mid=dpf.agg.quantile("float", 0.5, bounds=(0, 8)),
        spread=dpf.agg.iqr("date", bounds=KINDS["date"][1]),
        mean=dpf.agg.mean("int", bounds=(0, 120)),
    )
    assert table["low"].tolist() == [20, 20]
    assert table["mid"].tolist() == [2.25, 2.25]
    assert table["spread"].astype("timedelta64[D]").astype(int).tolist() == [22280] * 2
    assert list(table.rank_error()) == ["low", "mid", "spread"]
    assert list(table.scale) == ["n"]
    assert table.std_error.column_names == ["key", "n", "mean"]
    assert table.interval().column_names == [
        "key", "n_lower", "n_upper", "mean_lower", "mean_upper",
    ]  # fmt: skip
    assert "rows of the rank asked for" in repr(table)


@pytest.mark.parametrize(
    "make_series",
    [lambda v: pd.Series(v, name="age"), lambda v: pl.Series("age", v)],
)
def test_series(make_series):
    age = make_series([20] * 100 + [50] * 101 + [70] * 100)
    with dpf.Session(10**6, unit="row"):
        assert age.dp.median(500, bounds=(17, 90)).value == 50
        assert age.dp.quantile(0.9, 500, bounds=(17, 90)).value == 70
        assert age.dp.quantile([0.1, 0.9], 500, bounds=(17, 90))["quantile"][0] == 20
        assert age.dp.min(500, bounds=(17, 90)).value == 20
        assert age.dp.max(500, bounds=(17, 90)).value == 70
        assert age.dp.iqr(500, bounds=(17, 90)).value == 50
        assert tuple(age.dp.bounds(200)) == (8, 128)
        smooth = age.dp.median(5, bounds=(17, 90), method="smooth", beta=1)
        assert isinstance(smooth, dpf.SmoothRelease)


# -- public constants ------------------------------------------------------------------


def test_equal_bounds_are_free():
    session = dpf.Session(1, unit="row")
    people = dpf.private(TABLE, session)
    assert people.median("int", 1, bounds=(7, 7)).value == 7
    assert people.max("float", 1, bounds=(1.5, 1.5)).value == 1.5
    assert people.iqr("int", 1, bounds=(7, 7)).value == 0
    several = people.quantile("int", [0.1, 0.9], 1, bounds=(7, 7))
    assert several["quantile"].tolist() == [7, 7]
    assert several.mechanism == "public constant"
    assert several.rank_error() == {"quantile": 0.0}
    groups = people.group_by("key", keys=["x", "y", "z"])
    assert groups.median("int", 1, bounds=(7, 7))["median"].tolist() == [7] * 3
    day = dt.date(2024, 1, 1)
    assert people.median("date", 1, bounds=(day, day)).value == day
    empty = people.group_by("key", keys=[]).quantile(
        "int", [0.5, 0.9], 1, bounds=(0, 9)
    )
    assert len(empty) == 0
    assert empty.to_arrow().schema.types[1:] == [pa.float64(), pa.int64()]
    assert session.charges == ()
    assert people.plan.quantile("int", 0.5, 1, bounds=(7, 7)).loss is None


def test_no_rows_at_all_answer_something_public():
    empty = pl.DataFrame(schema={"n": pl.Int64, "none": pl.Null})
    people = private(empty, epsilon=20)
    found = {people.median("n", 0.1, bounds=(1, 4)).value for _ in range(60)}
    assert found <= {1, 2, 3, 4}
    assert len(found) > 1
    assert 0.0 <= people.median("none", 1, bounds=(0.0, 1.0)).value <= 1.0
    assert type(people.median("none", 1, bounds=(0, 3)).value) is int


# -- how sure --------------------------------------------------------------------------


def test_rank_errors():
    """(2Δ/ε) ln(candidates / (1 − level)), and half of the level for each quartile."""
    people = private(TABLE, epsilon=50)
    log = math.log(121 / Fraction(1, 20))
    bounds = (0, 120)
    median = people.median("int", 2, bounds=bounds)
    assert median.rank_error() == pytest.approx(log / 2)
    assert people.quantile("int", 0.9, 2, bounds=bounds).rank_error() == pytest.approx(
        0.9 * log
    )
    assert people.min("int", 2, bounds=bounds).rank_error() == pytest.approx(log)
    assert people.iqr("int", 2, bounds=bounds).rank_error() == pytest.approx(
        2 * 0.75 * math.log(121 / 0.025)
    )
    both = people.quantile("int", [0.5, 0.9], 2, bounds=bounds)
    assert both.rank_error(0.9) == {
        "quantile": pytest.approx(2 * 0.9 * math.log(121 / 0.1))
    }
    plan = people.plan.quantile("int", [0.5, 0.9], 2, bounds=bounds)
    assert plan.rank_error(0.9) == both.rank_error(0.9)["quantile"]
    assert (plan.loss, plan.mechanism) == (both.loss, "permute-and-flip")
    for level in (0, 1, "nan"):
        with pytest.raises(dpf.ParameterError, match="level"):
            median.rank_error(level)
        with pytest.raises(dpf.ParameterError, match="level"):
            plan.rank_error(level)
    with pytest.raises(dpf.ParameterError, match="has no rank"):
        people.count(1).rank_error()
    with pytest.raises(dpf.ParameterError, match="have no rank"):
        people.group_by("key", keys=["x"]).count(1).rank_error()


def test_a_choice_has_no_scale_no_error_and_no_interval():
    people = private(TABLE, epsilon=50)
    bounds = (0, 120)
    for release in (
        people.median("int", 1, bounds=bounds),
        people.iqr("int", 1, bounds=bounds),
        people.quantile("int", [0.5], 1, bounds=bounds),
        people.group_by("key", keys=["x"]).max("int", 1, bounds=bounds),
        people.bounds("int", 1),
    ):
        for ask in (
            lambda r: r.scale,
            lambda r: r.std_error,
            lambda r: r.interval(),
        ):
            with pytest.raises(dpf.ParameterError, match="rank_error"):
                ask(release)
        with pytest.raises(dpf.ProvenanceError):
            release.debias()
    with pytest.raises(dpf.ParameterError, match="only counts"):
        people.median("int", 1, bounds=bounds).nonnegative()


def test_what_is_shown():
    people = private(TABLE, epsilon=50)
    shown = repr(people.median("int", 1, bounds=(0, 120)))
    for words in (
        "ScalarRelease: median = ", "is within 7.8 rows of the rank asked for",
        "permute-and-flip among 121 candidates", "each row of int clamped to [0, 120]",
    ):  # fmt: skip
        assert words in shown
    record = people.quantile("int", [0.5, 1], 1, bounds=(0, 120)).to_arrow().schema
    metadata = record.metadata[b"dpframe"]
    for words in (
        b'"q":["1/2","1"]',
        b'"candidates":121',
        b'"sensitivity":["1/2","1"]',
    ):
        assert words in metadata
    unit = dpf.Unit("person", max_rows=2)
    shown = repr(private(TABLE, unit=unit, epsilon=50).bounds("int", 1))
    assert "beyond the unit's bounds" in shown
    assert "int mostly between" in shown


# -- bounds ----------------------------------------------------------------------------


OUTWARD = {
    "int": (8, 128),
    "big": (2**59, 2**61),
    "float": (0.25, 8.0),
    "decimal": (Decimal("0.02"), Decimal("5.12")),
    "date": (dt.date(1970, 1, 1) - dt.timedelta(512), dt.date(2059, 9, 19)),
    "span": (dt.timedelta(0, 0, -(2**20)), dt.timedelta(0, 0, 2**20)),
}


@pytest.mark.parametrize(
    ("make", "name"), [case for case in TYPED if case[1] in OUTWARD], indirect=["make"]
)
def test_bounds_are_one_power_outward(make, name):
    expected = OUTWARD[name]
    found = private(make(TABLE.select([name]))).bounds(name, 1000)
    assert (
        tuple(found) == (found.lower, found.upper) == (found[0], found[1]) == expected
    )
    assert len(found) == 2
    assert found.to_arrow().to_pydict() == {
        "lower": [expected[0]],
        "upper": [expected[1]],
    }
    assert [type(end) for end in found] == [type(end) for end in expected]


@pytest.mark.parametrize("name", ["datetime", "zoned"])
def test_bounds_of_moments_enclose_them(make, name):
    values = KINDS[name][0]
    people = private(make(TABLE.select([name])))
    found = people.bounds(name, 1000)
    assert found.lower < values[0] <= values[-1] < found.upper
    assert found.lower.tzinfo == values[0].tzinfo
    mean = people.mean(name, 500, bounds=found)
    assert found.lower < mean.value < found.upper


def test_bounds_serve_every_verb():
    people = private(TABLE)
    found = people.bounds("int", 1000)
    assert people.sum("int", 500, bounds=found).value == pytest.approx(
        200 * 150, abs=99
    )
    assert people.median("int", 500, bounds=found).value == 40
    groups = people.group_by("key", keys=["x", "y"])
    assert groups.median("int", 500, bounds=found)["median"].tolist() == [40, 40]
    assert isinstance(
        people.trimmed_mean("int", 1, bounds=found, trim=0.1), dpf.SmoothRelease
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0] * 300, (-1, 1)),
        ([-5] * 300, (-8, -2)),
        ([-1] * 300, (-2, 0)),
        ([2**63 - 1] * 300, (2**61, 2**62)),
        ([-(2**63)] * 300, (-(2**62), -(2**61))),
        ([None] * 100 + [3] * 300, (1, 4)),
    ],
)
def test_bounds_of_whole_numbers(values, expected):
    people = private(pl.DataFrame({"n": pl.Series(values, dtype=pl.Int64)}))
    assert tuple(people.bounds("n", 1000)) == expected


def test_bounds_of_floats_reach_far():
    values = [0.0, 1e-310, math.nan, None] * 50 + [math.inf] * 100 + [1e300] * 100
    people = private(pl.DataFrame({"x": values}))
    lower, upper = people.bounds("x", 1000)
    assert (lower, upper) == (-(2.0**-1000), 2.0**1000)
    assert 0 <= people.median("x", 500, bounds=(lower, upper)).value <= upper


def test_coverage_is_between_0_and_1_and_leaves_rows_out():
    people = private(
        pl.DataFrame({"n": [1] * 100 + [1000] * 800 + [10**6] * 100}), epsilon=50
    )
    assert tuple(people.bounds("n", 9, coverage=0.5)) == (256, 1024)
    for coverage in (0, 1, -1, 2, "nan", None):
        with pytest.raises(dpf.ParameterError, match="coverage"):
            people.bounds("n", 1, coverage=coverage)


def test_bounds_count_what_units_have():
    """Rows without a value take no place; a unit without max_rows is refused."""
    frame = pl.DataFrame({"person": [1] * 40, "n": [None] * 39 + [5]})
    people = private(frame, unit=dpf.Unit("person", max_rows=1), epsilon=50)
    assert people.bounds("n", 1).loss.epsilon == 1
    with pytest.raises(dpf.ParameterError, match="max_rows"):
        private(frame, unit=dpf.Unit("person"), epsilon=50).bounds("n", 1)


def test_what_bounds_cost():
    for session, loss, rule in [
        ({"epsilon": 9}, dpf.PrivacyLoss(Fraction(1)), "permute_and_flip"),
        (
            {"epsilon": None, "rho": 9},
            dpf.PrivacyLoss(rho=Fraction(1, 16)),
            "exponential",
        ),
    ]:
        release = private(TABLE, **session).bounds("int", 1)
        assert release.loss == loss
        law = OrderedChoice(Fraction(1, 2), 99, rule)
        assert [choice.law for choice in release.choices] == [law, law]
        assert release.rank_error() == pytest.approx(
            2 * 0.99 * 2 * math.log(127 / 0.025)
        )


# -- refusals --------------------------------------------------------------------------

WRONG, TO_9 = dpf.ParameterError, {"bounds": (0, 9)}
BAD = [
    (lambda p: p.median("int", 1), dpf.DomainError, "bounds"),
    (lambda p: p.median("nt", 1, **TO_9), dpf.ColumnNotFoundError, "'int'"),
    (lambda p: p.median("text", 1, **TO_9), WRONG, "numbers"),
    (lambda p: p.median("int", 1, bounds=(9, 0)), WRONG, "9"),
    (lambda p: p.median("int", 1, bounds=(0, math.inf)), WRONG, "finite"),
    (lambda p: p.median("int", 1, bounds=(0, 2**63)), WRONG, "2\\*\\*62"),
    (lambda p: p.median("int", 0, **TO_9), WRONG, "positive"),
    (lambda p: p.median("int", **TO_9), WRONG, "default_epsilon"),
    (lambda p: p.median("int", 99, **TO_9), dpf.BudgetExceededError, "epsilon"),
    (lambda p: p.median("int", 1, **TO_9, per="unit"), WRONG, "unit"),
    (lambda p: p.median("int", 1, **TO_9, per="all"), WRONG, "per"),
    (lambda p: p.median("int", 1, **TO_9, label=""), WRONG, "label"),
    (lambda p: p.median("date", 1, **TO_9), WRONG, "dates"),
    (lambda p: p.quantile("int", 1.5, 1, **TO_9), WRONG, "0 and 1"),
    (lambda p: p.quantile("int", -0.1, 1, **TO_9), WRONG, "0 and 1"),
    (lambda p: p.quantile("int", "x", 1, **TO_9), WRONG, "q must"),
    (lambda p: p.quantile("int", True, 1, **TO_9), WRONG, "q must"),
    (lambda p: p.quantile("int", None, 1, **TO_9), WRONG, "q must"),
    (lambda p: p.quantile("int", [], 1, **TO_9), WRONG, "q must list"),
    (lambda p: p.quantile("int", [0.5, "1/2"], 1, **TO_9),
     WRONG, "each once"),
    (lambda p: p.quantile("int", [0.5, 2], 1, **TO_9), WRONG, "0 and"),
    (lambda p: p.median("int", 1, **TO_9, method="laplace"),
     WRONG, "'exponential' or 'smooth'; got 'laplace'"),
    (lambda p: p.median("int", 1, **TO_9, beta=0.1),
     WRONG, "method='smooth'"),
    (lambda p: p.iqr("int", 1, **TO_9, delta=1e-6),
     WRONG, "method='smooth'"),
    (lambda p: p.quantile("int", [0.5], 1, **TO_9, method="smooth"),
     WRONG, "one q"),
    (lambda p: p.bounds("text", 1), WRONG, "'text'"),
    (lambda p: p.bounds("bool", 1), WRONG, r"\(0, 1\)"),
    (lambda p: p.bounds("nt", 1), dpf.ColumnNotFoundError, "'int'"),
    (lambda p: p.group_by("key", keys=["x"]).agg(1, m=dpf.agg.median("int")),
     dpf.DomainError, "bounds"),
    (lambda p: p.group_by("key", keys=["x"]).quantile("int", 7, 1, **TO_9),
     WRONG, "0 and 1"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(BAD)))
def test_bad_input_costs_nothing(make, case):
    ask, error, said = BAD[case]
    session = dpf.Session(20, unit="row")
    people = dpf.private(
        make(TABLE.select(["int", "text", "bool", "date", "key"])), session
    )
    with pytest.raises(error, match=said):
        ask(people)
    assert session.charges == ()


def test_agg_takes_one_q():
    with pytest.raises(dpf.ParameterError, match=r"\.quantile\(\.\.\.\)"):
        dpf.agg.quantile("int", [0.1, 0.9])
    assert repr(dpf.agg.quantile("int", "1/3")) == "agg.quantile('int', 0.333333)"


def test_units_need_bounds():
    frame = TABLE.select(["int", "person", "key"])
    with pytest.raises(dpf.ParameterError, match="max_rows"):
        private(frame, unit=dpf.Unit("person")).median("int", 1, bounds=(0, 9))
    groups = private(frame, unit=dpf.Unit("person", max_rows=2)).group_by(
        "key", keys=["x"]
    )
    groups.median("int", 1, bounds=(0, 9))
    with pytest.raises(dpf.ParameterError, match="max_groups"):
        groups.median("int", 1, bounds=(0, 9), per="unit")


def test_floats_of_numpy_are_read_as_fractions():
    people = private(TABLE, epsilon=50)
    table = people.quantile("int", np.linspace(0, 1, 7), 1, bounds=(0, 120))
    assert table.answers[0].q == tuple(Fraction(i, 6) for i in range(7))
    assert table.keys == [i / 6 for i in range(7)]


def test_smooth_answers_are_smooth_releases():
    people = private(TABLE, epsilon=50)
    for release in (
        people.median("int", 1, bounds=(0, 120), method="smooth"),
        people.quantile("int", 0.9, 1, bounds=(0, 120), method="smooth", beta=0.1),
        people.iqr("int", 1, bounds=(0, 120), method="smooth", interval=True,
                   epsilon_interval=1),
    ):  # fmt: skip
        assert isinstance(release, dpf.SmoothRelease)
        assert 0 <= release.value <= 120
