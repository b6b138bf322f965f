"""Real draws from the operating system's bytes against the exact laws."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from helpers import (
    assert_cdf,
    assert_law,
    assert_not_law,
    assert_uniform,
    chi_square,
    kolmogorov_smirnov,
)

from dpframe.noise import DiscreteGaussian, DiscreteLaplace, Geometric

N = 100_000
SCALES = [Fraction(1, 2), Fraction(1), Fraction(10, 3), Fraction(25), Fraction(1000)]
FIVE_PER_CENT = [Fraction(95, 100), Fraction(105, 100)]


@pytest.mark.parametrize("law", [DiscreteLaplace, Geometric])
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_scales(law, scale):
    samples = law(scale).sample(N)
    assert_law(samples, law(scale))
    for factor in FIVE_PER_CENT:
        assert_not_law(samples, law(scale * factor))


@pytest.mark.parametrize("sigma", SCALES, ids=str)
def test_gaussian_sigmas(sigma):
    samples = DiscreteGaussian(sigma**2).sample(N)
    assert_law(samples, DiscreteGaussian(sigma**2))
    for factor in FIVE_PER_CENT:
        assert_not_law(samples, DiscreteGaussian((sigma * factor) ** 2))


@pytest.mark.parametrize(
    "law",
    [
        DiscreteLaplace(10**6),
        DiscreteLaplace(10**12),
        DiscreteLaplace(2**54),
        Geometric(10**9),
        DiscreteGaussian(16 * 10**18),
        DiscreteGaussian(2**108),
    ],
    ids=repr,
)
def test_wide_laws_by_their_shape_and_their_lowest_byte(law):
    samples = law.sample(N)
    assert_cdf(samples, law.cdf)
    assert_uniform(np.bincount(samples & 255, minlength=256))
    assert kolmogorov_smirnov(samples * 0.9, law.cdf) < 1e-9


@pytest.mark.parametrize("size", [1, 7])
def test_small_calls_follow_the_law_too(size):
    law = DiscreteGaussian(4)
    drawn = np.concatenate([law.sample(size) for _ in range(3_000)])
    assert_law(drawn, law)


@pytest.mark.slow
@pytest.mark.parametrize(
    "law", [DiscreteLaplace(25), Geometric("10/3"), DiscreteGaussian(30)], ids=repr
)
def test_p_values_of_many_repetitions_are_uniform(law):
    p = np.array([chi_square(law.sample(10**6), law) for _ in range(40)])
    assert_cdf(p, lambda level: level)


def test_forked_processes_share_no_noise():
    """Two children of one process that has drawn already, and the parent itself."""
    script = """
import os
from dpframe.noise import DiscreteLaplace
law = DiscreteLaplace(10**12)
law.sample(4)
for _ in range(2):
    child = os.fork()
    if child == 0:
        os.write(1, (str(law.sample(4).tolist()) + "\\n").encode())
        os._exit(0)
    os.waitpid(child, 0)
os.write(1, (str(law.sample(4).tolist()) + "\\n").encode())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) == len(set(lines)) == 3
