"""What two runs drew, side by side: nothing but the exact inputs may differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpframe.mechanisms.noising import Draw, Vectors
from dpframe.noise.selection import PermuteAndFlip
from dpframe.noise.threshold import ThresholdNoise
from dpframe.privacy.sensitivity import Sensitivity
from dpframe.testing.recording import Run, shapes

__all__ = ["compare_draws", "distance", "overdrawn"]

_NORMS = ("l1", "l2_squared", "l0", "linf")


def compare_draws(first: Run, second: Run) -> Iterator[str]:
    """Say which draws differ in more than their exact inputs, or in those too far."""
    if len(first.draws) != len(second.draws):
        yield f"draws: {len(first.draws)} and {len(second.draws)}"
    pairs = zip(first.draws, second.draws, strict=False)
    for number, (one, other) in enumerate(pairs):
        for text in _compare(one, other):
            yield f"draw {number}: {text}"
    yield from _compare_directions(first, second)


def _compare(one: Draw, other: Draw) -> Iterator[str]:
    if one.law != other.law:
        yield f"laws {one.law!r} and {other.law!r}"
    if one.sensitivity != other.sensitivity:
        yield f"sensitivities {one.sensitivity!r} and {other.sensitivity!r}"
    if shapes(one.exact) != shapes(other.exact):
        yield f"inputs {shapes(one.exact)} and {shapes(other.exact)}"
    if not all(map(_whole, (*one.exact, *other.exact))):
        yield "inputs that are not all integers"
    found = distance(one.exact, other.exact)
    for norm in _NORMS:
        moved, declared = getattr(found, norm), getattr(one.sensitivity, norm)
        if moved > declared:
            yield f"{norm} distance {moved}, declared {declared}"


def _compare_directions(first: Run, second: Run) -> Iterator[str]:
    """Under a monotone law all entries move the same way, in all draws that share it.

    The draws of a sparse vector share one threshold; selections share nothing.
    """
    ways: dict[object, set[bool]] = defaultdict(set)
    places = zip(first.charged, first.draws, second.draws, strict=False)
    for number, (charge, one, other) in enumerate(places):
        law = one.law
        if isinstance(law, (ThresholdNoise, PermuteAndFlip)) and law.monotonic:
            shared = isinstance(law, ThresholdNoise)
            seen = ways[(charge, law) if shared else number]
            both = len(seen) == 2
            seen |= {move > 0 for move in _moves(one.exact, other.exact)}
            if len(seen) == 2 and not both:
                yield f"draw {number}: declared monotone, and entries moved both ways"


def overdrawn(run: Run) -> Iterator[str]:
    """Say which sparse vectors gave more positive answers than their credit pays."""
    spent: dict[tuple[int, ThresholdNoise], int] = defaultdict(int)
    for charge, draw, output in zip(run.charged, run.draws, run.outputs, strict=False):
        if isinstance(draw.law, ThresholdNoise):
            _, branches, _ = output
            prices = [draw.law.branches[way].price for way in branches.tolist()]
            spent[charge, draw.law] += sum(prices)
    for (charge, law), price in spent.items():
        if price > law.credit:
            yield (
                f"charge {charge - 1}: positive answers took {price} credits, "
                f"and {law.credit} were paid for"
            )


def distance(first: Vectors, second: Vectors) -> Sensitivity:
    """Measure how far apart two exact inputs are, in Python integers."""
    moves = [abs(move) for move in _moves(first, second)]
    return Sensitivity(
        sum(moves), sum(m * m for m in moves), len(moves), max(moves, default=0)
    )


def _moves(first: Vectors, second: Vectors) -> list[Any]:
    """Return what was added to each entry that changed."""
    pairs = zip_longest(_flat(first), _flat(second), fillvalue=0)
    return [after - before for before, after in pairs if before != after]


def _flat(vectors: Vectors) -> list[Any]:
    return [value for part in vectors for value in part.ravel().tolist()]


def _whole(part: NDArray[Any]) -> bool:
    if part.dtype == object:
        return all(type(value) is int for value in part.tolist())
    return part.dtype == np.int64
