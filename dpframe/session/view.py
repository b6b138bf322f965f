"""The budget and the ledger, for people: a report and a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from dpframe.display.budget import ledger_table
from dpframe.display.report import Report
from dpframe.domain.schema import Library
from dpframe.privacy.accountant import Accountant, Amounts
from dpframe.privacy.ledger import Charge
from dpframe.releases.frames import to_library

__all__ = ["ledger_frame", "report"]

_COLUMNS = pa.schema(
    {
        "id": pa.int64(),
        "at": pa.timestamp("us", "UTC"),
        "session": pa.string(),
        "verb": pa.string(),
        "mechanism": pa.string(),
        "epsilon": pa.float64(),
        "delta": pa.float64(),
        "rho": pa.float64(),
        "label": pa.string(),
        "state": pa.string(),
    }
)


def report(
    *,
    title: str,
    accountant: Accountant,
    spent: Amounts,
    left: Amounts,
    charges: Sequence[Charge],
    private: bool,
) -> Report:
    """Lay out the budget, how much of it is spent, and the latest charges."""
    named = any(charge.session for charge in charges)
    in_rho = accountant.currency == "rho"
    rows = [
        {
            "id": charge.id,
            **({"session": charge.session} if named else {}),
            "verb": charge.verb,
            "mechanism": charge.mechanism,
            "loss": charge.loss.show(),
            **({"cost": accountant.show(charge.amounts)} if in_rho else {}),
            "label": charge.label,
            "state": charge.state,
        }
        for charge in charges
    ]
    return Report(
        title=title,
        columns=ledger_table(rows),
        notes=(
            f"budget {accountant.budget.show()} ({accountant.name}); "
            f"spent {accountant.show(spent)}; left {accountant.show(left)}",
            "The ledger is in memory: it ends with this process.",
        ),
        alert="" if private else "NOT PRIVATE: used under dpframe.testing",
        total=len(charges),
        noun="earlier charge",
        spent=float(spent.primary / accountant.total.primary),
    )


def ledger_frame(
    charges: Sequence[Charge], accountant: Accountant, library: Library
) -> Any:
    """Build a frame of charges; exact amounts become floats.

    In a zCDP session ``rho`` is what a charge cost, also where epsilon was asked.
    """
    in_rho = accountant.currency == "rho"
    rows = [
        {
            "id": charge.id,
            "at": charge.at,
            "session": charge.session,
            "verb": charge.verb,
            "mechanism": charge.mechanism,
            "epsilon": _number(charge.loss.epsilon),
            "delta": _number(charge.loss.delta),
            "rho": _number(charge.amounts.primary if in_rho else None),
            "label": charge.label,
            "state": charge.state,
        }
        for charge in charges
    ]
    return to_library(pa.Table.from_pylist(rows, _COLUMNS), library)


def _number(amount: Any) -> float | None:
    return None if amount is None else float(amount)
