"""Power sums and star counts: polynomials of each count, added up."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError, shown
from dpframe.estimands.separable_sums import Separable, separable

__all__ = ["k_stars", "power_sum"]


def power_sum(k: int) -> Separable:
    """Make the estimand sum of x_i^k over bins.

    Parameters
    ----------
    k : int
        The power, at least 1.

    Raises
    ------
    ParameterError
        If ``k`` is no integer or below 1.

    Examples
    --------
    The square of a noisy count exceeds the square of the count by the noise
    variance, on average:

    >>> from dpframe.estimands import debias, power_sum
    >>> e = debias([100], power_sum(2), epsilon=1.0)
    >>> e.plug_in - e.value  # 2c, the noise variance
    1.84134...
    """
    power = _at_least_one(k, "power_sum")
    return separable(
        lambda x: _exact_if_large(x, power) ** power, f"power_sum({power})"
    )


def k_stars(k: int) -> Separable:
    """Make the estimand sum of C(x_i, k): stars with k leaves, x being degrees.

    C(x, k) is the polynomial x(x-1)…(x-k+1)/k!, also at negative x of the domain
    "integers".

    Parameters
    ----------
    k : int
        Leaves of a star, at least 1.

    Raises
    ------
    ParameterError
        If ``k`` is no integer or below 1.

    Notes
    -----
    .. admonition:: Privacy

       Where every node releases its own degree with noise 1/epsilon, an edge is
       protected by epsilon against whoever sees one of its ends, and by 2 epsilon
       against whoever sees both: it is in two lists. Nodes are not protected.

    Examples
    --------
    >>> from dpframe.estimands import debias, k_stars
    >>> debias([5, 1, 3], k_stars(2), epsilon=1.0).plug_in
    13.0
    """
    leaves = _at_least_one(k, "k_stars")
    return separable(lambda x: _binomial(x, leaves), f"k_stars({leaves})")


def _binomial(x: npt.NDArray[Any], k: int) -> npt.NDArray[Any]:
    x = _exact_if_large(x, k)
    product = x
    for j in range(1, k):
        product = product * (x - j)
    factorial = math.factorial(k)
    return product // factorial if x.dtype == object else product / factorial


def _exact_if_large(x: npt.NDArray[Any], power: int) -> npt.NDArray[Any]:
    """Turn to Python ints where a power of k factors would not be exact in floats."""
    largest = int(np.abs(x).max(initial=0)) + power
    return x.astype(np.int64).astype(object) if largest**power > 2**53 else x


def _at_least_one(k: int, name: str) -> int:
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        msg = f"{name} needs an integer k >= 1, for example {name}(2); got {shown(k)}."
        raise ParameterError(msg)
    return int(k)
