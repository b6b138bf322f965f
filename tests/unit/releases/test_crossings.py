"""Gaps, values and estimates against the comparison that they come from."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.noise.threshold import ThresholdNoise
from dpframe.queries.threshold import Threshold
from dpframe.releases.crossings import Crossings

VARIANTS = {
    "geometric": {},
    "laplace": {"family": "laplace"},
    "monotone": {"monotonic": True, "ratio": Fraction(3)},
    "several": {"max_above": 3, "sensitivity": 2},
    "refreshed": {"max_above": 3, "refresh": True},
    "adaptive": {"max_above": 2, "adaptive": True},
    "adaptive with a margin": {
        "max_above": 2,
        "adaptive": True,
        "margin": Fraction(7, 2),
    },
}
THRESHOLDS = [
    Threshold(Fraction(10)),
    Threshold(Fraction(21, 2)),
    Threshold(Fraction(10), direction="below"),
    Threshold(Fraction(5, 3), Fraction(1, 4)),
    Threshold(Fraction(-5, 3), Fraction(1, 4), "below"),
    Threshold(Fraction(1_000), Fraction(100)),
]
both = pytest.mark.parametrize(
    ("variant", "threshold"), list(itertools.product(VARIANTS, THRESHOLDS))
)


def noise_of(variant="geometric", **more):
    settings = {"epsilon": Fraction(2), "sensitivity": 1, **VARIANTS[variant], **more}
    return ThresholdNoise(**settings)


def crossed(noise, threshold, q, nu, rho, branch=0, gap=True, fresh=None):
    """Answers q (grid steps) as the comparison would find them, noise laid open."""
    bar = noise.bar(noise.branches[branch], threshold.steps)
    excess = threshold.sign * np.asarray(q) + nu - rho - bar
    return Crossings(
        noise,
        threshold,
        np.arange(len(excess)),
        np.full(len(excess), branch),
        excess.astype(np.int64) if gap else None,
        None if fresh is None else np.asarray(fresh, dtype=np.int64),
        n_examined=len(excess),
        exhausted=False,
    )


@both
def test_gap_is_the_noisy_distance_from_the_threshold(variant, threshold):
    noise = noise_of(variant)
    for j, branch in enumerate(noise.branches):
        q, nu, rho = np.array([3, 40, -7]), np.array([50, 0, 90]), np.array([0, 3, 1])
        found = crossed(noise, threshold, q, nu, rho, j)
        exact = [
            (threshold.sign * int(a) + int(b) - int(c) - noise.shift(branch))
            * threshold.grid
            - threshold.sign * threshold.value
            for a, b, c in zip(q, nu, rho, strict=True)
        ]
        assert found.gaps == pytest.approx([float(x) for x in exact], rel=1e-12)
        assert found.values is None
        expected = threshold.sign * found.gaps + float(threshold.value)
        assert found.estimates == pytest.approx(expected)


@both
def test_estimate_is_right_on_average_and_its_error_is_right(variant, threshold):
    """Over all the noise there is, before selection."""
    noise = noise_of(variant)
    for j, branch in enumerate(noise.branches):
        steps = np.arange(-400, 401)
        nu, rho = (grid.ravel() for grid in np.meshgrid(steps, steps))
        chance = branch.law.pmf(nu) * noise.threshold.pmf(rho)
        q = 17
        found = crossed(noise, threshold, np.full(nu.size, q), nu, rho, j)
        mean = float(np.sum(chance * found.estimates))
        assert mean == pytest.approx(float(q * threshold.grid), abs=1e-6)
        variance = float(np.sum(chance * (found.estimates - mean) ** 2))
        assert found.errors[0] == pytest.approx(variance**0.5, rel=1e-6)


@both
def test_intervals_hold_the_truth_unless_the_noise_is_far_out(variant, threshold):
    noise, queries = noise_of(variant), 50
    rho_span, nu_spans = noise.spans(queries, "0.9")
    for j, nu_span in enumerate(nu_spans):
        ends = list(itertools.product(nu_span, rho_span))
        nu, rho = (np.array(x) for x in zip(*ends, strict=True))
        q = np.full(len(ends), 12)
        low, high = crossed(noise, threshold, q, nu, rho, j).bounds(queries, "0.9")
        truth = float(12 * threshold.grid)
        assert (low.astype(float) <= truth).all()
        assert (high.astype(float) >= truth).all()
        assert float(max(low)) == pytest.approx(truth)  # attained at the far end
        beyond = crossed(noise, threshold, q, nu + 1, rho - 1, j)
        far_low, far_high = beyond.bounds(queries, "0.9")
        outside = (far_low.astype(float) > truth) | (far_high.astype(float) < truth)
        assert outside.any()


def test_the_interval_of_the_branch_that_fired_is_used():
    noise = noise_of("adaptive")
    threshold = Threshold(Fraction(10))
    low, high = (
        crossed(noise, threshold, [30], 0, 0, branch).bounds(10)[1][0]
        - crossed(noise, threshold, [30], 0, 0, branch).bounds(10)[0][0]
        for branch in (0, 1)
    )
    assert low > 1.5 * high  # clear answers have twice the noise


def test_values_are_exact_integers_on_a_grid_of_integers():
    noise = noise_of(values=1)
    for grid, dtype, expected in [
        (Fraction(1), np.int64, [5, -3]),
        (Fraction(100), object, [500, -300]),
        (Fraction(1, 4), np.float64, [1.25, -0.75]),
    ]:
        found = crossed(
            noise, Threshold(Fraction(1), grid), [9, 9], 0, 0, gap=False, fresh=[5, -3]
        )
        assert found.values.dtype == dtype
        assert found.values.tolist() == expected
        assert found.estimates.tolist() == expected
        assert found.gaps is None
        std = noise.fresh.std * float(grid)
        assert found.errors.tolist() == pytest.approx([std, std])
        half = noise.fresh.interval("0.9")[1]
        low, high = found.bounds(1_000, "0.9")
        assert low.tolist() == [(x - half) * grid for x in (5, -3)]
        assert high.tolist() == [(x + half) * grid for x in (5, -3)]


def test_values_beyond_int64_do_not_wrap():
    found = crossed(
        noise_of(values=1),
        Threshold(Fraction(1), Fraction(100)),
        [9],
        0,
        0,
        fresh=[2**62],
    )
    assert found.values.tolist() == [100 * 2**62]


@pytest.mark.parametrize("direction", ["above", "below"])
def test_gap_and_value_are_mixed_by_their_precision(direction):
    """The mix has the least variance of all weighted means, and says so."""
    noise = noise_of("several", values=4)
    threshold = Threshold(Fraction(10), Fraction(1, 2), direction)
    found = crossed(noise, threshold, [30], 4, 1, fresh=[11])
    by_gap = 10 + threshold.sign * found.gaps[0]
    of_gap = noise.gap_variance(noise.branches[0]) / 4
    of_value = noise.fresh.variance / 4
    weight = of_gap / (of_gap + of_value)
    mixed = by_gap + weight * (5.5 - by_gap)
    assert found.estimates == pytest.approx([mixed])

    def variance(w):
        return w**2 * of_value + (1 - w) ** 2 * of_gap

    assert found.errors[0] ** 2 == pytest.approx(variance(weight))
    assert all(variance(w) >= variance(weight) for w in np.linspace(0, 1, 101))


def test_noise_that_is_never_seen_does_not_divide_by_zero():
    noise = noise_of(epsilon=Fraction(10_000), values=1)
    assert noise.fresh.variance == 0
    found = crossed(noise, Threshold(Fraction(10)), [12], 0, 0, fresh=[12])
    assert found.estimates.tolist() == [12]
    assert found.errors.tolist() == [0]


def test_without_gaps_and_values_there_are_no_numbers():
    found = crossed(noise_of(), Threshold(Fraction(10)), [12, 15], 9, 0, gap=False)
    assert (found.gaps, found.values, found.estimates) == (None, None, None)
    for ask in (lambda: found.errors, lambda: found.bounds(3)):
        with pytest.raises(ParameterError, match="gap=True, which is free"):
            ask()


def test_nothing_found_is_empty():
    found = crossed(noise_of(values=1), Threshold(Fraction(10)), [], 0, 0, fresh=[])
    for numbers in (found.gaps, found.values, found.estimates, found.errors):
        assert numbers.shape == (0,)
    assert [len(end) for end in found.bounds(3)] == [0, 0]


def test_thresholds_beyond_int64_overflow_nowhere():
    for value in (10**30, -(10**30)):
        found = crossed(noise_of(), Threshold(Fraction(value)), [], 0, 0)
        assert found.gaps.shape == (0,)
        assert len(found.bounds(3)[0]) == 0


def test_repr_holds_what_was_released_and_no_more():
    threshold = Threshold(Fraction(10))
    assert repr(crossed(noise_of(), threshold, [12], 3, 0, gap=False)) == (
        "Crossings(indices=[0], n_examined=1, exhausted=False)"
    )
    said = repr(crossed(noise_of(values=1), threshold, [12], 3, 0, fresh=[13]))
    assert said.startswith("Crossings(indices=[0], gaps=[")
    assert "values=[13], n_examined=1" in said
