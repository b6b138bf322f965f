import json
import math
from dataclasses import FrozenInstanceError
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from noise_reference import scripted
from smooth_reference import worst_excess, worst_loss

import dpframe as dpf
from dpframe.errors import DPFrameError, ParameterError
from dpframe.noise import Laplace, Lomax, StudentT
from dpframe.noise.bits import use_source_for_tests
from dpframe.noise.smooth import SLACK, SmoothNoise

CASES = [
    case
    for case in json.loads(
        (Path(__file__).parents[2] / "data/sensitivity.json").read_text("utf-8")
    )["cases"]
    if case["type"] == "noise"
]
LESS, MORE = 1 - SLACK, 1 + SLACK


def test_the_noise_leaves_a_millionth_of_its_budget():
    noise = SmoothNoise.read("lomax", "0.5", beta="0.1")
    assert noise.law == Lomax(Fraction("0.5") * LESS, Fraction("0.1") * MORE)
    assert noise.s == noise.law.s
    assert (noise.epsilon, noise.delta, noise.beta) == (
        Fraction(1, 2),
        0,
        Fraction(1, 10),
    )
    noise = SmoothNoise.read("student_t", 1, beta="0.1", degrees=4)
    assert noise.law == StudentT(LESS, Fraction("0.1") * MORE, 4)
    assert noise.s == noise.law.s
    noise = SmoothNoise.read("laplace", 1, delta="1e-6")
    assert noise.law == Laplace(1)
    assert noise.s == LESS / 2


def test_defaults():
    assert SmoothNoise.read("lomax", 2).beta == Fraction(6, 10)
    assert SmoothNoise.read("student_t", 1).beta == Fraction(1, 6)
    assert SmoothNoise.read("student_t", 1).law.degrees == 3
    assert SmoothNoise.read("student_t", 2, degrees=1).beta == 1


def test_loss():
    assert SmoothNoise.read("lomax", 0.5).loss == dpf.PrivacyLoss(Fraction(1, 2))
    loss = SmoothNoise.read("laplace", 0.5, delta=1e-6).loss
    assert loss == dpf.PrivacyLoss(Fraction(1, 2), Fraction(1, 10**6))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_published_laplace_figures(case):
    noise = SmoothNoise.read("laplace", case["eps"], delta=case["delta"])
    assert float(noise.beta) == pytest.approx(case["laplace_beta"], rel=3e-6)
    scale = 1 / float(noise.s)
    assert scale == pytest.approx(case["laplace_scale_over_smooth"], rel=2e-6)


@pytest.mark.parametrize("epsilon", ["0.1", 1, 5])
@pytest.mark.parametrize("share", ["0.05", "0.3", "0.6"])
def test_rounded_sensitivities_stay_within_epsilon(epsilon, share):
    # S off by 1e-12 on either side: a greater ratio, and a greater shift than S.
    off = 1e-12
    limit = Fraction(epsilon)
    noise = SmoothNoise.read("lomax", epsilon, beta=limit * Fraction(share))
    power, beta, s = float(noise.law.gamma), float(noise.beta), float(noise.s)
    worst = worst_loss(
        lambda z: -power * np.log1p(np.abs(z)), beta + 2 * off, s * (1 + off)
    )
    assert 0.9999 * limit <= worst < limit
    noise = SmoothNoise.read("student_t", epsilon, beta=limit * Fraction(share) / 3)
    beta, s = float(noise.beta), float(noise.s)
    worst = worst_loss(
        lambda z: -2 * np.log1p(z * z / 3), beta + 2 * off, s * (1 + off)
    )
    assert worst < limit


def outputs(noise, value, smooth):
    """The exact probabilities of the outputs 0..40, clamped, on the grid of 1."""
    ends = (np.arange(41) - 0.5 - value) * float(noise.s) / smooth
    below = np.append(noise.law.cdf(ends[1:]), 1.0)
    return np.diff(np.append(0.0, below))


@pytest.mark.parametrize("family", ["lomax", "student_t"])
@pytest.mark.parametrize("epsilon", ["0.2", 1, 3])
def test_outputs_of_neighbors_differ_by_epsilon_at_most(family, epsilon):
    noise = SmoothNoise.read(family, epsilon)
    grown, worst = math.exp(float(noise.beta)), 0.0
    for value in (0.0, 17.0, 20.5, 40.0):
        for smooth in (0.05, 0.7, 3.0, 100.0):
            here = outputs(noise, value, smooth)
            assert here.sum() == pytest.approx(1)
            for other in (smooth / grown, smooth, smooth * grown):
                shift = min(smooth, other)
                for moved in (value, max(value - shift, 0), min(value + shift, 40)):
                    there = outputs(noise, moved, other)
                    seen = (here > 1e-12) & (there > 1e-12)
                    ratios = np.log(here[seen] / there[seen])
                    worst = max(worst, np.abs(ratios).max())
    assert 0.5 * float(noise.epsilon) < worst <= float(noise.epsilon)


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", 1, "1.386"])
@pytest.mark.parametrize("delta", ["1e-6", "1e-3", "0.1"])
def test_laplace_noise_keeps_its_delta(epsilon, delta):
    noise = SmoothNoise.read("laplace", epsilon, delta=delta)
    excess = worst_excess(float(noise.beta), float(noise.s), float(noise.epsilon))
    assert excess <= float(noise.delta) / 2


