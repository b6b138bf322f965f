"""Audits by sampling: every broken sparse vector is flagged, every right one passes.

Pairs of inputs are the worst that exact laws found among small ones; what a broken
form loses on them is computed too, and checked against what its docstring says. An
audit rings falsely with chance 1e-9. The right forms run here as one vectorized
reference on the same scales, and as the public function itself, fewer times.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import assert_law, assert_not_law
from sparse_reference import output_law, without_branches, worst_loss

from dpframe.mechanisms import sparse_vector
from dpframe.noise import DiscreteGaussian, DiscreteLaplace, Geometric
from dpframe.noise.threshold import Branch, ThresholdNoise
from dpframe.queries.threshold import Threshold
from dpframe.testing import audit, broken

RUNS = 256_000


def rising_and_falling(falling, rising):
    """Some answers fall by one, then some rise: the pair that hurts most."""
    return [1] * falling + [0] * rising, [0] * falling + [1] * rising


# -- broken twins --------------------------------------------------------------

#: Pair, max_above and epsilon of each; the threshold is 1. Bounds on epsilon are found
#: within 0.3 of 5.4, 2.9, 7.2, 5.6, 5.6 and 5.5.
TWINS = {
    broken.compared_values: (rising_and_falling(7, 1), 1, 4),
    broken.noise_without_c: (rising_and_falling(4, 4), 3, 1),
    broken.no_query_noise: (rising_and_falling(1, 1), 1, 1),
    broken.no_limit: (rising_and_falling(5, 4), 1, 4),
    broken.budget_for_each_above: (rising_and_falling(4, 4), 2, 4),
    broken.monotone_noise: (rising_and_falling(4, 1), 1, 4),
}


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.__name__)
def test_broken_twin_is_flagged(twin):
    pair, aboves, epsilon = TWINS[twin]
    mechanism = partial(twin, threshold=1, epsilon=epsilon, max_above=aboves)
    found = audit(mechanism, pair, epsilon, runs=RUNS, vectorized=True)
    assert found.violated
    with pytest.raises(AssertionError, match="was claimed"):
        found.check()


def test_every_twin_is_audited():
    assert set(TWINS) == set(broken.BROKEN)


class NoNoise:
    """The law of 0."""

    def pmf(self, k):
        return (k == 0) * 1.0

    def cdf(self, k):
        return (k >= 0) * 1.0


def declared(of_threshold, of_queries, most):
    """Noise in the form of the reference: scales, and positive answers at most."""
    law = NoNoise() if of_queries is None else DiscreteLaplace(of_queries)
    return SimpleNamespace(
        threshold=DiscreteLaplace(of_threshold),
        branches=(Branch("above", law, 1, Fraction(0)),),
        credit=most,
        refresh=False,
        bar=lambda branch, threshold: math.ceil(threshold),
    )


def scales(twin, aboves, epsilon):
    """Scales and limit as its docstring has them, for sensitivity 1."""
    half = Fraction(epsilon) / 2
    return {
        broken.compared_values: (1 / half, 2 * aboves / half, aboves),
        broken.noise_without_c: (2 / half, Fraction(2, 3) / half, aboves),
        broken.no_query_noise: (1 / half, None, aboves),
        broken.no_limit: (1 / half, 2 * aboves / half, 99),
        broken.budget_for_each_above: (1 / half, 2 / half, 2 * aboves),
        broken.monotone_noise: (1 / half, aboves / half, aboves),
    }[twin]


def true_loss(twin, pair, aboves, epsilon):
    noise = declared(*scales(twin, aboves, epsilon))
    laws = [output_law(noise, q, Threshold(Fraction(1))) for q in pair]
    return float(worst_loss(*laws))


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.__name__)
def test_twin_is_broken_as_described_and_not_otherwise(twin):
    """Its outputs follow the exact law of the scales in its docstring."""
    answers, n = [2, -1, 4, 1], 100_000

    def pmf(epsilon):
        noise = declared(*scales(twin, 2, epsilon / 3))  # a sensitivity of 3
        law = without_branches(output_law(noise, answers, Threshold(Fraction(1))))
        chances = np.array([law.get(at, 0.0) for at in subsets])
        return lambda k: np.where((k >= 0) & (k < 16), chances[k.clip(0, 15)], 0.0)

    subsets = [tuple(i for i in range(4) if code >> i & 1) for code in range(16)]
    found = twin(answers, 1, 2, max_above=2, sensitivity=3, runs=n)
    above = ~np.isnan(found) if twin is broken.compared_values else found == 1
    codes = above @ (1 << np.arange(4))
    assert_law(codes, pmf(Fraction(2)))
    for other in Fraction(8, 5), Fraction(12, 5):
        assert_not_law(codes, pmf(other))


def test_values_shown_have_the_noise_of_the_comparison():
    far = 10**6
    shown = broken.compared_values([far], 0, 1, max_above=2, runs=100_000)
    assert_law(shown[:, 0].astype(int) - far, DiscreteLaplace(8))


#: What the docstrings say, as multiples of epsilon, and the pair that costs it.
COSTS = {
    broken.noise_without_c: (lambda c: (1 + 6 * c) / 4, (1, 2, 3)),
    broken.budget_for_each_above: (lambda c: c + 1 / 2, (1, 2)),
    broken.monotone_noise: (lambda c: 3 / 2, (1, 2, 3)),
}


@pytest.mark.parametrize("twin", COSTS, ids=lambda twin: twin.__name__)
def test_true_cost_is_as_its_docstring_says(twin):
    cost, limits = COSTS[twin]
    for aboves in limits:
        lost = true_loss(twin, rising_and_falling(7, 2 * aboves), aboves, 8)
        assert 0.9 * cost(aboves) < lost / 8 <= cost(aboves) + 1e-12


def test_loss_without_query_noise_is_infinite():
    assert true_loss(broken.no_query_noise, ([1, 0], [0, 1]), 1, 1) == math.inf


def test_loss_without_limit_grows_with_every_query():
    pairs = [rising_and_falling(k, k) for k in (1, 2, 3, 4, 5)]
    lost = [true_loss(broken.no_limit, pair, 1, 4) / 4 for pair in pairs]
    assert np.diff(lost).min() > 0.3
    assert lost[-1] > 2


def test_loss_of_compared_values_grows_with_every_query():
    """Of one value of the last query alone; all others are below."""
    half = Fraction(2)
    rho = np.arange(-200, 201)
    mass = DiscreteLaplace(1 / half).pmf(rho)
    law = DiscreteLaplace(2 / half)

    def chance(answers, value):
        below = [law.cdf(rho - answer) for answer in answers[:-1]]
        passed = value - rho >= 1
        return (mass * passed * np.prod(below, axis=0)).sum() * law.pmf(
            value - answers[-1]
        )

    lost = []
    for k in 1, 4, 7, 10:
        one, other = rising_and_falling(k, 1)
        lost.append(math.log(chance(other, 0) / chance(one, 0)) / 4)
    assert np.diff(lost).min() > 0.25


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.__name__)
def test_twins_share_one_form(twin):
    found = twin([9, -9, 9, -9], "1/2", 50, max_above=1, sensitivity=1, runs=3)
    assert found.shape == (3, 4)
    first = 9 if twin is broken.compared_values else 1
    assert found[:, 0] == pytest.approx(first, abs=2)


def test_twins_scale_with_sensitivity_and_stop():
    answers = np.repeat([[10**6, -(10**6)]], 4, axis=0).ravel()
    found = broken.noise_without_c(answers, 0, 1, max_above=2, runs=2)
    assert found.tolist() == [[1, 0, 1, -1, -1, -1, -1, -1]] * 2
    found = broken.budget_for_each_above(answers, 0, 1, max_above=1, runs=2)
    assert found.tolist() == [[1, 0, 1, -1, -1, -1, -1, -1]] * 2
    found = broken.no_limit(answers, 0, 1, max_above=1, runs=2)
    assert found.tolist() == [[1, 0] * 4] * 2
    wide = broken.monotone_noise([0], 0, 1, sensitivity=10**6, runs=10_000)
    assert 0.4 < wide.mean() < 0.6


# -- right forms ---------------------------------------------------------------


def reference(answers, runs, noise, threshold=1, *, gap=False):
    """The right mechanism, straight from the proof; all runs at once."""
    rho = noise.threshold.sample(runs)
    credit = np.full(runs, noise.credit)
    dearest = max(branch.price for branch in noise.branches)
    found = []
    for answer in answers:
        active = credit >= dearest
        column, excess = np.where(active, 0, -1), np.zeros(runs, dtype=np.int64)
        for number, branch in enumerate(noise.branches, start=1):
            noisy = answer + branch.law.sample(runs) - rho
            over = noisy - noise.bar(branch, Fraction(threshold))
            hit = active & (column == 0) & (over >= 0)
            column[hit], excess[hit] = number, over[hit]
            credit[hit] -= branch.price
        found += [column, excess] if gap else [column]
        if noise.refresh:
            rho = np.where(column > 0, noise.threshold.sample(runs), rho)
    return np.column_stack(found)


BASE = ThresholdNoise(Fraction(4), 1)
RIGHT = {
    "stop, geometric": (BASE, False),
    "stop, Laplace": (replace(BASE, family="laplace"), False),
    "sparse, gap": (replace(BASE, max_above=3), True),
    "sparse, Laplace, gap": (replace(BASE, max_above=3, family="laplace"), True),
    "refresh": (replace(BASE, max_above=3, refresh=True), False),
    "adaptive": (replace(BASE, max_above=2, adaptive=True), False),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_form_passes_where_twins_are_flagged(name):
    noise, gap = RIGHT[name]
    mechanism = partial(reference, noise=noise, gap=gap)
    pair = rising_and_falling(4, 4)
    audit(mechanism, pair, noise.epsilon, runs=RUNS, vectorized=True).check()


def test_audit_sees_most_of_what_the_right_form_spends():
    mechanism = partial(reference, noise=replace(BASE, family="laplace"))
    found = audit(mechanism, rising_and_falling(4, 4), 4, runs=RUNS, vectorized=True)
    assert not found.violated
    assert found.lower_bound > 3


def plainly(**options):
    """The public function, and all that it releases."""

    def mechanism(answers):
        found = sparse_vector(answers, 1, 2, **options)
        released = [found.indices.tolist(), found.branches.tolist()]
        if found.excess is not None:
            released.append(found.excess.tolist())
        if found.fresh is not None:
            released.append(found.fresh.tolist())
        return released

    return mechanism


PLAIN = {
    "stop": {},
    "sparse, Laplace, gap": {"max_above": 2, "noise": "laplace", "gap": True},
    "values": {"max_above": 2, "values": True, "ratio": "even"},
    "adaptive": {"max_above": 2, "adaptive": True, "margin": 1},
}


@pytest.mark.parametrize("name", PLAIN)
def test_public_function_passes(name):
    pair = rising_and_falling(3, 2)
    audit(plainly(**PLAIN[name]), pair, 2, runs=3_000).check()


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAIN)
def test_public_function_passes_more_runs(name):
    pair = rising_and_falling(3, 2)
    audit(plainly(**PLAIN[name]), pair, 2, runs=30_000).check()


@pytest.mark.parametrize("name", PLAIN)
def test_public_function_on_answers_too_far_apart_is_flagged(name):
    """At a sensitivity of 1, and with even fewer runs."""
    pair = [40, 40, 0, 0], [0, 0, 40, 40]
    assert audit(plainly(**PLAIN[name]), pair, 2, runs=1_000).violated


# -- plain noise ---------------------------------------------------------------


def counted(law):
    def mechanism(rows, runs):
        return rows + law.sample(runs)

    return mechanism


def test_counts_are_seen_almost_whole_at_thirty_thousand_runs():
    found = audit(counted(DiscreteLaplace(1)), (7, 8), 1, runs=30_000, vectorized=True)
    assert 0.8 < found.lower_bound <= 1


@pytest.mark.parametrize("law", [DiscreteLaplace("1/2"), Geometric(1)])
def test_half_of_the_noise_is_flagged(law):
    """Half the scale; or only the half that rises, which no count may have."""
    assert audit(counted(law), (7, 8), 1, runs=30_000, vectorized=True).violated


def test_delta_is_granted():
    mechanism = counted(DiscreteGaussian(2))
    strict = audit(mechanism, (7, 8), 1, runs=RUNS, vectorized=True)
    assert strict.violated
    audit(mechanism, (7, 8), 1, "0.1", runs=RUNS, vectorized=True).check()
