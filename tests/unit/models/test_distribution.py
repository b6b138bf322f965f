"""`Distribution` and the queries it answers."""

import copy
import pickle
from itertools import permutations

import numpy as np
import pytest

import dpframe as dpf
from dpframe.errors import DomainError, ParameterError
from dpframe.multiplicative_weights import Distribution, fit
from dpframe.queries.blocks import Cell, Marginal, Prefixes, Ranges

DOMAIN = dpf.Domain(
    {"sex": ["F", "M"], "age": dpf.integers(17, 20), "pay": dpf.edges([0, 10, 50, 100])}
)
OTHER = dpf.Domain({"sex": ["F", "M"], "pay": dpf.edges([0, 10, 50])}, other=True)


@pytest.fixture
def p():
    cells = np.random.default_rng(1).dirichlet(np.ones(24))
    return Distribution(DOMAIN, cells, total=500)


@pytest.fixture
def frame(p):
    """The public cells with their proportions: what answers are checked against."""
    return DOMAIN.cells(library="pandas").assign(p=p.cells)


def test_uniform_if_nothing_is_given():
    p = Distribution(DOMAIN)
    np.testing.assert_allclose(p.cells, 1 / 24)
    assert p.total is None
    assert p.domain == DOMAIN


@pytest.mark.parametrize(
    "columns", [c for k in (1, 2, 3) for c in permutations(DOMAIN.columns, k)]
)
def test_marginals_in_any_order_of_columns(p, frame, columns):
    expected = DOMAIN.cells(list(columns), "pandas").merge(
        frame.groupby(list(columns), as_index=False)["p"].sum(), how="left"
    )
    np.testing.assert_allclose(p.marginal(*columns), expected["p"])
    assert p.table(columns).shape == tuple(DOMAIN.coding(c).size for c in columns)


def test_no_column_is_all_rows(p):
    assert p.marginal() == pytest.approx([1])


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (dpf.col("sex") == "F", "sex == 'F'"),
        ((dpf.col("age") >= 19) & (dpf.col("pay") < 50), "age >= 19 and pay < 50"),
        (~(dpf.col("age") >= 19) | (dpf.col("sex") == "M"), "age < 19 or sex == 'M'"),
    ],
)
def test_predicates(p, frame, query, rows):
    assert p.answer(query) == pytest.approx(frame.query(rows)["p"].sum())


def test_a_boolean_column_is_a_query():
    p = Distribution(dpf.Domain({"married": bool}), [0.3, 0.7])
    assert p.answer(dpf.col("married")) == pytest.approx(0.7)


def test_weights(p, frame):
    query = dpf.weights({"pay": [0.1, 0.5, 1], "sex": [1, 0.25]})
    factor = frame["pay"].map({0: 0.1, 10: 0.5, 50: 1}) * frame["sex"].map(
        {"F": 1, "M": 0.25}
    )
    assert p.answer(query) == pytest.approx((factor * frame["p"]).sum())


def test_an_array_of_weights(p):
    weights = np.random.default_rng(2).random(24)
    assert p.answer(weights) == pytest.approx(weights @ p.cells)
    assert p.answer(list(weights)) == pytest.approx(weights @ p.cells)


def test_blocks(p):
    age = p.marginal("age")
    np.testing.assert_allclose(p.answer(dpf.cdf("age")), age.cumsum())
    runs = [age[i : j + 1].sum() for i in range(4) for j in range(i, 4)]
    np.testing.assert_allclose(p.answer(dpf.ranges("age")), runs)
    (query,) = dpf.marginals(["pay", "sex"])
    np.testing.assert_allclose(p.answer(query), p.marginal("pay", "sex"))
    np.testing.assert_allclose(p.answer("sex"), p.marginal("sex"))


def test_the_other_cell_is_in_marginals_but_in_no_range():
    p = Distribution(OTHER, np.arange(1, 10) / 45)
    assert len(p.answer(dpf.marginals(["pay"]))) == 3
    np.testing.assert_allclose(p.answer(dpf.cdf("pay")), p.marginal("pay")[:2].cumsum())
    assert len(p.answer(dpf.ranges("pay"))) == 3


