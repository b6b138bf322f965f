"""The noise of sparse vector technique: how one epsilon is split, and what follows.

One run draws rho once and a fresh nu for each query, of one family; query i is above if

    q_i + nu_i - rho >= T + shift,      rho ~ N(Δ/ε₁),   nu ~ N(m·c·Δ/ε₂),

for a query sensitivity Δ, at most c positive answers, and m = 1 for monotone queries,
else 2. ``shift`` = E[nu] - E[rho] is public: it recenters the one-sided family. Every
variant is a setting of this: several *branches* (of different noise and price) make it
adaptive, several *runs* refresh rho after each positive answer.

Guarantee: ε₁ + ε₂ for the comparisons of a run, whatever the number of queries.
Proof and sources: docs/proofs/sparse_vector.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, NamedTuple, final, get_args

from dpframe.errors import ParameterError, shown
from dpframe.noise.geometric import Geometric
from dpframe.noise.laplace import DiscreteLaplace
from dpframe.noise.law import as_positive
from dpframe.privacy.amounts import Amount, as_fraction
from dpframe.privacy.loss import PrivacyLoss

__all__ = [
    "Accuracy",
    "Branch",
    "Family",
    "Spans",
    "ThresholdNoise",
    "read_family",
    "read_ratio",
]

Family = Literal["geometric", "laplace"]
Law = Geometric | DiscreteLaplace

_DIGITS = 10**12  # of an irrational share of epsilon, rounded down


class Branch(NamedTuple):
    """One way for an answer to be above: its noise, its margin and what it costs.

    ``margin`` is in grid steps above the threshold; ``price`` in credits, of which
    there are `ThresholdNoise.credit`.
    """

    name: str
    law: Law
    price: int
    margin: Fraction


class Accuracy(NamedTuple):
    """Where answers are surely right, as offsets from the threshold, in grid steps.

    With the stated chance no answer below ``T + low`` is called above, and none from
    ``T + high`` on is called below, among all queries at once.
    """

    low: float
    high: float


class Spans(NamedTuple):
    """Where rho lies, and the nu of each branch: least and greatest grid step."""

    threshold: tuple[int, int]
    branches: tuple[tuple[int, int], ...]


@final
@dataclass(frozen=True)
class ThresholdNoise:
    """The calibrated noise of one sparse vector request; public, known beforehand.

    Parameters
    ----------
    epsilon : Fraction
        For everything: comparisons and fresh values.
    sensitivity : int
        Δ: how far one privacy unit moves any single answer, in grid steps.
    max_above : int
        c: positive answers at most.
    monotonic : bool
        Whether all answers move the same way between neighbors.
    family : {"geometric", "laplace"}
        One-sided geometric, or discrete Laplace noise.
    ratio : Fraction
        ε₂/ε₁, as read by `read_ratio`.
    values : int or None
        L1 sensitivity, in steps, of the fresh values that half of epsilon buys: c·Δ,
        or less over disjoint keys. None for no values, as always if adaptive: there may
        be more than c positive answers.
    refresh : bool
        c runs with one positive answer each, in place of one run with c.
    adaptive : bool
        Clear positive answers cost half of the others.
    margin : Fraction or None
        What "clear" is: grid steps above the threshold; None is two standard
        deviations of that branch's noise.
    concentrated : bool
        Charged as zCDP, where c runs of ε/√c cost what one of ε does.
    """

    epsilon: Fraction
    sensitivity: int
    max_above: int = 1
    monotonic: bool = False
    family: Family = "geometric"
    ratio: Fraction = Fraction(1)
    values: int | None = None
    refresh: bool = False
    adaptive: bool = False
    margin: Fraction | None = None
    concentrated: bool = False

    def __post_init__(self) -> None:
        if self.refresh and self.adaptive:
            msg = "refresh=True is for sparse_vector; the adaptive form has one run."
            raise ParameterError(msg)
        if self.values is not None and self.adaptive:
            msg = (
                "values=True is for sparse_vector: its noise is for max_above values, "
                "and the adaptive form may find up to 2·max_above - 1 answers. Ask "
                "with gap=True, which is free."
            )
            raise ParameterError(msg)
        _ = self.threshold, self.branches, self.fresh  # scales that do not fit: now

    # -- the split of epsilon ------------------------------------------------------

    @property
    def epsilon_values(self) -> Fraction:
        """ε₃: the share of fresh values."""
        return Fraction(0) if self.values is None else self.epsilon / 2

    @cached_property
    def epsilon_run(self) -> Fraction:
        """ε₁ + ε₂: what the comparisons of one run cost."""
        whole = self.epsilon - self.epsilon_values
        if self.runs == 1:
            return whole
        return _over_root(whole, self.runs) if self.concentrated else whole / self.runs

    @property
    def epsilon_threshold(self) -> Fraction:
        """ε₁: the share of rho in one run."""
        return self.epsilon_run / (1 + self.ratio)

    @property
    def epsilon_query(self) -> Fraction:
        """ε₂: the share of all the nu of one run; exactly what ε₁ leaves."""
        return self.epsilon_run - self.epsilon_threshold

    @property
    def runs(self) -> int:
        """How many times rho is drawn, at most."""
        return self.max_above if self.refresh else 1

    @property
    def loss(self) -> PrivacyLoss:
        """The whole charge: epsilon, or rho where zCDP holds more exactly.

        The loss of monotone queries lies in an interval of width ε₁ + 2ε₂, hence
        ρ = (ε₁ + 2ε₂)²/8 (bounded range); of others within ±(ε₁ + ε₂).
        """
        if not self.concentrated:
            return PrivacyLoss(self.epsilon)
        one, two = self.epsilon_threshold, self.epsilon_query
        if self.monotonic and not self.adaptive:
            comparisons = (one + 2 * two) ** 2 / 8
        else:
            comparisons = (one + two) ** 2 / 2
        return PrivacyLoss(rho=self.runs * comparisons + self._rho_of_values)

    @property
    def _rho_of_values(self) -> Fraction:
        """C values at c·Δ/ε₃ cost ε₃²/(2c); over disjoint keys one may carry it all."""
        whole = self.epsilon_values**2 / 2
        at_full_scale = self.values == self.max_above * self.sensitivity
        return whole / self.max_above if at_full_scale else whole

    # -- the laws ------------------------------------------------------------------

    @cached_property
    def threshold(self) -> Law:
        """The law of rho."""
        return self._law(self.sensitivity / self.epsilon_threshold)

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """The ways to be above, the clearest first."""
        each = self.epsilon_query / (1 if self.refresh else self.max_above)
        moved = self.sensitivity if self.monotonic else 2 * self.sensitivity
        usual = self._law(moved / each)
        if not self.adaptive:
            return (Branch("above", usual, 1, Fraction(0)),)
        clear = self._law(2 * moved / each)
        margin = Fraction(2 * clear.std) if self.margin is None else self.margin
        return (
            Branch("clear", clear, 1, margin),
            Branch("near", usual, 2, Fraction(0)),
        )

    @property
    def credit(self) -> int:
        """What positive answers may cost together, in the price of branches."""
        return self.max_above * max(branch.price for branch in self.branches)

    @cached_property
    def fresh(self) -> DiscreteLaplace | None:
        """The law of the noise of fresh values: never that of the comparison."""
        if self.values is None:
            return None
        return DiscreteLaplace(self.values / self.epsilon_values)

    def _law(self, scale: Fraction) -> Law:
        return (
            Geometric(scale) if self.family == "geometric" else DiscreteLaplace(scale)
        )

    @property
    def scales(self) -> dict[str, Fraction]:
        """Scales by name, in steps: threshold, queries (or each branch), values."""
        found = {"threshold": self.threshold.scale}
        for branch in self.branches:
            found[branch.name if self.adaptive else "queries"] = branch.law.scale
        return found if self.fresh is None else {**found, "values": self.fresh.scale}

    # -- what follows from them ----------------------------------------------------

    def shift(self, branch: Branch) -> Fraction:
        """Return E[nu] - E[rho] in grid steps: a public constant."""
        return Fraction(_mean(branch.law) - _mean(self.threshold))

    def bar(self, branch: Branch, threshold: Fraction) -> int:
        """Return the least integer that q + nu - rho must reach.

        Parameters
        ----------
        branch : Branch
            One of `branches`.
        threshold : Fraction
            T in grid steps, not rounded.
        """
        return math.ceil(threshold + self.shift(branch) + branch.margin)

    def gap_variance(self, branch: Branch) -> float:
        """Return Var(nu) + Var(rho), in squared steps: the variance behind a gap."""
        return branch.law.variance + self.threshold.variance

    def spans(self, queries: int, level: Amount = 0.95) -> Spans:
        """Return where rho and all the nu of ``queries`` lie, with chance ``level``.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1 and there is a query.

        Notes
        -----
        Half of 1 - level goes to rho, half to the nu (union bound); their intervals
        are exact.
        """
        if isinstance(queries, bool) or not isinstance(queries, int) or queries < 1:
            msg = f"the number of queries must be at least 1; got {shown(queries)}."
            raise ParameterError(msg)
        coverage = as_fraction(level, "level")
        if not 0 < coverage < 1:
            msg = f"level must lie between 0 and 1; got {shown(level)}."
            raise ParameterError(msg)
        miss = (1 - coverage) / 2
        each = miss / (queries * len(self.branches))
        return Spans(
            self.threshold.interval(1 - miss / self.runs),
            tuple(branch.law.interval(1 - each) for branch in self.branches),
        )

    def accuracy(self, queries: int, level: Amount = 0.95) -> Accuracy:
        """Return where all of ``queries`` answers are right with chance ``level``.

        Raises
        ------
        ParameterError
            Unless 0 < level < 1 and there is a query.

        Notes
        -----
        By the intervals of `spans`. The logarithm of ``queries`` is in it: the cost is
        free of the number of queries, the error is not.
        """
        rho, nus = self.spans(queries, level)
        lows, highs = [], []
        for branch, nu in zip(self.branches, nus, strict=True):
            center = self.shift(branch) + branch.margin
            lows.append(float(center + rho[0] - nu[1]))
            highs.append(float(center + rho[1] - nu[0]))
        return Accuracy(min(lows), min(highs))

    @property
    def mechanism(self) -> str:
        """The mechanism in words, for the ledger and for releases."""
        noise = "geometric" if self.family == "geometric" else "discrete Laplace"
        form = "adaptive sparse vector" if self.adaptive else "sparse vector"
        refreshed = ", refreshed" if self.refresh else ""
        return f"{form}{refreshed}, {noise} noise"

    def describe(self) -> dict[str, object]:
        """Return the settings as plain JSON values, for ledgers and digests."""
        return {
            "family": self.family,
            "sensitivity": str(self.sensitivity),
            "max_above": self.max_above,
            "monotonic": self.monotonic,
            "ratio": str(self.ratio),
            "values": None if self.values is None else str(self.values),
            "refresh": self.refresh,
            "adaptive": self.adaptive,
            "margin": None if self.margin is None else str(self.margin),
        }


def read_family(noise: object) -> Family:
    """Read ``noise=``.

    Raises
    ------
    ParameterError
        For any other name, None included: there is no run without noise.
    """
    if isinstance(noise, str) and noise in get_args(Family):
        return noise  # type: ignore[return-value]
    msg = (
        "noise must be 'geometric' (one-sided, fewer errors) or 'laplace' (discrete, "
        f"as in textbooks); got {shown(noise)}."
    )
    raise ParameterError(msg)


def read_ratio(ratio: object, aboves: int, *, monotonic: bool) -> Fraction:
    """Read ``ratio=``: ε₂/ε₁, rational, so that no share is ever rounded.

    Parameters
    ----------
    ratio : {"optimal", "even"} or number
        "optimal" minimizes Var(rho - nu): (m·c)^(2/3), to twelve digits.
    aboves : int
        Positive answers of one run, c.
    monotonic : bool
        Whether m is 1.

    Raises
    ------
    ParameterError
        For other names, and for a number that is not positive.
    """
    if isinstance(ratio, str) and ratio == "even":
        return Fraction(1)
    if isinstance(ratio, str) and ratio == "optimal":
        best = (aboves if monotonic else 2 * aboves) ** (2 / 3)
        return Fraction(best).limit_denominator(10**6)
    if isinstance(ratio, str):
        msg = f"ratio must be 'optimal', 'even' or a number; got {shown(ratio)}."
        raise ParameterError(msg)
    return as_positive(ratio, "ratio")  # type: ignore[arg-type]


def _mean(law: Law) -> float:
    return law.mean if isinstance(law, Geometric) else 0.0


def _over_root(whole: Fraction, runs: int) -> Fraction:
    """Return whole/√runs, rounded down at twelve digits or more."""
    scaled = whole.numerator * _DIGITS
    return Fraction(math.isqrt(scaled**2 // runs), whole.denominator * _DIGITS)
