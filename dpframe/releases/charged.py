"""What the representation of every release says of its receipt."""

from __future__ import annotations

from dpframe.display.text import printable, show_moment
from dpframe.releases.receipt import Receipt

__all__ = ["alert", "charge_note", "stored_notes"]


def charge_note(receipt: Receipt) -> str:
    """Return what it cost, for whom, and under which label."""
    free = not receipt.loss.epsilon and not receipt.loss.rho
    facts = [
        "free" if free else receipt.loss.show(),
        f"unit {receipt.unit}",
        receipt.neighboring,
    ]
    if receipt.label is not None:
        facts.append(f"label {printable(receipt.label)}")
    return "; ".join(facts)


def stored_notes(receipt: Receipt) -> tuple[str, ...]:
    """Say so if the release was not made by this call."""
    if not receipt.replayed:
        return ()
    return (f"stored release of {show_moment(receipt.time)}; the frame was not read",)


def alert(receipt: Receipt) -> str:
    """Return the line above everything where nothing is protected."""
    return "" if receipt.private else "NOT PRIVATE: a test fixed the randomness"
