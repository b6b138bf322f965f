import copy
import math
import pickle
from datetime import date

import pytest

from dpframe.domain import (
    Bins,
    Booleans,
    Domain,
    Linear,
    Lookup,
    bounds,
    dates,
    edges,
    integers,
    resolve_bounds,
)
from dpframe.errors import ColumnNotFoundError, DomainError, ParameterError

INF = math.inf
FACTS = {
    "sex": ["Female", "Male"],
    "age": integers(17, 90),
    "hours": bounds(0, 99),
    "income_band": edges([0, 10, 50, 100]),
    "open": edges([-INF, 0, INF]),
    "married": bool,
    "day": dates("2024-01-01", "2024-12-31", every="1mo"),
}
DOMAIN = Domain(FACTS)


def test_a_domain_is_a_collection_of_columns():
    assert DOMAIN.columns == tuple(FACTS) == tuple(DOMAIN)
    assert len(DOMAIN) == 7
    assert "sex" in DOMAIN
    assert "job" not in DOMAIN
    assert DOMAIN.kind("married") == Booleans()


def test_codings():
    assert DOMAIN.coding("sex") == Lookup(("Female", "Male"))
    assert DOMAIN.coding("age") == Linear(17, 90)
    assert DOMAIN.coding("income_band") == Bins((0, 10, 50, 100))
    assert DOMAIN.coding("married") == Lookup((False, True))


@pytest.mark.parametrize(
    ("column", "pair"),
    [
        ("age", (17, 90)),
        ("hours", (0, 99)),
        ("income_band", (0, 100)),
        ("married", (0, 1)),
        ("day", (date(2024, 1, 1), date(2024, 12, 31))),
    ],
)
def test_bounds(column, pair):
    assert DOMAIN.bounds(column) == pair
    assert type(DOMAIN.bounds(column)[0]) is type(pair[0])


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        ("sex", r"'sex' are not declared. It is declared by categories. Pass bounds="),
        ("open", "outer edges are infinite. Pass bounds="),
        ("agee", "no column 'agee'. Did you mean 'age'"),
    ],
)
def test_missing_bounds(column, shown):
    with pytest.raises(DomainError, match=shown):
        DOMAIN.bounds(column)


def test_a_column_of_bounds_has_no_coding():
    with pytest.raises(DomainError, match=r"'hours' .* bounds alone.*bins=.*dpf.edges"):
        DOMAIN.coding("hours")


def test_size():
    assert DOMAIN.size is None
    assert DOMAIN.select(["sex", "age"]).size == 2 * 74
    assert Domain({"a": ["x"], "b": bool}, other=True).size == 2 * 3
    assert Domain({}).size == 1


def test_other():
    domain = Domain({"a": ["x"], "b": (0, 1), "c": integers(0, 1)}, other=True)
    assert domain.other == ("a", "c")
    assert domain.coding("a").keys == ("x", None)
    domain = Domain({"a": ["x"], "c": integers(0, 1)}, other=["c"])
    assert domain.other == ("c",)
    assert domain.coding("a").keys == ("x",)
    assert domain.coding("c").keys == (0, 1, None)


@pytest.mark.parametrize(
    ("other", "error", "shown"),
    [
        (["sx"], DomainError, "no column 'sx'. Did you mean 'sex'"),
        (["hours"], ParameterError, "'hours', which is declared by bounds alone"),
        ("sex", ParameterError, "must be True, False or a list"),
        (None, ParameterError, "must be True, False or a list"),
        (1, ParameterError, "must be True, False or a list"),
    ],
)
def test_wrong_other(other, error, shown):
    with pytest.raises(error, match=shown):
        Domain(FACTS, other=other)


def test_none_is_not_listed_beside_other():
    facts = {"a": ["x"], "b": ["x", None]}
    assert Domain(facts, other=["a"]).coding("b").keys == ("x", None)
    for other in (True, ["b"]):
        with pytest.raises(ParameterError, match="column 'b': None is listed"):
            Domain(facts, other=other)


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        ({"a": ["x", "x"]}, "column 'a': categories list 'x' twice"),
        ({"a": (1, 0)}, "column 'a': bounds are swapped"),
        ({"a": int}, "column 'a': declare a column by"),
        ({1: ["x"]}, "column names must be text; got 1"),
        ([("a", ["x"])], "Domain needs a dictionary"),
        (None, "Domain needs a dictionary"),
    ],
)
def test_wrong_facts_name_the_column(facts, shown):
    with pytest.raises(ParameterError, match=shown) as caught:
        Domain(facts)
    assert caught.value.__cause__ is None


def test_an_unknown_column_is_told_with_the_nearest():
    for ask in (DOMAIN.kind, DOMAIN.coding, lambda c: DOMAIN.select([c])):
        with pytest.raises(DomainError, match=r"no column 'agge'. Did you mean 'age'"):
            ask("agge")


