import itertools
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpframe.domain import (
    Bins,
    Domain,
    Keys,
    Linear,
    Lookup,
    dates,
    edges,
    integers,
)
from dpframe.errors import DomainError, ParameterError

DOMAIN = Domain(
    {
        "sex": ["F", "M"],
        "age": integers(17, 19),
        "pay": edges([0, 10, 50]),
        "hours": (0, 99),
        "job": ["x", "y"],
    },
    other=["job"],
)


def resolve(columns, domain=DOMAIN, **arguments):
    return Keys.resolve(columns, domain=domain, **arguments)


def test_keys_come_from_the_domain():
    keys = resolve("sex")
    assert keys == Keys(("sex",), (Lookup(("F", "M")),))
    assert keys.size == 2
    assert keys.labels == ["F", "M"]
    assert keys.radix == (2,)
    assert keys.position is None


def test_other_cell_comes_last():
    assert resolve("job").labels == ["x", "y", None]


def test_product_has_the_last_column_fastest():
    keys = resolve(["sex", "pay"])
    assert keys.size == 4
    assert keys.radix == (2, 2)
    assert keys.labels == [("F", 0), ("F", 10), ("M", 0), ("M", 10)]


def test_cell_index_is_the_position_of_the_label():
    keys = resolve(["sex", "age", "job"])
    for cell, label in enumerate(keys.labels):
        codes = [
            coding.code([value])
            for coding, value in zip(keys.codings, label, strict=True)
        ]
        assert keys.cell_index(codes).tolist() == [cell]


def test_cell_index_drops_a_row_with_any_dropped_code():
    keys = resolve(["sex", "age"])
    codes = [np.array([0, -1, 1, -1]), np.array([2, 2, -1, -1])]
    assert keys.cell_index(codes).tolist() == [2, -1, -1, -1]


def test_keys_of_the_call_override_the_domain_without_other_cell():
    assert resolve("job", keys=["y", "z"]).codings == (Lookup(("y", "z")),)
    assert resolve("job", keys={"job": ["y"]}).codings == (Lookup(("y",)),)
    assert resolve("pay", keys=[5]).codings == (Lookup((5,)),)


@pytest.mark.parametrize(
    "given",
    [["a", "b"], ("a", "b"), np.array(["a", "b"]), pd.Index(["a", "b"]),
     pl.Series(["a", "b"]), (key for key in "ab")],
)  # fmt: skip
def test_keys_may_be_any_ordered_list(given):
    assert resolve("new", keys=given).labels == ["a", "b"]


def test_null_and_nan_are_the_key_none():
    assert resolve("new", keys=["a", float("nan")]).labels == ["a", None]
    with pytest.raises(ParameterError, match="the one key None"):
        resolve("new", keys=[1.0, None, float("nan")])


def test_no_keys_is_an_empty_release():
    for keys in (resolve("new", keys=[]), resolve(["sex", "new"], keys=[])):
        assert keys.size == 0
        assert keys.labels == []
    assert resolve(["sex", "new"], keys={"new": []}).size == 0
    empty = resolve(["sex", "new"], keys=[])
    assert empty.position.shape == (0,)
    assert empty.cell_index([np.array([-1, -1])] * 2).tolist() == [-1, -1]


def test_bins_of_the_call():
    assert resolve("hours", bins=[0, 40, 99]).codings == (Bins((0, 40, 99)),)
    assert resolve("pay", bins={"pay": [0, 1]}).codings == (Bins((0, 1)),)
    assert resolve("new", domain=None, bins=edges([0, 1])).labels == [0]
    months = dates("2024-01-01", "2024-02-29", every="1mo")
    assert resolve("day", bins=months).labels == [date(2024, 1, 1), date(2024, 2, 1)]


def test_each_column_may_have_its_own_source():
    keys = resolve(
        ["sex", "new", "hours", "age"], keys={"new": [1]}, bins={"hours": [0, 50, 99]}
    )
    assert keys.codings == (
        Lookup(("F", "M")),
        Lookup((1,)),
        Bins((0, 50, 99)),
        Linear(17, 19),
    )


def test_listed_cells_keep_their_order():
    listed = [("M", 3), ("F", 5), ("M", None), ("F", 3)]
    keys = resolve(["sex", "new"], keys=listed)
    assert keys.labels == listed
    assert keys.size == 4
    assert keys.codings == (Lookup(("M", "F")), Lookup((3, 5, None)))
    assert keys.cells == ((0, 0), (1, 1), (0, 2), (1, 0))
    assert keys.position.tolist() == [0, -1, 2, 3, 1, -1]


def test_listed_cells_are_located_like_the_table_says():
    keys = resolve(["sex", "new"], keys=[("M", 3), ("F", 5), ("M", 7)])
    codes = np.arange(6)
    assert keys.locate(codes).tolist() == keys.position[codes].tolist()
    assert keys.locate(np.array([-1])).tolist() == [-1]
    pairs = list(itertools.product(range(-1, 2), range(-1, 3)))
    found = keys.cell_index([np.array(column) for column in zip(*pairs, strict=True)])
    expected = [keys.cells.index(p) if p in keys.cells else -1 for p in pairs]
    assert found.tolist() == expected


