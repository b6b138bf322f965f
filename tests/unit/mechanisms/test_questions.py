from __future__ import annotations

import json
import math
from datetime import date, datetime, timedelta
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpframe as dpf
from dpframe.domain.schema import ColumnType
from dpframe.engines.ingest import ingest
from dpframe.errors import ColumnNotFoundError, DomainError, ParameterError
from dpframe.mechanisms.counting import Table, count_true
from dpframe.mechanisms.questions import resolve
from dpframe.mechanisms.request import Setting
from dpframe.mechanisms.tabulation import Tabulation
from dpframe.privacy.accountants import open_accountant
from dpframe.privacy.unit import ROW, Unit
from dpframe.queries.blocks import Cell, Marginal
from dpframe.queries.reduction import Reduction

FRAME = pl.DataFrame(
    {
        "who": [1, 1, 2],
        "sex": ["F", "M", "F"],
        "age": [17, 40, 20],
        "pay": [0.5, 2.0, 9.0],
        "flag": [True, False, None],
        "day": [date(2024, 1, 1)] * 3,
        "t": [datetime(2024, 1, 1)] * 3,
        "span": [timedelta(1)] * 3,
        "price": pl.Series(["1.25", "2", "3"], dtype=pl.Decimal(10, 2)),
        "tags": [["a"], [], ["b"]],
    }
)
DOMAIN = dpf.Domain(
    {
        "sex": ["F", "M"],
        "age": dpf.integers(17, 20),
        "pay": dpf.edges([0, 1, 10]),
        "price": dpf.bounds(0, 10),
        "big": dpf.integers(0, 10**5),
    },
    other=["sex"],
)
TWO = Unit("who", max_rows=2)
c = dpf.col


def setting(unit=ROW, neighboring="add_remove", domain=DOMAIN):
    return Setting(unit, neighboring, open_accountant(1), domain)


def ask(queries, frame=FRAME, *, unit=ROW, neighboring="add_remove", **cells):
    schema = ingest(frame).schema
    return resolve(queries, setting(unit, neighboring), schema, **cells)


def answers(questions, frame=FRAME):
    return questions.answers(questions.reduce(ingest(frame)).reveal())


def test_one_block_of_cells_is_a_group_by_and_a_list_one_tabulation():
    for block in ("sex", dpf.marginals(["sex", "age"]), dpf.sum_by("sex", "age")):
        assert isinstance(ask(block).plan, Reduction)
    for queries in (
        ["sex", "age"],
        [c("age") > 1],
        dpf.cdf("age"),
        "sex" + dpf.cdf("age"),
    ):
        plan = ask(queries).plan
        assert isinstance(plan, Tabulation)
    assert [s.column for s in plan.crosstab.splits] == ["sex", "age"]


def test_a_column_of_keys():
    questions = ask("sex")
    assert (questions.size, questions.grid, questions.l1) == (3, 1, 1)
    assert questions.listing.label(0) == "F"
    assert questions.key_types == (ColumnType("text"),)
    assert questions.columns == ("sex",)
    assert answers(questions).tolist() == [2, 1, 0]
    assert answers(ask("sex", keys=["M", "X"])).tolist() == [1, 0]
    assert answers(ask("age", bins=[0, 18, 99])).tolist() == [1, 2]
    assert answers(ask("flag")).tolist() == [1, 1]
    cells = ask(dpf.marginals(["sex", "age"]), keys=[("F", 17), ("M", 3)])
    assert answers(cells).tolist() == [1, 0]


def test_no_keys_have_no_answers():
    questions = ask("sex", keys=[])
    assert (questions.size, questions.sensitivity) == (0, 1)
    assert answers(questions).tolist() == []


def test_a_list_has_no_key_types():
    questions = ask(["sex", c("age") > 17])
    assert questions.key_types is None
    assert questions.listing.keys is None
    assert isinstance(questions.listing.label(0), Cell)
    assert answers(questions).tolist() == [2, 1, 0, 2]
    assert answers(questions).dtype == np.int64


