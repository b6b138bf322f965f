"""Tools to test private code: fixed randomness, replay, audits. Never private."""

from dpframe.testing import broken
from dpframe.testing.auditor import Audit, audit
from dpframe.testing.deterministic import unsafe_deterministic
from dpframe.testing.neighbours import Pair, neighbours
from dpframe.testing.replay import Replay, replay

__all__ = [
    "Audit",
    "Pair",
    "Replay",
    "audit",
    "broken",
    "neighbours",
    "replay",
    "unsafe_deterministic",
]
