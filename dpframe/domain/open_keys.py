"""`OpenKeys`: key columns of which some have no public list of keys.

What their keys are is private. A release shows those that a mechanism has let pass, and
from then on these are the public cells of the release: `OpenKeys.chosen`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from dpframe.domain.coding import Coding, Lookup
from dpframe.domain.keys import Keys
from dpframe.domain.kinds import Bounds
from dpframe.domain.serial import dump_record
from dpframe.domain.values import distinct
from dpframe.errors import ParameterError

if TYPE_CHECKING:
    from dpframe.domain.domain import Domain

__all__ = ["OpenKeys"]


@final
@dataclass(frozen=True, slots=True)
class OpenKeys:
    """The key columns of a release whose keys are found in the data.

    Parameters
    ----------
    columns : tuple of str
        Key columns.
    codings : tuple of Coding or None
        How each column is coded; None where its keys are found.
    """

    columns: tuple[str, ...]
    codings: tuple[Coding | None, ...]

    @classmethod
    def resolve(
        cls,
        columns: Sequence[str],
        *,
        domain: Domain | None,
        keys: object = None,
        bins: object = None,
    ) -> OpenKeys:
        """Read ``keys=`` and ``bins=``; what they and the domain leave open is found.

        Parameters
        ----------
        columns : sequence of str
            Key columns.
        domain : Domain or None
            Declared facts; bounds alone give no keys.
        keys, bins : dict, optional
            Column -> public keys or edges, for some of the columns.

        Raises
        ------
        DomainError, ParameterError
            If keys or bins are wrong, or no column is left open.
        """
        names = tuple(columns)
        distinct(names, "key columns")
        facts = {"keys=": keys, "bins=": bins}
        given = {who: fact for who, fact in facts.items() if _says_something(fact)}
        by_column = [set(fact) for fact in given.values() if isinstance(fact, Mapping)]
        listed = [
            name
            for name in names
            if any(name in fact for fact in by_column) or _has_keys(name, domain)
        ]
        known: dict[str, Coding] = {}
        if given or listed:  # a list for one column, or of tuples, is for all of them
            part = listed if len(by_column) == len(given) and listed else names
            resolved = Keys.resolve(part, domain=domain, keys=keys, bins=bins)
            known = dict(zip(resolved.columns, resolved.codings, strict=True))
        if len(known) == len(names):
            raise _nothing_open(names, list(given))
        return cls(names, tuple(map(known.get, names)))

    @property
    def as_listed(self) -> Keys:
        """The columns with empty lists where keys are found, to read values by."""
        return Keys(self.columns, tuple(c or Lookup(()) for c in self.codings))

    def chosen(self, keys: Sequence[Iterable[Any]]) -> Keys:
        """Return the public cells of keys that may be shown, in their order.

        Parameters
        ----------
        keys : sequence of iterable
            For each column its values, one for each key; codes of a coded column.
        """
        codings: list[Coding] = []
        codes = []
        for coding, values in zip(self.codings, map(list, keys), strict=True):
            if coding is None:
                code_of = {value: i for i, value in enumerate(dict.fromkeys(values))}
                codings.append(Lookup(tuple(code_of)))
                codes.append([code_of[value] for value in values])
            else:
                codings.append(coding)
                codes.append(values)
        if len(self.columns) == 1:
            return Keys(self.columns, tuple(codings))
        return Keys(self.columns, tuple(codings), tuple(zip(*codes, strict=True)))

    def describe(self) -> dict[str, Any]:
        """Return the public facts as a canonical, JSON-able dictionary."""
        return {
            "columns": list(self.columns),
            "codings": [None if c is None else dump_record(c) for c in self.codings],
        }


def _says_something(fact: object) -> bool:
    return bool(fact) if isinstance(fact, Mapping) else fact is not None


def _has_keys(column: str, domain: Domain | None) -> bool:
    if domain is None or column not in domain:
        return False
    return not isinstance(domain.kind(column), Bounds)


def _nothing_open(names: tuple[str, ...], given: list[str]) -> ParameterError:
    """Say what to drop: the delta, or what makes the keys public."""
    columns = ", ".join(map(repr, names))
    who = " and ".join(given) if given else "the session's domain"
    instead = f"drop {who}" if given else "open a session without them in its domain"
    return ParameterError(
        f"delta= pays for keys that are found in the data, and those of {columns} are "
        f"public: they come from {who}. Drop delta= (public keys cost none, and all of "
        f"them are shown), or {instead}."
    )
