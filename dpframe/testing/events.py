"""Which event tells the outputs of two inputs apart, found on a part of the runs.

An event is a set of outputs. Candidates are unions of cells of outputs, taken in the
order of their likelihood ratio (the best test of its size, by Neyman and Pearson), and
tails of numbers. Cells are ranked on one part of the runs and the event is chosen on
another one: what looked good by luck is seen through, and the rest knows of neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpframe.testing.outcomes import Column, cells, cut, merged

__all__ = ["Event", "choose_event"]

Floats = NDArray[np.float64]

#: The bound on epsilon that chances of an event promise, likelier input first.
Bound = Callable[[Floats, Floats], Floats]

_CUTS = 200  # thresholds tried for each score
_ROWS = 50  # of the ranking part for each cell of merged outputs, on average
_EXAMPLES = 3


@final
@dataclass(frozen=True, slots=True)
class Event:
    """A set of outputs.

    Parameters
    ----------
    inside : ndarray of bool, shape (2, runs)
        Which outputs of each input are in it.
    likelier : int
        The input that seems to give it more often: 0 or 1.
    words : str
        What it is.
    """

    inside: NDArray[np.bool_]
    likelier: int
    words: str


@final
@dataclass(frozen=True, slots=True)
class _Score:
    """A number for each output, of shape (2, runs); events are its upper tails.

    ``likelier`` has the inputs that may give such an event more often.
    """

    values: Floats
    likelier: tuple[int, ...] = (0, 1)
    name: str = ""
    sign: int = 1


def choose_event(
    parts: Sequence[Column],
    outputs: Sequence[Any],
    split: tuple[int, int],
    bound: Bound,
) -> Event:
    """Choose the event that promises the greatest bound.

    Parameters
    ----------
    parts : sequence of Column
        Outputs of the first input, then as many of the second.
    outputs : sequence
        The same, as they came.
    split : tuple of int
        Cells are ranked on runs before the first number, events chosen on those from
        there to the second.
    bound : callable
        From the chances of events under the likelier input and under the other.
    """
    first, last = split
    best: tuple[float, _Score, float, int] | None = None
    exact = cells(parts).reshape(2, -1)
    for score in _scores(parts, exact, first):
        cuts = _cuts(score.values[:, :first])
        looked = np.sort(score.values[:, first:last], axis=1)
        shares = [1 - np.searchsorted(row, cuts) / row.size for row in looked]
        for side in score.likelier:
            promised = bound(shares[side], shares[1 - side])
            place = int(np.argmax(promised))
            if best is None or promised[place] > best[0]:
                best = float(promised[place]), score, float(cuts[place]), side
    assert best is not None
    _, chosen, least, likelier = best
    inside = chosen.values >= least
    rows = np.flatnonzero(inside[likelier, :last])
    some, number = _examples(exact[likelier], rows)
    start = likelier * exact.shape[1]
    shown = ", ".join(repr(_plain(outputs[start + row])) for row in some)
    what = f"one of {number} outputs"
    if chosen.name:
        what = f"{chosen.name} {chosen.sign * least:g}"
    return Event(inside, likelier, f"{what}, such as {shown}")


def _scores(
    parts: Sequence[Column], exact: NDArray[np.int64], first: int
) -> Iterator[_Score]:
    """Yield likelihood ratios of cells and of parts, and every number itself."""
    yield from _both_ways(_log_ratio(exact, first))
    known = np.arange(exact.size) % exact.shape[1] < first
    narrow = [cut(part, known) for part in parts]
    fewer = merged(narrow, known, max(2 * first // _ROWS, 2))
    if any(a is not b for a, b in zip(fewer, parts, strict=True)):
        yield from _both_ways(_log_ratio(cells(fewer).reshape(2, -1), first))
    if len(parts) > 1:  # as if parts were independent: of many, cells see little
        each = (cells([part]).reshape(2, -1) for part in narrow)
        yield from _both_ways(sum(_log_ratio(cell, first) for cell in each))
    for place, part in enumerate(parts):
        if part.ordered:
            whole = "the output" if len(parts) == 1 else f"part {place} of the output"
            numbers = part.values.astype(np.float64).reshape(2, -1)
            absent = np.isnan(numbers)
            for sign, relation in (1, ">="), (-1, "<="):
                values = np.where(absent, -np.inf, sign * numbers)
                yield _Score(values, name=f"{whole} {relation}", sign=sign)


def _log_ratio(cell: NDArray[np.int64], first: int) -> Floats:
    """Return log ratios by cell; one run more on either side tames rare cells."""
    size = int(cell.max()) + 1
    one, other = (np.bincount(row[:first], minlength=size) + 1 for row in cell)
    ratio: Floats = np.log(one / other)[cell]
    return ratio


def _both_ways(ratio: Any) -> Iterator[_Score]:
    yield _Score(ratio, (0,))
    yield _Score(-ratio, (1,))


def _cuts(values: Floats) -> Floats:
    """Return thresholds: all finite values, or quantiles of them."""
    distinct = np.unique(values)
    if distinct.size > _CUTS:
        steps = np.linspace(0, 1, _CUTS)
        distinct = np.unique(np.quantile(values, steps, method="nearest"))
    return distinct


def _examples(
    cell: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Return rows of the most frequent cells among ``rows``, and how many cells."""
    _, places, counts = np.unique(cell[rows], return_index=True, return_counts=True)
    return rows[places[np.argsort(-counts)[:_EXAMPLES]]], len(counts)


def _plain(output: Any) -> Any:
    return output.tolist() if isinstance(output, (np.ndarray, np.generic)) else output
