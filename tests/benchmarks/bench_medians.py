"""Mean absolute error of a private median, by shape of the data and by method.

    python tests/benchmarks/bench_medians.py [data sets]        (400 by default)

The table of docs/explanation/beyond_global_sensitivity.rst. Every data set is new. The
proposal of propose-test-release is what another data set of the same shape recommends;
its refusals are counted apart. Data come from a fixed seed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

import dpframe as dpf
from dpframe.noise.laplace import DiscreteLaplace
from dpframe.noise.smooth import SmoothNoise
from dpframe.sensitivity.plain import profile_of

DELTA = "1e-6"
DRAWS = 20  # of smooth noise for each data set
FAMILIES = {
    "Lomax": ("lomax", {}),
    "T, 3 degrees": ("student_t", {}),
    "Laplace": ("laplace", {"delta": DELTA}),
    "Cauchy": ("student_t", {"degrees": 1}),
}
NAMES = ("exponential", *FAMILIES, "PTR", "refused", "global")

Numbers = npt.NDArray[np.float64] | npt.NDArray[np.int64]


class Setting(NamedTuple):
    """A shape of data, with its public bounds and the epsilon of a release."""

    name: str
    draw: Callable[[np.random.Generator, int], Numbers]
    high: int
    epsilon: str
    rows: int = 1_000

    @property
    def facts(self) -> dict[str, object]:
        return {"bounds": (0, self.high), "neighboring": "add_remove"}


def normal(rng: np.random.Generator, rows: int) -> Numbers:
    return rng.normal(45, 12, rows)


def ages(rng: np.random.Generator, rows: int) -> Numbers:
    return np.floor(normal(rng, rows) + 0.5).astype(np.int64)


def incomes(rng: np.random.Generator, rows: int) -> Numbers:
    return rng.lognormal(3, 0.8, rows)


SETTINGS = [
    Setting("normal(45, 12) in [0, 120]", normal, 120, "1"),
    Setting("normal(45, 12) in [0, 120]", normal, 120, "0.2"),
    Setting("lognormal(3, 0.8) in [0, 1000]", incomes, 1_000, "1"),
    Setting("integer ages in [0, 120]", ages, 120, "1"),
]


def errors(setting: Setting, sets: int) -> dict[str, float]:
    """Return the mean absolute error of each method, and the share of refusals."""
    rng = np.random.default_rng(5)
    public = setting.draw(
        rng, setting.rows
    )  # of another year: what a proposal may be taken from
    data = [setting.draw(rng, setting.rows) for _ in range(sets)]
    exponential = np.mean(list(_exponential(setting, data)))
    smooth = [_smooth(setting, data, *law) for law in FAMILIES.values()]
    proposed = list(_proposed(setting, data, _bound(setting, public)))
    released = [error for error in proposed if error is not None]
    ptr = np.mean(released) if released else np.nan
    refused = 1 - len(released) / sets
    known = _global(setting, data)
    return dict(zip(NAMES, [exponential, *smooth, ptr, refused, known], strict=True))


def _truth(setting: Setting, values: Numbers) -> float:
    return dpf.sensitivity.evaluate(values, "median", bounds=(0, setting.high))


def _exponential(setting: Setting, data: list[Numbers]) -> Iterator[float]:
    """All data sets in one call: choices under other keys are independent."""
    runs = np.arange(len(data))
    frame = pl.DataFrame(
        {"run": np.repeat(runs, setting.rows), "x": np.concatenate(data)}
    )
    session = dpf.Session(epsilon=setting.epsilon, unit="row")
    by_run = dpf.private(frame, session).group_by("run", keys=runs.tolist())
    chosen = by_run.median("x", setting.epsilon, bounds=(0, setting.high)).to_frame()
    for answer, values in zip(chosen["median"].to_list(), data, strict=True):
        yield abs(answer - _truth(setting, values))


def _smooth(
    setting: Setting, data: list[Numbers], family: str, options: dict[str, object]
) -> float:
    """As the verb does it: S, then noise on a grid of the bounds."""
    noise = SmoothNoise.read(family, setting.epsilon, **options)
    whole = data[0].dtype.kind == "i"
    grid = Fraction(1) if whole else Fraction(setting.high, 2**20)
    found = []
    for values in data:
        truth = _truth(setting, values)
        smooth = profile_of(values, "median", **setting.facts).smooth(noise.beta)
        many = [truth] * DRAWS, [smooth] * DRAWS
        steps = noise.draw(*many, low=0, high=setting.high, grid=grid)
        found.append(np.abs(steps * float(grid) - truth).mean())
    return float(np.mean(found))


def _bound(setting: Setting, public: Numbers) -> float:
    seen = dpf.sensitivity.compare(
        public, "median", epsilon=setting.epsilon, delta=DELTA, **setting.facts
    )
    return seen.ptr_bound or 1.0


def _proposed(
    setting: Setting, data: list[Numbers], bound: float
) -> Iterator[float | None]:
    for values in data:
        session = dpf.Session(epsilon=setting.epsilon, delta=DELTA, unit="row")
        people = dpf.private(pl.DataFrame({"x": values}), session)
        answer = people.propose_test_release(
            "median", "x", bound=bound, epsilon=setting.epsilon, delta=DELTA,
            bounds=(0, setting.high),
        )  # fmt: skip
        within = np.clip(answer.value, 0, setting.high) if answer.released else None
        yield None if within is None else abs(within - _truth(setting, values))


def _global(setting: Setting, data: list[Numbers]) -> float:
    """Laplace noise for the whole width, cut to the bounds: few steps are enough."""
    steps = 100
    law = DiscreteLaplace(steps * setting.high / Fraction(setting.epsilon))
    truths = np.repeat([_truth(setting, values) for values in data], DRAWS)
    noisy = np.clip(truths + law.sample(truths.size) / steps, 0, setting.high)
    return float(np.abs(noisy - truths).mean())


def report(sets: int = 400) -> None:
    print(f"\nmean absolute error of a median of 1,000 rows, {sets} data sets")
    print(f"{'':40}" + "".join(f"{name:>13}" for name in NAMES))
    for setting in SETTINGS:
        found = "".join(f"{error:13.3g}" for error in errors(setting, sets).values())
        print(f"{setting.name + ', epsilon ' + setting.epsilon:40}{found}")


def report_beta(sets: int = 400) -> None:
    shares = [Fraction(share, 100) for share in (5, 10, 20, 30, 40, 50)]
    print(f"\nthe same with Lomax noise, by beta / epsilon, {sets} data sets")
    print(f"{'':40}" + "".join(f"{float(share):8}" for share in shares))
    for setting in SETTINGS:
        rng = np.random.default_rng(5)
        data = [setting.draw(rng, setting.rows) for _ in range(sets)]
        betas = [{"beta": share * Fraction(setting.epsilon)} for share in shares]
        found = [_smooth(setting, data, "lomax", options) for options in betas]
        line = "".join(f"{error:8.2g}" for error in found)
        print(f"{setting.name + ', epsilon ' + setting.epsilon:40}{line}")


def report_units(sets: int = 400) -> None:
    print(f"\n1,000 persons, normal(45, 12) in [0, 120], epsilon 1, {sets} data sets")
    person = dpf.Unit("person", max_rows=4)
    for name, unit, rows, neighboring in [
        ("a row each", "row", 1, "add_remove"),
        ("four rows each", person, 4, "add_remove"),
        ("four rows each, replace", person, 4, "replace"),
    ]:
        rng = np.random.default_rng(6)
        found = []
        for _ in range(sets):
            x = normal(rng, 1_000 * rows)
            frame = pl.DataFrame({"person": np.repeat(range(1_000), rows), "x": x})
            session = dpf.Session(epsilon=2, unit=unit, neighboring=neighboring)
            people = dpf.private(frame, session)
            chosen = people.median("x", 1, bounds=(0, 120))
            smooth = people.median("x", 1, bounds=(0, 120), method="smooth")
            found.append([abs(float(a) - np.median(x)) for a in (chosen, smooth)])
        exponential, lomax = np.mean(found, axis=0)
        print(f"{name:40} exponential {exponential:.2g}, Lomax {lomax:.2g}")


@pytest.mark.benchmark
def test_errors_of_medians() -> None:
    report(sets=40)
    report_beta(sets=20)
    report_units(sets=20)


if __name__ == "__main__":
    report(*map(int, sys.argv[1:2]))
    report_beta(*map(int, sys.argv[1:2]))
    report_units(*map(int, sys.argv[1:2]))
