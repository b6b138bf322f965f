"""The one source of randomness: the operating system, asked anew for every call.

Each vectorised call asks for exactly the bytes it needs and keeps none, so that a
fork, a thread, a pickle or a restored machine image cannot repeat any noise.
No other module of dpframe draws random numbers for a release.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ByteSource",
    "is_private",
    "random_bytes",
    "random_uint16",
    "random_uint32",
    "random_uint64",
    "use_source_for_tests",
]

ByteSource = Callable[[int], bytes]

_source: ContextVar[ByteSource | None] = ContextVar("dpframe_bytes", default=None)


def random_bytes(n: int) -> bytes:
    """Return ``n`` fresh random bytes."""
    source = _source.get()
    return os.urandom(n) if source is None else source(n)


def random_uint16(n: int) -> NDArray[np.uint16]:
    """Return ``n`` uniform 16-bit integers (read-only)."""
    return np.frombuffer(random_bytes(2 * n), dtype="<u2")


def random_uint32(n: int) -> NDArray[np.uint32]:
    """Return ``n`` uniform 32-bit integers (read-only)."""
    return np.frombuffer(random_bytes(4 * n), dtype="<u4")


def random_uint64(n: int) -> NDArray[np.uint64]:
    """Return ``n`` uniform 64-bit integers (read-only)."""
    return np.frombuffer(random_bytes(8 * n), dtype="<u8")


def is_private() -> bool:
    """Tell whether bytes come from the operating system, as every release needs."""
    return _source.get() is None


@contextmanager
def use_source_for_tests(source: ByteSource) -> Iterator[None]:
    """Draw from ``source`` in this context: whatever comes out is NOT private.

    Only `dpframe.testing` and the test suite call this. It is a context variable,
    so other threads keep the operating system's generator.

    Parameters
    ----------
    source : callable
        Takes a number of bytes and returns so many.
    """
    token = _source.set(source)
    try:
        yield
    finally:
        _source.reset(token)