@pytest.mark.parametrize(
    "block", [Marginal(("pay", "sex")), Prefixes("age"), Ranges("age")], ids=repr
)
def test_single_cells_of_blocks(p, block):
    labels = {
        "marginal": [(k, s) for k in (0, 10, 50) for s in "FM"],
        "cdf": [17, 18, 19, 20],
        "ranges": [(i, j) for i in range(17, 21) for j in range(i, 21)],
    }[block.describe()["query"]]
    found = [p.answer(Cell(block, label, "text")) for label in labels]
    assert found == pytest.approx(list(p.answer(block)))


def test_answers_and_marginals_are_copies(p):
    whole = ("age", "pay", "sex")  # the table as it is held
    for read in (
        lambda: p.cells,
        lambda: p.answer("sex"),
        lambda: p.marginal(*whole),
        lambda: p.answer(dpf.marginals(whole)),
    ):
        before = read().copy()
        read()[:] = 0
        assert (read() == before).all()


def test_a_distribution_over_very_many_cells():
    domain = dpf.Domain({f"c{i}": dpf.integers(0, 15) for i in range(14)})
    p = fit(domain, [(("c0", "c1"), np.full(256, 3), 2), (("c12",), np.arange(16), 2)])
    assert domain.size > 10**16
    assert p.marginal("c13", "c12", "c0").shape == (16**3,)
    assert "held as" in repr(p)
    with pytest.raises(DomainError, match="4,194,304 are the most for one table"):
        _ = p.cells
    with pytest.raises(DomainError, match=r"reads 16,777,216 cells.*'c0' \(16\)"):
        p.answer(dpf.weights({f"c{i}": [1] * 16 for i in range(6)}))


def test_copies_and_pickles(p):
    for other in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        np.testing.assert_array_equal(other.cells, p.cells)
        assert (other.total, other.domain) == (500, DOMAIN)
    with pytest.raises(AttributeError, match="fixed"):
        p.total = 3


def test_repr(p):
    assert repr(p) == "Distribution over sex, age, pay (24 cells; 500 rows)"
    assert repr(Distribution(DOMAIN)) == (
        "Distribution over sex, age, pay (24 cells, held as 9)"
    )


@pytest.mark.parametrize(
    "cells",
    [[1.0], np.full(24, np.nan), np.full(24, -1 / 24), np.full(24, 2.0), np.zeros(24)],
)
def test_wrong_cells(cells):
    with pytest.raises(ParameterError, match="24 cells of the domain"):
        Distribution(DOMAIN, cells)


@pytest.mark.parametrize("total", [0, -3, np.inf, np.nan])
def test_wrong_totals(total):
    with pytest.raises(ParameterError, match="positive number of rows"):
        Distribution(DOMAIN, total=total)


def test_columns_without_cells():
    with pytest.raises(DomainError, match="bounds alone"):
        Distribution(dpf.Domain({"hours": (0, 99)}))
    with pytest.raises(DomainError, match="no column"):
        Distribution(dpf.Domain({}))


@pytest.mark.parametrize(
    ("query", "error", "match"),
    [
        (dpf.col("job") == "nurse", DomainError, "no column 'job'"),
        (dpf.col("pay") > 20, ParameterError, "cuts through a bin"),
        (dpf.weights({"sex": [1, 1, 1]}), ParameterError, "2 cells"),
        (dpf.cdf("sex"), ParameterError, "no order"),
        (dpf.ranges("sex"), ParameterError, "no order"),
        (dpf.marginals(["sex", "job"]), DomainError, "no column 'job'"),
        (dpf.sum_by("sex", "age"), ParameterError, "one number for its answer"),
        (dpf.marginals(["sex", "age"], 1), ParameterError, "one number"),
        (np.full(24, 1.5), ParameterError, "weight from 0 to 1"),
        (np.ones(23), ParameterError, "weight from 0 to 1"),
        (["a", "b"], ParameterError, "weight from 0 to 1"),
        (3, ParameterError, "one number for its answer"),
        (Cell(Marginal(("sex",)), "X", "sex = X"), ParameterError, "no cell"),
        (Cell(dpf.sum_by("sex", "age"), "F", "sum"), ParameterError, "no cell"),
    ],
    ids=lambda x: repr(x)[:30],
)
def test_queries_that_do_not_fit(p, query, error, match):
    with pytest.raises(error, match=match):
        p.answer(query)


def test_a_column_named_twice(p):
    with pytest.raises(ParameterError, match="each column once"):
        p.marginal("sex", "sex")
