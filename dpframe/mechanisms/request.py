"""A verb is a Request: a frozen, data-free value that the door can act on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar, final

from dpframe.domain.domain import Domain
from dpframe.domain.schema import Schema
from dpframe.engines.protocol import Source
from dpframe.errors import ColumnNotFoundError, ParameterError
from dpframe.privacy.accountant import Accountant
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.unit import Neighboring, Unit
from dpframe.releases.receipt import Receipt
from dpframe.secret import Secret

__all__ = ["Answered", "Request", "Setting"]

R_co = TypeVar("R_co", covariant=True)


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """What a session fixes for every request made under it."""

    unit: Unit
    neighboring: Neighboring
    accountant: Accountant
    domain: Domain | None = None
    default_epsilon: object = None

    def check(self, schema: Schema) -> None:
        """Refuse a frame without the unit's column: its rows have no owner.

        Raises
        ------
        ColumnNotFoundError, ParameterError
            From the schema alone.
        """
        unit = self.unit
        if unit.is_row:
            return
        if unit.column not in schema.columns:
            known = ColumnNotFoundError.named(unit.column, schema.columns)
            msg = (
                f"the session protects units of column {unit.column!r}, and the frame "
                f"lacks it: {known} Keep the column in the frame, or open a session "
                'with unit="row" if a row is what you protect.'
            )
            raise ColumnNotFoundError(msg)
        if schema[unit.column].kind == "other":
            msg = f"unit column {unit.column!r} has a nested or untyped column type."
            raise ParameterError(msg)


class Answered(Protocol):
    """What a request hands back: a release, or an open object that answers more."""

    def replay(self) -> Self:
        """Return what was stored under a label, as handed out again."""
        ...


class Request(ABC, Generic[R_co]):
    """What is asked, of whom, by which mechanism, at what cost.

    A Request is made from arguments, a setting and a schema, and raises there when
    they do not fit: by the time one exists it is valid, and it has seen no data. The
    door (`dpframe.session.Session.release`) then charges ``loss``, lets the engine
    ``reduce`` and the mechanism ``answer``.
    """

    __slots__ = ()

    verb: str
    #: The cost; None for a public constant, which is free and leaves no charge.
    loss: PrivacyLoss | None

    @property
    @abstractmethod
    def mechanism(self) -> str:
        """The mechanism in words, for the ledger."""

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return the arguments, with defaults filled in, as plain JSON values."""

    @abstractmethod
    def reduce(self, source: Source) -> Secret[Any]:
        """Let the engine compute the true aggregates; they come back closed."""

    @abstractmethod
    def answer(self, secret: Secret[Any] | None, receipt: Receipt) -> R_co:
        """Open the secret, add the noise, return the release.

        ``secret`` is None for a free answer, which needs no data.
        """