def test_long_lists_over_many_columns_need_no_table():
    rows = [(f"a{i}", i, -i) for i in range(1_000)]
    keys = Keys.resolve(["a", "b", "c"], domain=None, keys=rows)
    assert keys.size == 1_000
    codes = [np.arange(1_000)] * 3
    assert keys.cell_index(codes).tolist() == list(range(1_000))
    with pytest.raises(DomainError, match=r"use locate\(\)"):
        keys.position  # noqa: B018


def test_listed_cells_beyond_int64_are_refused():
    rows = [(i,) * 9 for i in range(200)]
    with pytest.raises(ParameterError, match=r"more than 2\*\*62 combinations"):
        Keys.resolve(list("abcdefghi"), domain=None, keys=rows)


@pytest.mark.parametrize(
    ("columns", "arguments", "shown"),
    [
        ("sex", {"keys": "FM"}, "column 'sex': keys must be a list"),
        ("sex", {"keys": {"F", "M"}}, "column 'sex': keys must be a list"),
        ("sex", {"keys": ["F", "F"]}, "'F' twice"),
        ("sex", {"keys": [1, 1.0]}, "twice"),
        ("sex", {"keys": [["F"]]}, "got list"),
        ("sex", {"keys": [("F",)]}, "got tuple"),
        ("sex", {"keys": ["F", 1]}, "of one kind"),
        ("sex", {"keys": {"sx": ["F"]}}, "no key column. Did you mean 'sex'"),
        ("sex", {"keys": ["F"], "bins": [0, 1]}, "both keys= and bins="),
        ("pay", {"bins": {"pay": [1, 0]}}, "column 'pay': edges must increase"),
        ("pay", {"bins": []}, "column 'pay': edges need at least two"),
        ("pay", {"bins": "ab"}, "column 'pay': bins must be a list"),
        ("pay", {"bins": 10}, "column 'pay': bins must be a list"),
        (["sex", "pay"], {"bins": [0, 1]}, "bins of several columns must be a dict"),
        (["sex", "pay"], {"keys": ["F", "M"]}, "must be tuples of 2 values"),
        (["sex", "pay"], {"keys": [["F", 1]]}, "must be tuples of 2 values"),
        (["sex", "pay"], {"keys": [("F",)]}, "must be tuples of 2 values"),
        (["sex", "pay"], {"keys": [("F", 1), ("F", 1.0)]}, r"twice"),
        (["sex", "pay"], {"keys": [("F", [1])]}, "column 'pay': keys must be text"),
        (["sex", "pay"], {"keys": "ab"}, "keys must be a list"),
        (["sex", "pay"], {"keys": [("F", 1)], "bins": {"pay": [0, 1]}}, "has both"),
        ([], {}, "must be one name or several"),
        ([1], {}, "must be one name or several"),
        (["sex", "sex"], {}, "'sex' twice"),
    ],
)  # fmt: skip
def test_wrong_arguments(columns, arguments, shown):
    with pytest.raises(ParameterError, match=shown):
        resolve(columns, **arguments)


@pytest.mark.parametrize(
    ("columns", "domain", "shown"),
    [
        ("new", None, r"'new' are not declared. No domain .* Pass keys="),
        ("sx", DOMAIN, r"'sx' are not declared.* Did you mean 'sex'\? Pass keys="),
        (["sex", "hours"], DOMAIN, r"'hours' is declared by bounds alone.*bins="),
    ],
)
def test_missing_facts_name_the_column_and_what_to_pass(columns, domain, shown):
    with pytest.raises(DomainError, match=shown):
        resolve(columns, domain=domain)


def test_too_many_cells_are_refused_with_the_cells_of_each_column():
    domain = Domain({"a": integers(1, 10_000), "b": integers(1, 10_000)})
    with pytest.raises(DomainError, match=r"100,000,000 cells .* 'a' 10,000, 'b' 10"):
        resolve(["a", "b"], domain=domain)
    assert resolve(["a", "b"], domain=domain, keys=[(1, 2)]).size == 1


def test_describe_is_json_able_and_tells_releases_apart():
    import json

    described = {
        json.dumps(keys.describe(), allow_nan=False)
        for keys in (
            resolve("sex"),
            resolve("job"),
            resolve("job", keys=["x", "y"]),
            resolve("new", keys=[0, 1]),
            resolve("new", keys=[False, True]),
            resolve("new", keys=[0.0, 1.0]),
            resolve("day", keys=[date(2024, 1, 1)]),
            resolve("pay", bins=[float("-inf"), 0]),
            resolve(["sex", "pay"]),
            resolve(["sex", "pay"], keys=[("F", 1), ("M", 2)]),
            resolve(["sex", "pay"], keys=[("F", 1), ("M", 1)]),
        )
    }
    assert len(described) == 11
