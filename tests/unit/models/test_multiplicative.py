"""Single steps: towards an answer, onto an answer, onto a marginal."""

import numpy as np
import pytest

import dpframe as dpf
from dpframe.errors import DomainError, ParameterError
from dpframe.multiplicative_weights import Distribution, update

DOMAIN = dpf.Domain({"a": [0, 1], "b": dpf.integers(0, 2), "c": [0, 1]})
RNG = np.random.default_rng(11)
START = RNG.dirichlet(np.ones(12))
FIRST = dpf.col("a") == 1
DENSE = RNG.random(12)


def divergence(p, q):
    kept = p > 0
    return float((p[kept] * np.log(p[kept] / q[kept])).sum())


@pytest.mark.parametrize("eta", [0.3, 1.0, -2.0, 500.0])
@pytest.mark.parametrize(
    "query", [FIRST, DENSE, dpf.weights({"b": [0, 0.2, 1], "a": [1, 0]})], ids=str
)
def test_a_step_is_the_formula(query, eta):
    p = Distribution(DOMAIN, START)
    q = {id(FIRST): np.repeat([0, 1], 6), id(DENSE): DENSE}.get(id(query))
    if q is None:
        q = np.multiply.outer([1, 0], np.repeat([0, 0.2, 1], 2)).ravel()
    expected = START * np.exp(eta * q * (0.4 - q @ START))
    found = update(p, query, 0.4, eta).cells
    np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-12)


@pytest.mark.parametrize("y", [0.02, 0.3, 0.6, 0.85])
@pytest.mark.parametrize("query", [FIRST, DENSE], ids=["predicate", "weights"])
def test_the_projection_answers_y_and_is_the_nearest(query, y):
    p = Distribution(DOMAIN, START)
    if query is DENSE and not DENSE.min() < y < DENSE.max():
        with pytest.raises(ParameterError, match="strictly between"):
            update(p, query, y)
        return
    found = update(p, query, y)
    assert found.answer(query) == pytest.approx(y, abs=1e-13)
    weights = DENSE if query is DENSE else np.repeat([0.0, 1.0], 6)
    rng = np.random.default_rng(3)
    for _ in range(30):  # every other distribution with this answer is further away
        step = rng.normal(size=12)
        for fixed in (np.ones(12), weights - weights.mean()):
            step -= fixed * (fixed @ step) / (fixed @ fixed)
        other = found.cells + step * found.cells.min() / np.abs(step).max() / 2
        assert other @ weights == pytest.approx(y)
        assert divergence(other, START) > divergence(found.cells, START)


def test_projecting_twice_changes_nothing():
    p = update(Distribution(DOMAIN, START), DENSE, 0.5)
    np.testing.assert_allclose(update(p, DENSE, 0.5).cells, p.cells, atol=1e-14)


def test_extreme_answers():
    p = Distribution(DOMAIN, START)
    for y in (1e-12, 1 - 1e-12):
        assert update(p, FIRST, y).answer(FIRST) == pytest.approx(y, rel=1e-3)


def test_the_projection_onto_a_marginal():
    p = Distribution(DOMAIN, START)
    goal = np.random.default_rng(4).dirichlet(np.ones(6))
    found = update(p, ("c", "b"), goal)
    np.testing.assert_allclose(found.marginal("c", "b"), goal, rtol=1e-12)
    before, after = (d.table(("a", "c", "b")) / d.table(("c", "b")) for d in (p, found))
    np.testing.assert_allclose(before, after, rtol=1e-12)
    scaled = update(p, ("c", "b"), 1000 * goal)  # counts do as well
    np.testing.assert_allclose(scaled.cells, found.cells, rtol=1e-12)


def test_a_step_towards_a_marginal():
    p = Distribution(DOMAIN, START)
    goal = np.array([0.5, 0.2, 0.3])
    found = update(p, ("b",), goal, 0.7).table(("a", "b", "c"))
    factor = np.exp(0.7 * (goal - p.marginal("b")))[:, None]
    expected = START.reshape(2, 3, 2) * factor
    np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-12)


def test_total_and_domain_are_kept():
    p = update(Distribution(DOMAIN, START, total=77), FIRST, 0.5)
    assert (p.total, p.domain) == (77, DOMAIN)


@pytest.mark.parametrize("y", [0.0, 1.0, -0.1, 1.2, 40])
def test_answers_out_of_reach(y):
    with pytest.raises(ParameterError, match="strictly between 0 and 1"):
        update(Distribution(DOMAIN), FIRST, y)
    assert update(Distribution(DOMAIN), FIRST, y, 0.5).cells.min() > 0


def test_a_query_that_is_the_same_everywhere_has_no_projection():
    with pytest.raises(ParameterError, match="between 1 and 1"):
        update(Distribution(DOMAIN), dpf.weights({"a": [1, 1]}), 0.5)


@pytest.mark.parametrize("goal", [[0, 0, 0], [0.5, -0.1, 0.6]])
def test_marginals_that_no_distribution_has(goal):
    with pytest.raises(ParameterError, match="no distribution has this marginal"):
        update(Distribution(DOMAIN), ("b",), goal)


def test_a_marginal_where_the_distribution_has_nothing():
    p = Distribution(dpf.Domain({"a": [0, 1]}), [0, 1])
    with pytest.raises(ParameterError, match="positive only where"):
        update(p, ("a",), [0.5, 0.5])
    assert update(p, ("a",), [0, 1]).cells.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("query", "y", "eta", "match"),
    [
        (FIRST, [0.1, 0.2], None, "one answer"),
        (FIRST, np.nan, None, "one answer"),
        (FIRST, 0.5, np.inf, "eta is a finite number"),
        (("b",), [0.1, 0.2], None, "3 cells"),
        (("b",), [0.1, 0.2, np.nan], 1, "3 cells"),
        (dpf.cdf("b"), 0.5, None, "one number for its answer"),
    ],
)
def test_wrong_arguments(query, y, eta, match):
    with pytest.raises(ParameterError, match=match):
        update(Distribution(DOMAIN), query, y, eta)


def test_too_many_cells():
    domain = dpf.Domain({f"c{i}": dpf.integers(0, 15) for i in range(6)})
    with pytest.raises(DomainError, match="for one table"):
        update(Distribution(domain), dpf.col("c0") == 3, 0.5)
