"""Published expected values of statistics of a few counts, by brute force.

Also of statistics that have a structured form: one value, two ways.
"""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from unit.estimands.stand_ins import DecisionTreeRegressor

from dpframe.estimands import black_box, box, debias, tree

DATA = Path(__file__).parents[2] / "data" / "debias.json"
SUITE = json.loads(DATA.read_text(encoding="utf-8"))


def binomial(x, k):
    """C(x, k) as a polynomial, exactly."""
    return Fraction(math.prod(int(x) - j for j in range(k)), math.factorial(k))


def entropy(x):
    if x.sum() <= 0:
        return 0.0
    share = x[x > 0] / x.sum()
    return -(share * np.log(share)).sum()


def mutual_information(x):
    table = x.reshape(2, 2)
    if not table.sum():
        return 0.0
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    return entropy(rows) + entropy(columns) - entropy(x)


def polynomial(x, terms):
    return sum(
        Fraction(c) * math.prod(int(x[int(i)]) ** k for i, k in powers.items())
        for c, powers in terms
    )


def inside(x, leaves):
    return sum(
        value
        for value, sides in leaves
        if all(
            (low is None or low <= x[int(i)]) and (high is None or x[int(i)] <= high)
            for i, (low, high) in sides.items()
        )
    )


def quantile(x, q):
    return np.quantile(x, q)


FUNCTIONS = {
    "sum_power": lambda x, k: sum(int(z) ** k for z in x),
    "k_stars": lambda x, k: sum(binomial(z, k) for z in x),
    "profile": lambda x, k: int((x == k).sum()),
    "entropy": entropy,
    "entropy_public_total": lambda x, total: (
        -(x / total * np.log(np.maximum(x, 1) / total)).sum()
    ),
    "partition_function": lambda x, t: np.exp(t * x).sum(),
    "minimum": lambda x: int(x.min()),
    "maximum": lambda x: int(x.max()),
    "median": np.median,
    "order_statistic": lambda x, k: int(np.sort(x)[k - 1]),
    "quantile": quantile,
    "quantile_range": lambda x, q1, q2: quantile(x, q2) - quantile(x, q1),
    "sample_variance": lambda x: np.var(x, ddof=1),
    "product": lambda x: math.prod(x.tolist()),
    "polynomial": polynomial,
    "gini_simpson": lambda x: 1 - ((x / x.sum()) ** 2).sum() if x.any() else 0.0,
    "mutual_information": mutual_information,
    "box_sum": inside,
    "variance_of_profile": lambda x, k: int((x == k).sum()),
    "variance_of_k_stars": lambda x, k: sum(binomial(z, k) for z in x),
}
CASES = [
    case
    for case in SUITE["cases"]
    if case["id"].startswith("d")  # discrete Laplace noise; the others have their own
    and case["function"] in FUNCTIONS
    and np.size(case["noisy"]) <= 9
]
(BOX_SUM,) = (case for case in CASES if case["function"] == "box_sum")
LEAVES = [
    (value, {int(i): tuple(ends) for i, ends in sides.items()})
    for value, sides in BOX_SUM["params"]["leaves"]
]


def check(case, estimand):
    found = debias(
        case["noisy"],
        estimand,
        epsilon=case["eps"],
        sensitivity=case["sensitivity"],
        domain=case["domain"],
    )
    got = found.variance if case["function"].startswith("variance") else found.value
    expected = float(case["expected"])
    assert abs(got - expected) <= SUITE["relative_tolerance"] * max(1, abs(expected))


def test_the_cases_of_few_counts_are_all_there():
    assert len(CASES) == 39
    assert {case["function"] for case in CASES} == set(FUNCTIONS)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_expected_value(case):
    f, params = FUNCTIONS[case["function"]], case["params"]
    check(case, black_box(lambda x: f(x, **params)))


def test_the_boxes():
    check(BOX_SUM, box(LEAVES))


def test_the_boxes_as_a_tree():
    assert LEAVES == [
        (1.0, {0: (None, 3)}),
        (5.0, {0: (4, None), 1: (None, 9)}),
        (9.0, {0: (4, None), 1: (10, None)}),
    ]
    check(BOX_SUM, tree(DecisionTreeRegressor((0, 3.5, 1.0, (1, 9.9, 5.0, 9.0)))))
