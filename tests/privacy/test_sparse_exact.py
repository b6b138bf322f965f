"""Sparse vector technique by exact output laws: no pair of inputs passes epsilon.

For every variant and noise, a thousand random pairs of small integer inputs and all of
their outputs; nothing is sampled. That the search finds bad pairs is shown by how near
it comes to epsilon, and by noise five per cent too small, which passes it.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from zlib import crc32

import numpy as np
import pytest
from sparse_reference import loss, output_law, without_branches, worst_loss

from dpframe.noise import DiscreteLaplace
from dpframe.noise.threshold import ThresholdNoise
from dpframe.queries.threshold import Threshold

SETTINGS = 10
PAIRS = 100  # of each setting
ROUNDING = 1e-9

#: Each variant: what is fixed of its noise, and the gaps looked at.
VARIANTS = {
    "stop": ({"max_above": 1}, ()),
    "stop, gap": ({"max_above": 1}, (0, 1, 5)),
    "sparse": ({"max_above": 3}, ()),
    "sparse, gap": ({"max_above": 2}, (0, 1, 5)),
    "refresh": ({"max_above": 2, "refresh": True}, ()),
    "refresh, gap": ({"max_above": 2, "refresh": True}, (0, 3)),
    "adaptive": ({"max_above": 2, "adaptive": True}, ()),
    "adaptive, gap": ({"max_above": 2, "adaptive": True}, (0, 4)),
}
FAMILIES = ("geometric", "laplace")

#: How near to epsilon the search must come. Geometric noise is tight, Laplace not.
NEAR = {"geometric": 0.99, "laplace": 0.4}


def settings(name, family, monotonic, **more):
    """Random noises of a variant, each with a threshold and pairs of answers."""
    fixed = VARIANTS[name][0] | more
    rng = np.random.default_rng(crc32(f"{name} {family} {monotonic}".encode()))
    for turn in range(SETTINGS):
        noise = ThresholdNoise(
            Fraction(int(rng.choice([1, 2, 4, 8])), 2),
            int(rng.integers(1, 4)),
            monotonic=monotonic,
            family=family,
            ratio=Fraction(int(rng.integers(1, 9)), 2),
            margin=Fraction(int(rng.integers(0, 9)), 2) if turn % 2 else None,
            **fixed,
        )
        queries = 1 + turn % 4
        direction = ("above", "below")[int(rng.integers(2))]
        threshold = Threshold(
            Fraction(int(rng.integers(-8, 9)), 2), direction=direction
        )
        yield noise, threshold, *pairs(rng, noise, queries)


def pairs(rng, noise, queries):
    """Neighboring answers; most of them move by the whole sensitivity.

    In the first pair a high answer rises and low ones fall: if the first is below, and
    others above, that costs all there is.
    """
    shape = (PAIRS, queries)
    most = noise.sensitivity
    moves = rng.integers(-most, most + 1, shape)
    whole = most * rng.choice([-1, 1], shape)
    moves = np.where(rng.random((PAIRS, 1)) < 0.7, whole, moves)
    if noise.monotonic:
        way = rng.choice([-1, 1], (PAIRS, 1))
        moves = way * np.abs(moves) * (rng.random(shape) < 0.8)
    answers = rng.integers(-8, 9, shape)
    if not noise.monotonic:
        answers[0, 0], answers[0, 1:] = 60, -60
        moves[0, 0], moves[0, 1:] = most, -most
    return answers, answers + moves


def each(*more):
    return pytest.mark.parametrize(
        ("name", "family", "monotonic", *more),
        [(n, f, m) for n in VARIANTS for f in FAMILIES for m in (False, True)],
    )


@each()
def test_no_output_tells_more_than_epsilon(name, family, monotonic):
    gaps = VARIANTS[name][1]
    shares = []
    for noise, threshold, one, other in settings(name, family, monotonic):
        first = output_law(noise, one, threshold, gaps=gaps)
        second = output_law(noise, other, threshold, gaps=gaps)
        assert noise.runs * noise.epsilon_run == noise.epsilon
        shares.append(worst_loss(first, second) / float(noise.epsilon))
    assert np.size(shares) == 1_000
    assert np.max(shares) <= 1 + ROUNDING
    assert np.max(shares) > NEAR[family]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("monotonic", [False, True])
def test_loss_of_adaptive_runs_is_what_their_path_was_charged(family, monotonic):
    for noise, threshold, one, other in settings("adaptive", family, monotonic):
        credit = noise.epsilon_query / noise.credit
        losses = loss(
            output_law(noise, one, threshold), output_law(noise, other, threshold)
        )
        for output, lost in losses.items():
            paid = sum(noise.branches[j].price for _, j in output) * credit
            assert lost.max() <= float(noise.epsilon_threshold + paid) + ROUNDING


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("name", ["stop", "sparse", "refresh"])
def test_fresh_values_and_comparisons_share_epsilon(name, family, monotonic):
    """A value's worst loss, over all that it may be, is its distance by the scale."""
    for plain, threshold, one, other in settings(name, family, monotonic):
        noise = replace(plain, values=plain.max_above * plain.sensitivity)
        losses = loss(
            output_law(noise, one, threshold), output_law(noise, other, threshold)
        )
        assert isinstance(noise.fresh, DiscreteLaplace)
        for output, lost in losses.items():
            at = [part[0] for part in output]
            moved = np.abs(one - other)[:, at].sum(axis=1)
            whole = lost + moved / float(noise.fresh.scale)
            assert whole.max() <= float(noise.epsilon) + ROUNDING


