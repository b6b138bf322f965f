"""What an accountant is: one currency, a total in it, and what a loss costs.

The three kinds are in `dpframe.privacy.accountants`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, final

from dpframe.errors import ParameterError, shown
from dpframe.privacy.amounts import Amount, as_amount, as_delta, show_amount
from dpframe.privacy.loss import PrivacyLoss

__all__ = ["Accountant", "Amounts", "Currency"]

Currency = Literal["epsilon", "rho"]


@final
@dataclass(frozen=True, slots=True)
class Amounts:
    """Exact amounts in an accountant's currency: epsilon or rho, and delta."""

    primary: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(self.primary + other.primary, self.delta + other.delta)

    def __sub__(self, other: Amounts) -> Amounts:
        return Amounts(self.primary - other.primary, self.delta - other.delta)

    def within(self, total: Amounts) -> bool:
        """Whether neither amount passes that of ``total``; exact, no tolerance."""
        return self.primary <= total.primary and self.delta <= total.delta

    def least(self, other: Amounts) -> Amounts:
        """Return the smaller of the two in each amount."""
        return Amounts(min(self.primary, other.primary), min(self.delta, other.delta))


class Accountant(ABC):
    """Translates losses into one currency and knows how much of it there is."""

    __slots__ = ()

    name: ClassVar[str]
    currency: ClassVar[Currency]

    @property
    @abstractmethod
    def total(self) -> Amounts:
        """The ceiling, in the accountant's currency."""

    @property
    @abstractmethod
    def budget(self) -> PrivacyLoss:
        """What the session promises."""

    @abstractmethod
    def spent_loss(self, amounts: Amounts) -> PrivacyLoss:
        """Return amounts of the currency as a loss."""

    @abstractmethod
    def _translate(self, loss: PrivacyLoss) -> Amounts:
        """Return the amounts that a valid loss costs, or raise AccountantError."""

    @abstractmethod
    def _capped(self, total: Amounts) -> Accountant:
        """Return an accountant of this kind over another total."""

    def cost(self, loss: PrivacyLoss) -> Amounts:
        """Return what a mechanism's loss costs in this currency; exact.

        Raises
        ------
        AccountantError
            If a session of this kind cannot hold the guarantee; the message names
            the session that can.
        ParameterError
            If an amount is negative or all are zero: there is no such charge.
        """
        amounts = [a for a in (loss.epsilon, loss.delta, loss.rho) if a is not None]
        if min(amounts) < 0 or max(amounts) == 0:
            msg = f"a charge must be positive; got {shown(loss)}."
            raise ParameterError(msg)
        return self._translate(loss)

    def remaining_loss(self, spent: Amounts) -> PrivacyLoss:
        """Return what is left of the total after ``spent``, as a loss."""
        return self.spent_loss(self.total - spent)

    def child(
        self,
        epsilon: Amount | None = None,
        delta: Amount = 0,
        rho: Amount | None = None,
    ) -> Accountant:
        """Return a cap inside this total: same kind, same currency, own delta.

        Raises
        ------
        ParameterError
            If the amount is missing, in another currency, or above the parent's total.
        """
        in_rho = self.currency == "rho"
        cap, other = (rho, epsilon) if in_rho else (epsilon, rho)
        line = f"session.child({self.currency}={show_amount(self.total.primary / 4)})"
        if cap is None or other is not None:
            msg = (
                f"a child of a {self.name!r} session is capped in {self.currency}, "
                f"the currency of its parent. Type {line}."
            )
            raise ParameterError(msg)
        total = Amounts(as_amount(cap, self.currency), as_delta(delta))
        if not total.within(self.total):
            msg = (
                f"a child with {self.show(total)} cannot be larger than its parent, "
                f"whose total is {self.show(self.total)}. Type for example {line}."
            )
            raise ParameterError(msg)
        return self._capped(total)

    def show(self, amounts: Amounts) -> str:
        """Return amounts as short decimals, for people."""
        shown = f"{self.currency}={show_amount(amounts.primary)}"
        if self.total.delta or amounts.delta:
            shown += f", delta={show_amount(amounts.delta)}"
        return shown