def test_grids():
    assert ask([dpf.sum_by([], "pay", bounds=(0, 8))]).grid == Fraction(1, 2**27)
    assert ask([dpf.sum_by([], "price")]).grid == Fraction(1, 100)
    assert ask([dpf.weights({"sex": [1, 1, 1]})]).grid == Fraction(1, 2**20)
    mixed = ask([dpf.sum_by([], "price"), dpf.weights({"sex": [1, 1, 1]}), "sex"])
    assert mixed.grid == Fraction(1, 25 * 2**20)
    assert mixed.sensitivity == 10 / mixed.grid
    found = answers(mixed) * mixed.grid
    assert found.tolist() == [Fraction("6.25"), 3, 2, 1, 0]


def test_a_constant_sum_has_a_sensitivity_too():
    questions = ask([dpf.sum_by([], "age", bounds=(0, 0))])
    assert (questions.sensitivity, questions.sign, questions.l1) == (1, 1, 1)
    assert answers(questions).tolist() == [0]


def test_answers_are_clamped_without_overflow():
    huge = pl.DataFrame({"x": [2**62, 2**62, 2**62], "k": ["a", "a", "b"]})
    wide = dpf.sum_by("k", "x", bounds=(-(2**62), 2**62), keys=["a", "b"])
    for queries in (wide, [wide, c("k") == "a"]):
        assert answers(ask(queries, huge), huge)[:2].tolist() == [2**60, 2**60]
    # A step so small that not one row can be told in 2**60 of them.
    tiny = [dpf.sum_by([], "pay", bounds=(0, 1e-300)), c("age") > 0]
    assert answers(ask(tiny)).tolist() == [33, 0]


def test_descriptions_are_json_and_tell_requests_apart():
    requests = [
        ask("sex"),
        ask("sex", keys=["F"]),
        ask("age", bins=[0, 9]),
        ask([c("age") > 17]),
        ask([c("age") > 18]),
        ask([c("age") > 17], neighboring="replace"),
        ask([c("age") > 17], unit=TWO),
        ask([*dpf.marginals("sex"), c("age") > 17]),
        ask([dpf.sum_by("sex", "pay", bounds=(0, 1))]),
        ask([dpf.sum_by("sex", "pay", bounds=(0, 2))]),
    ]
    texts = [json.dumps(request.describe(), sort_keys=True) for request in requests]
    assert len(set(texts)) == len(texts)
    assert texts[3] == json.dumps(ask([c("age") > 17]).describe(), sort_keys=True)


def test_a_unit_needs_its_rows_bounded():
    for queries in ("sex", [c("age") > 1], [dpf.sum_by([], "age")]):
        with pytest.raises(ParameterError, match="max_rows"):
            ask(queries, unit=Unit("who", max_groups=1))


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ([c("sex") > 3], r"sex > 3.*no order.*is_in"),
        ([c("flag") >= 1], r"no order"),
        ([c("sex") == 3], "kind 'text'.*values in the query.*kind 'number'"),
        ([c("age") == "x"], "kind 'integer'.*values in the query.*kind 'text'"),
        ([c("age") >= date(2024, 1, 1)], "kind 'integer'.*kind 'date'"),
        ([c("age").is_in([date(2024, 1, 1)])], "none would ever be counted"),
        ([c("day") == datetime(2024, 1, 1)], "kind 'datetime'"),
        ([c("t") == date(2024, 1, 1)], "kind 'date'"),
        ([c("t") >= pd.Timestamp("2024-01-01", tz="UTC")], "time zone"),
        ([c("age")], r"col\('age'\) alone.*kind 'integer'"),
        ([c("sex")], r"col\('sex'\) alone.*kind 'text'"),
        ([c("tags") == "a"], "nested"),
        ([c("tags").is_null()], "nested"),
        ([dpf.cdf("sex")], "needs cells with an order.*integers"),
        ([dpf.ranges("sex")], "needs cells with an order.*integers"),
        ([dpf.weights({"sex": [1, 1]})], "3 cells.*lists 2.*other cell last"),
        ([dpf.weights({"age": [1, 1, 1]})], "4 cells.*lists 3; .*their order.$"),
        ([dpf.sum_by([], "sex", bounds=(0, 1))], "column of numbers"),
        ([dpf.sum_by([], "day", bounds=(0, 1))], "no sum"),
        (
            [dpf.sum_by([], "span", bounds=(timedelta(0), timedelta(1)))],
            "durations.*seconds",
        ),
        ([dpf.sum_by("sex", "pay", bounds=(0, 1), keys=[3])], "kind 'number'"),
        ([Cell(Marginal(("sex",)), "X", "sex = 'X'")], "sex = 'X' names a cell"),
    ],
)
def test_queries_that_fit_nothing_are_refused(queries, message):
    with pytest.raises(ParameterError, match=message):
        ask(queries)


