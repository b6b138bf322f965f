from __future__ import annotations

import copy
import json
import pickle
from math import comb

import numpy as np
import polars as pl
import pytest

import dpframe as dpf
from dpframe.errors import ParameterError
from dpframe.queries.blocks import Marginal, SumBy
from dpframe.queries.workload import Workload, as_workload

c = dpf.col


def test_marginals_are_all_choices_of_columns():
    names = ["a", "b", "c", "d"]
    for degree in range(1, 5):
        found = dpf.marginals(names, degree)
        assert len(found) == comb(4, degree)
        assert len({query.columns for query in found}) == len(found)
    assert [q.columns for q in dpf.marginals(names, 2)][:3] == [
        ("a", "b"),
        ("a", "c"),
        ("a", "d"),
    ]
    assert list(dpf.marginals(names)) == [Marginal(("a", "b", "c", "d"))]
    assert dpf.marginals("a") == dpf.marginals(["a"], degree=1)


def test_a_workload_is_a_sequence():
    first = dpf.marginals(["a", "b", "c"], 2)
    second = first + [c("a") > 1] + dpf.weights({"a": [1, 0]}) + "b"
    assert len(second) == 6
    assert second[:3] == first
    assert second[-1] == Marginal(("b",))
    assert isinstance(second[::2], Workload)
    assert next(reversed(second)) == Marginal(("b",))
    assert (c("a") > 1) in second
    before = [c("a") > 1]
    assert before + first == Workload([*before, *first])
    assert hash(second) == hash(Workload(second))
    assert first != second
    assert first != list(first)
    assert second.columns == ("a", "b", "c")
    assert pickle.loads(pickle.dumps(second)) == second
    assert copy.deepcopy(second) == second
    with pytest.raises(AttributeError, match="fixed"):
        first._queries = ()


def test_what_queries_may_be():
    one = Workload([Marginal(("topic",))])
    assert as_workload("topic") == one
    assert as_workload(["topic"]) == one
    assert as_workload(("topic",)) == one
    assert as_workload(one) is one
    assert as_workload(c("a") > 1) == Workload([c("a") > 1])
    assert as_workload(c("flag")) == Workload([c("flag").is_true()])
    joined = as_workload([dpf.cdf("a"), [c("b") > 1, dpf.ranges("a")], "x"])
    assert len(joined) == 4
    assert as_workload(c("a") == i for i in range(3)) == Workload(
        [c("a") == i for i in range(3)]
    )


@pytest.mark.parametrize(
    "wrong",
    [
        3,
        None,
        np.array([1, 2]),
        pl.Series([4711]),
        pl.col("a") > 3,
        lambda row: True,
        {"a": 1},
        [1.5, 2.5],
        b"topic",
    ],
)
def test_other_queries_are_refused(wrong):
    with pytest.raises(ParameterError, match="column name, a query") as caught:
        as_workload(wrong)
    assert "4711" not in str(caught.value)


def test_an_empty_list_is_refused():
    for empty in ([], (), Workload([]), [[]]):
        with pytest.raises(ParameterError, match="list of queries is empty"):
            as_workload(empty)


def test_texts():
    queries = {
        "marginal of sex, `a b`": Marginal(("sex", "a b")),
        "cdf of age": dpf.cdf("age")[0],
        "ranges of age": dpf.ranges("age")[0],
        "sum of pay by sex, race": dpf.sum_by(["sex", "race"], "pay"),
        "sum of pay": dpf.sum_by([], "pay"),
        "rows weighted by a, b": dpf.weights({"a": [1], "b": [0]}),
    }
    for text, query in queries.items():
        assert repr(query) == text
    assert repr(Workload(list(queries.values()))).splitlines() == [
        "Workload of 6 queries:",
        *(f"  {text}" for text in list(queries)[:5]),
        "  …",
    ]
    assert repr(Workload([])) == "Workload of 0 queries"


def test_description_is_json():
    queries = Workload(
        [
            *dpf.marginals(["a", "b"], 1),
            dpf.cdf("a"),
            dpf.ranges("a"),
            dpf.weights({"a": [0.5, np.float64(1)]}),
            dpf.sum_by("a", "x", bounds=(0, 5), keys=["p", "q"]),
            dpf.sum_by(["a", "b"], "x", keys=[("p", 1), ("q", 2)]),
            dpf.sum_by(["a", "b"], "x", keys={"a": ["p"], "b": [1, 2]}),
        ]
    )
    described = queries.describe()
    assert json.loads(json.dumps(described)) == described
    assert len({json.dumps(d) for d in described}) == len(described)


def test_sum_by_reads_its_arguments():
    found = dpf.sum_by("topic", "bytes", bounds=(0, 100))
    assert found == SumBy(("topic",), "bytes", (0, 100))
    assert found.columns == ("topic", "bytes")
    assert dpf.sum_by(["bytes"], "bytes").columns == ("bytes",)
    assert dpf.sum_by([], "bytes").columns == ("bytes",)
    keyed = dpf.sum_by("topic", "bytes", keys=np.array([1, 2]))
    assert keyed.keys == (1, 2)
    assert type(keyed.keys[0]) is int


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: dpf.marginals([]), "at least one column"),
        (lambda: dpf.marginals(["a", "a"]), "'a' twice"),
        (lambda: dpf.marginals([1]), "column name"),
        (lambda: dpf.marginals(["a", "b"], 3), "from 1 to 2"),
        (lambda: dpf.marginals(["a", "b"], 0), "from 1 to 2"),
        (lambda: dpf.marginals(["a", "b"], True), "from 1 to 2"),
        (lambda: dpf.marginals(["a", "b"], 1.0), "from 1 to 2"),
        (lambda: dpf.marginals([f"x{i}" for i in range(60)], 30), "too many"),
        (lambda: dpf.cdf(["a"]), "column name"),
        (lambda: dpf.ranges(3), "column name"),
        (lambda: dpf.weights({}), "dictionary"),
        (lambda: dpf.weights([1]), "dictionary"),
        (lambda: dpf.weights({"a": [1.5]}), "from 0 to 1"),
        (lambda: dpf.weights({"a": [float("nan")]}), "from 0 to 1"),
        (lambda: dpf.weights({"a": ["x"]}), "from 0 to 1"),
        (lambda: dpf.weights({"a": 1}), "must be a list"),
        (lambda: dpf.weights({1: [1]}), "column name"),
        (lambda: dpf.sum_by("a", 3), "column name"),
        (lambda: dpf.sum_by("a", "x", bounds=(5, 0)), "swapped"),
        (lambda: dpf.sum_by("a", "x", bounds=3), "pair"),
        (lambda: dpf.sum_by([], "x", keys=["a"]), "has none"),
        (lambda: dpf.sum_by("a", "x", keys="ab"), "must be a list"),
        (lambda: dpf.sum_by("a", "x", keys=[["b"]]), "keys must be text.*got list"),
        (lambda: dpf.sum_by("a", "x", keys={"a": [{}]}), "keys must be text.*got dict"),
        (lambda: dpf.sum_by(["a", "b"], "x", keys=[(1, [2])]), "keys must be text"),
    ],
)
def test_wrong_arguments_say_what_to_type(wrong, message):
    with pytest.raises(ParameterError, match=message):
        wrong()
