"""The rule by which a session adds charges up: "pure", "approx" or "zcdp".

An accountant translates each mechanism's loss into one currency (epsilon or rho, and
delta beside it) and says how much of it there is. A session is a filter: the total is
fixed at opening, and a request is granted while the sum stays within it, even if the
requests and their amounts are chosen after seeing earlier answers.

* "pure", "approx": epsilons and deltas add up (Rogers, Roth, Ullman and Vadhan 2016).
* "zcdp": rhos add up (Feldman and Zrnic 2021; Whitehouse et al. 2023); a pure epsilon
  counts ε²/2, an (ε, δ) mechanism ε²/2 and δ. The promise is made at the total only:
  a running rho, turned into an epsilon where the answers told to stop, is no valid
  claim, so what is spent or left has no epsilon.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from dpframe.errors import AccountantError, ParameterError, shown
from dpframe.privacy.accountant import Accountant, Amounts, Currency
from dpframe.privacy.amounts import Amount, as_amount, as_delta, show_amount
from dpframe.privacy.conversion import rho_for_epsilon
from dpframe.privacy.loss import PrivacyLoss

__all__ = [
    "Accountant",
    "Amounts",
    "ApproxAccountant",
    "PureAccountant",
    "ZCDPAccountant",
    "open_accountant",
]


@final
@dataclass(frozen=True, slots=True)
class PureAccountant(Accountant):
    """Epsilons add up; the session is epsilon-differentially private."""

    epsilon: Fraction

    name: ClassVar[str] = "pure"
    currency: ClassVar[Currency] = "epsilon"

    @property
    def total(self) -> Amounts:
        """Epsilon alone."""
        return Amounts(self.epsilon)

    @property
    def budget(self) -> PrivacyLoss:
        """The pure epsilon."""
        return PrivacyLoss(self.epsilon)

    def spent_loss(self, amounts: Amounts) -> PrivacyLoss:
        """Return a pure epsilon; a sound statement at any time."""
        return PrivacyLoss(amounts.primary)

    def _translate(self, loss: PrivacyLoss) -> Amounts:
        if loss.epsilon is None:
            raise _needs_rho(self, loss)
        if loss.delta:
            msg = (
                f"this release has a delta ({show_amount(loss.delta)}), and this "
                "session is 'pure': it promises an epsilon that never fails. Open one "
                "that holds a delta:\n    session = dpf.Session(epsilon="
                f"{show_amount(self.epsilon)}, delta={_enough(loss.delta)}, unit=...)"
            )
            raise AccountantError(msg)
        return Amounts(loss.epsilon)

    def _capped(self, total: Amounts) -> PureAccountant:
        return PureAccountant(total.primary)


@final
@dataclass(frozen=True, slots=True)
class ApproxAccountant(Accountant):
    """Epsilons and deltas add up; the session is (epsilon, delta)-private."""

    epsilon: Fraction
    delta: Fraction

    name: ClassVar[str] = "approx"
    currency: ClassVar[Currency] = "epsilon"

    @property
    def total(self) -> Amounts:
        """Epsilon and delta."""
        return Amounts(self.epsilon, self.delta)

    @property
    def budget(self) -> PrivacyLoss:
        """The pair that the session promises."""
        return PrivacyLoss(self.epsilon, self.delta)

    def spent_loss(self, amounts: Amounts) -> PrivacyLoss:
        """Return (epsilon, delta); a sound statement at any time."""
        return PrivacyLoss(amounts.primary, amounts.delta)

    def _translate(self, loss: PrivacyLoss) -> Amounts:
        if loss.epsilon is None:
            raise _needs_rho(self, loss)
        return Amounts(loss.epsilon, loss.delta)

    def _capped(self, total: Amounts) -> ApproxAccountant:
        return ApproxAccountant(total.primary, total.delta)


@final
@dataclass(frozen=True, slots=True)
class ZCDPAccountant(Accountant):
    """Rhos add up; ``delta`` is held for mechanisms that need one.

    ``promise`` is the (epsilon, delta) that the rho was made from, if it was: that
    delta is used up by the conversion, and none is held for mechanisms.
    """

    rho: Fraction
    delta: Fraction = Fraction(0)
    promise: PrivacyLoss | None = None

    name: ClassVar[str] = "zcdp"
    currency: ClassVar[Currency] = "rho"

    @property
    def total(self) -> Amounts:
        """Rho, and the delta that mechanisms may use."""
        return Amounts(self.rho, self.delta)

    @property
    def budget(self) -> PrivacyLoss:
        """(epsilon, delta) and its rho, or delta-approximate rho-zCDP."""
        if self.promise is None:
            return PrivacyLoss(None, self.delta, self.rho)
        return PrivacyLoss(self.promise.epsilon, self.promise.delta, self.rho)

    def spent_loss(self, amounts: Amounts) -> PrivacyLoss:
        """Return rho and delta without an epsilon: a running total has none."""
        return PrivacyLoss(None, amounts.delta, amounts.primary)

    def _translate(self, loss: PrivacyLoss) -> Amounts:
        if loss.delta and not self.delta:
            raise self._no_delta(loss)
        if loss.rho is not None:
            return Amounts(loss.rho, loss.delta)
        if loss.epsilon is None:
            msg = "a charge needs an epsilon or a rho; this one has only a delta."
            raise ParameterError(msg)
        return Amounts(loss.epsilon**2 / 2, loss.delta)

    def _no_delta(self, loss: PrivacyLoss) -> AccountantError:
        used = "" if self.promise is None else ": turning rho into epsilon uses it all"
        return AccountantError(
            f"this release has a delta ({show_amount(loss.delta)}), and this zCDP "
            f"session has none for mechanisms{used}. Open one that holds a delta:\n"
            f"    session = dpf.Session(rho={show_amount(self.rho)}, "
            f"delta={_enough(loss.delta)}, unit=...)"
        )

    def _capped(self, total: Amounts) -> ZCDPAccountant:
        return ZCDPAccountant(total.primary, total.delta)


def _needs_rho(accountant: Accountant, loss: PrivacyLoss) -> AccountantError:
    rho = "0.5" if loss.rho is None else show_amount(max(loss.rho, Fraction(1, 2)))
    return AccountantError(
        f"a loss in rho needs a zCDP session, and this one is {accountant.name!r}. "
        f"Ask with epsilon, or open\n    session = dpf.Session(rho={rho}, unit=...)"
    )


def _enough(delta: Fraction) -> str:
    """Suggest the delta of a session for a mechanism with this one."""
    return show_amount(max(delta, Fraction(1, 10**6)))


def open_accountant(
    epsilon: Amount | None = None,
    delta: Amount = 0,
    rho: Amount | None = None,
    accountant: str | None = None,
) -> Accountant:
    """Read a session's amounts and choose its accountant.

    "pure" is the default, "approx" with a delta, "zcdp" with a rho. With
    ``accountant="zcdp"``, epsilon and delta become the largest rho that keeps them.

    Raises
    ------
    ParameterError
        If amounts are missing, contradict each other, or the name is unknown; the
        message is the line to type.

    Examples
    --------
    >>> open_accountant(epsilon=1).budget
    PrivacyLoss(epsilon=1)
    >>> open_accountant(epsilon=1, delta=1e-6, accountant="zcdp").budget
    PrivacyLoss(epsilon=1, delta=1e-06, rho=0.024356)
    """
    share = as_delta(delta)
    default = "zcdp" if rho is not None else "approx" if share else "pure"
    name = default if accountant is None else accountant
    if not isinstance(name, str) or name not in _OPENERS:
        known = ", ".join(map(repr, _OPENERS))
        msg = f"accountant must be one of {known}; got {shown(accountant)}."
        raise ParameterError(msg)
    if epsilon is None and rho is None:
        msg = (
            "a session needs a total privacy loss; there is no default. Type\n"
            "    session = dpf.Session(epsilon=1.0, unit=...)"
        )
        raise ParameterError(msg)
    if epsilon is not None and rho is not None:
        msg = (
            "give epsilon or rho, not both: dpf.Session(epsilon=1.0, unit=...) or "
            "dpf.Session(rho=0.5, unit=...)."
        )
        raise ParameterError(msg)
    return _OPENERS[name](epsilon, share, rho)


def _open_pure(
    epsilon: Amount | None, delta: Fraction, rho: Amount | None
) -> PureAccountant:
    if epsilon is None or delta:
        msg = (
            "accountant='pure' promises an epsilon alone: leave rho and delta out, or "
            "leave accountant out."
        )
        raise ParameterError(msg)
    return PureAccountant(as_amount(epsilon, "epsilon"))


def _open_approx(
    epsilon: Amount | None, delta: Fraction, rho: Amount | None
) -> ApproxAccountant:
    if epsilon is None or not delta:
        msg = (
            "accountant='approx' promises an epsilon and a delta. Type\n    session = "
            "dpf.Session(epsilon=1.0, delta=1e-6, unit=...)"
        )
        raise ParameterError(msg)
    return ApproxAccountant(as_amount(epsilon, "epsilon"), delta)


def _open_zcdp(
    epsilon: Amount | None, delta: Fraction, rho: Amount | None
) -> ZCDPAccountant:
    if rho is not None:
        return ZCDPAccountant(as_amount(rho, "rho"), delta)
    if not delta:
        msg = (
            "accountant='zcdp' needs a rho, or an epsilon and the delta at which it "
            "holds. Type\n    session = dpf.Session(epsilon=1.0, delta=1e-6, "
            "accountant='zcdp', unit=...)"
        )
        raise ParameterError(msg)
    promise = PrivacyLoss(as_amount(epsilon, "epsilon"), delta)
    assert promise.epsilon is not None
    return ZCDPAccountant(rho_for_epsilon(promise.epsilon, delta), promise=promise)


_OPENERS: dict[str, Callable[[Amount | None, Fraction, Amount | None], Accountant]] = {
    "pure": _open_pure,
    "approx": _open_approx,
    "zcdp": _open_zcdp,
}
