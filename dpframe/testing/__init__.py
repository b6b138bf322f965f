"""Tools to test private code: fixed randomness, replay, audits. Never private."""

from dpframe.testing import broken, broken_sensitivity
from dpframe.testing.auditor import Audit, audit
from dpframe.testing.deterministic import unsafe_deterministic
from dpframe.testing.distances import check_distance
from dpframe.testing.neighbours import Pair, neighbours
from dpframe.testing.replay import Replay, replay

__all__ = [
    "Audit",
    "Pair",
    "Replay",
    "audit",
    "broken",
    "broken_sensitivity",
    "check_distance",
    "neighbours",
    "replay",
    "unsafe_deterministic",
]