@pytest.mark.parametrize(
    ("queries", "error"),
    [
        ([c("absent") > 1], ColumnNotFoundError),
        (["absent"], ColumnNotFoundError),
        ([dpf.sum_by([], "absent")], ColumnNotFoundError),
        ([dpf.weights({"absent": [1]})], ColumnNotFoundError),
        (["who"], DomainError),
        ([dpf.weights({"who": [1]})], DomainError),
        ([dpf.cdf("price")], DomainError),
        ([dpf.sum_by([], "who")], DomainError),
    ],
)
def test_what_is_not_known_is_named(queries, error):
    with pytest.raises(error):
        ask(queries)


def test_keys_and_bins_go_with_one_column():
    for cells in ({"keys": ["F"]}, {"bins": [0, 1]}):
        for queries in (["sex", "age"], [c("age") > 1], dpf.sum_by("sex", "age")):
            with pytest.raises(ParameterError, match="declare the columns"):
                ask(queries, **cells)


def test_too_many_answers_are_refused():
    frame = FRAME.with_columns(big=pl.col("age"))
    with pytest.raises(ParameterError, match="5,000,150,001 answers"):
        ask(dpf.ranges("big"), frame)
    with pytest.raises(ParameterError, match="answers are more"):
        ask(["big"] * 700, frame)


# -- on the grid of a stream -------------------------------------------------------


def test_answers_move_to_the_grid_of_a_stream():
    fine = ask([c("age") > 17, "sex"]).on_grid(Fraction(1, 4), 4, True)
    assert (fine.grid, fine.sensitivity) == (Fraction(1, 4), 4)
    assert answers(fine).tolist() == [8, 8, 4, 0]
    keyed = ask("sex", unit=TWO).on_grid(Fraction(1, 2), 9, False)
    assert (keyed.sensitivity, answers(keyed).tolist()) == (9, [4, 2, 0])


@pytest.mark.parametrize(
    ("queries", "stream", "message"),
    [
        ([c("age") > 1], (Fraction(2), 1, True), "steps of 1,.*of 2.*grid='1'"),
        (
            [dpf.weights({"sex": [1, 1, 1]})],
            (Fraction(1), 1, True),
            "rows weighted by sex.*opened for steps of 1",
        ),
        (
            [dpf.sum_by([], "price")],
            (Fraction(1, 8), 800, True),
            "steps of 1/100.*grid='1/200'",
        ),
        (
            [dpf.sum_by([], "age")],
            (Fraction(1), 19, True),
            "one row may move sum of age by 20.*opened for 19",
        ),
        (
            [dpf.sum_by([], "age", bounds=(-1, 1))],
            (Fraction(1), 1, True),
            "sum of age down.*monotonic=False",
        ),
        (
            [dpf.sum_by([], "age", bounds=(-2, -1))],
            (Fraction(1), 2, True),
            "sum of age down.*monotonic=False",
        ),
    ],
)
def test_a_stream_refuses_what_it_was_not_opened_for(queries, stream, message):
    with pytest.raises(ParameterError, match=message):
        ask(queries).on_grid(*stream)


