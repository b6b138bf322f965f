"""The published cases of sparse vector technique: split, scales, shift, exact laws.

Integer noise agrees to nine digits. The continuous laws are the limit of integer noise
on a fine grid, of ten thousand steps in the scale of the threshold: to three digits.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sparse_reference import loss, output_law, without_branches

from dpframe.noise.threshold import ThresholdNoise, read_ratio
from dpframe.queries.threshold import Threshold

DATA = Path(__file__).parents[1] / "data" / "svt.json"
CASES = {
    case["id"]: case for case in json.loads(DATA.read_text(encoding="utf-8"))["cases"]
}
FAMILIES = {
    "laplace": "laplace",
    "dlaplace": "laplace",
    "exponential": "geometric",
    "geometric": "geometric",
}
FINE = 10_000  # steps in the scale of the threshold


def exact(number):
    """The decimal in the file, not its float."""
    return Fraction(str(number))


class Case:
    """A case with its noise, and its answers on the grid of that noise."""

    def __init__(self, name):
        self.told = CASES[name]
        self.continuous = self.told["noise"] in ("laplace", "exponential")
        self.tolerance = 1e-3 if self.continuous else 1e-9
        moved = exact(self.told["sensitivity"])
        steps = round(self.told["eps_threshold"] * FINE) if self.continuous else moved
        self.grid = moved / steps
        self.noise = self.calibrate(int(steps))

    def calibrate(self, sensitivity):
        told = self.told
        asked = told["ratio"]
        ratio = asked if isinstance(asked, str) else exact(asked)
        return ThresholdNoise(
            exact(told["eps"]),
            sensitivity,
            told["c"],
            told["monotonic"],
            FAMILIES[told["noise"]],
            read_ratio(ratio, told["c"], monotonic=told["monotonic"]),
            refresh=told.get("refresh", False),
        )

    @property
    def centered(self):
        return bool(self.told["shift"])

    def law(self, answers="answers", gaps=()):
        """The law on the grid; below the API, without the shift, if it is 0."""
        q = [int(np.floor(a / float(self.grid) + 0.5)) for a in self.told[answers]]
        threshold = Threshold(exact(self.told["threshold"]), self.grid)
        uncentered = [int(np.ceil(float(threshold.steps)))]
        bars = None if self.centered else uncentered
        return output_law(self.noise, q, threshold, gaps=gaps, bars=bars)


def of_type(*types):
    named = [name for name, case in CASES.items() if case["type"] in types]
    assert named
    return pytest.mark.parametrize("name", named)


@pytest.mark.parametrize("name", CASES)
def test_split_scales_and_shift(name):
    case = Case(name)
    noise, told, grid = case.noise, case.told, float(case.grid)
    (branch,) = noise.branches
    assert float(noise.epsilon_threshold) == pytest.approx(
        told["eps_threshold"], rel=1e-9
    )
    assert float(noise.epsilon_query) == pytest.approx(told["eps_query"], rel=1e-9)
    scales = noise.threshold.scale, branch.law.scale
    assert float(scales[0]) * grid == pytest.approx(told["scale_threshold"], rel=1e-9)
    assert float(scales[1]) * grid == pytest.approx(told["scale_query"], rel=1e-9)
    if case.centered:
        # On the fine grid E[nu] - E[rho] is that of the continuous law to O(grid²).
        near = 1e-7 if case.continuous else 1e-9
        shift = float(noise.shift(branch)) * grid
        assert shift == pytest.approx(told["shift"], rel=near)
    elif noise.family == "laplace":
        assert noise.shift(branch) == 0


@of_type("stop")
def test_law_of_the_first_above(name):
    case = Case(name)
    law = without_branches(case.law())
    told = case.told["probabilities"]
    where = [*((i,) for i in range(len(told) - 1)), ()]
    assert [law[at] for at in where] == pytest.approx(told, abs=case.tolerance)


@of_type("sparse", "pair")
def test_law_of_the_indices(name):
    case = Case(name)
    for answers, law in ("answers", "law"), ("answers2", "law2"):
        if law in case.told:
            found = without_branches(case.law(answers))
            told = {tuple(at): chance for at, chance in case.told[law]}
            assert {at for at, chance in found.items() if chance > 1e-9} <= set(told)
            for at, chance in told.items():
                assert found[at] == pytest.approx(chance, abs=case.tolerance)


@of_type("pair")
def test_worst_ratio(name):
    case = Case(name)
    losses = loss(case.law(), case.law("answers2")).values()
    told = case.told["max_log_ratio"]
    assert max(losses) == pytest.approx(told, abs=case.tolerance)
    assert told <= case.told["eps"] + 1e-12


@of_type("gap")
def test_density_of_a_gap(name):
    """The mass of one excess; in the continuous case divided by the step."""
    case = Case(name)
    told = case.told
    excess = round(told["gap"] / float(case.grid))
    law = case.law(gaps=(excess,))
    density = law[((told["index"], 0, excess),)]
    if case.continuous:
        density /= float(case.grid)
    assert density == pytest.approx(told["density"], rel=case.tolerance)


def test_cases_are_all_there():
    assert len(CASES) == 30
    assert {case["noise"] for case in CASES.values()} == set(FAMILIES)
