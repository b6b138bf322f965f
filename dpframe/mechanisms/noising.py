"""The one function through which every draw goes.

A mechanism says what it protects, by which law, and how to draw it. A test may watch,
and hand back recorded outputs in place of new ones (`dpframe.testing.replay`), through
a context variable that only `dpframe.testing` sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, final

from numpy.typing import NDArray

from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.noise.key_threshold import KeyThreshold
from dpframe.noise.ordered_choice import OrderedChoice
from dpframe.noise.selection import PermuteAndFlip
from dpframe.noise.smooth import SmoothNoise
from dpframe.noise.spread import SpreadNoise
from dpframe.noise.threshold import ThresholdNoise
from dpframe.privacy.sensitivity import Sensitivity

__all__ = [
    "Draw",
    "Law",
    "Perform",
    "Vectors",
    "add_noise",
    "draw",
    "watch_draws",
    "watched",
]

Vectors = tuple[NDArray[Any], ...]

Additive = DiscreteLaplace | DiscreteGaussian

#: What protects a draw; `dpframe.testing.payment` knows the cost of each.
Law = (
    Additive
    | ThresholdNoise
    | PermuteAndFlip
    | OrderedChoice
    | SmoothNoise
    | SpreadNoise
    | KeyThreshold
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """One draw as a test sees it: the exact input and what protects it.

    Parameters
    ----------
    exact : tuple of ndarray
        True integers. Of SmoothNoise the value and its smooth sensitivity, of
        SpreadNoise that alone; of KeyThreshold the units, then the columns of the keys.
    law : Law
        Public. An additive law is added to every entry; outputs of ThresholdNoise,
        PermuteAndFlip, OrderedChoice and KeyThreshold have other shapes.
    sensitivity : Sensitivity
        How far ``exact`` may move between neighbors.
    """

    exact: Vectors
    law: Law
    sensitivity: Sensitivity


Perform = Callable[[], Vectors]
Watcher = Callable[[Draw, Perform], Vectors]

_WATCHER: ContextVar[Watcher | None] = ContextVar("dpframe_draws", default=None)


def draw(what: Draw, perform: Perform) -> Vectors:
    """Return what ``perform`` draws, read-only: a stored release is handed out again.

    Parameters
    ----------
    what : Draw
        What ``perform`` does, for a test.
    perform : callable
        Draws the output from the law and the exact input. A watcher may leave it
        uncalled: nothing but the output may depend on it.
    """
    watcher = _WATCHER.get()
    drawn = perform() if watcher is None else watcher(what, perform)
    for part in drawn:
        part.setflags(write=False)
    return drawn


def add_noise(exact: Vectors, law: Additive, sensitivity: Sensitivity) -> Vectors:
    """Return ``exact`` plus independent noise of ``law`` in every entry."""
    return draw(Draw(exact, law, sensitivity), lambda: noisy(exact, law))


def noisy(exact: Vectors, law: Additive) -> Vectors:
    """Draw and add. Sums stay below 2**62 and noise below 2**61: no wrap."""
    return tuple(part + law.sample(part.size).astype(part.dtype) for part in exact)


@contextmanager
def watch_draws(watcher: Watcher) -> Iterator[None]:
    """Send every draw of this context through ``watcher`` (tests only)."""
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def watched() -> bool:
    """Whether a test watches: then nothing released is private."""
    return _WATCHER.get() is not None