@pytest.mark.parametrize(("epsilon", "excess"), [(0.5, 0.010), (1.0, 0.11)])
def test_the_lecture_notes_claim_of_pure_laplace_noise_is_wrong(epsilon, excess):
    # beta = epsilon / (2 ln(2 / epsilon)) is the formula above with epsilon for delta.
    beta = epsilon / (2 * math.log(2 / epsilon))
    assert worst_excess(beta, epsilon / 2, epsilon) == pytest.approx(excess, rel=0.05)


def test_expected_spread():
    noise = SmoothNoise.read("lomax", "0.5", beta="0.1")
    assert noise.std == pytest.approx(5.358327832323, rel=1e-4)
    assert SmoothNoise.read("lomax", 1, beta="0.7").std == math.inf
    half = noise.half_width("0.9")
    assert half == pytest.approx(noise.law.interval("0.9")[1] / float(noise.s))
    noise = SmoothNoise.read("laplace", 1, delta="1e-6")
    assert noise.std == pytest.approx(2 * math.sqrt(2), rel=1e-5)


def test_draws_follow_values_bounds_and_grid():
    noise = SmoothNoise.read("lomax", 1)
    values = np.arange(0, 121)
    steps = noise.draw(values, np.full(121, 1e-9), 0, 120, 1)
    assert steps.dtype == np.int64
    assert steps.tolist() == values.tolist()
    steps = noise.draw(values / 8, 1e-9, 0, 120, Fraction(1, 64))
    assert steps.tolist() == (8 * values).tolist()
    assert noise.draw(7, 1e-9, 0, 120, 1).tolist() == [7]
    assert noise.draw([], [], 0, 120, 1).shape == (0,)


def test_the_scale_is_the_sensitivity_over_s():
    noise = SmoothNoise.read("lomax", 1)
    share = (2**62).to_bytes(8, "little")  # V = 1/4 and a positive sign
    size = 4.0 ** (1 / float(noise.law.gamma - 1)) - 1
    for smooth in (0.5, 3.0):
        with use_source_for_tests(scripted([share])):
            step = noise.draw(10, smooth, 0, 10**6, Fraction(1, 1024))
        noisy = 10 + smooth / float(noise.s) * size
        assert step / 1024 == pytest.approx(noisy, abs=1e-3)


def test_independent_noise_for_each_key():
    noise = SmoothNoise.read("lomax", 1)
    steps = noise.draw(np.full(4096, 50.0), 1.0, 0, 100, Fraction(1, 2**20))
    assert np.unique(steps[(steps > 0) & (steps < 100 * 2**20)]).size > 3_000


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("gaussian", 1), {}, '"lomax", "student_t" or "laplace"; got \'gaussian\'.'),
        (("lomax", 0), {}, "epsilon must be positive; got 0."),
        (("lomax", 1), {"beta": 1}, "beta must be below epsilon for Lomax noise"),
        (("lomax", 1), {"beta": "0.9999995"}, "beta must be below epsilon"),
        (("lomax", 1), {"beta": "1e-7"}, "beta must be at least 1e-6, for floats"),
        (("lomax", "1e-6"), {}, "at least 1e-6, .* Spend more epsilon."),
        (("lomax", 1), {"delta": "1e-6"}, "lomax noise is pure: leave delta out"),
        (("student_t", 1), {"delta": 0}, "student_t noise is pure: leave delta out"),
        (("student_t", 1), {"beta": "1/3"}, "beta must be below epsilon / 3"),
        (("student_t", 1), {"beta": "1e-9"}, "at least 1e-6"),
        (("student_t", 1), {"degrees": 0}, "degrees must be from 1 to 30"),
        (("student_t", 1), {"degrees": "3"}, "degrees must be a whole number"),
        (("laplace", 1), {}, "laplace noise is not pure: pass delta="),
        (("laplace", 1), {"delta": 0}, "delta must lie between 0 and 1; got 0."),
        (("laplace", 1), {"delta": 1}, "delta must lie between 0 and 1; got 1."),
        (("laplace", "1.3863"), {"delta": "1e-6"}, "up to 2 ln 2 = 1.386"),
        (("laplace", 1), {"delta": 0.1, "beta": 0.1}, "leave beta out"),
    ],
)
def test_wrong_arguments(arguments, options, message):
    with pytest.raises(ParameterError, match=message):
        SmoothNoise.read(*arguments, **options)


def test_wrong_draws():
    noise = SmoothNoise.read("lomax", 1)
    with pytest.raises(ParameterError, match="coarser grid"):
        noise.draw(1, 1, 0, 2**62, 1)
    with pytest.raises(DPFrameError, match="a bug in dpframe"):
        noise.draw(1, 0.0, 0, 5, 1)


def test_a_frozen_choice():
    noise = SmoothNoise.read("lomax", 1)
    assert noise == SmoothNoise.read("lomax", 1.0, beta="3/10")
    with pytest.raises(FrozenInstanceError):
        noise.beta = Fraction(1)
