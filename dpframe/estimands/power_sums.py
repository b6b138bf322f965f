"""Power sums and star counts: polynomials of each count, added up."""

from __future__ import annotations

import numpy as np

from dpframe.errors import ParameterError, shown
from dpframe.estimands.separable_sums import Separable
from dpframe.estimands.smooth_functions import UnivariatePolynomial

__all__ = ["MOST_POWER", "as_power", "k_stars", "power_sum"]

MOST_POWER = 1_000


def power_sum(k: int) -> Separable:
    """Make the estimand sum of x_i^k over bins.

    Parameters
    ----------
    k : int
        The power, 1 to 1,000.

    Raises
    ------
    ParameterError
        If ``k`` is no integer, below 1 or above 1,000.

    Examples
    --------
    The square of a noisy count exceeds the square of the count by the noise
    variance, on average:

    >>> from dpframe.estimands import debias, power_sum
    >>> e = debias([100], power_sum(2), epsilon=1.0)
    >>> e.plug_in - e.value  # 2c, the noise variance
    1.84134...
    """
    power = as_power(k, "power_sum")
    return Separable(UnivariatePolynomial.power(power), f"power_sum({power})")


def k_stars(k: int) -> Separable:
    """Make the estimand sum of C(x_i, k): stars with k leaves, x being degrees.

    C(x, k) is the polynomial x(x-1)…(x-k+1)/k!, also at negative x of the domain
    "integers".

    Parameters
    ----------
    k : int
        Leaves of a star, 1 to 1,000.

    Raises
    ------
    ParameterError
        If ``k`` is no integer, below 1 or above 1,000.

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
    leaves = as_power(k, "k_stars")
    return Separable(UnivariatePolynomial.binomial(leaves), f"k_stars({leaves})")


def as_power(k: int, name: str) -> int:
    """Read a power, or raise `ParameterError` in the name of the estimand."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        msg = f"{name} needs an integer k >= 1, for example {name}(2); got {shown(k)}."
        raise ParameterError(msg)
    if k > MOST_POWER:
        msg = f"{name} needs k <= {MOST_POWER:,}: beyond, powers of 2 leave float64."
        raise ParameterError(msg)
    return int(k)
