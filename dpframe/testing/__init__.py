"""Tools to test private code: fixed randomness, replay on neighbors. Never private."""

from dpframe.testing.deterministic import unsafe_deterministic
from dpframe.testing.neighbours import Pair, neighbours
from dpframe.testing.replay import Replay, replay

__all__ = ["Pair", "Replay", "neighbours", "replay", "unsafe_deterministic"]