def test_sensitivity_of_a_stream_is_told_by_row():
    two = ask([dpf.sum_by([], "age")], unit=TWO)
    assert two.on_grid(Fraction(1), 40, True).sensitivity == 40
    with pytest.raises(ParameterError, match=r"by 20, and this was opened for 19\.5"):
        two.on_grid(Fraction(1), 39, True)


def test_nothing_is_monotone_under_replace():
    with pytest.raises(ParameterError, match="add_remove"):
        ask([c("age") > 1], neighboring="replace").on_grid(Fraction(1), 1, True)
    assert ask([c("age") > 1], neighboring="replace").on_grid(Fraction(1), 1, False)


# -- batches -----------------------------------------------------------------------


@pytest.mark.parametrize("cells", [1, 8, 2**16])
def test_batches_of_any_size_count_alike(cells, monkeypatch):
    monkeypatch.setattr("dpframe.mechanisms.counting._BATCH_CELLS", cells)
    merged, sizes = Table.merged, []

    def recorded(table, maps):
        sizes.append(math.prod(size for _, size in maps.values()))
        return merged(table, maps)

    monkeypatch.setattr(Table, "merged", recorded)
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "x": rng.integers(0, 50, 500),
            "y": [None if v < -1 else float(v) for v in rng.normal(size=500)],
            "s": rng.choice(list("abcd"), 500),
        }
    )
    queries, expected = [], []
    for i in range(60):
        queries.append((c("x") >= i) & ~(c("y") > i / 60) | (c("s") == "abcd"[i % 4]))
        native = (pl.col("x") >= i) & ~(pl.col("y") > i / 60)
        native = native.fill_null(False) | (pl.col("s") == "abcd"[i % 4])
        expected.append(frame.filter(native).height)
        queries.append(c("s").is_in(["a", "c"]) if i % 2 else c("x") < i)
        other = pl.col("s").is_in(["a", "c"]) if i % 2 else pl.col("x") < i
        expected.append(frame.filter(other).height)
    assert answers(ask(queries, frame), frame).tolist() == expected
    assert max(sizes, default=0) <= cells
    assert bool(sizes) == (cells > 1)


def test_batches_are_merged_before_they_are_counted(monkeypatch):
    sizes = []
    merged = Table.merged

    def recorded(table, maps):
        narrow = merged(table, maps)
        sizes.append((len(table.rows), len(narrow.rows)))
        return narrow

    monkeypatch.setattr(Table, "merged", recorded)
    frame = pl.DataFrame({"x": range(1000), "y": range(1000)})
    queries = [(c("x") > i) & (c("y") > i) for i in range(8)]
    queries += [c("x") > i for i in range(900)]
    found = answers(ask(queries, frame), frame)
    assert found[8:].tolist() == [999 - i for i in range(900)]
    assert sizes[0] == (901, 9)


def test_no_predicates_count_nothing():
    table = Table({}, np.zeros(0))
    assert count_true([], table, {}, {}).tolist() == []


def test_weighted_counts_leave_other_columns_out():
    rng = np.random.default_rng(6)
    frame = pl.DataFrame({"a": rng.integers(0, 3, 400), "b": rng.integers(0, 50, 400)})
    domain = dpf.Domain({"a": dpf.integers(0, 2), "b": dpf.integers(0, 49)})
    tables = [rng.random(3).tolist() for _ in range(5)]
    queries = [dpf.weights({"a": table}) for table in tables]
    queries.append(dpf.weights({"a": tables[0], "b": rng.random(50).tolist()}))
    schema = ingest(frame).schema
    alone = [resolve([q], setting(domain=domain), schema) for q in queries]
    together = resolve(queries, setting(domain=domain), schema)
    expected = [int(answers(one, frame)[0]) for one in alone]
    assert answers(together, frame).tolist() == expected
    counts = np.bincount(frame["a"], minlength=3)
    steps = [[math.floor(w * 2**20 + 0.5) for w in table] for table in tables]
    assert expected[:5] == [int(np.dot(counts, one)) for one in steps]