# -- concentrated privacy ------------------------------------------------------

ALPHAS = (1.01, 1.5, 2, 4, 16, 64)


def log_moments(first, second, alpha, values=None):
    """log of the sum of p^alpha q^(1 - alpha), with independent values of each above.

    ``values`` maps the index of an answer to its own log moments, for each instance.
    """
    terms = []
    for output in first:
        with np.errstate(divide="ignore", invalid="ignore"):
            term = alpha * np.log(first[output]) + (1 - alpha) * np.log(second[output])
        term = np.where(first[output] > 0, term, -np.inf)
        if values is not None:
            term = term + sum(values[part[0]] for part in output)
        terms.append(term)
    return np.logaddexp.reduce(terms)


def value_moments(law, distance, alpha):
    """Log moments of integer noise that was moved."""
    reach = int(60 * law.scale) + int(np.abs(distance).max())
    at = np.arange(-reach, reach + 1)
    log_mass = -np.abs(at) / float(law.scale) + np.log(law.pmf(0))
    moved = -np.abs(at + distance[:, None]) / float(law.scale) + np.log(law.pmf(0))
    return np.logaddexp.reduce(alpha * log_mass + (1 - alpha) * moved, axis=1)


def concentrated_shares(name, family, monotonic, **more):
    """Rényi divergences of all settings, over what rho allows."""
    shares = []
    chosen = settings(name, family, monotonic, concentrated=True, **more)
    for noise, threshold, one, other in chosen:
        first = output_law(noise, one, threshold)
        second = output_law(noise, other, threshold)
        for alpha in ALPHAS:
            values = None
            if noise.fresh is not None:
                columns = (one - other).T
                values = [value_moments(noise.fresh, c, alpha) for c in columns]
            for pair in (first, second), (second, first):
                divergence = log_moments(*pair, alpha, values) / (alpha - 1)
                shares.append(divergence / (alpha * float(noise.loss.rho)))
    return np.array(shares)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("name", ["stop", "sparse", "refresh", "adaptive"])
def test_renyi_divergences_are_within_rho(name, family, monotonic):
    shares = concentrated_shares(name, family, monotonic)
    assert shares.max() <= 1 + ROUNDING


def test_rho_of_one_monotone_run_is_of_the_right_size():
    """The bound on the range of the loss is not tight, but within a small factor."""
    assert concentrated_shares("stop", "geometric", True).max() > 0.4


@pytest.mark.parametrize(("aboves", "name"), [(1, "stop"), (3, "sparse")])
def test_renyi_divergences_with_values_are_within_rho(aboves, name):
    for moved in 1, 3:
        shares = []
        for setting in settings(name, "geometric", True, concentrated=True):
            if setting[0].sensitivity != moved:
                continue
            noise = replace(setting[0], values=aboves * moved)
            _, threshold, one, other = setting
            laws = [output_law(noise, q, threshold) for q in (one, other)]
            for alpha in ALPHAS:
                columns = (one - other).T
                values = [value_moments(noise.fresh, c, alpha) for c in columns]
                divergence = log_moments(*laws, alpha, values) / (alpha - 1)
                shares.append(divergence / (alpha * float(noise.loss.rho)))
        assert np.max(shares) <= 1 + ROUNDING


# -- the reference, and its power ----------------------------------------------


@each()
def test_reference_law_sums_to_one(name, family, monotonic):
    noise, threshold, answers, _ = next(settings(name, family, monotonic))
    total = sum(output_law(noise, answers, threshold).values())
    assert total == pytest.approx(np.ones(PAIRS), abs=1e-12)


def test_reference_law_by_hand():
    """One answer, one threshold: P(nu - rho >= t - q) of two geometric variables."""
    noise = ThresholdNoise(Fraction(2), 1, monotonic=True)
    r = np.exp(-1)
    law = output_law(noise, [0, 0], Threshold(Fraction(3)))
    once = r**3 / (1 + r)
    assert law[((0, 0),)] == pytest.approx(once, abs=1e-12)
    indices = without_branches(law)
    assert set(indices) == {(), (0,), (1,)}
    at = np.arange(200)
    none = ((1 - r) * r**at * (1 - r ** (at + 3)) ** 2).sum()
    assert indices[()] == pytest.approx(none, abs=1e-12)


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("name", ["stop", "sparse", "refresh", "adaptive"])
def test_noise_five_per_cent_too_small_is_seen(name, monotonic):
    found = []
    for noise, threshold, one, other in settings(name, "geometric", monotonic):
        smaller = replace(noise, epsilon=noise.epsilon * Fraction(21, 20))
        laws = [output_law(smaller, q, threshold) for q in (one, other)]
        found.append(worst_loss(*laws) / float(noise.epsilon))
    assert np.max(found) > 1.04


def test_monotone_noise_on_other_pairs_is_seen():
    shares = []
    for noise, threshold, one, other in settings("sparse", "geometric", False):
        halved = replace(noise, monotonic=True)
        laws = [output_law(halved, q, threshold) for q in (one, other)]
        shares.append(worst_loss(*laws) / float(noise.epsilon))
    assert np.max(shares) > 1.5
