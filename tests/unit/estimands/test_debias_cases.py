"""Published expected values, for the estimands that exist so far."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpframe.estimands import (
    chi_square,
    debias,
    entropy,
    gini_simpson,
    k_stars,
    kl_divergence,
    maximum,
    median,
    minimum,
    moment,
    mutual_information,
    order_statistic,
    partition_function,
    polynomial,
    power_sum,
    profile,
    quantile,
    quantile_range,
    separable,
    tsallis,
    variance,
)

DATA = Path(__file__).parents[2] / "data" / "debias.json"
SUITE = json.loads(DATA.read_text(encoding="utf-8"))


def polynomial_of(terms):
    return polynomial([(a, {int(i): k for i, k in m.items()}) for a, m in terms])


ESTIMANDS = {
    "sum_power": power_sum,
    "k_stars": k_stars,
    "profile": profile,
    "chi_square": chi_square,
    "entropy": lambda: entropy,
    "entropy_public_total": lambda total: separable(
        lambda z: -z / total * np.log(np.maximum(z, 1) / total)
    ),
    "gini_simpson": lambda: gini_simpson,
    "kl_divergence": lambda other, eps_other, pseudo: kl_divergence(
        other, pseudo_count=pseudo, epsilon=eps_other
    ),
    "maximum": lambda: maximum,
    "median": lambda: median,
    "minimum": lambda: minimum,
    "moment": moment,
    "mutual_information": lambda: mutual_information,
    "order_statistic": order_statistic,
    "partition_function": partition_function,
    "polynomial": polynomial_of,
    "quantile": quantile,
    "quantile_range": lambda q1, q2: quantile_range(q1, q2),
    "sample_variance": lambda: variance,
    "tsallis": tsallis,
}
CASES = [
    case
    for case in SUITE["cases"]
    if case["function"].removeprefix("variance_of_") in ESTIMANDS
]


def test_the_cases_of_these_estimands_are_all_there():
    assert len(CASES) == 87


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_expected_value(case):
    law = {"eps": "epsilon", "sensitivity": "sensitivity", "sigma2": "sigma2"}
    domain = case["domain"]
    found = debias(
        case["noisy"],
        ESTIMANDS[case["function"].removeprefix("variance_of_")](**case["params"]),
        domain=tuple(domain) if isinstance(domain, list) else domain,
        noise=case.get("noise", "laplace"),
        **{name: case[key] for key, name in law.items() if key in case},
    )
    got = found.variance if case["function"].startswith("variance") else found.value
    expected = float(case["expected"])
    assert abs(got - expected) <= SUITE["relative_tolerance"] * max(1, abs(expected))
