from __future__ import annotations

import json

import pytest

import dpframe as dpf
from dpframe.domain.coding import Bins, Linear, Lookup
from dpframe.domain.domain import Domain
from dpframe.domain.keys import Keys
from dpframe.domain.open_keys import OpenKeys

DOMAIN = Domain({"sex": ["F", "M"], "age": dpf.integers(0, 9), "pay": (0, 10)})


def resolve(*columns, **given):
    return OpenKeys.resolve(columns, domain=given.pop("domain", DOMAIN), **given)


def test_what_nobody_lists_is_found():
    assert resolve("city", domain=None) == OpenKeys(("city",), (None,))
    assert resolve("city", "pay").codings == (None, None)  # bounds list no keys
    mixed = resolve("city", "age", "pay", bins={"pay": [0, 5, 10]})
    assert mixed.codings == (None, Linear(0, 9), Bins((0, 5, 10)))
    assert resolve("city", "sex", keys={"sex": ["X"]}).codings == (None, Lookup(("X",)))
    assert resolve("city", keys={}, domain=None).codings == (None,)


@pytest.mark.parametrize(
    ("columns", "given", "words"),
    [
        (["sex"], {}, "'sex' are public: they come from the session's domain"),
        (["sex", "age"], {}, "open a session without them"),
        (["city"], {"keys": ["a"]}, "come from keys=. Drop delta=.* or drop keys="),
        (["city"], {"keys": []}, "come from keys="),
        (["pay"], {"bins": [0, 1]}, "come from bins="),
        (["pay"], {"bins": dpf.edges([0, 1])}, "come from bins="),
        (["city", "sex"], {"keys": [("a", "F")]}, "come from keys="),
        (["city", "sex"], {"keys": {"city": ["a"]}}, "come from keys="),
        (["city", "sex"], {"bins": [0, 1]}, "must be a dictionary"),
        (["city"], {"keys": {"town": ["a"]}}, "'town', no key column"),
        (["city", "sex"], {"keys": {"town": ["a"]}}, "'town', no key column"),
        (["city", "pay"], {"keys": {"pay": [1]}, "bins": {"pay": [0, 1]}}, "both"),
        (["city", "city"], {}, "twice"),
        (["city", "sex"], {"keys": {"sex": ["F", "F"]}}, "twice"),
    ],
)
def test_refusals(columns, given, words):
    with pytest.raises(dpf.ParameterError, match=words):
        resolve(*columns, **given)


def test_chosen_keys_are_the_cells_of_a_release():
    assert resolve("city").chosen([["a", "b", None]]) == Keys(
        ("city",), (Lookup(("a", "b", None)),)
    )
    two = resolve("city", "age").chosen([["a", "a", None], [3, 0, 9]])
    assert two.labels == [("a", 3), ("a", 0), (None, 9)]
    assert two.size == 3


@pytest.mark.parametrize("columns", [["city"], ["city", "age"], ["city", "town"]])
def test_no_key_is_chosen(columns):
    none = resolve(*columns).chosen([[] for _ in columns])
    assert none.size == 0
    assert none.labels == []


def test_facts_are_json():
    facts = resolve("city", "age").describe()
    assert json.loads(json.dumps(facts)) == facts
    assert facts["columns"] == ["city", "age"]
    assert facts["codings"][0] is None
    assert facts != resolve("city", "age", keys={"age": [1]}).describe()
