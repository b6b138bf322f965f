import json
import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpframe.domain import Domain, bounds, dates, edges, integers
from dpframe.domain.serial import dump_value
from dpframe.errors import ParameterError

KINDS = {
    "text": ["a", 'quote " and \\', "ß", ""],
    "none": ["a", None],
    "ints": [1, 2, 2**70],
    "floats": [1.0, 0.1, math.inf],
    "bools": [True, False],
    "listed dates": [date(2024, 1, 1), date(1, 1, 1)],
    "moments": [datetime(2024, 1, 1, 1, 2, 3, 4), datetime(2025, 1, 1)],
    "zoned": [datetime(2024, 1, 1, tzinfo=UTC)],
    "spans": [timedelta(microseconds=-1), timedelta(days=3)],
    "decimals": [Decimal("1.10"), Decimal("1E+3")],
    "integers": integers(-3, 2**61),
    "range": bounds(0, 99),
    "float range": bounds(0.0, 1e300),
    "date range": bounds(date(2024, 1, 1), date(2024, 2, 1)),
    "decimal range": bounds(Decimal("0.010"), Decimal("9")),
    "edges": edges([-math.inf, 0.5, math.inf]),
    "date edges": edges([date(2024, 1, 1), date(2024, 2, 1)]),
    "boolean": bool,
    "months": dates("2024-01-01", "2024-12-31", every="1mo"),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_makes_the_round_trip_exactly(name):
    domain = Domain({name: KINDS[name]})
    twin = Domain.from_json(domain.to_json())
    assert twin == domain
    assert repr(twin.kind(name)) == repr(domain.kind(name))


def test_all_together_keep_order_and_other():
    domain = Domain(KINDS, other=["text", "boolean"])
    twin = Domain.from_json(domain.to_json())
    assert twin == domain
    assert twin.columns == tuple(KINDS)
    assert twin.other == ("text", "boolean")


def test_the_text_is_strict_json_and_names_its_version():
    def refuse(constant):
        raise AssertionError(constant)

    document = json.loads(Domain(KINDS).to_json(), parse_constant=refuse)
    assert document["dpframe"] == "domain"
    assert document["version"] == 1


SCALARS = (
    st.text(st.characters(codec="utf-8")),
    st.integers(),
    st.floats(allow_nan=False),
    st.dates(),
    st.datetimes(),
    st.timedeltas(),
    st.decimals(allow_nan=False),
)


@given(
    st.one_of(*(st.lists(s, min_size=1, max_size=4, unique=True) for s in SCALARS)),
    st.booleans(),
)
def test_any_categories_make_the_round_trip(values, other):
    domain = Domain({"a": values}, other=other)
    twin = Domain.from_json(domain.to_json().encode())
    assert [repr(v) for v in twin.kind("a").values] == [
        repr(v) for v in domain.kind("a").values
    ]


def test_values_of_json_stay_as_they_are():
    assert dump_value((None, True, 1, 0.5, "a")) == [None, True, 1, 0.5, "a"]
    assert dump_value(-math.inf) == {"float": "-inf"}


PLAIN = {
    "categories": {"sex": ["Female", "Male"]},
    "bounds": {"hours": [0, 99]},
    "integers": {"age": [17, 90]},
    "edges": {"pay": [0, 10, 50]},
}


def test_the_plain_form_is_read_from_text_bytes_and_path(tmp_path):
    expected = Domain(
        {
            "sex": ["Female", "Male"],
            "hours": bounds(0, 99),
            "age": integers(17, 90),
            "pay": edges([0, 10, 50]),
        }
    )
    path = tmp_path / "domain.json"
    path.write_text(json.dumps(PLAIN), encoding="utf-8")
    assert Domain.from_json(json.dumps(PLAIN)) == expected
    assert Domain.from_json(json.dumps(PLAIN).encode()) == expected
    assert Domain.from_json(path) == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "no JSON object"),
        ("{", "no JSON object"),
        ("[]", "no JSON object"),
        ("3", "no JSON object"),
        ("null", "no JSON object"),
        ("[" * 100_000, "no JSON object"),
        ("1" * 5_000, "no JSON object"),
        ('{"dpframe": "release"}', "only version 1"),
        ('{"dpframe": "domain"}', "missing or of the wrong form"),
        ('{"dpframe": "domain", "version": 2}', "only version 1"),
        ('{"dpframe": "domain", "version": 1, "columns": 3}', "wrong form"),
        ('{"columns": []}', "a section is named 'columns'"),
        ('{"categories": ["a"]}', "wrong form"),
        ('{"categories": {"a": "xyz"}}', "column 'a': categories must be a list"),
        ('{"categories": {"a": [{"x": 1}]}}', "wrong form"),
        ('{"categories": {"a": ["x", "x"]}}', "column 'a': categories list 'x' twice"),
        ('{"bounds": {"a": [0]}}', "wrong form"),
        ('{"bounds": {"a": [1, 0]}}', "column 'a': bounds are swapped"),
        ('{"bounds": {"a": [0, 1]}, "edges": {"a": [0, 1]}}', "'a' is declared twice"),
    ],
)
def test_other_texts_are_refused(text, shown):
    with pytest.raises(ParameterError, match=shown) as caught:
        Domain.from_json(text)
    assert caught.value.__cause__ is None


def column(**facts):
    entry = {"name": "a", "kind": "categories", "values": ["x"], "other": False} | facts
    return json.dumps({"dpframe": "domain", "version": 1, "columns": [entry]})


@pytest.mark.parametrize(
    "text",
    [
        column(kind="eval"),
        column(name=3),
        column(name=["a"]),
        column(values=[{"date": "2024-13-01"}]),
        column(values=[{"date": 3}]),
        column(values=[{"decimal": "x"}]),
        column(values=[{"timedelta_us": 10**40}]),
        column(values=[{"date": "2024-01-01", "x": 1}]),
        column(values=[["x"]]),
        column(kind="integers"),
        column(kind="integers", lower=[0], upper=1),
    ],
)
def test_damaged_entries_are_refused(text):
    with pytest.raises(ParameterError):
        Domain.from_json(text)
