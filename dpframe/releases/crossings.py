"""`Crossings`: which answers passed a threshold, and what follows from it.

An answer q passed by branch j with ``excess`` steps: with s = 1 (or -1 for "below"),

    s·q + nu - rho = excess + bar_j,        bar_j = ⌈s·T + shift_j + margin_j⌉,

all in grid steps. As E[nu - rho] = shift_j, the gap excess + bar_j - s·T - shift_j
estimates s·(q - T), before selection without bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpframe.errors import ParameterError
from dpframe.noise.threshold import ThresholdNoise
from dpframe.privacy.amounts import Amount
from dpframe.queries.threshold import Threshold

__all__ = ["Crossings"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Crossings:
    """The public outcome of comparing answers with a noisy threshold, in order.

    Parameters
    ----------
    noise : ThresholdNoise
        The calibrated noise, in grid steps.
    threshold : Threshold
        What answers were compared with.
    indices : ndarray of int64, shape (n,)
        Positions of the answers that passed.
    branches : ndarray of int64, shape (n,)
        By which of ``noise.branches`` each of them did.
    excess : ndarray of int64, shape (n,), or None
        By how many steps each passed its bar, at least 0; None unless asked for.
    fresh : ndarray of int64, shape (n,), or None
        Those answers once more, in steps, with noise of their own; None unless asked.
    n_examined : int
        How many answers were compared.
    exhausted : bool
        Whether the search ended because no further one could be paid.
    """

    noise: ThresholdNoise
    threshold: Threshold
    indices: Integers
    branches: Integers
    excess: Integers | None
    fresh: Integers | None
    n_examined: int
    exhausted: bool

    @property
    def gaps(self) -> Floats | None:
        """How far beyond the threshold each answer is, in its unit; None unless asked.

        Above it, or below in direction "below"; from the comparison's own noise. Its
        mean over all runs is right, but those that passed had lucky noise: too large.
        """
        if self.excess is None:
            return None
        gaps: Floats = self.excess + self._beyond_bar[self.branches]
        return gaps * float(self.threshold.grid)

    @property
    def values(self) -> NDArray[Any] | None:
        """Fresh noisy answers, unbiased, in their unit; None unless asked.

        Integers (int64, or Python integers where int64 may be too small) on a grid of
        integers, else float64.
        """
        return None if self.fresh is None else self._in_units(self.fresh)

    @property
    def estimates(self) -> NDArray[Any] | None:
        """The best estimate of each answer that passed, in its unit.

        The threshold and the gap; the fresh value; or, where both are there, their
        mean with weights 1/variance. None if neither was asked for.
        """
        gaps, values = self.gaps, self.values
        if gaps is None:
            return values
        by_gap: Floats = float(self.threshold.value) + self.threshold.sign * gaps
        if values is None:
            return by_gap
        of_gap, of_value = self._gap_variances, self._value_variance
        total = of_gap + of_value
        weight = np.divide(of_gap, total, out=np.ones_like(total), where=total > 0)
        return by_gap + weight * (values.astype(np.float64) - by_gap)

    @property
    def errors(self) -> Floats:
        """The standard error of each estimate, selection left out.

        Raises
        ------
        ParameterError
            If neither gaps nor values were asked for.
        """
        self._require_estimates()
        if self.fresh is None:
            variances = self._gap_variances
        elif self.excess is None:
            variances = np.full(len(self.indices), self._value_variance)
        else:
            total = self._gap_variances + self._value_variance
            parts = self._gap_variances * self._value_variance
            variances = np.divide(parts, total, out=total * 0, where=total > 0)
        return np.sqrt(variances) * float(self.threshold.grid)

    def bounds(
        self, queries: int, level: Amount = 0.95
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return ends of an interval for each true answer that passed, in its unit.

        Fresh values: the exact interval of their noise, for each answer. Gaps alone:
        that of the noise of all ``queries`` answers at once, so that it does not matter
        which of them passed.

        Raises
        ------
        ParameterError
            If neither gaps nor values were asked for; unless 0 < level < 1.
        """
        self._require_estimates()
        if self.fresh is not None:
            law = self.noise.fresh
            assert law is not None
            low, high = law.interval(level)
            steps = self.fresh.astype(object)
            return self._in_units(steps + low), self._in_units(steps + high)
        assert self.excess is not None
        rho, nus = self.noise.spans(queries, level)
        compared = self.excess.astype(object) + self._bars[self.branches]
        least, most = (np.array(ends, dtype=object) for ends in zip(*nus, strict=True))
        low = compared - most[self.branches] + rho[0]
        high = compared - least[self.branches] + rho[1]
        if self.threshold.sign < 0:
            low, high = -high, -low
        return self._in_units(low), self._in_units(high)

    def __repr__(self) -> str:
        gaps, values = self.gaps, self.values
        parts = [
            f"indices={self.indices.tolist()}",
            *([] if gaps is None else [f"gaps={gaps.tolist()}"]),
            *([] if values is None else [f"values={values.tolist()}"]),
            f"n_examined={self.n_examined}",
            f"exhausted={self.exhausted}",
        ]
        return f"Crossings({', '.join(parts)})"

    def _require_estimates(self) -> None:
        if self.excess is None and self.fresh is None:
            msg = (
                "only the positions of answers were released, no estimates. Ask with "
                "gap=True, which is free, or values=True."
            )
            raise ParameterError(msg)

    @property
    def _bars(self) -> NDArray[Any]:
        """The bar of each branch in steps, as Python integers."""
        steps, noise = self.threshold.steps, self.noise
        bars = [noise.bar(branch, steps) for branch in noise.branches]
        return np.array(bars, dtype=object)

    @property
    def _beyond_bar(self) -> Floats:
        """How far each bar is beyond threshold and shift: rounding and margin."""
        steps, noise = self.threshold.steps, self.noise
        rest = [
            noise.bar(branch, steps) - steps - noise.shift(branch)
            for branch in noise.branches
        ]
        return np.array([float(r) for r in rest])

    @property
    def _gap_variances(self) -> Floats:
        """Variance behind each gap, in squared steps."""
        each = [self.noise.gap_variance(branch) for branch in self.noise.branches]
        return np.array(each)[self.branches]

    @property
    def _value_variance(self) -> float:
        """Variance of a fresh value, in squared steps."""
        assert self.noise.fresh is not None
        return self.noise.fresh.variance

    def _in_units(self, steps: NDArray[Any]) -> NDArray[Any]:
        """Return grid steps in the unit of the answers."""
        grid = self.threshold.grid
        if grid == 1:
            return steps.copy()
        if grid.denominator == 1:
            return steps.astype(object) * grid.numerator
        return steps.astype(np.float64) * float(grid)
