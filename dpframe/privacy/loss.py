"""`PrivacyLoss`: what a release costs, what a session may spend."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from dpframe.privacy.amounts import show_amount, text

__all__ = ["PrivacyLoss"]


@final
@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """A privacy loss in stated measures; exact rationals.

    Parameters
    ----------
    epsilon : Fraction or None
        Pure or approximate differential privacy; None where no epsilon is valid
        (a running zCDP total has none).
    delta : Fraction
        The chance with which the epsilon may fail.
    rho : Fraction or None
        Zero-concentrated differential privacy (Bun and Steinke 2016, Definition 1.1).

    Examples
    --------
    >>> from fractions import Fraction
    >>> import dpframe as dpf
    >>> dpf.PrivacyLoss(Fraction(1, 2))
    PrivacyLoss(epsilon=0.5)
    """

    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None

    def __repr__(self) -> str:
        return f"PrivacyLoss({self.show()})"

    def show(self) -> str:
        """Return the amounts as short decimals, for people."""
        amounts = {
            "epsilon": self.epsilon,
            "delta": self.delta or None,
            "rho": self.rho,
        }
        return ", ".join(
            f"{name}={show_amount(amount)}"
            for name, amount in amounts.items()
            if amount is not None
        )

    def describe(self) -> dict[str, str]:
        """Return the exact amounts as text "a/b", for ledgers and metadata."""
        amounts = {
            "epsilon": self.epsilon,
            "delta": self.delta or None,
            "rho": self.rho,
        }
        return {name: text(a) for name, a in amounts.items() if a is not None}

    def scaled(self, share: Fraction) -> PrivacyLoss:
        """Return ``share`` of each amount (basic composition, in every measure)."""
        return PrivacyLoss(
            None if self.epsilon is None else self.epsilon * share,
            self.delta * share,
            None if self.rho is None else self.rho * share,
        )
