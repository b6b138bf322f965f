"""Whether a distance is what propose-test-release needs, tried out on small data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from dpframe.errors import ParameterError, shown
from dpframe.noise.law import as_float, as_positive
from dpframe.privacy.amounts import Amount

__all__ = ["check_distance"]

_MOST = 200_000  # data sets

Data = tuple[float, ...]


def check_distance(
    statistic: Callable[[Any], Any],
    distance: Callable[[Any], Any],
    domain: Sequence[float],
    size: int,
    *,
    bound: Amount,
    neighboring: str = "add_remove",
) -> int:
    """Check a distance for `propose_test_release` on all small data sets.

    It must be a whole number or infinity, not negative, move by 1 at most between
    neighbors, and be 0 at both of them wherever they move the statistic by more than
    the bound. Passing is no proof: larger data, or values between those tried, may
    fail.

    Parameters
    ----------
    statistic, distance : callable
        Of a sorted array of values, as for `propose_test_release`.
    domain : sequence of numbers
        Values to try; take both bounds and what is odd between them.
    size : int
        The most rows.
    bound : number
        The sensitivity that is proposed.
    neighboring : {"add_remove", "replace"}
        A row comes or goes, or is exchanged for another. `propose_test_release` needs
        the first, whatever the relation of its session: the number of rows is not
        public there.

    Returns
    -------
    int
        How many pairs of neighbors were compared.

    Raises
    ------
    AssertionError
        With two neighbors on which a condition fails.
    ParameterError
        For other arguments, and if there would be more than 200,000 data sets.

    Examples
    --------
    >>> from dpframe.testing import check_distance
    >>> def largest(values):
    ...     return max(values, default=0)
    >>> def until_the_largest_may_fall(values):
    ...     return 0  # on any doubt
    >>> check_distance(largest, until_the_largest_may_fall, [0, 1, 5], 3, bound=2)
    30
    """
    most = as_float(as_positive(bound, "bound"))
    if neighboring not in ("add_remove", "replace"):
        msg = (
            f"neighboring must be 'add_remove' or 'replace'; got {shown(neighboring)}."
        )
        raise ParameterError(msg)
    values = sorted(set(domain))
    _check_size(len(values), size)
    seen: dict[Data, tuple[float, float]] = {}
    pairs = 0
    for data in _multisets(values, size):
        seen[data] = _number(statistic, data), _whole(distance, data)
        for other in _neighbors_before(data, values, neighboring):
            pairs += 1
            _compare(other, data, seen, most)
    return pairs


def _multisets(values: Sequence[float], size: int) -> Iterator[Data]:
    for rows in range(size + 1):
        yield from combinations_with_replacement(values, rows)


def _neighbors_before(
    data: Data, values: Sequence[float], neighboring: str
) -> Iterator[Data]:
    """Yield the neighbors that `_multisets` yields earlier: each pair comes once."""
    for less in set(combinations(data, len(data) - 1)) if data else ():
        if neighboring == "add_remove":
            yield less
        else:
            exchanged = {tuple(sorted((*less, value))) for value in values}
            yield from (other for other in exchanged if other < data)


def _check_size(values: int, size: int) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or size < 1 or not values:
        msg = (
            "size must be a number of rows, 1 or more, of values from a domain that is "
            f"not empty; got {shown(size)}."
        )
        raise ParameterError(msg)
    if math.comb(values + size, size) > _MOST:  # multisets of at most `size` rows
        msg = f"more than {_MOST:,} data sets; take fewer values, or fewer rows."
        raise ParameterError(msg)


def _number(statistic: Callable[[Any], Any], data: Data) -> float:
    found = statistic(np.array(data))
    number = float(found)
    if not math.isfinite(number):
        msg = f"the statistic of {list(data)} is {found!r}, no finite number"
        raise AssertionError(msg)
    return number


def _whole(distance: Callable[[Any], Any], data: Data) -> float:
    found = distance(np.array(data))
    number = float(found)
    if not (number == math.inf or (number >= 0 and number.is_integer())):
        msg = f"the distance of {list(data)} is {found!r}, no whole number from 0 on"
        raise AssertionError(msg)
    return number


def _compare(
    one: Data, other: Data, seen: dict[Data, tuple[float, float]], bound: float
) -> None:
    (f, d), (g, e) = seen[one], seen[other]
    pair = f"{list(one)} and {list(other)}"
    if d != e and abs(d - e) > 1:
        msg = f"the distances of {pair} are {d:g} and {e:g}: more than 1 apart"
        raise AssertionError(msg)
    if abs(f - g) > bound and max(d, e) > 0:
        msg = (
            f"the statistics of {pair} are {f!r} and {g!r}, more than the bound apart, "
            f"and the distances {d:g} and {e:g}, not both 0"
        )
        raise AssertionError(msg)
