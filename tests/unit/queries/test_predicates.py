from __future__ import annotations

import copy
import json
import math
import pickle
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpframe as dpf
from dpframe.errors import ParameterError
from dpframe.queries.predicates import Condition, Predicate

c = dpf.col


def test_texts():
    texts = {
        "age >= 40": c("age") >= 40,
        "sex == 'Female'": c("sex") == "Female",
        "x != 2.5": c("x") != Decimal("2.5"),
        "`hours-per-week` < 3": c("hours-per-week") < 3,
        "day <= 2024-01-31": c("day") <= date(2024, 1, 31),
        "t > 2024-01-31 10:00:00+00:00": c("t") > datetime(2024, 1, 31, 10, tzinfo=UTC),
        "d == 1:00:00": c("d") == timedelta(hours=1),
        "job in ['a', 'b']": c("job").is_in(["a", "b", "a"]),
        "n in [0, 1, 2, 3, 4, 5, 6, 7, …]": c("n").is_in(range(9)),
        "job is null": c("job").is_null(),
        "~(job is null)": c("job").is_not_null(),
        "~married": ~c("married"),
        "(age >= 17) & (age <= 40)": c("age").between(17, 40),
        "married & ~(age >= 3)": c("married") & ~(c("age") >= 3),
        "(age >= 3) | married": (c("age") >= 3) | c("married"),
        "a & b": c("a") & c("b"),
        "a & b & c": c("a") & (c("b") & c("c")),
        "(a | b) & c": (c("a") | c("b")) & c("c"),
    }
    assert {repr(predicate): text for text, predicate in texts.items()} == {
        text: text for text in texts
    }


def test_not_of_not_is_the_thing_itself():
    assert ~~(c("a") > 1) == (c("a") > 1)
    assert repr(~~c("a")) == "a"


def test_reflected_comparison_is_the_same_query():
    assert (40 <= c("age")) == (c("age") >= 40)  # noqa: SIM300
    assert ("a" == c("x")) == (c("x") == "a")  # noqa: SIM300


def test_predicates_are_values():
    first, second = (c("a") > 1) & c("b"), (c("a") > 1) & c("b")
    assert first == second
    assert hash(first) == hash(second)
    assert first != (c("a") > 2) & c("b")
    assert len({first, second, c("a") == 1}) == 2
    assert pickle.loads(pickle.dumps(first)) == first
    assert copy.deepcopy(first) == first
    with pytest.raises(AttributeError):
        first.every = False


def test_columns_are_listed_once_in_order():
    query = (c("b") > 1) & (c("a") == "x") & ~c("b").is_null()
    assert query.columns == ("b", "a")
    assert c("a").is_true().columns == ("a",)


def test_values_become_plain():
    for value in (np.int64(3), np.float32(3), Decimal(3), 3):
        (exact,) = (c("x") == value).conditions[0].values
        assert exact == 3
        assert type(exact) in (int, float, Decimal)
    (moment,) = (
        (c("x") >= pd.Timestamp("2024-01-01", tz="Asia/Tokyo")).conditions[0].values
    )
    assert moment == datetime(2023, 12, 31, 15, tzinfo=UTC)
    assert type(moment) is datetime


def test_description_is_json():
    query = (c("d") > date(2024, 1, 1)) & ~c("x").is_in([1.5, math.inf]) | c("b")
    described = query.describe()
    assert json.loads(json.dumps(described)) == described
    assert described == {
        "any": [
            {
                "all": [
                    {"column": "d", "test": ">", "values": [{"date": "2024-01-01"}]},
                    {
                        "not": {
                            "column": "x",
                            "test": "in",
                            "values": [1.5, {"float": "inf"}],
                        }
                    },
                ]
            },
            {"column": "b", "test": "true", "values": []},
        ]
    }


@pytest.mark.parametrize(
    "truth",
    [
        lambda: bool(c("a") > 1),
        lambda: bool(c("a")),
        lambda: (c("a") > 1) and (c("b") > 1),
        lambda: not (c("a") > 1),
        lambda: 1 < c("a") < 5,
        lambda: 5 if c("a") == 1 else 6,
    ],
)
def test_a_query_has_no_truth(truth):
    with pytest.raises(TypeError, match=r"& \(and\).*between"):
        truth()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: c(3), "column name"),
        (lambda: c("a") == None, "is_null"),  # noqa: E711
        (lambda: c("a") != math.nan, "is_null"),
        (lambda: c("a") == pd.NaT, "is_null"),
        (lambda: c("a") >= None, "is_null"),
        (lambda: c("a").is_in(["x", None]), "is_null"),
        (lambda: c("a").is_in("xy"), "must be a list"),
        (lambda: c("a").is_in({"x", "y"}), "must be a list"),
        (lambda: c("a").is_in([1, "x"]), "one kind"),
        (lambda: c("a") == c("b"), "one public value.*<Column>"),
        (lambda: c("a") == pl.col("b"), "one public value.*<Expr>"),
        (lambda: c("a") == pl.Series([4711]), "one public value.*<Series>"),
        (lambda: c("a") == b"x", "one public value"),
        (lambda: c("a") == [1, 2], "one public value"),
        (lambda: c("a") < "x", r"text has no order.*is_in"),
        (lambda: c("a").between("a", "b"), r"text has no order.*is_in"),
        (lambda: c("a") < True, "must be numbers"),
        (lambda: c("a").between(40, 17), "40 is above 17"),
        (lambda: c("a").between(1, date(2024, 1, 1)), "one kind"),
        (lambda: c("a") & "b", "in brackets"),
    ],
)
def test_wrong_arguments_say_what_to_type(wrong, message):
    with pytest.raises(ParameterError, match=message) as caught:
        wrong()
    assert "4711" not in str(caught.value)


def test_a_predicate_joins_queries_alone():
    with pytest.raises(TypeError, match="unsupported operand"):
        (c("a") > 1) & "b"


def test_a_column_is_fixed_and_not_hashable():
    with pytest.raises(AttributeError, match="fixed"):
        c("a").name = "b"
    with pytest.raises(TypeError, match="unhashable"):
        hash(c("a"))
    assert repr(copy.deepcopy(c("a"))) == "col('a')"


def test_long_chains_stay_flat():
    chain: Predicate = c("a") == 0
    for i in range(1, 5000):
        chain = chain | (c("a") == i)
    assert len(chain.conditions) == 5000
    assert repr(chain).count("|") == 4999


#: value of a, value of b -> a & b, a | b; None is unknown.
KLEENE = {
    (True, True): (True, True),
    (True, False): (False, True),
    (True, None): (None, True),
    (False, False): (False, False),
    (False, None): (False, None),
    (None, None): (None, None),
}


@pytest.mark.parametrize("outcome", [True, False])
def test_three_valued_logic(outcome):
    pairs = [p for pair in KLEENE for p in (pair, pair[::-1])]
    columns = {"a": [a for a, _ in pairs], "b": [b for _, b in pairs]}

    def masks(condition: Condition, wanted: bool) -> np.ndarray:
        return np.array([value is wanted for value in columns[condition.column]])

    def expected(which: int) -> list[bool]:
        joined = [KLEENE.get(p) or KLEENE[p[::-1]] for p in pairs]
        return [both[which] is outcome for both in joined]

    both, either = c("a") & c("b"), c("a") | c("b")
    assert both.where(masks, outcome).tolist() == expected(0)
    assert either.where(masks, outcome).tolist() == expected(1)
    assert (~both).where(masks, not outcome).tolist() == expected(0)
    assert (~either).where(masks, not outcome).tolist() == expected(1)
