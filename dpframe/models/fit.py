"""From noisy marginals on a domain to the `Distribution` that fits them best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from dpframe.domain.domain import Domain
from dpframe.errors import ParameterError, shown
from dpframe.models.distribution import Distribution, axis_sizes
from dpframe.models.measurements import Measurement, as_measurement, estimate_total
from dpframe.models.mirror_descent import fit_beliefs
from dpframe.models.table import Sizes

__all__ = ["fit"]

# The exact minimum is wanted here: steps are extrapolated from so many earlier ones.
_MEMORY = 8
_ITERATIONS = 1000
_TOLERANCE = 1e-12


def fit(
    domain: Domain,
    measurements: Iterable[tuple[Sequence[str], ArrayLike, float]],
    total: float | None = None,
    *,
    prior: Distribution | None = None,
    iterations: int = _ITERATIONS,
) -> Distribution:
    """Fit a distribution to noisy marginals.

    Minimizes sum |N M p - y|² / (2 variance) over distributions p, where M sums p over
    the cells of a marginal. The marginals measured are unique; the rest is of maximum
    entropy, or as near to ``prior`` in relative entropy as they allow.

    Parameters
    ----------
    domain : Domain
        The public cells. A junction tree over the measured columns must fit into
        2**19 cells, or all of the domain into 2**22.
    measurements : list of (columns, values, variance)
        Noisy counts of every cell over the columns, last column fastest, with the
        variance of the noise in each. As they came: not clipped, not normalized, for a
        negative count carries information and clipping biases upwards. No columns: one
        count of all rows. A marginal measured again is averaged by inverse variance.
    total : float, optional
        N if it is public; the inverse-variance mean of the sums if not given.
    prior : Distribution, optional
        Where the measurements say nothing; uniform if not given.
    iterations : int
        At most so many steps.

    Returns
    -------
    Distribution
        With ``total`` N.

    Raises
    ------
    DomainError
        If a column is not declared or has no cells, or the tree is too large; the
        message names the columns to coarsen.
    ParameterError
        If a measurement does not have one number for each cell, there is none, or an
        argument is wrong.

    References
    ----------
    .. [1] McKenna, Sheldon and Miklau (2019), Graphical-model based estimation and
       inference for differential privacy.

    Examples
    --------
    >>> from dpframe import Domain
    >>> from dpframe.multiplicative_weights import fit
    >>> domain = Domain({"a": [0, 1], "b": [0, 1], "c": [0, 1]})
    >>> p = fit(domain, [(["a", "b"], [31, -2, 29, 42], 8), (["c"], [52, 49], 2)])
    >>> bool(p.marginal("a", "b").min() >= 0)
    True
    >>> round(p.total, 2)
    100.89
    """
    sizes = axis_sizes(domain)
    read = [_read(domain, sizes, given) for given in measurements]
    if not read and total is None:
        msg = (
            "there is nothing to fit to: give measurements as (columns, values, "
            "variance), such as (['sex'], [40, 60], 2.0)."
        )
        raise ParameterError(msg)
    if prior is not None and prior.domain != domain:
        msg = "prior is a distribution over another domain; give one over this."
        raise ParameterError(msg)
    if total is not None and not 0 < total < float("inf"):
        msg = f"total is a positive number of rows; got {shown(total)}."
        raise ParameterError(msg)
    rows = estimate_total(read) if total is None else float(total)
    found = fit_beliefs(
        sizes,
        read,
        total=rows,
        prior=None if prior is None else prior.beliefs,
        iterations=iterations,
        tolerance=_TOLERANCE,
        memory=_MEMORY,
    )
    return Distribution.of(domain, found.beliefs, rows)


def _read(domain: Domain, sizes: Sizes, given: Any) -> Measurement:
    if not isinstance(given, (tuple, list)) or len(given) != 3:
        msg = (
            "a measurement is (columns, values, variance), such as (['sex'], [40, 60], "
            f"2.0); got {shown(given)}."
        )
        raise ParameterError(msg)
    columns, values, variance = given
    names = [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        domain.kind(name)  # refuses one that is not declared
    if len(set(names)) < len(names):
        msg = f"a measurement names each column once; got {shown(names)}."
        raise ParameterError(msg)
    return as_measurement(sizes, names, values, variance)
