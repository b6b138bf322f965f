from __future__ import annotations

import json

import pytest

import dpframe as dpf
from dpframe.domain.coding import Linear, Lookup
from dpframe.domain.keys import Keys
from dpframe.queries.blocks import Cell, Marginal, Prefixes, Ranges
from dpframe.queries.cells import count_cells, label_of, position_of, text_of
from dpframe.queries.listing import Entry, Listing

DOMAIN = dpf.Domain(
    {
        "sex": ["F", "M"],
        "age": dpf.integers(17, 20),
        "pay": dpf.edges([0, 10, 50, 100]),
        "day": dpf.dates("2024-01-01", "2024-03-31", every="1mo"),
    },
    other=["sex", "age"],
)


def keys(*columns):
    return Keys.resolve(columns, domain=DOMAIN)


def names(entry):
    listing = Listing((entry,))
    return [listing.text(i) for i in range(len(listing))]


def test_a_block_of_cells_is_named_by_its_keys():
    listing = Listing((Entry(Marginal(("sex", "age")), keys("sex", "age")),))
    assert listing.keys == keys("sex", "age")
    labels = [listing.label(i) for i in range(len(listing))]
    assert labels == keys("sex", "age").labels
    assert listing.text(0) == "sex = 'F', age = 17"
    assert listing.text(len(listing) - 1) == "sex is other, age is other"


def test_sums_and_listed_cells_are_named_by_their_keys():
    listed = Keys.resolve(
        ["sex", "age"], domain=None, keys=[("F", 3), ("M", 1), (None, 1)]
    )
    listing = Listing((Entry(dpf.sum_by(["sex", "age"], "pay"), listed),))
    assert [listing.label(i) for i in range(3)] == listed.labels
    assert listing.text(2) == "sum of pay, sex is null, age = 1"


def test_bins_and_runs_are_named_by_their_ends():
    assert names(Entry(Marginal(("pay",)), keys("pay"))) == [
        "0 <= pay < 10",
        "10 <= pay < 50",
        "50 <= pay <= 100",
    ]
    assert names(Entry(Prefixes("pay"), keys("pay"))) == [
        "pay < 10",
        "pay < 50",
        "pay <= 100",
    ]
    assert names(Entry(Prefixes("age"), keys("age"))) == [
        f"age <= {n}" for n in range(17, 21)
    ]
    assert names(Entry(Ranges("day"), keys("day"))) == [
        "2024-01-01 <= day < 2024-02-01",
        "2024-01-01 <= day < 2024-03-01",
        "2024-01-01 <= day <= 2024-04-01",
        "2024-02-01 <= day < 2024-03-01",
        "2024-02-01 <= day <= 2024-04-01",
        "2024-03-01 <= day <= 2024-04-01",
    ]
    assert names(Entry(Ranges("age"), keys("age")))[:2] == [
        "17 <= age <= 17",
        "17 <= age <= 18",
    ]


def test_a_list_is_named_by_queries():
    predicate, weighted = dpf.col("age") > 17, dpf.weights({"sex": [1, 1, 0]})
    listing = Listing(
        (
            Entry(predicate),
            Entry(Marginal(("sex",)), keys("sex")),
            Entry(weighted),
            Entry(Ranges("age"), keys("age")),
            Entry(dpf.sum_by([], "pay")),
        )
    )
    assert len(listing) == 1 + 3 + 1 + 10 + 1
    assert listing.keys is None
    assert listing.label(0) is predicate
    assert listing.label(4) is weighted
    cell = listing.label(2)
    assert isinstance(cell, Cell)
    assert (cell.block, cell.key, repr(cell)) == (Marginal(("sex",)), "M", "sex = 'M'")
    assert cell.columns == ("sex",)
    assert listing.label(5 + 9).key == (20, 20)
    assert listing.text(15) == "sum of pay"
    assert [listing.text(i) for i in (0, 1, 4, 5)] == [
        "age > 17",
        "sex = 'F'",
        "rows weighted by sex",
        "17 <= age <= 17",
    ]
    described = listing.describe()
    assert json.loads(json.dumps(described)) == described
    assert json.loads(json.dumps(cell.describe())) == cell.describe()


@pytest.mark.parametrize("i", [-1, 3])
def test_numbers_beyond_the_end_are_refused(i):
    listing = Listing((Entry(Marginal(("pay",)), keys("pay")),))
    with pytest.raises(IndexError):
        listing.label(i)


@pytest.mark.parametrize(
    ("block", "columns"),
    [
        (Marginal(("sex", "age", "pay")), ("sex", "age", "pay")),
        (dpf.sum_by(["day", "sex"], "pay"), ("day", "sex")),
        (Prefixes("age"), ("age",)),
        (Ranges("age"), ("age",)),
        (Ranges("pay"), ("pay",)),
        (Prefixes("day"), ("day",)),
    ],
)
def test_labels_lead_back_to_their_number(block, columns):
    over = keys(*columns)
    size = count_cells(block, over)
    labels = [label_of(block, over, i) for i in range(size)]
    assert len(set(labels)) == size
    assert [position_of(block, over, label) for label in labels] == list(range(size))
    assert len({text_of(block, over, i) for i in range(size)}) == size


@pytest.mark.parametrize("label", ["X", None, ("F",), ("F", 99, 0), ("F", 17, 5), 3])
def test_other_labels_have_no_number(label):
    over = keys("sex", "age", "pay")
    assert position_of(Marginal(("sex", "age", "pay")), over, label) is None


@pytest.mark.parametrize("label", [None, 17, (18, 17), (16, 20), (17, 18, 19)])
def test_other_runs_have_no_number(label):
    assert position_of(Ranges("age"), keys("age"), label) is None


@pytest.mark.parametrize(
    "coding", [Linear(0, 10**6 - 1), Lookup(tuple(range(10**6)))], ids=type
)
def test_a_million_keys_are_not_listed(coding, monkeypatch):
    def listed(self):
        raise AssertionError

    monkeypatch.setattr(type(coding), "keys", property(listed))
    over = Keys(("k",), (coding,))
    listing = Listing((Entry(Marginal(("k",)), over),))
    assert len(listing) == 10**6
    assert listing.label(999_999) == 999_999
    assert listing.text(7) == "k = 7"
