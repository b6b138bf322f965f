"""Counts, sums, means and quantiles under keys that nobody listed: found in the data.

    N    units with a key, of the bounded rows; 0 where the key is not there
    X    discrete Laplace noise of scale 2G/ε₁ (G/ε₁ under add_remove), for each key
         that is there
    a key is shown where N + X > τ, with P(1 + X > τ) <= δ/G

N counts units and never rows: a unit of m rows would pass a threshold of rows m - 1
steps more easily. If N is all that is asked, N + X is the answer and ε₁ = ε. Else, with
p primitives asked, ε₁ = ε/(1 + p), and once the keys are shown they are as public as
listed ones: the primitives share the rest under these keys (`Additive`).

Guarantee: (epsilon, delta). Keys that both of two neighboring frames have cost epsilon;
those that only one has, at most G, have one unit there and are shown with probability
delta/G each. Source: Korolova et al. 2009, section 4; docs/proofs/unknown_keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from dpframe.domain.coding import Linear
from dpframe.domain.fit import check_fit
from dpframe.domain.keys import Keys
from dpframe.domain.open_keys import OpenKeys
from dpframe.domain.schema import Schema
from dpframe.engines.protocol import Source
from dpframe.errors import ParameterError, shown
from dpframe.mechanisms.additive import Additive
from dpframe.mechanisms.noising import Draw, Vectors, draw, noisy
from dpframe.mechanisms.request import Request, Setting
from dpframe.mechanisms.spend import Price, Spend
from dpframe.mechanisms.terms import Asked, Term, column_type
from dpframe.noise import DiscreteLaplace
from dpframe.noise.key_threshold import KeyThreshold
from dpframe.privacy.amounts import as_delta
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Adjacency, Sensitivity
from dpframe.queries.reduction import Census
from dpframe.releases.answers import Answer
from dpframe.releases.measured import Measured
from dpframe.releases.measurement import Measurement
from dpframe.releases.receipt import Receipt
from dpframe.secret import Aggregates, Found, Occurrences, Secret

__all__ = ["UnknownKeys", "open_cells", "read_loss"]

R = TypeVar("R", bound=Measured)

#: More keys than one unit can have: before any is shown, all sensitivities are full.
_ANY = 2**62


@final
@dataclass(frozen=True, slots=True)
class UnknownKeys(Request[R]):
    """Aggregates under the keys that enough units have.

    Parameters
    ----------
    verb : str
        The verb as typed, for the ledger.
    setting : Setting
        Unit, relation and accountant of the session.
    loss : PrivacyLoss
        Epsilon and delta of the whole call.
    asked : tuple of Asked
        The answers, in their order.
    keys : OpenKeys
        The key columns.
    form : type of Measured
        What to hand back.
    schema : Schema
        Types of the key columns, and the library of the frame.
    by_q : bool
        As in `Additive`.
    """

    verb: str
    setting: Setting
    loss: PrivacyLoss
    asked: tuple[Asked, ...]
    keys: OpenKeys
    form: type[R]
    schema: Schema
    by_q: bool = False

    def __post_init__(self) -> None:
        _ = self.rule, self._listed  # a scale that does not fit is refused here

    @property
    def mechanism(self) -> str:
        """The mechanisms, in words."""
        rest = [] if self.alone else [self._listed.mechanism]
        return ", ".join(["key threshold", *rest])

    @property
    def alone(self) -> bool:
        """Whether the number of units is all that is asked: then it is the answer."""
        units = Term("rows" if self.setting.unit.is_row else "units")
        return {a.term for a in self.asked} == {units}

    @property
    def rule(self) -> KeyThreshold:
        """Which keys are shown."""
        assert self.loss.epsilon is not None
        epsilon = self.loss.epsilon * (1 - self._share_of_rest)
        law = Spend(PrivacyLoss(epsilon), "laplace").law(self.sensitivity)
        assert isinstance(law, DiscreteLaplace)
        return KeyThreshold(law, self.loss.delta, self._adjacency.groups)

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit moves the numbers of units."""
        return self._adjacency.units()

    def describe(self) -> dict[str, object]:
        """Return the call with its defaults filled in."""
        return {
            **self._listed.describe(),
            "mechanism": self.mechanism,
            "loss": self.loss.describe(),
            "keys": self.keys.describe(),
            "key_threshold": self.rule.describe(),
        }

    def reduce(self, source: Source) -> Secret[Found]:
        """Ask the engine for the keys, and all that is counted and summed of them."""
        reduction = self._listed.reduction
        census = Census(
            self.setting.unit,
            self.keys,
            rows=reduction.rows,
            measures=reduction.measures,
            tabulated=reduction.tabulated,
        )
        return source.census(census)

    def answer(self, secret: Secret[Found] | None, receipt: Receipt) -> R:
        """Show some of the keys; then answer under these as under public ones."""
        assert secret is not None
        found = secret.reveal()
        numbers, *columns = self._select(found)
        keys = self.keys.chosen([column.tolist() for column in columns])
        if self.alone:
            release = self._counted(numbers, keys, receipt)
        else:
            rest = Secret(_cut(columns, found))
            release = self._under(keys).answer(rest, receipt)
        return replace(release, key_threshold=self.rule)

    def _select(self, found: Found) -> Vectors:
        """Return the noisy numbers of units that pass, and their keys."""
        rule, units = self.rule, found.aggregates.units
        assert units is not None

        def pass_some() -> Vectors:
            (numbers,) = noisy((units,), rule.law)
            passed = rule.shows(numbers)
            return tuple(part[passed] for part in (numbers, *found.keys))

        return draw(Draw((units, *found.keys), rule, self.sensitivity), pass_some)

    def _counted(self, numbers: NDArray[Any], keys: Keys, receipt: Receipt) -> R:
        """Hand back the numbers that passed."""
        of_rows = self.setting.unit.is_row
        measurement = Measurement(
            "rows" if of_rows else "units",
            (numbers,),
            self.rule.law,
            self.sensitivity,
            self.loss,
        )
        answers = tuple(
            Answer(a.name, a.aggregate.statistic, measurement) for a in self.asked
        )
        types = tuple(column_type(c, self.setting, self.schema) for c in keys.columns)
        return self.form.of(answers, keys, receipt, self.schema.library, types)

    @property
    def _adjacency(self) -> Adjacency:
        return Adjacency(self.setting.unit, self.setting.neighboring, _ANY)

    @property
    def _share_of_rest(self) -> Fraction:
        """Return what part of epsilon the p primitives take: p/(1 + p)."""
        if self.alone:
            return Fraction(0)
        asked = len({a.term for a in self.asked if a.term is not None})
        return Fraction(asked, 1 + asked)

    @property
    def _listed(self) -> Additive[R]:
        """The call as it would be under public keys, as many as there may be."""
        columns = self.keys.columns
        many = (Linear(0, _ANY), *(Linear(0, 0) for _ in columns[1:]))
        return self._under(Keys(columns, many))

    def _under(self, keys: Keys) -> Additive[R]:
        """The primitives under keys that are public."""
        assert self.loss.epsilon is not None
        rest = self.loss.epsilon * (self._share_of_rest or 1)  # of none: any amount
        return Additive(
            verb=self.verb,
            setting=self.setting,
            spend=Spend(PrivacyLoss(rest), "laplace"),
            asked=self.asked,
            keys=keys,
            form=self.form,
            schema=self.schema,
            by_q=self.by_q,
        )


