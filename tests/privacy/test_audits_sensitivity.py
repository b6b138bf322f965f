"""Audits: broken uses of local and smooth sensitivity are flagged, ours pass."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from reference_engine import install
from tiny_source import TinySource

import dpframe as dpf
from dpframe.accessor import PrivateFrame
from dpframe.mechanisms.smooth import SmoothOptions
from dpframe.noise.smooth import SmoothNoise
from dpframe.sensitivity import evaluate, smooth
from dpframe.testing import audit, broken_sensitivity, check_distance

#: Ten numbers one apart, and a copy of one of them: the closest distance is 1 and 0.
APART = list(range(10)), [0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 9]

_BETA = 1 / (2 * math.log(2))
_STEP = 100 * math.exp(-4 * _BETA)
#: One row less moves the median by S, and S by a factor of e^beta.
HALVES = [0.0] * 2 + [_STEP] * 2, [0.0] + [_STEP] * 2
#: One row less, and the local sensitivity falls to nothing.
STILL = [0.0, 100.0], [0.0, 0.0, 100.0]
LINE = (0, 100)

#: Options, pair, claimed epsilon and delta, runs.
TWINS = {
    broken_sensitivity.count_of_violations: (
        {"bounds": (0, 9), "bound": 0.1},
        APART,
        (1, 1e-6),
        4_000,
    ),
    broken_sensitivity.smooth_laplace_as_pure: (
        {"bounds": LINE},
        HALVES,
        (1, 0),
        60_000,
    ),
    broken_sensitivity.noise_of_local: ({"bounds": LINE}, STILL, (1, 0), 1_000),
}  # fmt: skip


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.__name__)
def test_broken_twin_is_flagged(twin):
    options, pair, (epsilon, delta), runs = TWINS[twin]
    mechanism = partial(twin, epsilon=epsilon, **options)
    found = audit(mechanism, pair, epsilon, delta, runs=runs, vectorized=True)
    assert found.violated


def test_every_twin_is_audited():
    assert set(TWINS) == set(broken_sensitivity.BROKEN_SENSITIVITY)


def test_twins_do_what_their_docstrings_say():
    """At great epsilons the noise is small, and the statistic comes out."""
    for twin, exact in [
        (broken_sensitivity.smooth_laplace_as_pure, 45.0),
        (broken_sensitivity.noise_of_local, 45.0),
    ]:
        found = twin(list(range(20, 71)), "3/2", bounds=LINE, runs=2_000)
        assert abs(np.median(found) - exact) < 1
    refused = broken_sensitivity.count_of_violations(
        [0, 0, 50], 40, bounds=LINE, bound=5, runs=100
    )
    assert np.isnan(refused).all()  # a deletion moves the distance by 50
    passed = broken_sensitivity.count_of_violations(
        [0, 0, 0, 50], 40, bounds=LINE, bound=5, runs=100
    )
    assert np.abs(passed).max() < 5


def median_of(values, runs, *, noise):
    """The smooth median as the verb noises it, without a session for each run."""
    law = SmoothNoise.read(noise, 1)
    width = smooth(
        values, "median", bounds=LINE, neighboring="add_remove", beta=law.beta
    )
    value = evaluate(values, "median", bounds=LINE)
    exact, scale = np.full(runs, value), np.full(runs, width * (1 + 1e-9))
    return law.draw(exact, scale, Fraction(0), Fraction(100), Fraction(1, 2**10))


@pytest.mark.parametrize("noise", ["lomax", "student_t"])
@pytest.mark.parametrize("pair", [HALVES, STILL], ids=["halves", "still"])
def test_ours_pass_where_twins_are_flagged(noise, pair):
    mechanism = partial(median_of, noise=noise)
    audit(mechanism, pair, 1, runs=20_000, vectorized=True).check()


VERBS = {
    "smooth": lambda d: (
        d._smooth("median", "median", "x", 1, SmoothOptions(), LINE, "row", None).value
    ),
    "ptr": lambda d: (
        d.propose_test_release(
            "median", "x", bound=1, bounds=LINE, epsilon=1, delta="1e-4"
        ).value
    ),
    "closest pair": lambda d: (
        d.closest_pair(
            "x", 1, bounds=(0, 9), method="ptr", bound=0.1, delta="1e-4"
        ).value
    ),
}


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_pass(verb, monkeypatch):
    def mechanism(values):
        session = dpf.Session(1, delta="1e-4", unit="row")
        return VERBS[verb](PrivateFrame(values, session))

    install(monkeypatch, TinySource)

    pair = APART if verb == "closest pair" else HALVES
    audit(mechanism, pair, 1, "1e-4", runs=1_000).check()


# -- distances of users --------------------------------------------------------


def largest(values):
    return max(values, default=0)


def test_a_right_distance_passes():
    def safe(values):
        """Rows at 4 or 5 that must go before the largest may fall further."""
        return max(0, int((values >= 4).sum()) - 1)

    assert check_distance(largest, safe, [0, 4, 5], 4, bound=5) > 20
    assert check_distance(largest, lambda values: math.inf, [0, 5], 4, bound=5) == 20


@pytest.mark.parametrize(
    ("distance", "match"),
    [
        (lambda v: 1, "more than the bound apart"),
        (lambda v: 2 * len(v), "more than 1 apart"),
        (lambda v: 0.5, "no whole number"),
        (lambda v: -1, "no whole number"),
        # The notes' count: how many rows violate the bound themselves.
        (
            lambda v: sum(
                abs(largest(np.delete(v, i)) - largest(v)) > 1 for i in range(len(v))
            ),
            "apart",
        ),
    ],
)
def test_a_wrong_distance_is_found(distance, match):
    with pytest.raises(AssertionError, match=match):
        check_distance(largest, distance, [0, 1, 5], 3, bound=1)


def test_sizes_are_checked():
    for domain, size in ([0, 1], 0), ([0, 1], 2.5), ([], 2), (range(1_000), 3):
        with pytest.raises(dpf.ParameterError):
            check_distance(largest, len, domain, size, bound=1)
