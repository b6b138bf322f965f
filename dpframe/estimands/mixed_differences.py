r"""The inverse of discrete Laplace noise in several bins at once.

T of a function of n counts is the product of the bins' operators. In one bin (see
`dpframe.estimands.stencil`) it is

    T f = f(z) - Σ w_s [f(z + s) - f(z)],        s = ±1, w_s > 0;

so T takes from f its mixed differences, each with the product of the weights of the
steps in it. A function is held on the grid of all steps, one axis for each bin, entry
0 of an axis being no step. Held as mixed differences, smooth functions have small
entries, exact ones exact entries, and sums over bins have no mixed entry at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dpframe.estimands.pointwise import real

__all__ = ["absolute_sum", "inverse", "mixed_differences"]

Floats = npt.NDArray[np.float64]


def mixed_differences(values: npt.NDArray[Any]) -> Floats:
    """Turn the values on the grid to mixed differences, exactly if they are exact."""
    return real(_along_axes(values, -1))


def inverse(differences: Floats, weights: Sequence[Floats]) -> tuple[float, float]:
    """Return T f and the unbiased estimate of its variance.

    Parameters
    ----------
    differences : array, shape (1 + steps of bin 1, 1 + steps of bin 2, …)
        Mixed differences of f.
    weights : sequence of array
        The weights of each bin's steps.

    Notes
    -----
    The variance (T f)² - T(f²) is a sum over bins. With g = T₁ … Tᵢ₋₁ f, a function of
    the bins from i on, bin i adds what one bin adds for fixed others,
    (Σ w Δg)² + Σ w (Δg)² with Δg its differences in bin i, carried through Tᵢ₊₁ … Tₙ:
    squares that are added, where (T f)² and T(f²) would cancel.
    """
    variance = 0.0
    for i, weight in enumerate(weights):
        others = weights[i + 1 :]
        steps = np.stack([_along_axes(step, +1) for step in differences[1:]])
        mean, spread = (np.tensordot(weight, x, 1) for x in (steps, steps**2))
        variance += _contract(_along_axes(mean**2 + spread, -1), others)
        differences = differences[0] - np.tensordot(weight, differences[1:], 1)
    return float(differences), variance


def absolute_sum(
    terms: Floats, weights: Sequence[Floats], *, of_differences: bool
) -> float:
    """Return the sum of the absolute terms of T f: what its rounding is relative to.

    ``terms`` are the values of f on the grid, or its mixed differences if those are
    what is known exactly.
    """
    total = np.abs(terms)
    for weight in weights:
        center = 1.0 if of_differences else 1.0 + weight.sum()
        total = center * total[0] + np.tensordot(weight, total[1:], 1)
    return float(total)


def _contract(differences: Floats, weights: Sequence[Floats]) -> float:
    for weight in weights:
        differences = differences[0] - np.tensordot(weight, differences[1:], 1)
    return float(differences)


def _along_axes(values: npt.NDArray[Any], sign: int) -> npt.NDArray[Any]:
    """Add ``sign`` times the entry 0 of each axis to the others of the axis."""
    result = values.copy()
    for axis in range(values.ndim):
        along = np.moveaxis(result, axis, 0)
        along[1:] += sign * along[:1]
    return result
