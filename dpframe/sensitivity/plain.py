"""Sensitivities of a statistic at given data: arrays in, no session, no charge.

Everything here tells about the data themselves. On private data none of it may be
published, printed or logged, and noise of scale `local` is not private at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpframe.errors import ParameterError, shown
from dpframe.noise.law import Floats
from dpframe.privacy.amounts import Amount
from dpframe.sensitivity.catalog import StatisticLike, as_statistic
from dpframe.sensitivity.mode import mode_distance, read_counts
from dpframe.sensitivity.profile import Profile

__all__ = ["distance", "evaluate", "local", "profile", "profile_of", "smooth"]


def profile(
    values: ArrayLike,
    statistic: StatisticLike,
    *,
    bounds: Any = None,
    neighboring: str,
    k_max: int,
) -> Floats:
    """Private unless the data are public: return A(0), ..., A(k_max).

    A(k) is the greatest local sensitivity among all data within k changes of these, or
    an upper bound of it with A_X(k) <= A_Y(k + 1) for all neighbors X, Y.

    Parameters
    ----------
    values : array_like
        Finite numbers, shape (n,), in any order; they are clamped to the bounds. For
        "closest_pair" also points, shape (n, 2); for "triangles" a symmetric matrix of
        zeros and ones; for "count" anything flat.
    statistic : str or tuple
        "median", "iqr", "variance", "mean", "sum", "count", "closest_pair",
        "triangles", ("quantile", q), ("order", rank), or ("trimmed_mean", trim) with
        rows, or a share of them, off each end.
    bounds : tuple
        Public (lower, upper), in the unit of the values; never taken from them. For
        points one pair, or one for each coordinate. Not for "count" and "triangles".
    neighboring : {"add_remove", "replace", "edge"}
        Neighbors have one record more or less, another record, or one edge more or
        less. Under "replace" the number of values is public.
    k_max : int
        Changes.

    Returns
    -------
    ndarray of float64, shape (k_max + 1,)
        Non-decreasing, in the unit of the statistic.

    Raises
    ------
    ParameterError
        For arguments that are no such thing, and where no profile of this statistic is
        proved under this relation.

    References
    ----------
    .. [1] Nissim, Raskhodnikova and Smith (2007), Smooth sensitivity and sampling in
       private data analysis, definition 3.1.
    .. [2] docs/proofs/sensitivity.

    Examples
    --------
    >>> from dpframe import sensitivity
    >>> ages = [31, 44, 45, 47, 62]
    >>> sensitivity.profile(
    ...     ages, "median", bounds=(0, 120), neighboring="replace", k_max=3
    ... )
    array([ 2., 17., 75., 76.])
    """
    if isinstance(k_max, bool) or not isinstance(k_max, (int, np.integer)) or k_max < 0:
        msg = f"k_max must be a whole number, not negative; got {shown(k_max)}."
        raise ParameterError(msg)
    found = profile_of(values, statistic, bounds=bounds, neighboring=neighboring)
    return found.at(np.arange(k_max + 1))


def local(
    values: ArrayLike,
    statistic: StatisticLike,
    *,
    bounds: Any = None,
    neighboring: str,
) -> float:
    """Private unless the data are public: return A(0), the local sensitivity.

    How far one change of these very data can move the statistic, or an upper bound
    where the profile is one. Noise of this scale protects nobody: the scale itself
    tells of the data. Parameters and errors are those of `profile`.

    Examples
    --------
    >>> from dpframe import sensitivity
    >>> sensitivity.local([3, 4, 9], "median", bounds=(0, 10), neighboring="add_remove")
    1.0
    """
    found = profile_of(values, statistic, bounds=bounds, neighboring=neighboring)
    return found.local


def smooth(
    values: ArrayLike,
    statistic: StatisticLike,
    *,
    bounds: Any = None,
    neighboring: str,
    beta: Amount,
) -> float:
    """Private unless the data are public: return the beta-smooth sensitivity.

    The maximum of exp(-beta k) A(k) over k: at least the local sensitivity, and between
    neighbors within a factor of exp(beta). It is the exact formula, rounded as floats
    are: a mechanism adds its own margin. Other parameters and errors are those of
    `profile`.

    Parameters
    ----------
    beta : number
        Above 0, and chosen before the data are seen.

    Notes
    -----
    Linear time once the values are sorted, for order statistics, the IQR and the mean.

    References
    ----------
    .. [1] Nissim, Raskhodnikova and Smith (2007), definition 2.2 and lemma 2.3.

    Examples
    --------
    >>> from dpframe import sensitivity
    >>> public = {"bounds": (0, 10), "neighboring": "add_remove"}
    >>> sensitivity.smooth([3, 4, 9], "median", beta=0.1, **public)
    7.408...
    """
    found = profile_of(values, statistic, bounds=bounds, neighboring=neighboring)
    return found.smooth(beta)


def distance(
    values: ArrayLike,
    statistic: StatisticLike,
    *,
    bounds: Any = None,
    neighboring: str,
    bound: Amount | None = None,
) -> float:
    """Private unless the data are public: return the distance of a PTR test.

    In propose-test-release, the fewest changes after which the sensitivity may pass the
    proposed bound: the least k with A(k) > bound. It moves by 1 at most between
    neighbors. Other parameters and errors are those of `profile`.

    Parameters
    ----------
    statistic : str or tuple
        Those of `profile`, or "mode": then ``values`` are the rows of each label, for
        all labels in a public order, and the distance is to another winner.
    bound : number
        The proposed sensitivity, above 0, public. Not for "mode".

    Returns
    -------
    int or inf
        Infinity where no data pass the bound.

    References
    ----------
    .. [1] Dwork and Lei (2009), Differential privacy and robust statistics, section 4.

    Examples
    --------
    >>> from dpframe import sensitivity
    >>> public = {"bounds": (0, 10), "neighboring": "add_remove"}
    >>> sensitivity.distance([3, 4, 5, 6, 7], "median", bound=3, **public)
    3
    >>> sensitivity.distance([37, 29, 19, 4], "mode", neighboring="replace")
    4
    """
    if isinstance(statistic, str) and statistic == "mode":
        if bound is not None:
            msg = "mode has no bound: leave bound= out."
            raise ParameterError(msg)
        return mode_distance(read_counts(values), neighboring)
    if bound is None:
        msg = "distance needs bound=, the sensitivity that is proposed."
        raise ParameterError(msg)
    found = profile_of(values, statistic, bounds=bounds, neighboring=neighboring)
    return found.distance(bound)


def evaluate(
    values: ArrayLike, statistic: StatisticLike, *, bounds: Any = None
) -> float:
    """Private unless the data are public: return the statistic itself.

    The function of the clamped values whose sensitivity the others tell: lower median,
    quantile of rank max(1, ⌈q n⌉), variance with 1/n. Of no values: the lower bound for
    the median, quantiles and means, the diameter for the closest pair, else 0.

    Examples
    --------
    >>> from dpframe import sensitivity
    >>> sensitivity.evaluate([3, 4, 9, 700], "median", bounds=(0, 10))
    4
    >>> sensitivity.evaluate([], ("trimmed_mean", 0.1), bounds=(18, 90))
    18.0
    """
    chosen = as_statistic(statistic)
    return chosen.value(chosen.read(values, bounds))


def profile_of(
    values: ArrayLike, statistic: StatisticLike, *, bounds: Any, neighboring: str
) -> Profile:
    """Private unless the data are public: return the `Profile` at given values."""
    chosen = as_statistic(statistic)
    return chosen.profile(chosen.read(values, bounds), neighboring)
