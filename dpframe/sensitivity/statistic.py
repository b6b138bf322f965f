"""What a statistic is here: a value of data, and a profile for each relation.

data = statistic.read(values, bounds)      # or Ordered.of_sorted(...), Points(...)
statistic.value(data)                      # the exact f(X)
statistic.profile(data, "add_remove")      # its `Profile` at X
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, final, get_args

from dpframe.errors import ParameterError, shown
from dpframe.sensitivity.profile import Constant, Profile

__all__ = ["Relation", "Statistic"]

#: How neighbors differ: one record more or less, another record, another edge.
Relation = Literal["add_remove", "replace", "edge"]

Data = TypeVar("Data", bound=Sized)


@final
@dataclass(frozen=True)
class Statistic(Generic[Data]):
    """A query of one list of records (or of a graph) and what is proved of it.

    Parameters
    ----------
    name : str
        As a user writes it.
    read : callable
        Make the data of values and bounds: `Ordered`, `Points` or `Graph`.
    value : callable
        f(X), also of no records.
    profiles : mapping
        For each relation that has a proof, the profile of such data. No profile of
        one relation is ever used for another.
    """

    name: str
    read: Callable[[Any, Any], Data]
    value: Callable[[Data], float]
    profiles: Mapping[Relation, Callable[[Data], Profile]]

    def profile(self, data: Data, neighboring: str) -> Profile:
        """Return the profile at ``data``; raise `ParameterError` without a proof."""
        if neighboring not in get_args(Relation):
            known = ", ".join(map(repr, get_args(Relation)))
            msg = f"neighboring must be one of {known}; got {shown(neighboring)}."
            raise ParameterError(msg)
        for relation, profile in self.profiles.items():
            if relation == neighboring:
                alone = relation == "replace" and not len(data)
                return Constant(0.0) if alone else profile(data)
        known = " or ".join(f"neighboring={name!r}" for name in self.profiles)
        msg = (
            f"{self.name} has no proved profile under neighboring={neighboring!r}, and "
            f"that of another relation would not be private; it has one under {known}."
        )
        raise ParameterError(msg)
