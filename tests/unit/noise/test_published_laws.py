"""Probabilities worked out independently, to 20 digits."""

import json
from pathlib import Path

import pytest

from dpframe.noise import DiscreteGaussian, DiscreteLaplace

DATA = Path(__file__).parents[2] / "data" / "accounting.json"
CASES = json.loads(DATA.read_text())["cases"]


def cases_of(kind):
    found = [case for case in CASES if case["kind"] == kind]
    return pytest.mark.parametrize("case", found, ids=[c["id"] for c in found])


def check(law, expect):
    for k, mass in expect["pmf"]:
        assert law.pmf(k) == pytest.approx(float(mass), rel=1e-14, abs=0)
    assert law.variance == pytest.approx(float(expect["variance"]), rel=1e-13, abs=0)


@cases_of("pmf_discrete_laplace")
def test_discrete_laplace(case):
    law = DiscreteLaplace(case["scale"])
    check(law, case["expect"])
    for m, tail in case["expect"]["tail_ge"]:
        assert law.cdf(-m) == pytest.approx(float(tail), rel=1e-14, abs=0)
        assert 1 - law.cdf(m - 1) == pytest.approx(float(tail), rel=1e-10)


@cases_of("pmf_discrete_gaussian")
def test_discrete_gaussian(case):
    check(DiscreteGaussian(case["sigma2"]), case["expect"])


def test_all_cases_were_found():
    kinds = [case["kind"] for case in CASES]
    assert kinds.count("pmf_discrete_laplace") == 4
    assert kinds.count("pmf_discrete_gaussian") == 3
