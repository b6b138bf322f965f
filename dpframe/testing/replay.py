"""Replay: run a verb on two neighboring frames with the same noisy outputs.

Every draw is recorded on the first frame and handed back on the second. If the
verb is private then nothing else may differ: the draws and what they are calibrated to,
the charges, the result, what is raised, warned, logged and printed; and the exact
inputs of each draw differ by no more than the sensitivity that was declared. One pass
shows what sampling would need millions of runs for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, final

from dpframe.privacy.sensitivity import Sensitivity
from dpframe.session import Session
from dpframe.testing.comparison import aligned, compare_draws, distance, overdrawn
from dpframe.testing.payment import unpaid
from dpframe.testing.portrait import OPAQUE, portrait
from dpframe.testing.recording import Run, record

__all__ = ["Replay", "replay"]


@final
@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay found.

    Parameters
    ----------
    draws : int
        Number of draws on the first frame.
    distances : tuple of Sensitivity
        How far the exact input of each draw moved, in lattice steps.
    violations : tuple of str
        What a private verb would not have done; empty if all is well.
    """

    draws: int
    distances: tuple[Sensitivity, ...]
    violations: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was violated."""
        return not self.violations

    def check(self) -> Replay:
        """Return the replay, or raise with all that was violated.

        Raises
        ------
        AssertionError
            Unless `ok`.
        """
        if self.violations:
            raise AssertionError("\n".join(self.violations))
        return self


def replay(
    verb: Callable[[Any], Any],
    frame: Any,
    neighbour: Any,
    *,
    session: Callable[[], Session] | None = None,
    seed: int | str = 0,
) -> Replay:
    """Run ``verb`` on two neighboring frames and compare all that can be seen.

    Parameters
    ----------
    verb : callable
        Takes a frame and returns its release (or several); asks the active session.
    frame, neighbour : frame
        Two frames that differ by one privacy unit.
    session : callable, optional
        Opens a fresh session for each run; by default one with the unit "row" and a
        large epsilon.
    seed : int or str
        Of the noise, and of the choice of rows where a unit has too many: both runs
        choose alike.

    Returns
    -------
    Replay

    Notes
    -----
    .. admonition:: Privacy

       A test tool for public frames: its messages quote what it compares. The sessions
       in it are marked not private.

    A draw is ascribed to the last charge before it: in a test of an open stream, ask
    nothing else of the session until the stream has been asked for the last time.

    Examples
    --------
    >>> import polars as pl
    >>> import dpframe as dpf
    >>> from dpframe.testing import replay
    >>> frame = pl.DataFrame({"age": [23, 35]})
    >>> replay(lambda people: people.dp.count(1), frame, frame.head(1)).check()
    Replay(draws=1, distances=(Sensitivity(l1=1, ...),), violations=())
    """
    opener = _open_session if session is None else session
    first = record(verb, frame, opener, seed)
    second = record(verb, neighbour, opener, seed, first)
    pairs = zip(first.draws, second.draws, strict=False)
    distances = tuple(distance(*aligned(a, b)) for a, b in pairs)
    violations = [
        *compare_draws(first, second),
        *_compare_charges(first, second),
        *overdrawn(first),
        *(f"frame: {text}" for text in _check_payment(first)),
        *(f"neighbor: {text}" for text in _check_payment(second)),
        *_compare_seen(first, second),
        *_compare_lists("warnings, log lines and prints", first.heard, second.heard),
        *_compare_lists("requests for random bytes", first.bytes, second.bytes),
    ]
    return Replay(len(first.draws), distances, tuple(violations))


def _open_session() -> Session:
    return Session(10**6, unit="row")


def _compare_charges(first: Run, second: Run) -> Iterator[str]:
    for number, (a, b) in enumerate(zip_longest(first.charges, second.charges)):
        one, other = portrait(a), portrait(b)
        if one != other:
            yield f"charge {number}: {_differences(one, other)}"


def _check_payment(run: Run) -> Iterator[str]:
    """Every draw belongs to the charge before it, which covers it; none is empty."""
    for number, charge in enumerate(run.charges, start=1):
        draws = [d for d, n in zip(run.draws, run.charged, strict=True) if n == number]
        if not draws and not run.error:
            yield f"charge {number - 1} ({charge.verb}) was made and no noise drawn"
        excess = unpaid(draws, charge.loss)
        if excess is not None:
            yield f"charge {number - 1} ({charge.verb}): {excess}"
    if 0 in run.charged:
        yield "noise was drawn before anything was charged"


def _compare_seen(first: Run, second: Run) -> Iterator[str]:
    if first.error != second.error:
        yield f"raised: {first.error!r} and {second.error!r}"
    elif first.seen != second.seen:
        yield f"results: {_differences(first.seen, second.seen)}"
    hidden = [path for path, text in first.seen.items() if text == OPAQUE]
    if hidden:
        yield f"results: {', '.join(hidden)} cannot be seen into"


def _compare_lists(what: str, first: list[Any], second: list[Any]) -> Iterator[str]:
    for a, b in zip_longest(first, second):
        if a != b:
            yield f"{what}: {a!r} and {b!r}"
            return


def _differences(first: dict[str, str], second: dict[str, str]) -> str:
    """Name the first few paths that differ."""
    paths = [p for p in {**first, **second} if first.get(p) != second.get(p)]
    shown = [f"{p}: {first.get(p)} and {second.get(p)}" for p in paths[:3]]
    return "; ".join(shown) + ("; …" if len(paths) > 3 else "")
