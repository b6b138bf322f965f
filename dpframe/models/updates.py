"""Update rules of iterative database construction, each with its state.

A rule answers queries from what it has been told so far, and is told a noisy answer
when it erred by too much. Everything it is told was released, so all it does is
post-processing; which queries it is told about is the business of the mechanism [1]_.
Rules are values: an update returns another one.

References
----------
.. [1] Gupta, Roth and Ullman (2012), Iterative constructions and private data release,
   definition 5 and sections 4.1 to 4.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import chain, combinations_with_replacement
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpframe.domain.domain import Domain
from dpframe.errors import DomainError, ParameterError, shown
from dpframe.models.distribution import Distribution, axis_sizes
from dpframe.models.junction_tree import DENSE_CELLS
from dpframe.models.linear_queries import as_linear
from dpframe.models.measurements import Measurement, as_measurement, estimate_total
from dpframe.models.mirror_descent import ROUND_ITERATIONS, Fit, fit_beliefs
from dpframe.models.table import Table

__all__ = ["FriezeKannan", "Median", "MultiplicativeWeights", "UpdateRule"]

_MOST_MULTISETS = 2**16


class UpdateRule(Protocol):
    """What the mechanism needs of a rule. All numbers are in rows."""

    @property
    def whole_blocks(self) -> bool:
        """Whether it is told all cells of the query's columns, and not one answer."""

    @property
    def most_updates(self) -> int | None:
        """How many updates can be needed, if answers come without noise."""

    def answer(self, query: Any) -> float:
        """Return what it says about a query."""

    def updated(self, query: Any, y: ArrayLike, variance: float) -> UpdateRule:
        """Return the rule that has been told ``y``.

        Parameters
        ----------
        query : query, or tuple of str where ``whole_blocks``
            What was measured.
        y : float or array
            Its noisy answer.
        variance : float
            Of the noise.
        """


@final
@dataclass(frozen=True, slots=True, eq=False)
class MultiplicativeWeights:
    """The maximum-entropy distribution fitted to all marginals told so far.

    Parameters
    ----------
    domain : Domain
        The public cells.
    total : float, optional
        N if it is public; estimated from the measurements if not given.
    prior : Distribution, optional
        Where it starts; uniform if not given.
    """

    domain: Domain
    total: float | None = None
    prior: Distribution | None = None
    measurements: tuple[Measurement, ...] = ()
    _fit: Fit | None = field(default=None, repr=False)

    @property
    def whole_blocks(self) -> bool:
        """True: all cells cost no more noise than one of them."""
        return True

    @property
    def most_updates(self) -> int | None:
        """None: the fit to whole blocks has no bound of its own."""
        return None

    @property
    def distribution(self) -> Distribution:
        """The model so far; its total is N.

        Raises
        ------
        ParameterError
            If N is not public and nothing has been measured.
        """
        rows = self._rows()
        if self._fit is not None:
            return Distribution.of(self.domain, self._fit.beliefs, rows)
        start = self.prior or Distribution(self.domain)
        return Distribution.of(self.domain, start.beliefs, rows)

    def answer(self, query: Any) -> float:
        """Return the model's answer, in rows."""
        return self._rows() * float(self.distribution.answer(query))

    def updated(
        self, query: tuple[str, ...], y: ArrayLike, variance: float
    ) -> MultiplicativeWeights:
        """Fit again, with the counts ``y`` of all cells over the columns ``query``."""
        sizes = axis_sizes(self.domain)
        told = (*self.measurements, as_measurement(sizes, query, y, variance))
        found = fit_beliefs(
            sizes,
            told,
            total=estimate_total(told) if self.total is None else self.total,
            prior=None if self.prior is None else self.prior.beliefs,
            start=self._fit,
            iterations=ROUND_ITERATIONS,
        )
        return replace(self, measurements=told, _fit=found)

    def _rows(self) -> float:
        if self.total is not None:
            return self.total
        if not self.measurements:
            msg = "the number of rows is neither public nor measured; pass total=."
            raise ParameterError(msg)
        return estimate_total(self.measurements)


