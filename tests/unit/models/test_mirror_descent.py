"""The fit is optimal, keeps what is not measured, and goes on from where it stood."""

import numpy as np
import pytest
from models_reference import (
    dense_marginal,
    random_beliefs,
    random_blocks,
    random_sizes,
)

from dpframe.errors import DomainError
from dpframe.models.measurements import as_measurement, estimate_total, merge
from dpframe.models.mirror_descent import ROUND_ITERATIONS, fit_beliefs

EXACT = {"memory": 8, "tolerance": 0.0, "iterations": 1500}


def measure(rng, sizes, truth, blocks, rows=1000, variances=(2, 50, 400)):
    measurements = []
    for block in blocks:
        variance = float(rng.choice(variances))
        exact = rows * dense_marginal(sizes, truth, block)
        noisy = np.round(exact + rng.normal(0, variance**0.5, exact.shape))
        measurements.append(as_measurement(sizes, block, noisy, variance))
    return measurements


def instance(seed, columns=4, count=5):
    rng = np.random.default_rng(seed)
    sizes = random_sizes(rng, columns)
    blocks = random_blocks(rng, sizes, count)
    cells = list(sizes.values())
    truth = rng.dirichlet(np.full(int(np.prod(cells)), 0.3)).reshape(cells)
    return sizes, measure(rng, sizes, truth, blocks)


def objective(sizes, p, measurements, total):
    return sum(
        ((total * dense_marginal(sizes, p, m.block) - m.values) ** 2).sum()
        / (2 * m.variance)
        for m in measurements
    )


def gradient(sizes, p, measurements, total):
    """The derivative of f by the proportion of each cell."""
    parts = np.zeros(p.shape)
    for m in measurements:
        residual = total * dense_marginal(sizes, p, m.block) - m.values
        shape = [sizes[c] if c in m.block else 1 for c in sizes]
        parts += (residual * total / m.variance).reshape(shape)
    return parts


@pytest.mark.parametrize("seed", range(12))
def test_no_distribution_does_better(seed):
    sizes, measurements = instance(seed)
    total = estimate_total(measurements)
    fit = fit_beliefs(sizes, measurements, total=total, **EXACT)
    p = fit.beliefs.marginal(tuple(sizes))
    slope = gradient(sizes, p, merge(measurements), total)
    # f is convex: it exceeds its least value by this at most, over all distributions.
    gap = float((p * slope).sum() - slope.min())
    assert gap <= 0.02 * (1 + fit.objective)
    assert fit.objective == pytest.approx(
        objective(sizes, p, merge(measurements), total), rel=1e-9
    )


@pytest.mark.parametrize("seed", range(6))
def test_plain_steps_lower_the_objective_every_time(seed):
    sizes, measurements = instance(seed)
    total = estimate_total(measurements)
    last = np.inf
    for iterations in (0, 1, 3, 10, 40):
        fit = fit_beliefs(
            sizes, measurements, total=total, iterations=iterations, tolerance=0
        )
        assert fit.objective < last
        last = fit.objective


@pytest.mark.parametrize("seed", range(4))
def test_more_steps_and_extrapolation_agree(seed):
    rng = np.random.default_rng(seed)
    sizes = {"a": 4, "b": 3, "c": 2}
    truth = rng.dirichlet(np.full(24, 5.0)).reshape(4, 3, 2)
    blocks = [("a", "b"), ("b", "c"), ("a",)]
    measurements = measure(rng, sizes, truth, blocks, rows=3000)
    plain = fit_beliefs(
        sizes, measurements, total=3000, iterations=20_000, tolerance=1e-14
    )
    quick = fit_beliefs(sizes, measurements, total=3000, **EXACT)
    for block in blocks:
        np.testing.assert_allclose(
            plain.beliefs.marginal(block), quick.beliefs.marginal(block), atol=2e-6
        )


def test_exact_consistent_marginals_are_reproduced():
    rng = np.random.default_rng(1)
    sizes = {"a": 4, "b": 3, "c": 3, "d": 2}
    truth = rng.dirichlet(np.ones(72)).reshape(4, 3, 3, 2)
    blocks = [("a", "b"), ("b", "c"), ("c", "d")]
    told = [
        as_measurement(sizes, b, 500 * dense_marginal(sizes, truth, b), 1)
        for b in blocks
    ]
    fit = fit_beliefs(sizes, told, total=500, **EXACT)
    ab, bc, cd = (dense_marginal(sizes, truth, b) for b in blocks)
    b, c = ab.sum(axis=0), bc.sum(axis=0)
    markov = np.einsum("ab,bc,cd,b,c->abcd", ab, bc, cd, 1 / b, 1 / c)
    found = fit.beliefs.marginal(tuple(sizes))  # of maximum entropy
    np.testing.assert_allclose(found, markov, atol=1e-8)
    assert fit.beliefs.tree.cells < 72


