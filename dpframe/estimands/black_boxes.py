"""Any function of all counts, unbiased by enumeration of the noisy ones' neighbors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError, UnstableEstimateError, shown
from dpframe.estimands.conditioning import cancelled
from dpframe.estimands.estimand import Debiased, Estimand, swamped
from dpframe.estimands.mixed_differences import (
    absolute_sum,
    inverse,
    mixed_differences,
)
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.on_rows import on_rows
from dpframe.estimands.pointwise import real
from dpframe.estimands.stencil import Stencil

__all__ = ["BlackBox", "black_box"]

Floats = npt.NDArray[np.float64]

_BLOCK = 65_536  # rows in one call
_LIMIT = 3**12  # rows in all: twelve bins away from the ends of their domain


@final
@dataclass(frozen=True, repr=False)
class BlackBox(Estimand):
    """A function of all counts; made by `black_box`."""

    f: Callable[[Any], Any]
    name: str
    uses: tuple[int, ...] | None = None
    limit: int = _LIMIT

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return f of the noisy counts, cut to the domain."""
        center = Stencil.of(self._used(noisy)).center
        return float(real(on_rows(self.f, center[np.newaxis]))[0])

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return T f(y) and its unbiased variance, from every neighbor of y."""
        value, variance, size, largest = self._enumerate(noisy)
        if not all(abs(part) < 1e300 for part in (value, variance, size)):
            msg = (
                "the estimate or its variance is beyond 1e300. Scale the function "
                "down, or take fewer bins."
            )
            raise UnstableEstimateError(msg)
        warnings = cancelled(size, value, variance) + swamped(variance, largest)
        return Debiased(value, variance, warnings)

    def condition_number(self, noisy: NoisyCounts) -> float:
        """Return by how much rounding errors are enlarged in the estimate.

        The relative error is about 2^-53 times this number: the sum of the absolute
        terms over the estimate, infinite if that is 0.
        """
        value, _, size, _ = self._enumerate(noisy)
        return size / abs(value) if value else math.inf

    def _enumerate(self, noisy: NoisyCounts) -> tuple[float, float, float, float]:
        """Return T f(y), its variance, the sum of absolute terms, and max |f|."""
        stencil = Stencil.of(self._used(noisy))
        self._check_size(stencil)
        grid = _Grid(stencil)
        with np.errstate(over="ignore", invalid="ignore"):
            values = grid.evaluate(self.f)
            rounded, differences = real(values), mixed_differences(values)
            value, variance = inverse(differences, grid.weights)
            exact = values.dtype.kind == "O"
            terms = differences if exact else rounded
            size = absolute_sum(terms, grid.weights, of_differences=exact)
        return value, variance, size, float(np.abs(rounded).max())

    def _used(self, noisy: NoisyCounts) -> NoisyCounts:
        """Return the bins that f is a function of, in one row."""
        values, rate = noisy.values.ravel(), noisy.rate.ravel()
        if self.uses is None:
            return NoisyCounts(values, rate, noisy.domain)
        if self.uses and max(self.uses) >= values.size:
            msg = (
                f"uses= names bin {max(self.uses)}, and there are {values.size} bins, "
                "numbered from 0."
            )
            raise ParameterError(msg)
        used = np.array(self.uses, dtype=np.intp)
        return NoisyCounts(values[used], rate[used], noisy.domain)

    def _check_size(self, stencil: Stencil) -> None:
        digits = np.log2(1.0 + stencil.rises + stencil.falls).sum()
        if digits > math.log2(self.limit) + 1e-9:
            msg = (
                f"this function of {stencil.center.size} counts would be evaluated at "
                f"more than {self.limit:,} points, up to 3 for each bin. Use a "
                "structured form: separable(f) for a sum over bins of f(count), "
                "power_sum, profile, entropy, box, tree; or name the few bins that it "
                "needs, black_box(f, uses=[0, 3]); or raise limit=."
            )
            raise ParameterError(msg)


def black_box(
    f: Callable[[Any], Any],
    name: str | None = None,
    *,
    uses: Sequence[int] | None = None,
    limit: int = _LIMIT,
) -> BlackBox:
    """Make an estimand of any function of all counts.

    The estimate is a weighted sum of f over the noisy counts and all their neighbors,
    up to 3 for each bin and so 3^n in all: for a dozen bins. It is unbiased whatever
    ``f`` is, and of least variance where the domain has an end. `dpframe.debias` and
    ``release.debias`` take a bare function as ``black_box(f)``.

    Parameters
    ----------
    f : callable
        ``f(array of int64, shape (m, n)) -> array, shape (m,)``, at most 65,536 rows a
        call, or ``f(row of n counts) -> float``; which of the two is found out by the
        shape that comes back. It is asked inside the domain only. Two-dimensional
        counts come row after row. Results that are ints or Fractions are kept exact
        until differences are taken. int64 wraps around above 2^63: take
        ``counts.astype(float)`` before high powers.
    name : str, optional
        What the estimate is called; the function's own name by default.
    uses : sequence of int, optional
        Numbers of the bins that ``f`` needs, from 0; it gets these columns only, in
        this order. All by default.
    limit : int
        Most points at which ``f`` may be evaluated.

    Returns
    -------
    BlackBox
        For `dpframe.debias` or ``release.debias``.

    Raises
    ------
    ParameterError
        If an argument is none of these; when estimating, if the limit is passed or
        ``f`` does not return finite real numbers.

    References
    ----------
    .. [1] docs/proofs/debias_boxes.rst, theorem 1.

    Examples
    --------
    >>> from dpframe.estimands import black_box, debias
    >>> spread = black_box(lambda x: x.max(axis=1) - x.min(axis=1), name="range")
    >>> debias([12, 3, 7], spread, epsilon=2.0)
    Estimate(range = 9 ± 0.85, unbiased)
    >>> ratio = black_box(lambda x: x[0] / (1 + x[1]), uses=[2, 0])
    >>> debias([12, 3, 7], ratio, epsilon=2.0).plug_in == 7 / 13
    True
    """
    if not callable(f):
        msg = f"black_box needs a function of all counts, not {type(f).__name__}."
        raise ParameterError(msg)
    if isinstance(limit, bool) or not isinstance(limit, (int, np.integer)) or limit < 1:
        msg = f"limit must be an integer >= 1, such as {_LIMIT}; got {shown(limit)}."
        raise ParameterError(msg)
    own_name = getattr(f, "__name__", "<lambda>")
    name = name or ("black_box" if own_name == "<lambda>" else own_name)
    return BlackBox(f, name, None if uses is None else _read_bins(uses), int(limit))


@final
class _Grid:
    """The noisy counts and all their neighbors: an axis for each bin that may move."""

    def __init__(self, stencil: Stencil) -> None:
        self.center = stencil.center
        self.moving = np.flatnonzero(stencil.rises | stencil.falls)
        self.steps: list[npt.NDArray[np.int64]] = []
        self.weights: list[Floats] = []
        for i in self.moving:
            taken = np.array([stencil.rises[i], stencil.falls[i]])
            self.steps.append(np.append(0, np.array([1, -1])[taken]))
            self.weights.append(np.array([stencil.up[i], stencil.down[i]])[taken])
        self.shape = tuple(len(step) for step in self.steps)

    def evaluate(self, f: Callable[[Any], Any]) -> npt.NDArray[Any]:
        """Return f on the grid, float64 or exact objects."""
        found = [on_rows(f, block) for block in self._blocks()]
        return np.concatenate(found).reshape(self.shape)

    def _blocks(self) -> Iterator[npt.NDArray[np.int64]]:
        size = math.prod(self.shape)
        for start in range(0, size, _BLOCK):
            places = np.arange(start, min(start + _BLOCK, size))
            block = np.tile(self.center, (places.size, 1))
            if self.shape:
                along = np.unravel_index(places, self.shape)
                for i, step, place in zip(self.moving, self.steps, along, strict=True):
                    block[:, i] += step[place]
            yield block


def _read_bins(uses: Any) -> tuple[int, ...]:
    bins = np.asarray(uses, dtype=object).ravel().tolist()
    whole = all(
        isinstance(i, (int, np.integer)) and not isinstance(i, bool) and i >= 0
        for i in bins
    )
    if not bins or not whole or len(set(bins)) < len(bins):
        msg = (
            "uses must list numbers of bins from 0, each once, as in uses=[0, 3]; got "
            f"{shown(uses)}."
        )
        raise ParameterError(msg)
    return tuple(map(int, bins))