@final
@dataclass(frozen=True, slots=True, eq=False)
class FriezeKannan:
    """A vector moved by a fixed length along the query it erred on.

    p += sign(y - q(p)) (alpha / |q|²) q, from uniform; it may leave the distributions.

    Parameters
    ----------
    domain : Domain
        The public cells, at most 2**22.
    total : float
        N, in rows.
    alpha : float
        The error that calls for an update, as a proportion.
    """

    domain: Domain
    total: float
    alpha: float
    _vector: Table | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            msg = f"alpha is a proportion between 0 and 1; got {shown(self.alpha)}."
            raise ParameterError(msg)
        if self._vector is None:
            cells = _cells(self.domain, DENSE_CELLS)
            object.__setattr__(self, "_vector", np.full(cells, 1 / cells))

    @property
    def vector(self) -> Table:
        """One number for each cell, last column fastest; nothing is normalized."""
        assert self._vector is not None
        return self._vector

    @property
    def whole_blocks(self) -> bool:
        """False."""
        return False

    @property
    def most_updates(self) -> int:
        """|X| / alpha²: each update takes alpha² / |X| off the squared distance."""
        return math.floor(len(self.vector) / self.alpha**2)

    def answer(self, query: Any) -> float:
        """Return q(p), in rows."""
        return self.total * float(self._weights(query) @ self.vector)

    def updated(self, query: Any, y: ArrayLike, variance: float = 0.0) -> FriezeKannan:
        """Move by alpha / |q| towards the side where ``y`` lies."""
        weights = self._weights(query)
        side = float(np.sign(float(np.asarray(y)) - self.answer(query)))
        norm = float(weights @ weights)
        if norm == 0:
            return self  # the query counts nothing
        moved = self.vector + side * self.alpha / norm * weights
        return replace(self, _vector=moved)

    def _weights(self, query: Any) -> Table:
        return as_linear(query, self.domain).on_all(self.domain)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Median:
    """All small multisets of cells that fit what was told; their median answers.

    Parameters
    ----------
    domain : Domain
        The public cells.
    total : float
        N, in rows.
    size : int
        Cells in a multiset; there may be 2**16 of them at most.
    """

    domain: Domain
    total: float
    size: int = 8
    _kept: NDArray[np.int64] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.size < 1:
            msg = f"size is a positive number of cells; got {shown(self.size)}."
            raise ParameterError(msg)
        if self._kept is not None:
            return
        cells = _cells(self.domain, DENSE_CELLS)
        count = math.comb(cells + self.size - 1, self.size)
        if count > _MOST_MULTISETS:
            msg = (
                f"there are {count:,} multisets of {self.size} among {cells:,} cells, "
                f"and {_MOST_MULTISETS:,} are the most; take a smaller size or domain."
            )
            raise ParameterError(msg)
        listed = combinations_with_replacement(range(cells), self.size)
        flat = np.fromiter(chain.from_iterable(listed), np.int64, count * self.size)
        object.__setattr__(self, "_kept", flat.reshape(count, self.size))

    @property
    def multisets(self) -> NDArray[np.int64]:
        """The multisets still kept, a row of cells each."""
        assert self._kept is not None
        return self._kept

    @property
    def whole_blocks(self) -> bool:
        """False."""
        return False

    @property
    def most_updates(self) -> int:
        """log2 of their number: each update keeps half of them at most."""
        return len(self.multisets).bit_length() - 1

    def answer(self, query: Any) -> float:
        """Return the lower median of their answers, in rows."""
        return self.total * self._median(self._answers(query))

    def updated(self, query: Any, y: ArrayLike, variance: float = 0.0) -> Median:
        """Keep those nearer to ``y`` than the median was; all if there are none."""
        answers, goal = self._answers(query), float(np.asarray(y)) / self.total
        nearer = np.abs(answers - goal) < abs(self._median(answers) - goal)
        return replace(self, _kept=self.multisets[nearer]) if nearer.any() else self

    def _answers(self, query: Any) -> Table:
        weights = as_linear(query, self.domain).on_all(self.domain)
        answers: Table = weights[self.multisets].mean(axis=1)
        return answers

    @staticmethod
    def _median(answers: Table) -> float:
        middle = (len(answers) - 1) // 2
        return float(np.partition(answers, middle)[middle])


def _cells(domain: Domain, most: int) -> int:
    """Return the number of cells, where they are few enough for a vector."""
    cells = math.prod(axis_sizes(domain).values())
    if cells > most:
        msg = (
            f"this rule needs a vector of all {cells:,} cells, and {most:,} are the "
            'most. Declare fewer columns or cells, or take "multiplicative_weights".'
        )
        raise DomainError(msg)
    return cells