def test_select_keeps_order_and_other():
    domain = Domain(FACTS, other=["age"]).select(["married", "age"])
    assert domain == Domain({"married": bool, "age": integers(17, 90)}, other=["age"])
    assert DOMAIN.select("sex").columns == ("sex",)


def test_equality_is_exact():
    assert Domain(FACTS) == DOMAIN
    assert hash(Domain(FACTS)) == hash(DOMAIN)
    one = Domain({"a": [0, 1]})
    assert one != Domain({"a": [False, True]})
    assert one != Domain({"a": [0.0, 1.0]})
    assert one != Domain({"a": [1, 0]})
    assert one != Domain({"a": [0, 1]}, other=True)
    assert Domain({"a": bool, "b": bool}) != Domain({"b": bool, "a": bool})
    assert one != {"a": [0, 1]}


def test_a_domain_is_fixed_and_travels():
    with pytest.raises(AttributeError, match="fixed"):
        DOMAIN.columns = ()
    with pytest.raises(AttributeError, match="fixed"):
        DOMAIN._kinds = {}
    facts = {"a": ["x"]}
    domain = Domain(facts)
    facts["a"].append("y")
    assert domain.size == 1
    for twin in (copy.copy(DOMAIN), copy.deepcopy(DOMAIN)):
        assert twin == DOMAIN
    assert pickle.loads(pickle.dumps(DOMAIN)) == DOMAIN


def test_describe_holds_the_facts_of_declared_columns_only():
    facts = Domain(FACTS, other=["age"]).describe(["age", "job", "hours"])
    assert facts == {
        "age": {"kind": "integers", "lower": 17, "upper": 90, "other": True},
        "hours": {"kind": "bounds", "lower": 0, "upper": 99, "other": False},
    }
    assert tuple(DOMAIN.describe()) == DOMAIN.columns
    assert DOMAIN.describe([]) == {}


def test_repr_shows_each_column_on_a_line():
    domain = Domain({"sex": ["F", "M"], "hours": (0, 99), "age": integers(17, 90)})
    assert repr(domain).splitlines() == [
        "Domain: 3 columns",
        "  'sex'    categories  2   'F', 'M'",
        "  'hours'  bounds          0 to 99",
        "  'age'    integers    74  17 to 90",
    ]
    assert repr(Domain({})) == "Domain: 0 columns, 1 cells"
    assert repr(Domain({"b": bool}, other=True)) == (
        "Domain: 1 column, 3 cells\n  'b'  booleans  3  False, True, other"
    )


def test_repr_cuts_long_lists_and_shows_every_kind():
    domain = Domain(FACTS | {"long": [f"category {i}" for i in range(500)]})
    shown = repr(domain)
    assert "…" in shown
    assert max(map(len, shown.splitlines())) < 120
    assert "-inf, 0.0, inf" in shown
    assert "2024-01-01 to 2024-12-31, every 1mo" in shown


def test_html_escapes_text():
    shown = Domain({"<b>": ["<script>alert(1)</script>", "&"]})._repr_html_()
    assert "<script" not in shown
    assert "&lt;b&gt;" in shown
    assert "&amp;" in shown
    assert shown.count("<tr>") == 2


def test_resolve_bounds_prefers_the_call():
    assert resolve_bounds("age", domain=DOMAIN) == (17, 90)
    assert resolve_bounds("age", domain=DOMAIN, bounds=[0, 5]) == (0, 5)
    assert resolve_bounds("new", domain=None, bounds=(0, 1.5)) == (0.0, 1.5)
    assert resolve_bounds("new", domain=None, bounds=bounds(1, 2)) == (1, 2)
    assert resolve_bounds("new", domain=None, bounds=integers(1, 2)) == (1, 2)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ((1, 0), "column 'age': bounds are swapped"),
        ((0, INF), "column 'age': bounds must be finite"),
        ((0, 1, 2), "must be a pair"),
        ("01", "must be a pair"),
        (5, "must be a pair"),
        ({0, 1}, "must be a pair"),
        ({"age": (0, 1)}, "must be a pair"),
        ((None, 1), "missing value"),
    ],
)
def test_resolve_bounds_refuses(given, shown):
    with pytest.raises(ParameterError, match=shown):
        resolve_bounds("age", domain=DOMAIN, bounds=given)


@pytest.mark.parametrize(
    ("column", "domain", "shown"),
    [
        ("new", None, r"'new' are not declared. No domain was given. Pass bounds="),
        (
            "agee",
            DOMAIN,
            r"'agee' are not declared.* Did you mean 'age'\? Pass bounds=",
        ),
        ("sex", DOMAIN, "declared by categories"),
    ],
)
def test_resolve_bounds_says_what_to_pass(column, domain, shown):
    with pytest.raises(DomainError, match=shown):
        resolve_bounds(column, domain=domain)


def test_column_errors_are_not_those_of_a_frame():
    with pytest.raises(DomainError) as caught:
        DOMAIN.kind("x")
    assert not isinstance(caught.value, ColumnNotFoundError)
