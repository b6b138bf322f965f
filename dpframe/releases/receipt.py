"""What a session says about a release that it let out of the door."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import final

from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.unit import Neighboring

__all__ = ["Receipt"]


@final
@dataclass(frozen=True, slots=True)
class Receipt:
    """The public facts of one charge; every release carries one.

    Parameters
    ----------
    verb : str
        The verb as typed, such as "count".
    loss : PrivacyLoss
        What the whole call cost; an epsilon of 0 for a public constant, which is free.
    unit : str
        The privacy unit in words: "row", or "Unit('person_id', max_rows=10)".
    neighboring : {"add_remove", "replace"}
        The relation that the loss is stated for.
    release_id : str
        The public name of the release in its ledger.
    time : datetime
        When it was charged.
    label : str or None
        The caller's name for the request.
    private : bool
        False where a test fixed the randomness: then nothing is protected.
    replayed : bool
        The stored release was returned again; the frame was not read.
    """

    verb: str
    loss: PrivacyLoss
    unit: str
    neighboring: Neighboring
    release_id: str
    time: datetime
    label: str | None = None
    private: bool = True
    replayed: bool = False

    def replay(self) -> Receipt:
        """Return the receipt of the same release, handed out again."""
        return replace(self, replayed=True)
