"""Fixed randomness for tests: what is released under it is NOT private."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import shake_256
from typing import final

from dpframe.errors import ParameterError, PrivacyWarning
from dpframe.noise.bits import use_source_for_tests

__all__ = ["ShakeStream", "unsafe_deterministic"]

_BLOCK = 1 << 12


@final
class ShakeStream:
    """A source of bytes that depends on its seed alone: SHAKE-256 of seed and block.

    The bytes do not depend on how they are asked for: n and then m bytes are the same
    as n + m at once.

    Parameters
    ----------
    seed : int or str
        Names the stream; 1 and "1" name two.
    """

    __slots__ = ("_block", "_left", "_seed")

    def __init__(self, seed: int | str) -> None:
        if not isinstance(seed, (int, str)):
            msg = f"seed must be an int or a text, not {type(seed).__name__}."
            raise ParameterError(msg)
        self._seed = repr(seed).encode()
        self._block = 0
        self._left = b""

    def __call__(self, n: int) -> bytes:
        """Return the next ``n`` bytes."""
        pieces = [self._left]
        missing = n - len(self._left)
        while missing > 0:
            name = b"%s block %d" % (self._seed, self._block)
            pieces.append(shake_256(name).digest(_BLOCK))
            self._block += 1
            missing -= _BLOCK
        held = b"".join(pieces)
        self._left = held[n:]
        return held[:n]


@contextmanager
def unsafe_deterministic(seed: int | str) -> Iterator[None]:
    """Take all randomness from ``seed`` in this context: nothing in it is private.

    For tests of code that calls dpframe: the same seed and the same calls give the same
    releases. A session opened or used inside is marked not private for ever, and so is
    every release that leaves it. Other threads keep the operating system's generator.

    Parameters
    ----------
    seed : int or str
        Names the stream of bytes.

    Warns
    -----
    PrivacyWarning
        At every entry.

    Raises
    ------
    ParameterError
        If the seed is neither.

    Notes
    -----
    .. admonition:: Privacy

       Whoever knows the seed can subtract the noise. Never run it on real data.

    Examples
    --------
    >>> import warnings
    >>> import polars as pl
    >>> import dpframe as dpf
    >>> from dpframe.testing import unsafe_deterministic
    >>> visits = pl.DataFrame({"minutes": [3, 10, 25]})
    >>> def count():
    ...     with warnings.catch_warnings(), dpf.Session(1, unit="row"):
    ...         warnings.simplefilter("ignore")
    ...         with unsafe_deterministic(7):
    ...             return visits.dp.count(1).value
    >>> count() == count()
    True
    """
    stream = ShakeStream(seed)
    msg = (
        "all noise in this block comes from a seed, so nothing released in it is "
        "private; sessions used here stay marked NOT PRIVATE."
    )
    # 3: past this function and contextmanager's __enter__, to the `with` line.
    warnings.warn(msg, PrivacyWarning, stacklevel=3)
    with use_source_for_tests(stream):
        yield
