"""What two runs drew, side by side: nothing but the exact inputs may differ."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpframe.mechanisms.noising import Draw, Vectors
from dpframe.noise.key_threshold import KeyThreshold
from dpframe.noise.selection import PermuteAndFlip
from dpframe.noise.smooth import SmoothNoise
from dpframe.noise.spread import SpreadNoise
from dpframe.noise.threshold import ThresholdNoise
from dpframe.privacy.sensitivity import Sensitivity
from dpframe.testing.recording import Run, shapes

__all__ = ["aligned", "compare_draws", "distance", "overdrawn"]

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
    if isinstance(one.law, KeyThreshold):
        yield from _compare_keys(one.law, one.exact, other.exact)
    elif shapes(one.exact) != shapes(other.exact):
        yield f"inputs {shapes(one.exact)} and {shapes(other.exact)}"
    if isinstance(one.law, (SmoothNoise, SpreadNoise)):
        yield from _compare_smooth(one.law, one.exact, other.exact)
        return
    inputs = aligned(one, other)
    if not all(map(_whole, (*inputs[0], *inputs[1]))):
        yield "inputs that are not all integers"
    found = distance(*inputs)
    for norm in _NORMS:
        moved, declared = getattr(found, norm), getattr(one.sensitivity, norm)
        if moved > declared:
            yield f"{norm} distance {moved}, declared {declared}"


def aligned(one: Draw, other: Draw) -> tuple[Vectors, Vectors]:
    """Return the inputs of two draws entry by entry; 0 of a key that one lacks."""
    if not isinstance(one.law, KeyThreshold):
        return one.exact, other.exact
    first, second = _by_key(one.exact), _by_key(other.exact)
    keys = list({**first, **second})
    return tuple(
        (np.array([units.get(key, 0) for key in keys], dtype=np.int64),)
        for units in (first, second)
    )  # type: ignore[return-value]


def _by_key(exact: Vectors) -> dict[tuple[Any, ...], int]:
    units, *columns = (part.tolist() for part in exact)
    return dict(zip(zip(*columns, strict=True), units, strict=True))


def _compare_keys(law: KeyThreshold, one: Vectors, other: Vectors) -> Iterator[str]:
    """Keys that only one frame has: few, and of one unit each."""
    first, second = _by_key(one), _by_key(other)
    for mine, theirs in ((first, second), (second, first)):
        alone = [units for key, units in mine.items() if key not in theirs]
        if len(alone) > law.groups:
            yield f"{len(alone)} keys in one frame only, declared {law.groups}"
        if any(units > 1 for units in alone):
            yield f"keys of {max(alone)} units in one frame only"


def _compare_smooth(
    law: SmoothNoise | SpreadNoise, one: Vectors, other: Vectors
) -> Iterator[str]:
    """Smooth sensitivities move by a factor of e^beta, values by no more than these."""
    beta = float((law.smooth if isinstance(law, SpreadNoise) else law).beta)
    for first, second in zip(one[-1].tolist(), other[-1].tolist(), strict=True):
        if abs(math.log(first / second)) > beta + 1e-9:
            yield f"smooth sensitivities {first:.6g} and {second:.6g}, beta {beta:g}"
    if isinstance(law, SpreadNoise):
        return
    for value, other_value, *smooth in zip(
        *(part.tolist() for part in (one[0], other[0], one[1], other[1])), strict=True
    ):
        if abs(value - other_value) > min(smooth):
            yield (
                f"values {float(value):.6g} and {float(other_value):.6g}, smooth "
                f"sensitivities {smooth}"
            )


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