def test_what_is_not_measured_stays_as_in_the_prior():
    rng = np.random.default_rng(2)
    sizes = {"a": 4, "b": 3, "c": 2}
    prior = random_beliefs(rng, sizes, [("a", "b", "c")])
    told = [as_measurement(sizes, ("b",), [10, 40, 50], 2)]
    fit = fit_beliefs(sizes, told, total=100, prior=prior, **EXACT)
    before, after = (x.marginal(tuple(sizes)) for x in (prior, fit.beliefs))
    goal = np.array([0.1, 0.4, 0.5])[:, None]
    b = before.sum(axis=(0, 2))[:, None]
    np.testing.assert_allclose(after, before * (goal / b), atol=1e-9)


def test_a_later_round_goes_on_from_an_earlier_one():
    sizes = {"a": 5, "b": 4, "c": 3, "d": 3}
    rng = np.random.default_rng(3)
    truth = rng.dirichlet(np.full(180, 2.0)).reshape(5, 4, 3, 3)
    blocks = [("a", "b"), ("c", "d"), ("b", "c"), ("a", "d")]
    measurements = measure(rng, sizes, truth, blocks, variances=(2,))
    fit, trees = None, set()
    for known in range(1, 5):
        start = fit
        fit = fit_beliefs(sizes, measurements[:known], total=1000, start=start)
        trees.add(fit.beliefs.tree.cliques)
        if start is not None:  # its first point is the distribution of before
            begun = fit_beliefs(
                sizes, measurements[:known], total=1000, start=start, iterations=0
            )
            np.testing.assert_allclose(
                begun.beliefs.marginal(tuple(sizes)),
                start.beliefs.marginal(tuple(sizes)),
                atol=1e-13,
            )
    assert len(trees) > 2
    same_tree = fit_beliefs(sizes, measurements, total=1000, start=fit, iterations=0)
    assert same_tree.beliefs is fit.beliefs
    fresh = fit_beliefs(sizes, measurements, total=1000)
    again = fit_beliefs(sizes, measurements, total=1000, start=fit)
    assert again.objective <= fit.objective
    assert again.objective == pytest.approx(fresh.objective, rel=0.02)


def test_a_warm_start_saves_steps():
    sizes, measurements = instance(5)
    total = estimate_total(measurements)
    done = fit_beliefs(sizes, measurements, total=total)
    few = {"total": total, "iterations": ROUND_ITERATIONS}
    warm = fit_beliefs(sizes, measurements, start=done, **few)
    cold = fit_beliefs(sizes, measurements, **few)
    assert warm.objective <= done.objective < cold.objective


def test_negative_counts_pull_further_down_than_zeros():
    sizes = {"a": 3, "b": 2}
    told = [
        as_measurement(sizes, ("a", "b"), [[30, 30], [20, 20], [0, 0]], 4),
        as_measurement(sizes, ("a",), [60, 40, 6], 4),
    ]
    clipped = fit_beliefs(sizes, told, total=100, **EXACT).beliefs.marginal(("a",))
    told[0] = as_measurement(sizes, ("a", "b"), [[30, 30], [20, 20], [-9, -9]], 4)
    signed = fit_beliefs(sizes, told, total=100, **EXACT).beliefs.marginal(("a",))
    assert signed[2] < clipped[2] / 2


def test_nothing_measured_is_the_prior():
    sizes = {"a": 3, "b": 2}
    fit = fit_beliefs(sizes, [], total=10)
    np.testing.assert_allclose(fit.beliefs.marginal(("a", "b")), 1 / 6)
    only_total = [as_measurement(sizes, (), [12], 1)]
    fit = fit_beliefs(sizes, only_total, total=12)
    np.testing.assert_allclose(fit.beliefs.marginal(("a", "b")), 1 / 6)


def test_a_block_beyond_the_limits_is_refused():
    sizes = {"a": 900, "b": 700, "c": 9}
    told = [as_measurement(sizes, ("a", "b"), np.zeros((900, 700)), 1)]
    with pytest.raises(DomainError, match="'a' \\(900 cells\\), 'b' \\(700 cells\\)"):
        fit_beliefs(sizes, told, total=10)
