"""Options as typed, and the noise that follows from them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.mechanisms.calibrate import SparseOptions, read_max_above
from dpframe.noise.threshold import read_ratio
from dpframe.queries.threshold import LARGEST_STEPS

NAN, INFINITE = float("nan"), float("inf")


def calibrate(options=None, *, sensitivity=1, monotonic=False, **more):
    return SparseOptions(**options or {}).calibrate(
        Fraction(1), sensitivity=sensitivity, monotonic=monotonic, **more
    )


def test_defaults_stop_at_the_first():
    noise = calibrate(sensitivity=3, monotonic=True)
    assert noise == calibrate(
        {
            "max_above": 1,
            "noise": "geometric",
            "ratio": 1,  # the optimal one, as the queries are monotone
            "gap": True,
            "refresh": False,
            "adaptive": False,
        },
        sensitivity=3,
        monotonic=True,
    )
    assert (noise.epsilon, noise.sensitivity, noise.max_above) == (1, 3, 1)
    assert (noise.monotonic, noise.family, noise.values) == (True, "geometric", None)
    assert (noise.refresh, noise.adaptive, noise.concentrated) == (False,) * 3


@pytest.mark.parametrize(
    ("sensitivity", "l1", "expected"),
    [(2, None, 6), (2, 5, 5), (2, 6, 6), (2, 99, 6), (1, 1, 1)],
)
def test_values_have_the_noise_of_the_smaller_sensitivity(sensitivity, l1, expected):
    options = {"max_above": 3, "values": True}
    assert calibrate(options, sensitivity=sensitivity, l1=l1).values == expected
    without = {"max_above": 3}
    assert calibrate(without, sensitivity=sensitivity, l1=l1).values is None


@pytest.mark.parametrize(
    ("options", "concentrated", "refreshed"),
    [
        ({}, False, False),
        ({}, True, False),  # one positive answer: nothing to refresh
        ({"max_above": 2}, False, False),
        ({"max_above": 2}, True, True),
        ({"max_above": 2, "adaptive": True}, True, False),
        ({"max_above": 2, "refresh": False}, True, False),
        ({"max_above": 2, "refresh": True}, False, True),
        ({"max_above": 1, "refresh": True}, False, True),
    ],
    ids=str,
)
def test_refreshing_where_it_pays(options, concentrated, refreshed):
    noise = calibrate(options, concentrated=concentrated)
    assert noise.refresh is refreshed
    assert noise.concentrated is concentrated


@pytest.mark.parametrize("monotonic", [False, True])
def test_the_optimal_ratio_is_that_of_one_run(monotonic):
    for refresh, aboves in ((False, 4), (True, 1)):
        noise = calibrate({"max_above": 4, "refresh": refresh}, monotonic=monotonic)
        assert noise.ratio == read_ratio("optimal", aboves, monotonic=monotonic)
    even = calibrate({"max_above": 4, "ratio": "even"}, monotonic=monotonic)
    assert even.epsilon_threshold == even.epsilon_query == Fraction(1, 2)


def test_the_margin_is_told_in_steps():
    options = {"adaptive": True, "margin": "1/2"}
    assert calibrate(options).margin == Fraction(1, 2)
    assert calibrate(options, grid=Fraction(1, 8)).margin == 4
    assert calibrate({"adaptive": True, "margin": 0}).branches[0].margin == 0
    assert calibrate({"adaptive": True}).margin is None
    most = {"adaptive": True, "margin": LARGEST_STEPS}
    assert calibrate(most).margin == LARGEST_STEPS
    with pytest.raises(ParameterError, match=r"margin is beyond 2\*\*60 steps"):
        calibrate(most, grid=Fraction(1, 2))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_above": 0}, "max_above must be an integer of 1 or more, fixed before"),
        ({"noise": None}, "noise must be 'geometric'"),
        ({"max_above": 2**60}, "max_above is beyond 2**54"),
        ({"ratio": "best"}, "ratio must be 'optimal'"),
        ({"ratio": np.array([1, 2])}, "ratio must be a number, not ndarray"),
        ({"gap": 0}, "gap must be True or False; got 0."),
        ({"values": None}, "values must be True or False; got None."),
        ({"adaptive": 1}, "adaptive must be True or False; got 1."),
        ({"refresh": 1}, "refresh must be True or False or 'auto'; got 1."),
        ({"refresh": "yes"}, "refresh must be True or False or 'auto'; got 'yes'."),
        ({"margin": -1}, "margin must not be negative; got -1."),
        ({"margin": NAN}, "margin must be a number"),
        ({"margin": INFINITE}, "margin must be a number"),
        ({"adaptive": True, "refresh": True}, "the adaptive form has one run"),
        ({"adaptive": True, "values": True}, "values=True is for sparse_vector"),
    ],
    ids=str,
)
def test_wrong_options(options, said):
    with pytest.raises(ParameterError) as caught:
        calibrate(options)
    assert said in str(caught.value)


@pytest.mark.parametrize("concentrated", [False, True])
@pytest.mark.parametrize("refresh", ["auto", False])
@pytest.mark.parametrize("max_above", [1, 2, 5])
def test_adaptive_never_has_values(concentrated, refresh, max_above):
    """With c·Δ/ε₃ for up to 2c - 1 of them, the claim would be wrong."""
    options = {"max_above": max_above, "adaptive": True, "refresh": refresh}
    assert calibrate(options, concentrated=concentrated).fresh is None
    with pytest.raises(ParameterError, match="Ask with gap=True, which is free"):
        calibrate(options | {"values": True}, concentrated=concentrated, l1=1)


@pytest.mark.parametrize("value", [0, -1, 1.0, True, None, "1", NAN, INFINITE])
def test_max_above_is_an_integer(value):
    with pytest.raises(ParameterError, match="max_above must be an integer"):
        read_max_above(value)
    assert read_max_above(7) == 7


def test_description_is_what_noise_does_not_tell():
    assert SparseOptions().describe() == {"gap": False, "values": False}
    assert SparseOptions(gap=True, values=True).describe() == {
        "gap": True,
        "values": True,
    }
