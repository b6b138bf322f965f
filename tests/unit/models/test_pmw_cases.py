"""The shared cases of private multiplicative weights that concern models."""

import json
from functools import reduce
from operator import and_, or_
from pathlib import Path

import numpy as np
import pytest

import dpframe as dpf
from dpframe.models.distribution import axis_sizes
from dpframe.models.measurements import as_measurement, merge
from dpframe.multiplicative_weights import Distribution, fit, update

DATA = Path(__file__).parents[2] / "data" / "pmw.json"
CASES = json.loads(DATA.read_text(encoding="utf-8"))["cases"]


def cases(kind):
    chosen = [case for case in CASES if case["type"] == kind]
    return pytest.mark.parametrize("case", chosen, ids=[c["id"] for c in chosen])


def domain_of(case):
    return dpf.Domain({name: dpf.integers(0, k - 1) for name, k in case["domain"]})


def query_of(spec):
    ((kind, given),) = spec.items()
    if kind == "where":
        return reduce(and_, (dpf.col(c).is_in(codes) for c, codes in given.items()))
    if kind == "prefix":
        return dpf.col(given[0]) <= given[1]
    if kind == "range":
        return dpf.col(given[0]).between(given[1], given[2])
    if kind == "weights":
        return dpf.weights(given)
    if kind == "not":
        return ~query_of(given)
    if kind == "any":
        return reduce(or_, map(query_of, given))
    return np.array(given)


@cases("evaluate")
def test_answers_and_marginals(case):
    p = Distribution(domain_of(case), case["distribution"])
    expected = case["expect"]
    answers = [p.answer(query_of(spec)) for spec in case["queries"]]
    assert answers == pytest.approx(expected["answers"], abs=1e-9)
    for columns, marginal in zip(case["marginals"], expected["marginals"], strict=True):
        np.testing.assert_allclose(p.marginal(*columns), marginal, atol=1e-9)


@cases("run")
def test_updates(case):
    p = Distribution(domain_of(case), case["prior"])
    held = []
    for _ in range(case["passes"]):
        held = []
        for step in case["steps"]:
            held.append(p.cells)
            query = tuple(step["cols"]) if "cols" in step else query_of(step["query"])
            p = update(p, query, step["y"], step.get("eta"))
    found = np.mean(held, axis=0) if case["average"] else p.cells
    np.testing.assert_allclose(found, case["expect"]["distribution"], atol=1e-12)


@cases("fit")
def test_fits(case):
    domain, expected = domain_of(case), case["expect"]
    p = fit(domain, [tuple(measurement) for measurement in case["measurements"]])
    n = expected["n"]
    assert p.total == pytest.approx(n, rel=1e-12)
    for (columns, *_), marginal in zip(
        case["measurements"], expected["marginals"], strict=True
    ):
        np.testing.assert_allclose(n * p.marginal(*columns), marginal, atol=1e-6 * n)
    np.testing.assert_allclose(p.cells, expected["distribution"], atol=1e-6)
    told = [as_measurement(axis_sizes(domain), *m) for m in case["measurements"]]
    objective = sum(
        float(((n * p.table(m.block) - m.values) ** 2).sum()) / (2 * m.variance)
        for m in merge(told)
    )
    assert objective == pytest.approx(expected["objective"], rel=1e-5)


@cases("online")
def test_the_online_loop_with_given_noise(case):
    n, left = case["n"], case["max_updates"]
    p = Distribution(domain_of(case))
    measured = iter(case["measure_noise"])
    bar = case["threshold"] + case["threshold_noise"]
    for spec, x, noise, expected in zip(
        case["queries"],
        case["true_counts"],
        case["compare_noise"],
        case["expect"]["transcript"],
        strict=True,
    ):
        query = query_of(spec)
        answer, kind = n * p.answer(query), "easy" if left else "unchecked"
        if left and abs(x - answer) + noise >= bar:
            answer, kind, left = x + next(measured), "update", left - 1
            p = update(p, query, answer / n)
        assert kind == expected["kind"]
        assert answer == pytest.approx(expected["answer"], abs=1e-6)
    np.testing.assert_allclose(p.cells, case["expect"]["distribution"], atol=1e-9)


@cases("encode")
def test_codes(case):
    spec = case["spec"]
    domain = dpf.Domain({"x": dpf.edges(spec["edges"])}, other=spec["other"])
    codes = domain.coding("x").code(case["values"]).tolist()
    assert codes == [-1 if code is None else code for code in case["expect"]["codes"]]
