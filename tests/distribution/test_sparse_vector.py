"""The outputs of real runs against their exact law, in blocks and one by one.

χ² with N = 100,000 outputs and p < 1e-9 (a false alarm once in 10⁹ tests); the law of a
noise 5 % wider or narrower must be told apart from the same outputs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from dpframe.mechanisms.above_threshold import Run
from dpframe.noise.threshold import ThresholdNoise
from dpframe.queries.threshold import Threshold
from tests.sparse_reference import output_law

N = 100_000
ANSWERS = np.array([5, 8, 4, 6])
AT = Threshold(Fraction(6))
GAPS = range(24)

NOISES = {
    "geometric": ThresholdNoise(Fraction(1), 1, 2, True, "geometric", Fraction(2)),
    "laplace": ThresholdNoise(Fraction(1), 1, 2, False, "laplace", Fraction(2)),
    "refreshed": ThresholdNoise(Fraction(2), 1, 2, True, refresh=True),
    "adaptive": ThresholdNoise(
        Fraction(2), 1, 2, True, adaptive=True, margin=Fraction(2)
    ),
}


def outputs(noise, *, singly):
    """Count what N runs put out, with gaps; one query at a time, or all in a block."""
    seen = Counter()
    blocks = np.split(ANSWERS, len(ANSWERS)) if singly else [ANSWERS]
    for _ in range(N):
        run, found, start = Run(noise, AT), [], 0
        for block in blocks:
            if run.exhausted:
                break
            part = run.examine(block, gap=True)
            found += zip(
                (part.indices + start).tolist(),
                part.branches.tolist(),
                part.excess.tolist(),
                strict=True,
            )
            start += len(block)
        seen[tuple(found)] += 1
    return seen


def p_value(seen, law):
    """χ² over outputs with at least 20 expected, the rest together in one cell."""
    expected = {output: N * chance for output, chance in law.items()}
    kept = [output for output, times in expected.items() if times >= 20]
    observed = np.array([seen[output] for output in kept], dtype=float)
    means = np.array([expected[output] for output in kept])
    observed = np.append(observed, N - observed.sum())
    means = np.append(means, N - means.sum())
    return chi2.sf(((observed - means) ** 2 / means).sum(), len(means) - 1)


@pytest.mark.parametrize("singly", [False, True], ids=["block", "stream"])
@pytest.mark.parametrize("name", NOISES)
def test_law_of_outputs(name, singly):
    noise = NOISES[name]
    seen = outputs(noise, singly=singly)
    bars = [noise.bar(branch, AT.steps) for branch in noise.branches]
    law = output_law(noise, ANSWERS, AT, gaps=GAPS)
    assert p_value(seen, law) > 1e-9
    for factor in (Fraction(95, 100), Fraction(105, 100)):
        # The very same bars: only the noise around them is another.
        off = replace(noise, epsilon=noise.epsilon / factor)
        other = output_law(off, ANSWERS, AT, gaps=GAPS, bars=bars)
        assert p_value(seen, other) < 1e-9
