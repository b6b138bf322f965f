"""Counts, sums, means and variances under public keys, by exact integer noise.

Every answer is a public formula over one *term*: a row count, a count of units, a
lattice sum, or the non-negative parts of a mean or a variance, which together move by
exactly W (W²) for each row and so share the whole loss (``design: units`` §5.1); or
over quantiles, which are chosen and not noised (`dpframe.mechanisms.quantile`).
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

from dpframe.domain.coding import Lookup
from dpframe.domain.keys import Keys
from dpframe.domain.lattice import Lattice
from dpframe.domain.schema import ColumnType, Schema
from dpframe.engines.protocol import Source
from dpframe.mechanisms.noising import Vectors, add_noise
from dpframe.mechanisms.quantile import Ranks, Selection, choose, line_up
from dpframe.mechanisms.request import Request, Setting
from dpframe.mechanisms.spend import Spend
from dpframe.mechanisms.terms import Asked, Term, column_type
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Adjacency, Sensitivity
from dpframe.queries.reduction import Measure, Reduction
from dpframe.releases.answers import Answer
from dpframe.releases.chosen import Choice, Chosen
from dpframe.releases.columns import distinct_names
from dpframe.releases.measured import Measured
from dpframe.releases.measurement import Measurement
from dpframe.releases.receipt import Receipt
from dpframe.secret import Aggregates, Occurrences, Secret

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
    by_q : bool
        The one answer has several quantiles, which are further rows under each key.
    """

    verb: str
    setting: Setting
    spend: Spend
    asked: tuple[Asked, ...]
    keys: Keys | None
    form: type[R]
    schema: Schema
    by_q: bool = False

    def __post_init__(self) -> None:
        for term in self.terms:  # a scale that does not fit is refused here
            self._share(term).law(self._sensitivity(term))
        _ = self.selections

    @property
    def terms(self) -> tuple[Term, ...]:
        """What is measured: equal terms once, none under an empty list of keys."""
        return tuple(t for t in self._shares if isinstance(t, Term))

    @property
    def ranked(self) -> tuple[Ranks, ...]:
        """What is chosen: equal quantiles once, none under an empty list of keys."""
        return tuple(t for t in self._shares if isinstance(t, Ranks))

    @property
    def selections(self) -> tuple[Selection, ...]:
        """The choice of every quantile, with its part of the loss."""
        return tuple(s for ranks in self.ranked for s in self._selections(ranks))

    @property
    def loss(self) -> PrivacyLoss | None:  # type: ignore[override]
        """The whole loss; None where every answer is a public constant."""
        if not self._shares:
            return None
        zcdp = self.setting.accountant.name == "zcdp"
        if self.terms or not zcdp or self.spend.loss.rho is not None:
            return self.spend.loss
        return PrivacyLoss(rho=sum((s.law.rho for s in self.selections), Fraction(0)))

    @property
    def mechanism(self) -> str:
        """The noise, or the way of choosing, in words."""
        noise = [f"discrete {self.spend.noise.capitalize()}"] if self.terms else []
        noise += [selection.law.mechanism for selection in self.selections]
        return ", ".join(dict.fromkeys(noise)) or "public constant"

    def describe(self) -> dict[str, object]:
        """Return the call with its defaults filled in."""
        return self._described | ({"by_q": True} if self.by_q else {})

    @property
    def _described(self) -> dict[str, object]:
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
            tabulated=tuple(dict.fromkeys(ranks.measure for ranks in self.ranked)),
        )

    def answer(self, secret: Secret[Aggregates] | None, receipt: Receipt) -> R:
        """Noise every term, then hand the noisy integers to the public formulas."""
        measured: dict[Term | Ranks, Measurement | tuple[Choice, ...]] = {}
        if secret is not None:
            true, reduction = secret.reveal(), self.reduction
            for term in self.terms:
                exact = _vectors(term, reduction.measures, true)
                measured[term] = self._measure(term, exact)
            for ranks in self.ranked:
                at = reduction.tabulated.index(ranks.measure)
                measured[ranks] = self._choose(ranks, true.occurrences[at])
        answers = tuple(
            _answered(a, None if a.term is None else measured.get(a.term))
            for a in self.asked
        )
        cells, types = self.keys, None
        if cells is not None:
            types = tuple(
                column_type(c, self.setting, self.schema) for c in cells.columns
            )
        if self.by_q:
            cells = _with_q(cells, self.asked[0].aggregate.q)
            types = (*(types or ()), ColumnType("float"))
        return self.form.of(answers, cells, receipt, self.schema.library, types)

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

    def _choose(self, ranks: Ranks, found: Occurrences) -> tuple[Choice, ...]:
        keys = 1 if self.keys is None else self.keys.size
        line = line_up(found, keys, ranks.candidates)
        return tuple(choose(each, line) for each in self._selections(ranks))

    def _selections(self, ranks: Ranks) -> tuple[Selection, ...]:
        keys = None if self.keys is None else self.keys.size
        return ranks.priced(self._share(ranks).loss, self.setting, keys)

    def _sensitivity(self, term: Term) -> Sensitivity:
        cells = None if self.keys is None else self.keys.size
        adjacency = Adjacency(self.setting.unit, self.setting.neighboring, cells)
        return term.sensitivity(adjacency)

    def _share(self, term: Term | Ranks) -> Spend:
        """Each term's part of the loss: by weight, equal if none is given."""
        weights = self._shares
        return self.spend.share(weights[term] / sum(weights.values()))

    @property
    def _shares(self) -> dict[Term | Ranks, Fraction]:
        """The terms, with the weight of each."""
        weights: dict[Term | Ranks, Fraction] = {}
        if self.keys is not None and not self.keys.size:
            return weights
        for a in self.asked:
            if a.term is not None:
                weights[a.term] = max(a.weight, weights.get(a.term, a.weight))
        return weights


def _answered(
    asked: Asked, found: Measurement | tuple[Choice, ...] | None
) -> Answer | Chosen:
    """Hand what was measured or chosen, if anything was, to its formula."""
    aggregate = asked.aggregate
    if not aggregate.ranks:
        assert not isinstance(found, tuple)
        return Answer(asked.name, aggregate.statistic, found, asked.lattice)
    assert not isinstance(found, Measurement)
    assert aggregate.column is not None
    assert asked.lattice is not None
    return Chosen(
        asked.name,
        aggregate.statistic,
        aggregate.ranks,
        found or (),
        aggregate.column,
        asked.lattice,
    )


def _with_q(keys: Keys | None, q: tuple[Fraction, ...]) -> Keys:
    """Return the cells of each key and each q, q the fastest."""
    coding = Lookup(tuple(map(float, q)))
    if keys is None:
        return Keys(("q",), (coding,))
    (name,) = distinct_names(keys.columns, ["q"])
    cells = keys.cells
    if cells is not None:
        cells = tuple((*cell, code) for cell in cells for code in range(len(q)))
    return Keys((*keys.columns, name), (*keys.codings, coding), cells)


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
