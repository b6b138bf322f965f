"""The one function through which every additive draw goes.

It adds exact integer noise to exact integers. A test may watch it, and hand back
recorded outputs (`dpframe.testing.replay`), through a context variable that only
`dpframe.testing` sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, final

from numpy.typing import NDArray

from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.privacy.sensitivity import Sensitivity

__all__ = ["Draw", "add_noise", "watch_draws", "watched"]

Vectors = tuple[NDArray[Any], ...]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """One draw as a test sees it: the exact input and what protects it."""

    exact: Vectors
    law: DiscreteLaplace | DiscreteGaussian
    sensitivity: Sensitivity


Watcher = Callable[[Draw], Vectors]

_WATCHER: ContextVar[Watcher | None] = ContextVar("dpframe_draws", default=None)


def add_noise(
    exact: Vectors,
    law: DiscreteLaplace | DiscreteGaussian,
    sensitivity: Sensitivity,
) -> Vectors:
    """Return ``exact`` plus independent noise of ``law`` in every entry."""
    watcher = _WATCHER.get()
    if watcher is not None:
        return watcher(Draw(exact, law, sensitivity))
    drawn = noisy(exact, law)
    for part in drawn:
        part.setflags(write=False)  # a stored release is handed out again
    return drawn


def noisy(exact: Vectors, law: DiscreteLaplace | DiscreteGaussian) -> Vectors:
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
