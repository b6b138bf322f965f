"""`compare`: what each kind of sensitivity makes of one public data set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from dpframe.display.column import Column
from dpframe.display.report import Report
from dpframe.display.svg import bars
from dpframe.display.text import show
from dpframe.errors import ParameterError, shown
from dpframe.noise.law import as_positive
from dpframe.privacy.amounts import Amount, as_fraction
from dpframe.sensitivity.catalog import StatisticLike, as_statistic
from dpframe.sensitivity.picture import draw_sizes
from dpframe.sensitivity.profile import Profile
from dpframe.sensitivity.public import PublicFrame
from dpframe.sensitivity.stability import ptr_pass_probability, stability_threshold

__all__ = ["Comparison", "compare"]

_SHARE = Fraction(3, 10)  # of epsilon that becomes beta, as in the mechanism
_USUALLY = Fraction(1, 20)  # chance of a refusal at the bound that is chosen here
_FRAMES = ("pandas", "polars", "pyarrow", "narwhals", "duckdb", "pyspark", "dask")


@final
@dataclass(frozen=True, repr=False)
class Comparison:
    """Sensitivities of one statistic at public data; made by `compare`.

    Parameters
    ----------
    statistic, neighboring : str
        What is compared.
    value : float
        The statistic of the clamped data.
    epsilon, beta : float
        The budget, and 0.3 of it.
    global_sensitivity : float
        Over all data in the bounds (under "replace", of this size).
    local_sensitivity : float
        A(0), an upper bound unless `exact_local` is equal to it.
    exact_local : float or None
        The local sensitivity itself, where it is known.
    smooth_sensitivity : float
        At `beta`.
    delta : float or None
        Of propose-test-release; None leaves the next three out.
    ptr_bound : float or None
        The bound that is proposed.
    ptr_distance : int, inf or None
        Changes within which it surely holds.
    ptr_pass_probability : float or None
        With half of epsilon for the test.
    """

    statistic: str
    neighboring: str
    value: float
    epsilon: float
    beta: float
    global_sensitivity: float
    local_sensitivity: float
    exact_local: float | None
    smooth_sensitivity: float
    delta: float | None = None
    ptr_bound: float | None = None
    ptr_distance: float | None = None
    ptr_pass_probability: float | None = None

    @property
    def sizes(self) -> dict[str, float]:
        """The sensitivities by their names, in the unit of the statistic."""
        exact = self.exact_local == self.local_sensitivity
        named = {
            "global": self.global_sensitivity,
            f"smooth, beta = {self.beta:.3g}": self.smooth_sensitivity,
            "local" if exact else "local, at most": self.local_sensitivity,
        }
        return named if self.ptr_bound is None else {**named, "PTR": self.ptr_bound}

    def plot(self, ax: Any = None) -> Any:
        """Draw the sensitivities beside each other, on a logarithmic axis.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        matplotlib Axes
            ``.figure.savefig("comparison.png")`` writes it to a file.

        Raises
        ------
        ImportError
            If there is no matplotlib: ``pip install 'dpframe[plot]'``.
        """
        return draw_sizes(self.sizes, self._title, self._notes, ax)

    @property
    def _title(self) -> str:
        return f"sensitivity of {self.statistic}, {self.neighboring}"

    @property
    def _notes(self) -> tuple[str, ...]:
        notes = [f"statistic = {show(self.value)}, epsilon = {self.epsilon:.6g}"]
        if self.delta is not None:
            notes += [
                f"PTR: {show(self.ptr_distance)} changes until its bound may fail",
                f"PTR releases with probability {self.ptr_pass_probability:.3g}, "
                f"delta = {self.delta:.6g}",
            ]
        return (*notes, "local sensitivity is no noise scale: it tells of the data")

    def _report(self) -> Report:
        sizes = list(self.sizes.values())
        drawings = bars(sizes, sizes, sizes)
        table = (
            Column("", tuple(self.sizes), left=True),
            Column("sensitivity", tuple(map(show, sizes)), drawings=tuple(drawings)),
        )
        return Report(self._title, table, self._notes)

    def __repr__(self) -> str:
        return self._report().text()

    def _repr_html_(self) -> str:
        return self._report().html()


def compare(
    values: Any,
    statistic: StatisticLike,
    *,
    bounds: Any = None,
    epsilon: Amount,
    neighboring: str,
    delta: Amount | None = None,
    bound: Amount | None = None,
    column: str | Sequence[str] | None = None,
) -> Comparison:
    """Private unless the data are public: compare the kinds of sensitivity.

    Takes an array, or a frame that was marked with `public`; a frame of a library is
    refused, since it may be private. The result prints as a table, and draws itself
    with ``.plot()``.

    Parameters
    ----------
    values : array_like or PublicFrame
        As in `profile`.
    statistic, bounds, neighboring
        As in `profile`.
    epsilon : number
        Of the release that is imagined; smooth sensitivity is taken at 0.3 epsilon.
    delta : number, optional
        Compare propose-test-release too, with half of epsilon for its test.
    bound : number, optional
        What it proposes; by default the least A(k) whose test passes in 95 % of all
        runs, which only somebody who knows the data can choose.
    column : str or sequence of str, optional
        The column of a public frame, several for points.

    Returns
    -------
    Comparison
        Plain numbers.

    Raises
    ------
    ParameterError
        As in `profile`, and for frames not marked public.

    Examples
    --------
    >>> from dpframe import sensitivity
    >>> seen = sensitivity.compare(
    ...     range(20, 71),
    ...     "median",
    ...     bounds=(0, 120),
    ...     epsilon=1,
    ...     neighboring="add_remove",
    ... )
    >>> seen.global_sensitivity, seen.local_sensitivity, seen.smooth_sensitivity
    (120.0, 1.0, 1.646...)
    """
    chosen = as_statistic(statistic)
    data = chosen.read(_numbers(values, column), bounds)
    profile = chosen.profile(data, neighboring)
    amount = as_positive(epsilon, "epsilon")
    test = (None,) * 4 if delta is None else _test(profile, amount / 2, delta, bound)
    return Comparison(
        chosen.name,
        neighboring,
        chosen.value(data),
        float(amount),
        float(_SHARE * amount),
        profile.limit,
        profile.local,
        profile.exact_local,
        profile.smooth(_SHARE * amount),
        *test,
    )


def _test(
    profile: Profile, epsilon: Fraction, delta: Amount, bound: Amount | None
) -> tuple[float, float, float, float]:
    """Return delta, the bound, its distance and the probability of a release."""
    most = as_fraction(delta, "delta")
    ptr_pass_probability(0, epsilon, most)  # delta is checked before it is used
    if bound is None:
        steps = stability_threshold(epsilon, most)
        steps += stability_threshold(epsilon, _USUALLY)
        proposed = Fraction(float(profile.at(steps)))
    else:
        proposed = as_positive(bound, "bound")
    far = profile.distance(proposed) if proposed else math.inf
    passes = ptr_pass_probability(far, epsilon, most)
    return float(most), float(proposed), far, passes


def _numbers(values: Any, column: str | Sequence[str] | None) -> Any:
    if isinstance(values, PublicFrame):
        return values.numbers(column)
    if type(values).__module__.split(".")[0] in _FRAMES:
        msg = (
            f"compare shows what is private of {shown(values)}. If its contents are "
            "public, mark its frame: compare(dpf.public(frame), ..., column='age')."
        )
        raise ParameterError(msg)
    if column is not None:
        msg = "column= is for a frame marked by dpf.public(frame)."
        raise ParameterError(msg)
    return values
