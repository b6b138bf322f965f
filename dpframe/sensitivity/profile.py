"""Sensitivity profiles: local and smooth sensitivity and the distance of PTR in one.

A profile of a query at data X is a sequence A(0) <= A(1) <= ... with A(0) at least the
local sensitivity of X and

    A_X(k) <= A_Y(k + 1)   for all neighbors X, Y.

The greatest local sensitivity within k changes of X is one. From any of them:

    local sensitivity           A(0)
    smooth sensitivity          max over k of exp(-beta k) A(k)
    distance to violating B     min{k : A(k) > B}

The second moves by a factor of exp(beta) at most between neighbors, the third by 1.
All of it is private: a profile is read by a mechanism, or of public data. Nothing of
it is printed; the classes here have no `repr` of their own.
Proof: docs/proofs/sensitivity, theorems 1 and 2.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpframe.errors import ParameterError, shown
from dpframe.noise.law import Floats, as_float, as_positive
from dpframe.privacy.amounts import Amount
from dpframe.sensitivity.search import damped_maximum, first_true

__all__ = ["Constant", "Largest", "Profile", "UnitProfile"]

Integers = NDArray[np.int64]

_LEAST_RATE = 1e-300  # nothing is damped by less


class Profile(ABC):
    """A(k) for k = 0, 1, ..., worked out where it is asked for."""

    @property
    @abstractmethod
    def last(self) -> int:
        """A(k) is the same from this k on."""

    @property
    def exact(self) -> bool:
        """Whether A(k) is the greatest local sensitivity within k changes, not more."""
        return False

    @abstractmethod
    def _at(self, ks: Integers) -> Floats:
        """Return A(k) for a flat array of 0 <= k <= `last`, not empty."""

    def at(self, ks: ArrayLike) -> Floats:
        """Return A(k) for whole numbers k >= 0, in the shape of ``ks``."""
        asked = np.asarray(ks, dtype=np.int64)
        if not asked.size:
            return np.zeros(asked.shape)
        heights = self._at(np.minimum(asked.ravel(), self.last))
        return np.asarray(heights.reshape(asked.shape))

    @cached_property
    def local(self) -> float:
        """A(0): the local sensitivity, or more where `exact` is False."""
        return float(self.at(0))

    @property
    def exact_local(self) -> float | None:
        """The local sensitivity itself, where it is known."""
        return self.local if self.exact else None

    @cached_property
    def limit(self) -> float:
        """The greatest A(k): the global sensitivity."""
        return float(self.at(self.last))

    def smooth(self, beta: Amount) -> float:
        """Return the beta-smooth sensitivity, max over k of exp(-beta k) A(k)."""
        return self._smooth(max(as_float(as_positive(beta, "beta")), _LEAST_RATE))

    def _smooth(self, rate: float) -> float:
        return damped_maximum(self.at, self.last, self.limit, rate)

    def distance(self, bound: Amount, *, cap: int | None = None) -> float:
        """Return the least k with A(k) > bound, a whole number, or infinity.

        With a ``cap`` it is that at most, and no k beyond it is looked at. A cap that
        is public, or n + 1, leaves a distance: it still moves by 1 at most.
        """
        most = as_positive(bound, "bound")
        last = self.last if cap is None else min(self.last, cap)
        found = first_true(lambda k: float(self.at(k)) > most, last)
        return found if cap is None else min(found, cap)

    def of_unit(self, rows: int) -> Profile:
        """Return the profile for units of up to ``rows`` changed rows.

        That is m rows under "add_remove" and 2m under "replace", where a unit's m rows
        leave and m others come; `self` is then the add_remove profile of one row.
        """
        return self if read_rows(rows) == 1 else UnitProfile(self, rows)


@final
@dataclass(frozen=True, eq=False, repr=False)
class UnitProfile(Profile):
    """A_unit(k) = A(s k) + A(s k + 1) + ... + A(s k + s - 1), for s rows a unit.

    A unit's rows change one after the other, each by its own A at most.
    """

    row: Profile
    rows: int

    @property
    def last(self) -> int:
        """The first k whose s terms are all the last one."""
        return -(-self.row.last // self.rows)

    def _at(self, ks: Integers) -> Floats:
        terms = self.rows * ks[:, None] + np.arange(self.rows)
        # Rounded once, so that sums are in the order of their terms.
        return np.array([math.fsum(one) for one in self.row.at(terms).tolist()])

    def of_unit(self, rows: int) -> Profile:
        """Return the profile for units of ``rows`` of these units."""
        return self.row.of_unit(self.rows * read_rows(rows))


@final
@dataclass(frozen=True, eq=False, repr=False)
class Constant(Profile):
    """The same local sensitivity everywhere."""

    value: float

    @property
    def last(self) -> int:
        """Zero."""
        return 0

    @property
    def exact(self) -> bool:
        """True."""
        return True

    def _at(self, ks: Integers) -> Floats:
        return np.full(ks.size, self.value)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Largest(Profile):
    """The largest of several profiles at each k."""

    profiles: Sequence[Profile]

    @property
    def last(self) -> int:
        """The last of them all."""
        return max(one.last for one in self.profiles)

    def _at(self, ks: Integers) -> Floats:
        return np.asarray(np.max([one.at(ks) for one in self.profiles], axis=0))

    def _smooth(self, rate: float) -> float:
        return max(one._smooth(rate) for one in self.profiles)


def read_rows(rows: int) -> int:
    """Read the number of rows that one unit changes."""
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        msg = f"rows must be a positive integer; got {shown(rows)}."
        raise ParameterError(msg)
    return rows
