"""The session: a budget, the ledger of what it bought, and the one door out.

Every private number leaves through `Session.release`: the request was validated when
it was made; its cost is charged before a row is read; the engine reduces; the
mechanism adds noise; the release is stored beside its charge and handed over.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Mapping
from contextlib import nullcontext
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from typing import Any, TypeVar, final

from dpframe.display.report import Report
from dpframe.domain.domain import Domain
from dpframe.domain.schema import Library
from dpframe.engines.attempt import attempt
from dpframe.engines.protocol import Source
from dpframe.errors import (
    EngineError,
    LabelConflictError,
    ParameterError,
    shown,
)
from dpframe.mechanisms.noising import watched
from dpframe.mechanisms.request import Answered, Request, Setting
from dpframe.noise.bits import is_private
from dpframe.privacy.accountant import Accountant
from dpframe.privacy.accountants import open_accountant
from dpframe.privacy.amounts import Amount, as_amount
from dpframe.privacy.ledger import Charge, Ledger, MemoryLedger
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.unit import Neighboring, Unit, as_neighboring, as_unit
from dpframe.releases.receipt import Receipt
from dpframe.session import active, view

__all__ = ["Session"]

R = TypeVar("R", bound=Answered)


@final
class Session:
    """A privacy budget for one protected source, and the ledger of its charges.

    A session is a filter: everything released in it, however the requests were
    chosen, is within its total for the stated unit and neighboring relation. A request
    that would pass the total raises `BudgetExceededError` and costs nothing.

    Parameters
    ----------
    epsilon : number, optional
        The total. An int, float (its shortest decimal), text such as "1/3", Decimal or
        Fraction; exact inside.
    unit : "row" or Unit
        Whom the promise protects.
    delta : number
        The total delta; makes the accountant "approx".
    rho : number, optional
        The total in zero-concentrated DP; makes the accountant "zcdp". `delta` is then
        for mechanisms that need one.
    accountant : {"pure", "approx", "zcdp"}, optional
        How charges add up. ``accountant="zcdp"`` with epsilon and delta turns the pair
        into the largest rho that keeps it.
    neighboring : {"add_remove", "replace"}
        Frames that differ by one unit's rows being there or not, or by their exchange
        for any other rows.
    domain : Domain or dict, optional
        Public facts about columns: keys, bounds, bins.
    default_epsilon : number, optional
        For verbs called without epsilon.
    account : str, optional
        The name of the protected source, shown in the ledger.

    Raises
    ------
    ParameterError
        If the amounts are missing, contradict each other, or are invalid.

    Notes
    -----
    .. admonition:: Privacy

       The ledger is in memory: it ends with the process, and two sessions on one data
       set add up. After the charge nothing is refunded, whatever fails.

    References
    ----------
    .. [1] Rogers, Roth, Ullman and Vadhan (2016), Privacy odometers and filters,
       Theorem 4.3 (pure and approximate sums).
    .. [2] Feldman and Zrnic (2021), Individual privacy accounting via a Rényi filter,
       Theorem 3.1 (zCDP).
    .. [3] Haney et al. (2023), Concurrent composition for interactive differential
       privacy with adaptive privacy-loss parameters.

    Examples
    --------
    >>> import dpframe as dpf
    >>> session = dpf.Session(epsilon=1, unit="row")
    >>> session.remaining
    PrivacyLoss(epsilon=1)
    """

    __slots__ = (
        "__weakref__",
        "_id",
        "_labels",
        "_ledger",
        "_name",
        "_node",
        "_parent",
        "_private",
        "_setting",
    )

    def __init__(
        self,
        epsilon: Amount | None = None,
        *,
        unit: str | Unit,
        delta: Amount = 0,
        rho: Amount | None = None,
        accountant: str | None = None,
        neighboring: Neighboring = "add_remove",
        domain: Domain | Mapping[str, object] | None = None,
        default_epsilon: Amount | None = None,
        account: str | None = None,
    ) -> None:
        if default_epsilon is not None:
            as_amount(default_epsilon, "default_epsilon")
        if account is not None and not isinstance(account, str):
            msg = f"account must be a name; got {shown(account)}."
            raise ParameterError(msg)
        self._setting = Setting(
            unit=as_unit(unit),
            neighboring=as_neighboring(neighboring),
            accountant=open_accountant(epsilon, delta, rho, accountant),
            domain=_as_domain(domain),
            default_epsilon=default_epsilon,
        )
        self._parent: Session | None = None
        self._ledger: Ledger = MemoryLedger()
        self._node = self._ledger.open(None, self._setting.accountant, account or "")
        self._name = account
        self._id = uuid.uuid4().hex
        self._labels = threading.RLock()
        self._private = is_private() and not watched()

    # -- the door --------------------------------------------------------------

    def release(
        self, request: Request[R], source: Source, *, label: str | None = None
    ) -> R:
        """Charge a request, then let the engine reduce and the mechanism answer.

        Parameters
        ----------
        request : Request
            Validated from arguments and schema when it was made.
        source : Source
            The private frame behind its engine.
        label : str, optional
            Stores the release; the same label and request return it again, free.

        Raises
        ------
        BudgetExceededError
            If the charge does not fit; nothing was read, nothing is spent.
        LabelConflictError
            If the label belongs to another request.
        """
        self._mark()
        _check_label(label)
        self._ledger.spent(self._node)  # refuses a forked child before any lock
        if request.loss is None:  # a public constant: no data, no charge
            return request.answer(None, self._receipt(request, None, label))
        parameters = json.dumps(request.describe(), sort_keys=True)
        digest = sha256(parameters.encode()).hexdigest()
        with self._labels if label is not None else nullcontext():
            stored = self._stored(request, label, digest)
            if stored is not None:
                return stored
            charge = self._ledger.charge(
                self._node,
                verb=request.verb,
                mechanism=request.mechanism,
                parameters=parameters,
                loss=request.loss,
                label=label,
                digest=digest,
                private=self._private,
            )
            secret = request.reduce(source)
            receipt = self._receipt(request, charge, label)
            outcome = attempt(request.answer, secret, receipt)
            if outcome.interrupt is not None:
                raise outcome.interrupt
            if outcome.failed:
                msg = (
                    "the mechanism failed; its charge stands, and nothing was released."
                )
                raise EngineError(msg)
            self._ledger.mark_released(charge.id, outcome.value)
        return outcome.value

    def _stored(self, request: Request[R], label: str | None, digest: str) -> R | None:
        """Return the release that the label already has, marked as a replay."""
        if label is None:
            return None
        stored = self._ledger.find(label)
        if stored is None or stored.charge.state == "charged":
            return None  # unknown, or its first try failed: a new charge
        if stored.digest != digest:
            msg = (
                f"label {label!r} already belongs to another request (verb, arguments "
                "or domain differ). Choose a new label, for example with the period "
                "in it."
            )
            raise LabelConflictError(msg)
        release: R = stored.release
        return release.replay()

    def _mark(self) -> None:
        """Once used under a test's hooks, a session is not private again."""
        if not is_private() or watched():
            node: Session | None = self
            while node is not None:
                node._private = False
                node = node._parent

    def _receipt(
        self, request: Request[Any], charge: Charge | None, label: str | None
    ) -> Receipt:
        return Receipt(
            verb=request.verb,
            loss=request.loss or PrivacyLoss(Fraction(0)),
            unit="row" if self._setting.unit.is_row else repr(self._setting.unit),
            neighboring=self._setting.neighboring,
            release_id=f"{self._id}-{'free' if charge is None else charge.id}",
            time=datetime.now(UTC) if charge is None else charge.at,
            label=label,
            private=self._private,
        )

    # -- the budget ------------------------------------------------------------

    @property
    def setting(self) -> Setting:
        """What every request of this session shares."""
        return self._setting

    @property
    def private(self) -> bool:
        """False for ever once opened or used under `dpframe.testing`."""
        return self._private

    @property
    def budget(self) -> PrivacyLoss:
        """The total that the session promises to keep."""
        return self._accountant.budget

    @property
    def spent(self) -> PrivacyLoss:
        """The charges so far; under "zcdp" a running rho, which has no epsilon."""
        return self._accountant.spent_loss(self._ledger.spent(self._node))

    @property
    def remaining(self) -> PrivacyLoss:
        """What may still be spent: the least that it and its parents have left."""
        return self._accountant.spent_loss(self._ledger.remaining(self._node))

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Public records of what was charged, oldest first."""
        return self._ledger.charges(self._node)

    @property
    def _accountant(self) -> Accountant:
        return self._setting.accountant

    def child(
        self,
        epsilon: Amount | None = None,
        *,
        delta: Amount = 0,
        rho: Amount | None = None,
        name: str | None = None,
    ) -> Session:
        """Open a session with a cap of its own inside this one.

        Each of its charges is written for every ancestor too, all or none; allowance
        that it leaves was never taken. Children are not disjoint: they add up.

        Parameters
        ----------
        epsilon, delta, rho : number, optional
            The cap, in this session's currency and accountant.
        name : str, optional
            Shown in the ledger.

        Examples
        --------
        >>> import dpframe as dpf
        >>> team = dpf.Session(epsilon=2, unit="row")
        >>> team.child(epsilon=0.5, name="weekly report").budget
        PrivacyLoss(epsilon=0.5)
        """
        accountant = self._accountant.child(epsilon, delta, rho)
        child = object.__new__(Session)
        child._setting = Setting(
            unit=self._setting.unit,
            neighboring=self._setting.neighboring,
            accountant=accountant,
            domain=self._setting.domain,
            default_epsilon=self._setting.default_epsilon,
        )
        child._parent = self
        child._ledger = self._ledger
        child._node = self._ledger.open(self._node, accountant, name or "")
        child._name = name
        child._id = self._id
        child._labels = self._labels
        child._private = self._private
        return child

    # -- which session is active -----------------------------------------------

    def __enter__(self) -> Session:
        active.enter(self)
        return self

    def __exit__(self, *exc: object) -> None:
        active.leave(self)

    def activate(self) -> Session:
        """Make this the session of the whole process, until `deactivate`.

        For notebooks; a ``with`` block goes before it.
        """
        active.activate(self)
        return self

    def deactivate(self) -> None:
        """Undo `activate`."""
        active.deactivate(self)

    # -- for people ------------------------------------------------------------

    @property
    def brief(self) -> str:
        """One line: unit, relation, total and what is left."""
        mark = "" if self._private else "NOT PRIVATE, "
        return (
            f"{mark}unit={self._setting.unit!r}, {self._setting.neighboring}, "
            f"budget {self.budget.show()}, left {self.remaining.show()}"
        )

    def to_frame(self, library: Library = "polars") -> Any:
        """Return the ledger as a frame: one row for each charge.

        Parameters
        ----------
        library : {"polars", "pandas", "pyarrow"}
            Whose frame to build; amounts are floats, exact in `charges`.
        """
        return view.ledger_frame(self.charges, self._accountant, library)

    def _report(self) -> Report:
        name = f" {self._name!r}" if self._name else ""
        unit = self._setting.unit
        return view.report(
            title=f"Session{name}: unit {unit!r}, {self._setting.neighboring}",
            accountant=self._accountant,
            spent=self._ledger.spent(self._node),
            left=self._ledger.remaining(self._node),
            charges=self.charges,
            private=self._private,
        )

    def __repr__(self) -> str:
        return self._report().text()

    def _repr_html_(self) -> str:
        return self._report().html()

    def __reduce__(self) -> Any:
        msg = (
            "an in-memory session cannot be copied or pickled: a copy would double "
            "the budget. Open the session where it is used."
        )
        raise TypeError(msg)


def _check_label(label: object) -> None:
    if label is not None and (not isinstance(label, str) or not label):
        msg = f"label must be a name such as 'daily-2026-01-31'; got {shown(label)}."
        raise ParameterError(msg)


def _as_domain(domain: object) -> Domain | None:
    if domain is None or isinstance(domain, Domain):
        return domain
    if isinstance(domain, Mapping):
        return Domain(domain)
    msg = (
        f"domain must be a dpf.Domain or a dictionary of facts; got {shown(domain)}. "
        "For a file type dpf.Domain.from_json(pathlib.Path(...))."
    )
    raise ParameterError(msg)
