"""Quantiles: the exponential mechanism over public candidates.

    score(y) = -(rows between the rank q n and those of y, #{x < y} to #{x <= y})
    choose y of a public grid; chances fall as exp(epsilon score / (2 Δ))

for each key, over its n bounded rows with a value. That is
-max((1 - q) #{x < y} - q #{x >= y}, q #{x > y} - (1 - q) #{x <= y}, 0): n is never read
by itself. Where no value equals y it is -|(1 - q) #{x < y} - q #{x > y}|; where many
do, y has all their ranks, and so one candidate scores 0 whatever the data. q is a
fraction, and scores are counted in its denominator: they are integers. The engine
counts how often each grid point occurs; candidates between two of them share a score
and are one run.

For q = 0 all candidates below the least value have rank 0. So min looks for the rank

    t = ceil((2 Δ / epsilon) ln N),        N the number of candidates,

in place of q n, and max for as many rows from above.

Guarantee: pure epsilon for all keys together, with Δ = m max(q, 1 - q) under
add_remove: a unit's rows are spread over the keys, and losses are in proportion to
them. Under replace rows leave one key and enter another: Δ = 2m max(q, 1 - q), or m
without keys. Several q share epsilon equally. The choice is made by permute-and-flip,
and in zCDP by the exponential mechanism, which costs epsilon²/8 there (Cesar and Rogers
2021) and not epsilon²/2. Source: Smith 2011; docs/proofs/quantile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

from dpframe.domain.lattice import Lattice
from dpframe.mechanisms.noising import Draw, draw, watched
from dpframe.mechanisms.request import Setting
from dpframe.noise.ordered_choice import OrderedChoice, Rule, Runs
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Adjacency, Sensitivity
from dpframe.queries.reduction import Measure
from dpframe.releases.chosen import Choice
from dpframe.secret import Occurrences

__all__ = ["Line", "Ranks", "Selection", "choose", "line_up", "selections"]

Integers = NDArray[np.int64]

_MOST_SET_ASIDE = 2**60  # t of a tiny epsilon; no frame has so many rows
_ROOT_BITS = 64


@final
@dataclass(frozen=True, slots=True)
class Ranks:
    """One or several quantiles of a column: what is asked, without its price.

    Parameters
    ----------
    column : str
        The column.
    lattice : Lattice
        Its grid, whose points are the candidates.
    q : tuple of Fraction
        Between 0 and 1.
    """

    column: str
    lattice: Lattice
    q: tuple[Fraction, ...]

    @property
    def measure(self) -> Measure:
        """What the engine tabulates."""
        return Measure(self.column, self.lattice)

    @property
    def candidates(self) -> int:
        """Number of grid points between the bounds, these included."""
        return self.lattice.width + 1

    def priced(
        self, loss: PrivacyLoss, setting: Setting, keys: int | None
    ) -> tuple[Selection, ...]:
        """Give each q its part of a loss; see `selections`."""
        by_unit = self.lattice.per == "unit"
        return selections(
            self.q, loss, self.candidates, setting, keys=keys, by_unit=by_unit
        )


@final
@dataclass(frozen=True, slots=True)
class Selection:
    """The choice of one quantile, known before any data.

    Parameters
    ----------
    q : Fraction
        0 is a min, 1 a max.
    epsilon : Fraction
        Its loss, for all keys together.
    candidates : int
        How many there are.
    moved : Sensitivity
        How far one unit moves the scores of one candidate, one for each key.
    exponential : bool
        Whether the exponential mechanism chooses, and not permute-and-flip.
    """

    q: Fraction
    epsilon: Fraction
    candidates: int
    moved: Sensitivity
    exponential: bool

    @property
    def law(self) -> OrderedChoice:
        """The law of the choice under each key."""
        rule: Rule = "exponential" if self.exponential else "permute_and_flip"
        return OrderedChoice(self.epsilon, self.moved.l1, rule)

    @property
    def set_aside(self) -> int:
        """t: rows beyond a min or a max; 0 for all other q."""
        if self.q not in (0, 1):
            return 0
        rows = 2 * self.moved.l1 / self.epsilon * Fraction(math.log(self.candidates))
        return min(math.ceil(rows), _MOST_SET_ASIDE)

    def scores(self, line: Line) -> Integers:
        """Return the score of each run, in units of 1/q.denominator."""
        below, above, n, q = line.below, line.above, line.rows, self.q
        first, last = below, n - above  # the ranks of a candidate: #{x < y}, #{x <= y}
        if q == 1:
            first, last = above, n - below
        rank: int | Integers = self.set_aside
        unit = q.denominator  # 1 of a min or max
        if q not in (0, 1):
            rank = q.numerator * n
        missed = np.maximum(unit * first - rank, rank - unit * last).clip(min=0)
        return np.asarray(-missed, dtype=np.int64)

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit moves the scores of all candidates and keys."""
        moved, n = self.moved, self.candidates
        return Sensitivity(moved.l1 * n, moved.l2_squared * n, moved.l0 * n, moved.linf)


