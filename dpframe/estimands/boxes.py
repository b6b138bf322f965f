"""Values over boxes of counts, written by hand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, final

import numpy as np

from dpframe.errors import ParameterError, shown
from dpframe.estimands.box_sums import BoxSum, Condition, debias_box_sum
from dpframe.estimands.estimand import Debiased, Estimand
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.stencil import Stencil

__all__ = ["Boxes", "box"]

_OPEN = 2**62  # an open end: no count comes near it

Sides = Mapping[int, tuple[int | None, int | None]]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Boxes(Estimand):
    """A sum of values over boxes of counts; made by `box`."""

    boxes: BoxSum
    name: str

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the sum of the values of the boxes that hold the noisy counts."""
        self._check_bins(noisy)
        owner, bins, low, high = self.boxes.conditions.T
        z = Stencil.of(noisy).center[bins]
        inside = np.ones(self.boxes.values.size, dtype=bool)
        inside[owner[(z < low) | (z > high)]] = False
        return math.fsum(self.boxes.values[inside].tolist())

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the sum of v · T 1[box] and its unbiased variance."""
        self._check_bins(noisy)
        return debias_box_sum(self.boxes, Stencil.of(noisy))

    def _check_bins(self, noisy: NoisyCounts) -> None:
        last = int(self.boxes.conditions[:, 1].max(initial=-1))
        if last >= noisy.values.size:
            msg = (
                f"a box constrains bin {last}, and there are {noisy.values.size} bins, "
                "numbered from 0."
            )
            raise ParameterError(msg)


def box(terms: Iterable[tuple[float, Sides]], name: str = "box") -> Boxes:
    """Make the estimand: sum of the values of the boxes that hold the true counts.

    A box is a set of intervals, one for each bin that it constrains. Boxes may
    overlap; their values then add up. The estimate takes time linear in their number,
    the variance quadratic in those next to the noisy counts.

    Parameters
    ----------
    terms : iterable of (value, {bin: (lo, hi)})
        Bins are numbered from 0, two-dimensional counts row after row. Both ends are
        included, in rows; None leaves one open.
    name : str
        What the estimate is called.

    Returns
    -------
    Boxes
        For `dpframe.debias` or ``release.debias``. Where the pairs of boxes are too
        many (about 2,000 next to the noisy counts) ``std_error`` is NaN.

    Raises
    ------
    ParameterError
        If a value is no finite number, a bin or an end no integer, or lo > hi.

    References
    ----------
    .. [1] docs/proofs/debias_boxes.rst, theorem 2.

    Examples
    --------
    >>> from dpframe.estimands import box, debias
    >>> fee = box([(5, {0: (1, 9)}), (8, {0: (10, None), 2: (None, 3)})], name="fee")
    >>> debias([12, 40, 0], fee, epsilon=1.0)
    Estimate(fee = 8 ± 0, unbiased)
    >>> debias([10, 40, 0], fee, epsilon=1.0).value
    10.7620...
    """
    values: list[float] = []
    conditions: list[Condition] = []
    for term in terms if isinstance(terms, Iterable) else [terms]:
        value, sides = _read_term(term)
        conditions += [_condition(len(values), *side) for side in sides.items()]
        values.append(value)
    table = np.array(conditions, dtype=np.int64).reshape(-1, 4)
    return Boxes(BoxSum(np.array(values, dtype=np.float64), table), name)


def _read_term(term: Any) -> tuple[float, Mapping[Any, Any]]:
    if isinstance(term, (tuple, list)) and len(term) == 2:
        value, sides = term
        if isinstance(sides, Mapping) and isinstance(value, Real):
            with_value = float(value)
            if math.isfinite(with_value):
                return with_value, sides
    msg = (
        "box needs (value, {bin: (lo, hi)}) pairs with finite values, for example "
        f"box([(5, {{0: (1, 9)}})]); got {shown(term)}."
    )
    raise ParameterError(msg)


def _condition(owner: int, bin_: Any, ends: Any) -> Condition:
    if _is_whole(bin_) and bin_ >= 0 and isinstance(ends, (tuple, list)):
        low, high = ends if len(ends) == 2 else ("", "")
        if all(end is None or _is_whole(end) for end in (low, high)):
            low = -_OPEN if low is None else max(int(low), -_OPEN)
            high = _OPEN if high is None else min(int(high), _OPEN)
            if low <= high:
                return Condition(owner, int(bin_), low, high)
    msg = (
        "a box is {bin: (lo, hi)}: bins numbered from 0, whole ends with lo <= hi, "
        f"both included, None for an open one; got {{{shown(bin_)}: {shown(ends)}}}."
    )
    raise ParameterError(msg)


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
