"""How many bins hold exactly, or at least, k: the profile of a histogram."""

from __future__ import annotations

import numpy as np

from dpframe.errors import ParameterError, shown
from dpframe.estimands.separable_sums import Separable, separable

__all__ = ["at_least", "profile"]

_LARGEST = 2**53  # counts are compared with it in float64


def profile(k: int) -> Separable:
    """Make the estimand: number of bins whose true count is exactly ``k``.

    The estimate may be negative or above the number of bins. ``profile(0)`` means
    something only if the list of bins is public and includes the empty ones.

    Parameters
    ----------
    k : int
        The count, in rows.

    Raises
    ------
    ParameterError
        If ``k`` is no integer, or beyond 2**53 in size.

    Examples
    --------
    >>> from dpframe.estimands import debias, profile
    >>> e = debias([1, 0, 7, 1, 2], profile(1), epsilon=2.0)
    >>> e.plug_in, e.value > e.plug_in  # some true ones have moved to 0 and 2
    (2.0, True)
    """
    count = _whole(k, "profile")
    return separable(lambda x: x == count, f"profile({count})")


def at_least(k: int) -> Separable:
    """Make the estimand: number of bins whose true count is ``k`` or more.

    Parameters
    ----------
    k : int
        The count, in rows.

    Raises
    ------
    ParameterError
        If ``k`` is no integer, or beyond 2**53 in size.

    Examples
    --------
    >>> from dpframe.estimands import at_least, debias
    >>> debias([1, 0, 7, 1, 2], at_least(5), epsilon=2.0).value
    1.0
    """
    count = _whole(k, "at_least")
    return separable(lambda x: x >= count, f"at_least({count})")


def _whole(k: int, name: str) -> int:
    whole = isinstance(k, (int, np.integer)) and not isinstance(k, bool)
    if not whole or abs(int(k)) > _LARGEST:
        msg = (
            f"{name} needs an integer up to 2**53, for example {name}(1); got "
            f"{shown(k)}."
        )
        raise ParameterError(msg)
    return int(k)
