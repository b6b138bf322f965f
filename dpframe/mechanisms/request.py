"""A verb is a Request: a frozen, data-free value that the door can act on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, final

from dpframe.domain.domain import Domain
from dpframe.engines.protocol import Source
from dpframe.privacy.accountant import Accountant
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.unit import Neighboring, Unit
from dpframe.releases.receipt import Receipt
from dpframe.secret import Secret

__all__ = ["Request", "Setting"]

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