def _cut(keys: Sequence[NDArray[Any]], found: Found) -> Aggregates:
    """Return the aggregates of these keys alone; 0 of a key that is not there."""
    place = {key: i for i, key in enumerate(zip(*found.keys, strict=True))}
    at = np.array([place.get(key, -1) for key in zip(*keys, strict=True)], np.int64)
    true = found.aggregates

    def taken(values: NDArray[Any]) -> NDArray[Any]:
        return np.append(values, 0)[at]

    def kept(occurrences: Occurrences) -> Occurrences:
        number = np.full(len(place), -1, dtype=np.int64)
        number[at[at >= 0]] = np.flatnonzero(at >= 0)
        cells = number[occurrences.cells]
        left = cells >= 0
        return Occurrences(
            cells[left], occurrences.values[left], occurrences.times[left]
        )

    return Aggregates(
        rows=None if true.rows is None else taken(true.rows),
        units=None if true.units is None else taken(true.units),
        usable=tuple(map(taken, true.usable)),
        sums=tuple(map(taken, true.sums)),
        squares=tuple(None if s is None else taken(s) for s in true.squares),
        occurrences=tuple(map(kept, true.occurrences)),
    )


def read_loss(price: Price, delta: object, setting: Setting) -> PrivacyLoss:
    """Read what a call with unknown keys may cost: an epsilon and a delta.

    Raises
    ------
    ParameterError
        For another noise than Laplace's, a rho, and a delta that is not above 0 and
        below 1/2; it warns above 1e-4.
    """
    if price.rho is not None or price.noise == "gaussian":
        given = "rho=" if price.rho is not None else "noise='gaussian'"
        msg = (
            f"keys are found with Laplace noise, and {given} asks for Gaussian: give "
            "epsilon= and no noise=, in a zCDP session too, or list the keys."
        )
        raise ParameterError(msg)
    most = as_delta(delta)
    if not 0 < most < Fraction(1, 2):
        msg = (
            "delta is the chance that a key of a single unit is shown, above 0 and "
            f"below 1/2, such as 1e-6; got {shown(delta)}."
        )
        raise ParameterError(msg)
    return PrivacyLoss(price.pure(setting), most)


def open_cells(
    by: Sequence[str],
    setting: Setting,
    schema: Schema,
    *,
    keys: object = None,
    bins: object = None,
) -> OpenKeys:
    """Resolve key columns of which some have no public keys.

    Raises
    ------
    ColumnNotFoundError, DomainError, ParameterError
        If a column is not there or can be no key, or all of them have public keys.
    """
    for column in by:
        if schema[column].kind == "other":
            msg = f"{column!r} has a nested or untyped column type and can be no key."
            raise ParameterError(msg)
    found = OpenKeys.resolve(by, domain=setting.domain, keys=keys, bins=bins)
    for column, coding in zip(found.columns, found.codings, strict=True):
        type_ = column_type(column, setting, schema)
        if coding is not None:
            untyped = schema.library == "pandas" and type_.kind == "text"
            check_fit(column, coding, type_, untyped=untyped)
        elif type_.kind == "float":
            msg = (
                f"column {column!r} holds floats, of which each would be a key of its "
                f"own. Pass bins={{{column!r}: [...]}} beside delta= (or bins=[...] "
                "alone), or, if they are whole numbers, cast the column to integers "
                "before .dp (to 'Int64' in pandas, where a null makes floats of them)."
            )
            raise ParameterError(msg)
    return found
