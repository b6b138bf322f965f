"""From the arguments of a sparse vector verb to its calibrated noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from dpframe.errors import ParameterError, shown
from dpframe.noise.threshold import ThresholdNoise, read_family, read_ratio
from dpframe.privacy.amounts import as_fraction
from dpframe.queries.threshold import LARGEST_STEPS

__all__ = ["SparseOptions", "read_max_above"]

_MOST_ABOVE = 2**54  # what they cost together fits int64


@final
@dataclass(frozen=True, slots=True)
class SparseOptions:
    """The options that all sparse vector verbs share, as typed.

    Parameters
    ----------
    max_above : int
        Positive answers at most, c.
    noise : {"geometric", "laplace"}
        Family of the noise.
    ratio : {"optimal", "even"} or number
        ε₂/ε₁.
    gap, values : bool
        What is released beside the indices.
    refresh : {"auto"} or bool
        A new threshold noise after each positive answer; "auto" where it pays: in
        zCDP sessions with ``max_above`` of 2 and more.
    adaptive : bool
        Clear positive answers at half price.
    margin : number, optional
        What "clear" is, in the unit of the answers.
    """

    max_above: object = 1
    noise: object = "geometric"
    ratio: object = "optimal"
    gap: object = False
    values: object = False
    refresh: object = "auto"
    adaptive: object = False
    margin: object = None

    def calibrate(
        self,
        epsilon: Fraction,
        *,
        sensitivity: int,
        monotonic: bool,
        grid: Fraction = Fraction(1),
        l1: int | None = None,
        concentrated: bool = False,
    ) -> ThresholdNoise:
        """Check the options and calibrate the noise.

        Parameters
        ----------
        epsilon : Fraction
            For everything.
        sensitivity : int
            Of any single answer, in grid steps.
        monotonic : bool
            Whether all answers move the same way between neighbors.
        grid : Fraction
            The step of the answers, in their unit.
        l1 : int, optional
            L1 sensitivity of all answers together, in steps, where the cells behind
            them are disjoint.
        concentrated : bool
            Whether the session is charged in rho.

        Raises
        ------
        ParameterError
            For a wrong option, and noise wider than integers can hold.
        """
        aboves = read_max_above(self.max_above)
        for name in ("gap", "values", "adaptive"):
            _read_flag(getattr(self, name), name)
        refresh = self._refreshed(aboves, concentrated=concentrated)
        l1_of_values = aboves * sensitivity
        if l1 is not None:
            l1_of_values = min(l1, l1_of_values)
        return ThresholdNoise(
            epsilon,
            sensitivity,
            aboves,
            monotonic,
            read_family(self.noise),
            read_ratio(self.ratio, 1 if refresh else aboves, monotonic=monotonic),
            l1_of_values if self.values else None,
            refresh,
            bool(self.adaptive),
            self._margin(grid),
            concentrated,
        )

    def _refreshed(self, aboves: int, *, concentrated: bool) -> bool:
        if isinstance(self.refresh, str) and self.refresh == "auto":
            return concentrated and aboves > 1 and not self.adaptive
        return _read_flag(self.refresh, "refresh")

    def _margin(self, grid: Fraction) -> Fraction | None:
        if self.margin is None:
            return None
        margin = as_fraction(self.margin, "margin")
        if margin < 0:
            msg = f"margin must not be negative; got {shown(self.margin)}."
            raise ParameterError(msg)
        if margin / grid > LARGEST_STEPS:
            msg = "margin is beyond 2**60 steps of the grid; no answer comes near it."
            raise ParameterError(msg)
        return margin / grid

    def describe(self) -> dict[str, object]:
        """Return what is released beside the indices, for digests."""
        return {"gap": bool(self.gap), "values": bool(self.values)}


def read_max_above(value: object) -> int:
    """Read ``max_above=``.

    Raises
    ------
    ParameterError
        Unless it is an integer of 1 or more, up to 2**54.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        msg = (
            "max_above must be an integer of 1 or more, fixed before looking; got "
            f"{shown(value)}."
        )
        raise ParameterError(msg)
    if value > _MOST_ABOVE:
        msg = "max_above is beyond 2**54; nobody asks so many queries."
        raise ParameterError(msg)
    return value


def _read_flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        others = " or 'auto'" if name == "refresh" else ""
        msg = f"{name} must be True or False{others}; got {shown(value)}."
        raise ParameterError(msg)
    return value
