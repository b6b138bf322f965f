"""`sparse_vector` on answers that somebody else computed: no session, no charge."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpframe.errors import ParameterError, shown
from dpframe.mechanisms.above_threshold import Run
from dpframe.mechanisms.calibrate import SparseOptions
from dpframe.noise.law import as_positive
from dpframe.privacy.amounts import Amount, as_amount
from dpframe.queries.threshold import LARGEST_STEPS, Threshold
from dpframe.releases.crossings import Crossings

__all__ = ["sparse_vector"]

_LARGEST_FLOAT = 2.0**51  # beyond it v + 0.5 itself rounds half to even


def sparse_vector(
    answers: ArrayLike,
    threshold: Amount,
    epsilon: Amount,
    *,
    max_above: int = 1,
    sensitivity: Amount = 1,
    grid: Amount | None = None,
    monotonic: bool = False,
    direction: str = "above",
    noise: str = "geometric",
    ratio: str | Amount = "optimal",
    values: bool = False,
    gap: bool = False,
    refresh: bool = False,
    adaptive: bool = False,
    margin: Amount | None = None,
) -> Crossings:
    """Find which answers pass a threshold, on trusted numbers.

    For tests, teaching and building on: it has no session and charges nothing.
    `sensitivity` and `monotonic` are taken at their word.

    Parameters
    ----------
    answers : array_like, shape (k,)
        True answers in a public order: integers, or any numbers with `grid`.
    threshold : number
        Public.
    epsilon : number
        For everything together.
    max_above : int
        Positive answers at most.
    sensitivity : number
        How far one privacy unit moves any single answer, in the answers' unit.
    grid : number, optional
        The step to which answers are rounded, half up: any for integers, Decimals and
        Fractions; a power of two for floats, so that rounding moves no answer by more
        than its own change. By default 1, and answers must be whole.
    monotonic : bool
        All answers move the same way between neighbors: half the noise.
    direction : {"above", "below"}
        Which side of the threshold is looked for.
    noise : {"geometric", "laplace"}
        One-sided geometric, or discrete Laplace.
    ratio : {"optimal", "even"} or number
        Budget of the comparisons over that of the threshold.
    values : bool
        Release a fresh noisy value of each positive answer, for half of epsilon.
    gap : bool
        Release by how much each passed: free.
    refresh : bool
        A new noisy threshold after each positive answer; in pure DP it only costs.
    adaptive : bool
        Clear positive answers at half price: up to ``2·max_above - 1`` of them. Not
        with `values`, whose noise is for `max_above` of them; gaps are free.
    margin : number, optional
        What "clear" is, in the answers' unit; two standard deviations by default.

    Returns
    -------
    Crossings
        ``indices``, ``n_examined``, ``exhausted``, and ``gaps``, ``values``,
        ``estimates`` where asked for.

    Raises
    ------
    ParameterError
        For an empty list, answers that are not finite, fractions without a grid, and
        any parameter out of its range.

    Notes
    -----
    .. admonition:: Privacy

       (epsilon, 0), however many answers there are. Whether an answer is finite is
       outside of the proof: an error here depends on the answers.

    References
    ----------
    .. [1] Lyu, Su and Li (2017), Understanding the sparse vector technique for
       differential privacy, Algorithm 7 and Theorem 4.
    .. [2] docs/proofs/sparse_vector.

    Examples
    --------
    >>> from dpframe.mechanisms import sparse_vector
    >>> sparse_vector([3, 1_000, 5], threshold=500, epsilon=1).indices
    array([1])
    """
    step = Fraction(1) if grid is None else as_positive(grid, "grid")
    steps = _on_grid(answers, step, rounded=grid is not None)
    moved = as_positive(sensitivity, "sensitivity")
    _check_flags(monotonic=monotonic, refresh=refresh)
    options = SparseOptions(
        max_above, noise, ratio, gap, values, refresh, adaptive, margin
    )
    calibrated = options.calibrate(
        as_amount(epsilon, "epsilon"),
        sensitivity=math.ceil(moved / step),
        monotonic=monotonic,
        grid=step,
    )
    compared = Threshold.read(threshold, step, direction)
    return Run(calibrated, compared).examine(steps, gap=gap)


def _on_grid(answers: Any, grid: Fraction, *, rounded: bool) -> NDArray[np.int64]:
    """Return floor(q / grid + 1/2), clamped to what noise can be added to."""
    try:
        given = np.asarray(answers)
    except ValueError:  # a ragged list
        raise _not_flat() from None
    if given.ndim != 1 or not given.size:
        raise _not_flat()
    if given.dtype.kind == "f":
        return _floats_on_grid(given.astype(np.float64), grid, rounded=rounded)
    if given.dtype.kind == "i" and grid == 1:
        return given.astype(np.int64).clip(-LARGEST_STEPS, LARGEST_STEPS)
    if given.dtype.kind not in "iuO":
        raise _not_finite()
    try:
        exact = [Fraction(answer) for answer in given.tolist()]
    except (TypeError, ValueError, OverflowError):
        raise _not_finite() from None
    if not rounded and any(answer.denominator > 1 for answer in exact):
        raise _needs_grid()
    steps = (math.floor(answer / grid + Fraction(1, 2)) for answer in exact)
    clamped = [max(min(step, LARGEST_STEPS), -LARGEST_STEPS) for step in steps]
    return np.array(clamped, dtype=np.int64)


def _floats_on_grid(
    given: NDArray[np.float64], grid: Fraction, *, rounded: bool
) -> NDArray[np.int64]:
    if not np.isfinite(given).all():
        raise _not_finite()
    if not rounded and (np.floor(given) != given).any():
        raise _needs_grid()
    if grid.numerator & (grid.numerator - 1) or grid.denominator & (
        grid.denominator - 1
    ):
        msg = (
            "the grid of float answers must be exactly a power of two, such as "
            f"'1/1024'; got '{grid}'. For another one pass Decimals or Fractions."
        )
        raise ParameterError(msg)
    with np.errstate(over="ignore"):
        scaled = (given / float(grid)).clip(-_LARGEST_FLOAT, _LARGEST_FLOAT)
    # Never round half to even: 0.5 and 1.5 would go to 0 and 2, a change of 1 to 2.
    return np.floor(scaled + 0.5).astype(np.int64)


def _check_flags(**flags: object) -> None:
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            msg = f"{name} must be True or False; got {shown(flag)}."
            raise ParameterError(msg)


def _not_flat() -> ParameterError:
    return ParameterError(
        "answers must be a flat list of numbers, one for each query, not empty."
    )


def _not_finite() -> ParameterError:
    return ParameterError("answers must all be finite numbers.")


def _needs_grid() -> ParameterError:
    return ParameterError(
        "fractional answers need a grid, the public step to which they are rounded, "
        "such as grid='1/1024'."
    )
