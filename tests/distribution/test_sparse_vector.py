"""The outputs of real runs against their exact law: in one block, in several, singly.

Twice. With narrow noise every value of every draw is gone through, so that the law of
the outputs comes out without sampling. With wide noise the draws are real: χ² with
N = 100,000 outputs and p < 1e-9 (a false alarm once in 10⁹ tests). Both tell the right
law from that of noise 5 % wider or narrower.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chi2
from sparse_reference import output_law

from dpframe.mechanisms import above_threshold
from dpframe.mechanisms.above_threshold import Run
from dpframe.noise.law import IntegerLaw
from dpframe.noise.threshold import ThresholdNoise
from dpframe.queries.threshold import Threshold

AT = Threshold(Fraction(6))
FACTORS = (Fraction(95, 100), Fraction(105, 100))
WAYS = ("block", "blocks", "stream")


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """How the answers come: at once, in blocks of two, or one by one."""
    if request.param == "blocks":
        monkeypatch.setattr(above_threshold, "_BLOCK", 2)
    return request.param


def one_run(noise, answers, at, *, singly):
    """What a run puts out, with gaps: (index, branch, excess) of each above."""
    run, found, start = Run(noise, at), [], 0
    for block in np.split(answers, len(answers)) if singly else [answers]:
        if run.exhausted:
            break
        part = run.examine(block, gap=True)
        places = (part.indices + start).tolist()
        found += zip(places, part.branches.tolist(), part.excess.tolist(), strict=True)
        start += len(block)
    return tuple(found)


def of_other_noise(noise, answers, at, gaps):
    """Laws of noise 5 % off, around the very same bars."""
    bars = [noise.bar(branch, at.steps) for branch in noise.branches]
    for factor in FACTORS:
        off = replace(noise, epsilon=noise.epsilon / factor)
        yield output_law(off, answers, at, gaps=gaps, bars=bars)


# -- all draws there may be ----------------------------------------------------

NARROW = {
    "geometric": ThresholdNoise(Fraction(6), 1, 2, True, "geometric", Fraction(2)),
    "laplace": ThresholdNoise(Fraction(12), 1, 2, False, "laplace", Fraction(2)),
    "refreshed": ThresholdNoise(Fraction(10), 1, 2, True, refresh=True),
    "adaptive": ThresholdNoise(
        Fraction(20), 1, 2, True, adaptive=True, margin=Fraction(1)
    ),
}
PLACES = {
    "above": ([6, 7, 5], Threshold(Fraction(6))),
    "below": ([-6, -5, -7], Threshold(Fraction(-6), direction="below")),
}
RARE = 1e-8  # draws less likely together are left out
LEFT_OUT = 1e-5  # of all chance, at most

mass = lru_cache(lambda law, value: law.pmf(value))


class EveryDraw:
    """Goes through all values that the draws of a run may have, with their chance."""

    def __init__(self):
        self.pending = [()]  # beginnings that are still to be gone through
        self.chance = 1.0

    def __iter__(self):
        """One turn for each run; what it has drawn has the chance ``self.chance``."""
        while self.pending:
            self.values, self.place, self.chance = self.pending.pop(), 0, 1.0
            yield self

    def sample(self, law, size=None):
        """In place of `IntegerLaw.sample`."""
        if size is None:
            return self.draw(law)
        return np.array([self.draw(law) for _ in range(size)], dtype=np.int64)

    def draw(self, law):
        if self.place == len(self.values):
            first, *others = sorted(range(-12, 13), key=lambda v: -mass(law, v))
            for other in others:
                if self.chance * mass(law, other) > RARE:
                    self.pending.append((*self.values, other))
            self.values = (*self.values, first)
        value = self.values[self.place]
        self.place += 1
        self.chance *= mass(law, value)
        return value


def law_by_draws(monkeypatch, outcome):
    """The law of what ``outcome()`` returns, from every draw that is not too rare."""
    law, every = Counter(), EveryDraw()
    monkeypatch.setattr(IntegerLaw, "sample", lambda law, n=None: every.sample(law, n))
    for _ in every:
        law[outcome()] += every.chance
    assert 1 - LEFT_OUT < law.total() < 1 + 1e-9
    return law


def apart(law, other):
    """Total variation distance."""
    return sum(abs(law.get(o, 0) - other.get(o, 0)) for o in {**law, **other}) / 2


@pytest.mark.parametrize("side", PLACES)
@pytest.mark.parametrize("name", NARROW)
def test_law_over_all_draws(name, side, way, monkeypatch):
    noise, (answers, at), gaps = NARROW[name], PLACES[side], range(16)
    answers, singly = np.array(answers), way == "stream"
    found = law_by_draws(
        monkeypatch, lambda: one_run(noise, answers, at, singly=singly)
    )
    assert apart(found, output_law(noise, answers, at, gaps=gaps)) < LEFT_OUT
    for other in of_other_noise(noise, answers, at, gaps):
        assert apart(found, other) > 500 * LEFT_OUT


@pytest.mark.parametrize("name", ["geometric", "laplace", "refreshed"])
def test_values_have_noise_of_their_own(name, monkeypatch):
    """Their law is that of the comparison times that of fresh noise on each above."""
    noise = replace(NARROW[name], epsilon=2 * NARROW[name].epsilon, values=2)
    answers, at = np.array([6, 5]), AT

    def outcome():
        found = Run(noise, at).examine(answers, gap=True)
        parts = found.indices, found.branches, found.excess, found.fresh
        return tuple(zip(*(part.tolist() for part in parts), strict=True))

    found = law_by_draws(monkeypatch, outcome)
    comparisons = output_law(noise, answers, at, gaps=range(16))
    for output, chance in found.items():
        independent = comparisons[tuple(above[:3] for above in output)]
        for index, _, _, value in output:
            independent *= mass(noise.fresh, value - int(answers[index]))
        assert chance == pytest.approx(independent, abs=LEFT_OUT)


# -- real draws ----------------------------------------------------------------

N = 100_000
ANSWERS = np.array([5, 8, 4, 6])
GAPS = range(24)

WIDE = {
    "geometric": ThresholdNoise(Fraction(1), 1, 2, True, "geometric", Fraction(2)),
    "laplace": ThresholdNoise(Fraction(1), 1, 2, False, "laplace", Fraction(2)),
    "refreshed": ThresholdNoise(Fraction(2), 1, 2, True, refresh=True),
    "adaptive": ThresholdNoise(
        Fraction(2), 1, 2, True, adaptive=True, margin=Fraction(2)
    ),
}


class Ahead:
    """A law whose draws are real, but made by the hundred thousand."""

    def __init__(self, law):
        self.law, self.drawn, self.place = law, law.sample(N), 0

    def sample(self, size=None):
        if self.place + (size or 1) > N:
            self.drawn, self.place = self.law.sample(N), 0
        start = self.place
        self.place += size or 1
        drawn = self.drawn[start : self.place]
        return int(drawn[0]) if size is None else drawn


def drawn_ahead(noise):
    """The same noise as a run sees it, with its bars known and its draws ahead."""
    bars = {branch.name: noise.bar(branch, AT.steps) for branch in noise.branches}
    ahead = [branch._replace(law=Ahead(branch.law)) for branch in noise.branches]
    return SimpleNamespace(
        threshold=Ahead(noise.threshold),
        branches=tuple(ahead),
        bar=lambda branch, steps: bars[branch.name],
        credit=noise.credit,
        sensitivity=noise.sensitivity,
        refresh=noise.refresh,
        values=None,
    )


def p_value(seen, law):
    """χ² over outputs with at least 20 expected, the rest together in one cell."""
    expected = {output: N * chance for output, chance in law.items()}
    kept = [output for output, times in expected.items() if times >= 20]
    observed = np.array([seen[output] for output in kept], dtype=float)
    means = np.array([expected[output] for output in kept])
    observed = np.append(observed, N - observed.sum())
    means = np.append(means, N - means.sum())
    return chi2.sf(((observed - means) ** 2 / means).sum(), len(means) - 1)


def check_by_chi_square(noise, run_with, *, singly):
    seen = Counter(one_run(run_with, ANSWERS, AT, singly=singly) for _ in range(N))
    assert p_value(seen, output_law(noise, ANSWERS, AT, gaps=GAPS)) > 1e-9
    for other in of_other_noise(noise, ANSWERS, AT, GAPS):
        assert p_value(seen, other) < 1e-9


@pytest.mark.parametrize("name", ["geometric", "laplace"])
def test_law_of_outputs(name):
    check_by_chi_square(WIDE[name], drawn_ahead(WIDE[name]), singly=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "singly"),
    [*((name, True) for name in WIDE), ("refreshed", False), ("adaptive", False)],
)
def test_law_of_outputs_of_every_variant(name, singly):
    """With every draw made when it is needed."""
    check_by_chi_square(WIDE[name], WIDE[name], singly=singly)
