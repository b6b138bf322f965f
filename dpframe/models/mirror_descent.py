"""The distribution whose marginals come nearest to noisy ones.

Minimizes f(p) = sum_c |N M_c p - y_c|^2 / (2 var_c) over distributions p by entropic
mirror descent from a prior: p is multiplied by e^(-step * gradient) and normalized
[1]_. This is multiplicative weights on all measurements at once, repeated. Every
iterate is the prior times a factor for each block, so it stays on a junction tree; the
marginals on the blocks tend to the unique best ones.

A model of a workload stops after a few hundred steps: on what the noise leaves open it
is then still near the prior, and errs less than the exact minimum. To reach that, steps
are extrapolated from the last few (``memory``).

References
----------
.. [1] Beck and Teboulle (2003), Mirror descent and nonlinear projected subgradient
   methods, section 5; for graphical models McKenna, Sheldon and Miklau (2019),
   Graphical-model based estimation and inference for differential privacy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from dpframe.models.beliefs import Beliefs, Sweep
from dpframe.models.extrapolation import Extrapolation
from dpframe.models.junction_tree import JunctionTree
from dpframe.models.measurements import Measurement, merge
from dpframe.models.table import Block, Sizes, Table

__all__ = ["FINAL_ITERATIONS", "ROUND_ITERATIONS", "TOLERANCE", "Fit", "fit_beliefs"]

#: Steps in a round that others follow, and in the last one.
ROUND_ITERATIONS = 50
FINAL_ITERATIONS = 300

#: The fit ends when a step lowers f by less than this part of it.
TOLERANCE = 1e-7

_GROWTH = 1.4

#: A step counts if f bends back by no more than this part of the linear prediction.
_PLAIN = 0.5
_EXTRAPOLATED = 0.95

Flat = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Where a fit stands: enough to go on from when more has been measured.

    Parameters
    ----------
    beliefs : Beliefs
        The distribution.
    exponents : mapping of block to array
        It is the prior times e^(their sum), normalized.
    step : float
        The step to try next.
    objective : float
        f of the merged measurements.
    """

    beliefs: Beliefs
    exponents: Mapping[Block, Table]
    step: float
    objective: float


def fit_beliefs(
    sizes: Sizes,
    measurements: Sequence[Measurement],
    *,
    total: float,
    prior: Beliefs | None = None,
    start: Fit | None = None,
    iterations: int = FINAL_ITERATIONS,
    tolerance: float = TOLERANCE,
    memory: int = 0,
) -> Fit:
    """Fit a distribution to all measurements.

    Parameters
    ----------
    sizes : mapping of str to int
        Cells of each column, in the order of the axes.
    measurements : sequence of Measurement
        All of them; those of one block are merged by inverse variance.
    total : float
        N, in rows.
    prior : Beliefs, optional
        What measurements leave open stays as in it; uniform if not given.
    start : Fit, optional
        An earlier fit with the same prior, of some of the blocks.
    iterations : int
        At most so many steps.
    tolerance : float
        See `TOLERANCE`.
    memory : int
        From how many steps to extrapolate.

    Raises
    ------
    DomainError
        If the blocks need too large a tree; it names the columns to coarsen.
    """
    measured = [m for m in merge(measurements) if m.block]
    blocks = [m.block for m in measured]
    tree = JunctionTree.build(sizes, [*blocks, *(prior.tree.cliques if prior else ())])
    loss = _Loss(measured, total)
    known = start.exponents if start else {}
    exponents = [known.get(m.block, np.zeros(m.values.shape)) for m in measured]
    descent = _Descent(Sweep(tree, blocks), loss, memory)
    descent.begin(_beginning(tree, descent.sweep, exponents, prior, start))
    descent.exponents = loss.join(exponents)
    descent.step = start.step if start else loss.safe_step
    for _ in range(iterations if measured else 0):
        before = descent.objective
        if descent.advance() <= tolerance * before:
            break
    found = dict(zip(blocks, loss.split(descent.exponents), strict=True))
    return Fit(descent.beliefs, found, descent.step, descent.objective)


@final
class _Loss:
    """f as a function of the marginals, which are joined into one vector."""

    def __init__(self, measured: Sequence[Measurement], total: float) -> None:
        self._shapes = [m.values.shape for m in measured]
        self._ends = np.cumsum([m.values.size for m in measured])[:-1]
        self._goal = self.join([m.values for m in measured]) / total
        precisions = [np.full(m.values.shape, 1 / m.variance) for m in measured]
        self.weights = self.join(precisions) * total**2
        curvature = sum(total**2 / m.variance for m in measured)
        #: A step so short always lowers f.
        self.safe_step = 1 / curvature if measured else 1.0

    def value(self, marginals: Flat) -> float:
        """Return f."""
        return float(self.weights @ (marginals - self._goal) ** 2) / 2

    def gradient(self, marginals: Flat) -> Flat:
        """Return the derivative of f by each cell of each marginal."""
        return self.weights * (marginals - self._goal)

    def bend(self, change: Flat) -> float:
        """Return by how much f exceeds its linear prediction; f is quadratic."""
        return float(self.weights @ change**2) / 2

    def join(self, tables: Sequence[Table]) -> Flat:
        """Join tables of the blocks into one vector."""
        return np.concatenate([np.zeros(0), *(table.ravel() for table in tables)])

    def split(self, flat: Flat) -> list[Table]:
        """Undo `join`."""
        parts = np.split(flat, self._ends) if self._shapes else []
        return [p.reshape(shape) for p, shape in zip(parts, self._shapes, strict=True)]


@final
class _Descent:
    """The state of one descent."""

    def __init__(self, sweep: Sweep, loss: _Loss, memory: int) -> None:
        self.sweep = sweep
        self._loss = loss
        self._past = Extrapolation(loss.weights, memory)
        self.exponents: Flat
        self.step: float

    def begin(self, beliefs: Beliefs) -> None:
        """Start from a distribution."""
        self.beliefs = beliefs
        self._marginals = self._loss.join(self.sweep.marginals(beliefs))
        self.objective = self._loss.value(self._marginals)

    def advance(self) -> float:
        """Take one step and return by how much it lowered f.

        A mirror step is halved until f falls by half the linear prediction or more;
        only after one does the step grow. An extrapolation that fails is forgotten.
        """
        gradient = self._loss.gradient(self._marginals)
        while True:
            move = self._past.move(gradient, self.step)
            direction = self.sweep.spread(self._loss.split(move))
            beliefs = self.beliefs.tilted(direction)
            marginals = self._loss.join(self.sweep.marginals(beliefs))
            change = marginals - self._marginals
            linear, bend = -float(gradient @ change), self._loss.bend(change)
            plain = self._past.empty
            if bend <= (_PLAIN if plain else _EXTRAPOLATED) * linear:
                break
            if plain and self.step <= self._loss.safe_step:
                break  # the rest is rounding
            if plain:
                self.step /= 2
            self._past.clear()
        self._past.add(move, change)
        if plain:
            self.step *= _GROWTH
        self.beliefs, self._marginals = beliefs, marginals
        self.exponents = self.exponents + move
        self.objective = self._loss.value(marginals)
        return linear - bend


def _beginning(
    tree: JunctionTree,
    sweep: Sweep,
    exponents: Sequence[Table],
    prior: Beliefs | None,
    start: Fit | None,
) -> Beliefs:
    """Return the earlier distribution, on the tree of now."""
    if start is not None and start.beliefs.tree == tree:
        return start.beliefs
    beliefs = Beliefs.product(tree, prior.factors if prior else ())
    return beliefs if start is None else beliefs.tilted_far(sweep.spread(exponents))
