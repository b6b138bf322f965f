"""The ledger: every charge, before its release; balances that no two calls can share.

`Ledger` is what a session needs from a store, and all that it knows of one. A store
keeps rows and draws every balance from them, so that one append is the whole commit:
an interrupt before it has charged nothing, one after it everything. `MemoryLedger`
keeps its rows in this process, and its budget ends with it.

Nothing in a ledger depends on data, except what was released.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, NoReturn, Protocol, final

from dpframe.errors import (
    BudgetExceededError,
    LabelConflictError,
    LedgerError,
    ParameterError,
)
from dpframe.privacy.accountant import Accountant, Amounts
from dpframe.privacy.loss import PrivacyLoss

__all__ = ["Charge", "Ledger", "MemoryLedger", "Stored"]


@final
@dataclass(frozen=True, slots=True)
class Charge:
    """The public record of one charge.

    Attributes
    ----------
    id : int
        Sequence number in the ledger, from 1; it alone gives the order.
    at : datetime
        When it was charged, in UTC; for people.
    node : int
        The session that was asked, as `Ledger.open` named it.
    session : str
        Its names from the root on, joined by "/".
    verb, mechanism, parameters : str
        What was asked, in words and as canonical JSON text.
    loss : PrivacyLoss
        What the mechanism guarantees.
    amounts : Amounts
        What it cost, in the session's currency.
    label : str or None
        The name under which the release is stored.
    state : {"charged", "released"}
        "charged" until the release was handed over; for ever, if that failed.
    private : bool
        False if the noise was switched off or seeded by a test.
    """

    id: int
    at: datetime
    node: int
    session: str
    verb: str
    mechanism: str
    parameters: str
    loss: PrivacyLoss
    amounts: Amounts
    label: str | None = None
    state: Literal["charged", "released"] = "charged"
    private: bool = True


@final
@dataclass(frozen=True, slots=True)
class Stored:
    """A charge with the digest of its request and, if one was kept, its release."""

    charge: Charge
    digest: str | None = None
    release: Any = None


class Ledger(Protocol):
    """What a session needs from a store of charges.

    One ledger holds one account: a tree of nodes, a root session and the children
    inside it. A charge belongs to a node and counts for all its ancestors. Each
    method is atomic, between threads and between all who share the store.
    """

    def open(self, parent: int | None, accountant: Accountant, name: str) -> int:
        """Add a session, under ``parent`` or as the root, and return its node."""

    def charge(
        self,
        node: int,
        *,
        verb: str,
        parameters: str,
        loss: PrivacyLoss,
        mechanism: str = "",
        label: str | None = None,
        digest: str | None = None,
        private: bool = True,
    ) -> Charge:
        """Charge a node and its ancestors, all or none, durably; then return.

        Raises
        ------
        AccountantError, ParameterError
            From `Accountant.cost`.
        LabelConflictError
            If the label belongs to another request, or to a finished one.
        BudgetExceededError
            If a total would be passed; no balance has changed.
        """

    def mark_released(self, charge_id: int, release: Any = None) -> None:
        """Note that the answer was handed over, and keep it under its label."""

    def find(self, label: str) -> Stored | None:
        """Return what the account has under a label: released if possible.

        A `Stored` whose charge is still "charged" failed or is not finished: the
        same request may be charged again under the label.
        """

    def charges(self, node: int) -> tuple[Charge, ...]:
        """Return the charges of a node and of all below it, oldest first."""

    def spent(self, node: int) -> Amounts:
        """Return the exact sum of `charges`."""

    def remaining(self, node: int) -> Amounts:
        """Return what the node may still spend: the least over its ancestors."""


@final
@dataclass(frozen=True, slots=True)
class _Node:
    parent: int | None
    accountant: Accountant
    path: str


@final
class MemoryLedger:
    """A `Ledger` in the memory of one process, safe for its threads.

    It refuses to be copied, pickled, or used after a fork: a copy would double the
    budget.
    """

    __slots__ = ("_lock", "_nodes", "_process", "_rows", "_sums")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._nodes: list[_Node] = []
        self._rows: list[Stored] = []
        # How many rows are added up, and the sums: replaced together, never changed.
        self._sums: tuple[int, Mapping[int, Amounts]] = (0, {})

    def open(self, parent: int | None, accountant: Accountant, name: str) -> int:
        """Add a session, under ``parent`` or as the root, and return its node."""
        with self._owned:
            path = name
            if parent is not None:
                above = self._node(parent)
                if above.accountant.name != accountant.name:
                    msg = (
                        f"a child of a {above.accountant.name!r} session is "
                        f"{above.accountant.name!r} too, not {accountant.name!r}."
                    )
                    raise ParameterError(msg)
                path = "/".join(filter(None, (above.path, name)))
            elif self._nodes:
                msg = "a ledger in memory holds one session and its children."
                raise LedgerError(msg)
            self._nodes.append(_Node(parent, accountant, path))
            return len(self._nodes) - 1

    def charge(
        self,
        node: int,
        *,
        verb: str,
        parameters: str,
        loss: PrivacyLoss,
        mechanism: str = "",
        label: str | None = None,
        digest: str | None = None,
        private: bool = True,
    ) -> Charge:
        """Charge a node and its ancestors, all or none."""
        with self._owned:
            asked = self._node(node)
            cost = asked.accountant.cost(loss)
            self._check_label(label, digest)
            for ancestor in self._chain(node):
                self._check_balance(verb, ancestor, cost)
            charge = Charge(
                id=len(self._rows) + 1,
                at=datetime.now(UTC),
                node=node,
                session=asked.path,
                verb=verb,
                mechanism=mechanism,
                parameters=parameters,
                loss=loss,
                amounts=cost,
                label=label,
                private=private,
            )
            self._rows.append(Stored(charge, digest))
        return charge

    def mark_released(self, charge_id: int, release: Any = None) -> None:
        """Note that the answer was handed over, and keep it under its label."""
        with self._owned:
            if not 0 < charge_id <= len(self._rows):
                msg = f"the ledger has no charge {charge_id}."
                raise LedgerError(msg)
            row = self._rows[charge_id - 1]
            if row.charge.state == "released":
                msg = f"charge {charge_id} was released before."
                raise LedgerError(msg)
            released = replace(row.charge, state="released")
            kept = None if released.label is None else release
            self._rows[charge_id - 1] = Stored(released, row.digest, kept)

    def find(self, label: str) -> Stored | None:
        """Return what the account has under a label: released if possible."""
        with self._owned:
            return self._find(label)

    def charges(self, node: int) -> tuple[Charge, ...]:
        """Return the charges of a node and of all below it, oldest first."""
        with self._owned:
            self._node(node)
            charges = (row.charge for row in self._rows)
            return tuple(c for c in charges if node in self._chain(c.node))

    def spent(self, node: int) -> Amounts:
        """Return the exact sum of `charges`."""
        with self._owned:
            self._node(node)
            return self._spent(node)

    def remaining(self, node: int) -> Amounts:
        """Return what the node may still spend: the least over its ancestors."""
        with self._owned:
            self._node(node)
            left = self._left(node)
            for ancestor in self._chain(node):
                left = left.least(self._left(ancestor))
            return left

    @property
    def _owned(self) -> threading.Lock:
        """The lock, in the process that opened the ledger.

        A forked process must not wait for it: nobody there would release it. It is
        entered bare, because Ctrl-C may strike in an ``__exit__`` written in Python.
        """
        if os.getpid() != self._process:
            msg = (
                "this session lives in the memory of the process that opened it; used "
                "here too, it would spend the same budget twice. Give this process a "
                "session of its own, with its share of the total: dpf.Session(...)."
            )
            raise LedgerError(msg)
        return self._lock

    def _node(self, node: int) -> _Node:
        if not 0 <= node < len(self._nodes):
            msg = f"the ledger has no session {node}."
            raise LedgerError(msg)
        return self._nodes[node]

    def _chain(self, node: int | None) -> Iterator[int]:
        """Yield a node and its ancestors, up to the root."""
        while node is not None:
            yield node
            node = self._nodes[node].parent

    def _spent(self, node: int) -> Amounts:
        """Return a node's sum; rows that came since the last time are added first."""
        count, sums = self._sums
        if count < len(self._rows):
            grown = dict(sums)
            for row in self._rows[count:]:
                for above in self._chain(row.charge.node):
                    grown[above] = grown.get(above, Amounts()) + row.charge.amounts
            self._sums = (len(self._rows), grown)
        return self._sums[1].get(node, Amounts())

    def _left(self, node: int) -> Amounts:
        return self._nodes[node].accountant.total - self._spent(node)

    def _check_balance(self, verb: str, node: int, cost: Amounts) -> None:
        left = self._left(node)
        if cost.within(left):
            return
        accountant, path = self._nodes[node].accountant, self._nodes[node].path
        who = f"session {path!r}" if path else "this session"
        lacking = cost - left.least(cost)
        msg = (
            f"{verb} asks for {accountant.show(cost)}, and {who} has "
            f"{accountant.show(left)} left of {accountant.show(accountant.total)}: "
            f"{accountant.show(lacking)} too much. Nothing was charged. Ask for no "
            "more than is left."
        )
        raise BudgetExceededError(msg)

    def _find(self, label: str) -> Stored | None:
        rows = [row for row in self._rows if row.charge.label == label]
        released = [row for row in rows if row.charge.state == "released"]
        return next(reversed(released or rows), None)

    def _check_label(self, label: str | None, digest: str | None) -> None:
        if label is None:
            return
        if digest is None:
            msg = "a label needs the digest of its request."
            raise ParameterError(msg)
        known = self._find(label)
        if known is None:
            return
        if known.digest != digest:
            msg = (
                f"label {label!r} already belongs to another request. Choose a new "
                "one, for example with the period in it."
            )
            raise LabelConflictError(msg)
        if known.charge.state == "released":
            msg = (
                f"label {label!r} has been released already; nothing was charged. Ask "
                "again to get the stored release, or choose a new label."
            )
            raise LabelConflictError(msg)

    def __repr__(self) -> str:
        return f"MemoryLedger({len(self._rows)} charges, in memory only)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        msg = (
            "a ledger in memory cannot be copied or pickled: a copy would double the "
            "budget. Open the session where it is used."
        )
        raise LedgerError(msg)
