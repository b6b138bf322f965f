"""Predicates on cells, against the values that the cells hold."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest

import dpframe as dpf
from dpframe.errors import DomainError, ParameterError
from dpframe.models.conditions import mask

COL = dpf.col

DOMAIN = dpf.Domain(
    {
        "sex": ["F", "M"],
        "married": bool,
        "age": dpf.integers(17, 20),
        "size": [10, 20, None],
        "pay": dpf.edges([0, 10, 50, 100]),
        "month": dpf.dates("2024-01-01", "2024-03-31", every="1mo"),
        "when": dpf.edges(
            [datetime(2024, 1, 1), datetime(2024, 1, 2), datetime(2024, 2, 1)]
        ),
    }
)
OTHER = dpf.Domain({"sex": ["F", "M"], "age": dpf.integers(17, 18)}, other=True)


def cells(predicate, domain=DOMAIN):
    return mask(predicate, domain, predicate.columns).astype(int).tolist()


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (COL("sex") == "F", [1, 0]),
        (COL("sex") != "F", [0, 1]),
        (COL("sex").is_in(["M", "F"]), [1, 1]),
        (COL("sex").is_null(), [0, 0]),
        (COL("married").is_true(), [0, 1]),
        (~COL("married"), [1, 0]),
        (COL("married") == True, [0, 1]),  # noqa: E712
        (COL("age") >= 18, [0, 1, 1, 1]),
        (COL("age") > 18, [0, 0, 1, 1]),
        (COL("age") < 18, [1, 0, 0, 0]),
        (COL("age") <= 18, [1, 1, 0, 0]),
        (COL("age") >= 18.5, [0, 0, 1, 1]),
        (COL("age") > 18.5, [0, 0, 1, 1]),
        (COL("age") <= Decimal("18.5"), [1, 1, 0, 0]),
        (COL("age").between(18, 19), [0, 1, 1, 0]),
        (COL("age") == 19, [0, 0, 1, 0]),
        (COL("age") != 19, [1, 1, 0, 1]),
        (COL("age").is_in([17, 20.0]), [1, 0, 0, 1]),
        (COL("age") >= 99, [0, 0, 0, 0]),
        (COL("age") < float("inf"), [1, 1, 1, 1]),
        (COL("age") > -(10**30), [1, 1, 1, 1]),
        (COL("size") == 10, [1, 0, 0]),
        (COL("size") != 10, [0, 1, 0]),  # the missing value is neither
        (~(COL("size") == 10), [0, 1, 0]),
        (COL("size").is_null(), [0, 0, 1]),
        (COL("size").is_not_null(), [1, 1, 0]),
        (COL("size") > 12.5, [0, 1, 0]),
        (COL("size") <= 10, [1, 0, 0]),
        (COL("pay") >= 10, [0, 1, 1]),
        (COL("pay") < 10, [1, 0, 0]),
        (COL("pay") >= 0, [1, 1, 1]),
        (COL("pay") < -3, [0, 0, 0]),
        (COL("pay") > -3, [1, 1, 1]),
        (COL("pay") <= 100, [1, 1, 1]),  # the last bin is closed
        (COL("pay") > 100, [0, 0, 0]),
        (COL("pay") > 1000, [0, 0, 0]),
        (COL("pay") <= 1000, [1, 1, 1]),
        (COL("pay").is_null(), [0, 0, 0]),
        (COL("month") >= date(2024, 2, 1), [0, 1, 1]),
        (COL("month") <= date(2024, 1, 31), [1, 0, 0]),
        (COL("month") > date(2024, 2, 29), [0, 0, 1]),
        (COL("month") <= date(2024, 3, 31), [1, 1, 1]),
        (COL("month") < date(2024, 4, 1), [1, 1, 1]),
        (COL("month") < datetime(2024, 2, 1), [1, 0, 0]),
        (COL("when") >= date(2024, 1, 2), [0, 1]),
        (COL("when") <= date(2024, 1, 1), [1, 0]),
        (COL("when") < datetime(2024, 1, 2), [1, 0]),
    ],
    ids=repr,
)
def test_one_column(predicate, expected):
    assert cells(predicate) == expected


def test_several_columns():
    predicate = (COL("sex") == "F") & ((COL("age") >= 19) | (COL("size") == 20))
    found = mask(predicate, DOMAIN, ("sex", "age", "size"))
    assert found.shape == (2, 4, 3)
    for i, sex in enumerate("FM"):
        for j, age in enumerate(range(17, 21)):
            for k, size in enumerate([10, 20, None]):
                assert found[i, j, k] == (sex == "F" and (age >= 19 or size == 20))


def test_kleene_logic_over_a_missing_value():
    for predicate, expected in [
        ((COL("size") == 10) | (COL("sex") == "F"), [[1, 1], [1, 0], [1, 0]]),
        ((COL("size") == 10) & (COL("sex") == "F"), [[1, 0], [0, 0], [0, 0]]),
        (~((COL("size") == 10) & (COL("sex") == "F")), [[0, 1], [1, 1], [0, 1]]),
    ]:
        assert cells(predicate) == expected


def test_the_other_cell_is_missing():
    assert cells(COL("sex") == "F", OTHER) == [1, 0, 0]
    assert cells(~(COL("sex") == "F"), OTHER) == [0, 1, 0]
    assert cells(COL("sex").is_null(), OTHER) == [0, 0, 1]
    assert cells(COL("age") >= 17, OTHER) == [1, 1, 0]
    assert cells(COL("age") < 18, OTHER) == [1, 0, 0]


@pytest.mark.parametrize(
    ("predicate", "edges"),
    [
        (COL("pay") >= 40, "10 or 50"),
        (COL("pay") < 40, "10 or 50"),
        (COL("pay") > 10, "10 or 50"),
        (COL("pay") <= 10, "10 or 50"),
        (COL("pay") >= 100, "50 or 100"),
        (COL("pay") < 100, "50 or 100"),
        (COL("pay") > 0, "0 or 10"),
        (COL("pay") == 10, "10 or 50"),
        (COL("pay").is_in([10, 50]), "10 or 50"),
        (COL("month") >= date(2024, 2, 2), "2024, 2, 1.* or .*2024, 3, 1"),
        (COL("month") >= datetime(2024, 2, 1, 12), "2024, 2, 1.* or .*2024, 3, 1"),
        (COL("month") == date(2024, 2, 1), "2024, 2, 1"),
    ],
    ids=repr,
)
def test_a_condition_through_a_bin_names_the_nearest_edges(predicate, edges):
    with pytest.raises(ParameterError, match=f"cuts through a bin.*{edges}"):
        cells(predicate)


@pytest.mark.parametrize(
    "predicate",
    [
        COL("sex") == "f",
        COL("sex").is_in(["F", "X"]),
        COL("sex") != "X",
        COL("age") == 16,
        COL("age") == 17.5,
        COL("age") == float("inf"),
        COL("size") == 11,
        COL("job") == "nurse",
    ],
    ids=repr,
)
def test_values_and_columns_outside_the_domain(predicate):
    with pytest.raises(DomainError, match=r"no cell for|no column 'job'"):
        cells(predicate)


def test_a_near_miss_is_offered():
    with pytest.raises(DomainError, match=r"Did you mean .*'Male'"):
        cells(COL("sex") == "male", dpf.Domain({"sex": ["Female", "Male"]}))


@pytest.mark.parametrize(
    "predicate",
    [
        COL("sex").is_true(),
        COL("age").is_true(),
        COL("pay").is_true(),
        COL("sex") > 3,
        COL("age") == "old",
        COL("age") > date(2024, 1, 1),
        COL("pay") > timedelta(1),
        COL("month") >= 3,
    ],
    ids=repr,
)
def test_values_of_another_kind(predicate):
    with pytest.raises(ParameterError, match="of that kind"):
        cells(predicate)


def test_numbers_without_cells():
    domain = dpf.Domain({"hours": (0, 99)})
    with pytest.raises(DomainError, match="bounds alone"):
        cells(COL("hours") > 3, domain)


def test_against_the_public_frame_of_cells():
    domain = DOMAIN.select(["sex", "age", "size", "married"])
    frame = domain.cells().to_dicts()
    predicate = (COL("age") > 17) & ~(COL("married") | (COL("sex") == "M"))
    found = mask(predicate, domain, domain.columns).ravel()
    expected = [r["age"] > 17 and not (r["married"] or r["sex"] == "M") for r in frame]
    assert found.tolist() == expected
    assert np.array(expected).any()
