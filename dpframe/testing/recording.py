"""One run of a verb, with all that it did written down."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from dpframe.mechanisms.noising import Draw, Perform, Vectors, watch_draws
from dpframe.noise.bits import use_source_for_tests
from dpframe.noise.key_threshold import KeyThreshold
from dpframe.privacy.ledger import Charge
from dpframe.session import Session
from dpframe.testing.deterministic import ShakeStream
from dpframe.testing.portrait import portrait, words

__all__ = ["Run", "record", "shapes"]


@final
@dataclass(slots=True)
class Run:
    """All that one run did.

    Parameters
    ----------
    draws : list of Draw
        Every draw, with its exact input.
    outputs : list of tuple of ndarray
        What was drawn here and not taken from an earlier run.
    charged : list of int
        How many charges there were before each draw.
    bytes : list of int
        Requests for other randomness, in bytes.
    heard : list of str
        Warnings, log lines and prints.
    charges : tuple of Charge
        The session's ledger afterwards.
    seen : dict
        The portrait of the result.
    error : str
        What was raised instead, in words.
    """

    draws: list[Draw] = field(default_factory=list)
    outputs: list[Vectors] = field(default_factory=list)
    charged: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    charges: tuple[Charge, ...] = ()
    seen: dict[str, str] = field(default_factory=dict)
    error: str = ""


def record(
    verb: Callable[[Any], Any],
    frame: Any,
    opener: Callable[[], Session],
    seed: int | str,
    earlier: Run | None = None,
) -> Run:
    """Run a verb in a fresh session, without any randomness but that of ``seed``.

    Parameters
    ----------
    verb : callable
        Takes the frame; asks the active session.
    frame : frame
        What it is asked of.
    opener : callable
        Opens the session.
    seed : int or str
        Of two streams: one for the noise, one for everything else.
    earlier : Run, optional
        Its outputs are handed out in place of new ones, to draws of the same law with
        inputs of the same shape (of any shape where keys are found).
    """
    done = Run()
    choices, noise = ShakeStream(f"choices {seed!r}"), ShakeStream(f"noise {seed!r}")

    def source(n: int) -> bytes:
        done.bytes.append(n)
        return choices(n)

    def watcher(draw: Draw, perform: Perform) -> Vectors:
        place = len(done.draws)
        done.draws.append(Draw(_copied(draw.exact), draw.law, draw.sensitivity))
        done.charged.append(len(opened.charges))
        if earlier is not None and _fits(earlier, place, draw):
            return _copied(earlier.outputs[place])
        with use_source_for_tests(noise):
            done.outputs.append(_copied(perform()))
        return _copied(done.outputs[-1])

    with _listening(done.heard), use_source_for_tests(source), watch_draws(watcher):
        opened = opener()
        with opened:
            try:
                done.seen = portrait(verb(frame))
            except Exception as error:
                done.error = words(error)
    done.charges = opened.charges
    return done


@contextmanager
def _listening(heard: list[str]) -> Iterator[None]:
    """Note every warning, log line and print."""
    logger, printed = logging.getLogger("dpframe"), io.StringIO()
    handler, level = _Ear(heard), logger.level
    logger.addHandler(handler)
    logger.setLevel(1)  # 0 would mean the level of the root
    try:
        with (
            warnings.catch_warnings(record=True) as warned,
            redirect_stdout(printed),
            redirect_stderr(printed),
        ):
            warnings.simplefilter("always")
            yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)
    heard.extend(f"{w.category.__name__}: {w.message}" for w in warned)
    heard.extend(printed.getvalue().splitlines())


@final
class _Ear(logging.Handler):
    """Notes log lines."""

    def __init__(self, heard: list[str]) -> None:
        super().__init__(level=0)
        self._heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        """Note one line, with the exception it carries."""
        error = record.exc_info[1] if record.exc_info else None
        said = f"{record.name} {record.levelname}: {record.getMessage()}{words(error)}"
        self._heard.append(said)


def _fits(earlier: Run, place: int, draw: Draw) -> bool:
    """Whether the earlier run made the same draw at this place."""
    if place >= min(len(earlier.draws), len(earlier.outputs)):
        return False
    before = earlier.draws[place]
    # Which keys there are is private, so a frame may have more of them.
    alike = isinstance(draw.law, KeyThreshold) or (
        shapes(before.exact) == shapes(draw.exact)
    )
    return before.law == draw.law and alike


def _copied(vectors: Vectors) -> Vectors:
    return tuple(np.array(part) for part in vectors)


def shapes(vectors: Vectors) -> list[tuple[str, tuple[int, ...]]]:
    """Return dtype and shape of each vector."""
    return [(str(part.dtype), part.shape) for part in vectors]
