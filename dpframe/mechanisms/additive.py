"""Counts, sums, means and variances under public keys, by exact integer noise.

Every answer is a public formula over one *term*: a row count, a count of units, a
lattice sum, or the non-negative parts of a mean or a variance, which together move by
exactly W (W²) for each row and so share the whole loss (``design: units`` §5.1).
A call with several terms gives each its share of the loss; equal terms are measured
once. The terms are charged, reduced by the engine in one pass, noised, and never
looked at again.

Guarantee: pure epsilon (discrete Laplace, scale L1/ε; Ghosh, Roughgarden and
Sundararajan 2012) or zCDP (discrete Gaussian, σ² = L2²/2ρ; Canonne, Kamath and Steinke
2020, Theorem 4), by composition over the terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar, final

from numpy.typing import NDArray

from dpframe.domain.keys import Keys
from dpframe.domain.lattice import Lattice
from dpframe.domain.schema import Schema
from dpframe.engines.protocol import Source
from dpframe.mechanisms.noising import Vectors, add_noise
from dpframe.mechanisms.request import Request, Setting
from dpframe.mechanisms.spend import Spend
from dpframe.mechanisms.terms import Asked, Term, column_type
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Adjacency, Sensitivity
from dpframe.queries.reduction import Measure, Reduction
from dpframe.releases.answers import Answer
from dpframe.releases.measured import Measured
from dpframe.releases.measurement import Measurement
from dpframe.releases.receipt import Receipt
from dpframe.secret import Aggregates, Secret

__all__ = ["Additive"]

R = TypeVar("R", bound=Measured)


@final
@dataclass(frozen=True, slots=True)
class Additive(Request[R]):
    """Additive noise on the terms of one call.

    Parameters
    ----------
    verb : str
        The verb as typed, for the ledger.
    setting : Setting
        Unit, relation and accountant of the session.
    spend : Spend
        The loss of the whole call.
    asked : tuple of Asked
        The answers, in their order.
    keys : Keys or None
        The public cells.
    form : type of Measured
        What to hand back.
    schema : Schema
        Types of the key columns, and the library of the frame.
    """

    verb: str
    setting: Setting
    spend: Spend
    asked: tuple[Asked, ...]
    keys: Keys | None
    form: type[R]
    schema: Schema

    def __post_init__(self) -> None:
        for term in self.terms:  # a scale that does not fit is refused here
            self._share(term).law(self._sensitivity(term))

    @property
    def terms(self) -> tuple[Term, ...]:
        """What is measured: equal terms once, none under an empty list of keys."""
        if self.keys is not None and not self.keys.size:
            return ()
        return tuple(dict.fromkeys(a.term for a in self.asked if a.term))

    @property
    def loss(self) -> PrivacyLoss | None:  # type: ignore[override]
        """The whole loss; None where every answer is a public constant."""
        return self.spend.loss if self.terms else None

    @property
    def mechanism(self) -> str:
        """The noise, in words."""
        return f"discrete {self.spend.noise.capitalize()}"

    def describe(self) -> dict[str, object]:
        """Return the call with its defaults filled in."""
        return {
            "verb": self.verb,
            "mechanism": self.mechanism,
            "loss": self.spend.loss.describe(),
            "aggregates": {
                a.name: {**a.aggregate.describe(), "weight": str(a.weight)}
                for a in self.asked
            },
            "keys": None if self.keys is None else self.keys.describe(),
            **self.setting.unit.describe(),
            "neighboring": self.setting.neighboring,
        }

    def reduce(self, source: Source) -> Secret[Aggregates]:
        """Ask the engine for the counts and sums of all terms in one pass."""
        return source.aggregate(self.reduction)

    @property
    def reduction(self) -> Reduction:
        """What the engine is told."""
        squares: dict[tuple[str, Lattice], bool] = {}
        for t in self.terms:
            if t.column is not None and t.lattice is not None:
                key = (t.column, t.lattice)
                squares[key] = squares.get(key, False) or t.quantity == "triple"
        return Reduction(
            self.setting.unit,
            self.keys,
            rows=any(t.quantity == "rows" for t in self.terms),
            units=any(t.quantity == "units" for t in self.terms),
            measures=tuple(
                Measure(column, lattice, squared)
                for (column, lattice), squared in squares.items()
            ),
        )

    def answer(self, secret: Secret[Aggregates] | None, receipt: Receipt) -> R:
        """Noise every term, then hand the noisy integers to the public formulas."""
        measured: dict[Term, Measurement] = {}
        if secret is not None:
            measures = self.reduction.measures
            for term in self.terms:
                exact = _vectors(term, measures, secret.reveal())
                measured[term] = self._measure(term, exact)
        answers = tuple(
            Answer(
                a.name,
                a.aggregate.statistic,
                None if a.term is None else measured.get(a.term),
                a.lattice,
            )
            for a in self.asked
        )
        types = None
        if self.keys is not None:
            types = tuple(
                column_type(c, self.setting, self.schema) for c in self.keys.columns
            )
        return self.form.of(answers, self.keys, receipt, self.schema.library, types)

    def _measure(self, term: Term, exact: Vectors) -> Measurement:
        spend, sensitivity = self._share(term), self._sensitivity(term)
        law = spend.law(sensitivity)
        return Measurement(
            term.quantity,
            add_noise(exact, law, sensitivity),
            law,
            sensitivity,
            spend.loss,
            term.column,
            term.lattice,
        )

    def _sensitivity(self, term: Term) -> Sensitivity:
        cells = None if self.keys is None else self.keys.size
        adjacency = Adjacency(self.setting.unit, self.setting.neighboring, cells)
        return term.sensitivity(adjacency)

    def _share(self, term: Term) -> Spend:
        """Each term's part of the loss: by weight, equal if none is given."""
        weights: dict[Term, Fraction] = {}
        for a in self.asked:
            if a.term is not None:
                weights[a.term] = max(a.weight, weights.get(a.term, a.weight))
        return self.spend.share(weights[term] / sum(weights.values()))


def _vectors(
    term: Term, measures: tuple[Measure, ...], true: Aggregates
) -> tuple[NDArray[Any], ...]:
    """The exact integers of a term, from the engine's counts and sums."""
    if term.quantity == "rows":
        assert true.rows is not None
        return (true.rows,)
    if term.quantity == "units":
        assert true.units is not None
        return (true.units,)
    lattice = term.lattice
    assert lattice is not None
    at = [m.column == term.column and m.lattice == lattice for m in measures].index(
        True
    )
    total, usable, width = true.sums[at], true.usable[at], lattice.width
    if term.quantity == "sum":
        return (total,)
    if term.quantity == "pair":
        return (total, width * usable - total)
    squares = true.squares[at]
    assert squares is not None
    cross = 2 * (width * total - squares)
    return (width * width * usable - cross - squares, cross, squares)
