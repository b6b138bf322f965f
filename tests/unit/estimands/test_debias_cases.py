"""Published expected values, for the estimands that exist so far."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpframe.estimands import debias, entropy, k_stars, power_sum, profile, separable

DATA = Path(__file__).parents[2] / "data" / "debias.json"
SUITE = json.loads(DATA.read_text(encoding="utf-8"))

ESTIMANDS = {
    "sum_power": lambda k: power_sum(k),
    "k_stars": lambda k: k_stars(k),
    "profile": lambda k: profile(k),
    "entropy": lambda: entropy,
    "entropy_public_total": lambda total: separable(
        lambda z: -z / total * np.log(np.maximum(z, 1) / total)
    ),
    "partition_function": lambda t: separable(lambda z: np.exp(t * z)),
    "variance_of_profile": lambda k: profile(k),
    "variance_of_k_stars": lambda k: k_stars(k),
}
CASES = [case for case in SUITE["cases"] if case["function"] in ESTIMANDS]


def test_the_cases_of_these_estimands_are_all_there():
    assert len(CASES) == 23


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_expected_value(case):
    found = debias(
        case["noisy"],
        ESTIMANDS[case["function"]](**case["params"]),
        epsilon=case["eps"],
        sensitivity=case["sensitivity"],
        domain=case["domain"],
    )
    got = found.variance if case["function"].startswith("variance") else found.value
    expected = float(case["expected"])
    assert abs(got - expected) <= SUITE["relative_tolerance"] * max(1, abs(expected))