def selections(
    q: tuple[Fraction, ...],
    loss: PrivacyLoss,
    candidates: int,
    setting: Setting,
    *,
    keys: int | None = None,
    by_unit: bool = False,
) -> tuple[Selection, ...]:
    """Give the choice of each q its part of a loss.

    Raises
    ------
    ParameterError
        If the unit lacks a bound.
    """
    adjacency = Adjacency(setting.unit, setting.neighboring, keys)
    each, zcdp = _each(loss, len(q)), setting.accountant.name == "zcdp"
    found = []
    for one in q:
        above = one.numerator
        below = one.denominator - above
        moved = adjacency.ranks(below, above, by_unit=by_unit)
        found.append(Selection(one, each, candidates, moved, exponential=zcdp))
    return tuple(found)


def _each(loss: PrivacyLoss, parts: int) -> Fraction:
    """Return epsilon of one of several choices; a rho buys epsilon²/8 of each."""
    if loss.epsilon is not None:
        return loss.epsilon / parts
    assert loss.rho is not None
    square = 8 * loss.rho / parts
    n, d = square.numerator, square.denominator
    return Fraction(math.isqrt(n * d << 2 * _ROOT_BITS), d << _ROOT_BITS)  # down


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Line:
    """All candidates of each key in order, by runs between and at the values.

    Parameters
    ----------
    runs : Runs
        Their lengths; the first of each key.
    below, above, rows : ndarray of int64, shape (runs,)
        Rows under the key with a lesser and with a greater value, and all of them.
    """

    runs: Runs
    below: Integers
    above: Integers
    rows: Integers


def line_up(occurrences: Occurrences, keys: int, candidates: int) -> Line:
    """Count the rows below and above every candidate under each key.

    Parameters
    ----------
    occurrences : Occurrences
        Of values 0 to candidates - 1, under keys 0 to keys - 1.
    keys : int
        Number of public keys, at least 1.
    candidates : int
        Number of candidates.
    """
    every = np.arange(keys)
    # Each key gets one more value, past the last candidate, that no row has.
    ends = np.searchsorted(occurrences.cells, every, side="right")
    cells = np.insert(occurrences.cells, ends, every)
    values = np.insert(occurrences.values[:, 0], ends, candidates)
    times = np.insert(occurrences.times, ends, 0)
    heads = np.searchsorted(cells, every)
    before = np.cumsum(times) - times
    below, rows = before - before[heads][cells], np.add.reduceat(times, heads)[cells]
    gaps = np.diff(values, prepend=-1) - 1
    gaps[heads] = values[heads]
    # What lies before each value, and the value itself.
    lengths = np.stack([gaps, values < candidates], axis=1).ravel()
    alike = np.stack([np.zeros_like(times), times], axis=1).ravel()
    some = lengths > 0
    cells, below, rows = (np.repeat(x, 2)[some] for x in (cells, below, rows))
    runs = Runs(lengths[some], np.searchsorted(cells, every))
    return Line(runs, below, rows - below - alike[some], rows)


def choose(selection: Selection, line: Line) -> Choice:
    """Choose one candidate under each key."""
    law, runs = selection.law, line.runs
    scores = exact = selection.scores(line)
    if watched():  # a test compares the scores of all candidates, which runs hide
        exact = np.repeat(scores, runs.lengths).reshape(-1, selection.candidates)
    (indices,) = draw(
        Draw((exact,), law, selection.sensitivity),
        lambda: (law.choose(scores, runs),),
    )
    return Choice(selection.q, indices, law, selection.candidates)
