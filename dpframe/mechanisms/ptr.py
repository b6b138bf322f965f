"""Propose-test-release: little noise where the data are far from being sensitive.

    propose   a bound B of the sensitivity, public
    test      D + Lap(1/epsilon_test) > t, D the changes within which B surely holds
    release   the statistic + Lap(ceil(B/g)/epsilon_release) on a public grid g,
              or a refusal

D is whole and moves by 1 at most; noise is discrete, and t >= 0 is the least whole
number with p^(t+1)/(1+p) <= delta, p = exp(-epsilon_test). Where neighbors differ by
more than B, D is 0 at both and each passes with probability delta at most. The notes'
test (a noisy count of violating rows against 1/2) has no such D, and a pure epsilon is
never right here.

D is looked at up to t + 45/epsilon_test only, beyond which the test passes anyway: a
public cap, which leaves it a distance. Two true quantities are touched, both in
`PTRRequest.answer`: D, which the noise of the test protects, and, if that passed, the
statistic.

Guarantee: (epsilon_test + epsilon_release, delta); in zCDP half the sum of their
squares, and delta. Source: Dwork and Lei 2009; proof: docs/proofs/propose_test_release.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np

from dpframe.domain.schema import Schema
from dpframe.engines.protocol import Source
from dpframe.errors import ParameterError, shown
from dpframe.mechanisms.noising import add_noise
from dpframe.mechanisms.request import Request, Setting
from dpframe.noise.laplace import DiscreteLaplace
from dpframe.privacy.amounts import as_delta, as_fraction
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Sensitivity
from dpframe.queries.reduction import Multiset
from dpframe.releases.proposed import PTRRelease
from dpframe.releases.receipt import Receipt
from dpframe.releases.rounded import Rounded
from dpframe.releases.tested import StabilityTest
from dpframe.secret import Occurrences, Secret
from dpframe.sensitivity.stability import stability_threshold

__all__ = ["PTRRequest", "Proposal", "passes", "read_test"]

_SURE = 45  # beyond t + 45/epsilon a test fails with probability exp(-45)


@final
@dataclass(frozen=True, slots=True)
class Proposal:
    """What is proposed of one statistic: public, but for what its functions return.

    Parameters
    ----------
    name : str
        The statistic.
    columns : tuple of str
        What it is about.
    query : Multiset
        What the engine is told.
    bound : Any
        The proposed sensitivity, as typed; None if nothing is noised.
    moved : int
        By how many steps of the grid the bound lets the answer move.
    rounded : Rounded
        The grid of the answer; its steps stand for those of a refusal.
    read : callable
        What the engine counted, as data.
    distances : tuple of callable
        The D of each proposal in turn, from the data and a cap; the next one is tried
        where the one before was refused.
    steps : tuple of callable
        The exact answer to each, from the data, in steps of the grid.
    facts : tuple of (str, JSON value)
        All of it for the ledger.
    """

    name: str
    columns: tuple[str, ...]
    query: Multiset
    bound: Any
    moved: int
    rounded: Rounded
    read: Callable[[Occurrences], Any]
    distances: tuple[Callable[[Any, int], int], ...]
    steps: tuple[Callable[[Any], list[int]], ...]
    facts: tuple[tuple[str, object], ...]


def read_test(
    epsilon: Fraction, delta: object, verb: str, *, tests: int = 1
) -> StabilityTest:
    """Calibrate tests that cost epsilon and delta together, equal shares each.

    Raises
    ------
    ParameterError
        Unless delta is above 0 and below 1/2; it warns above 1e-4.
    """
    if delta is None:
        msg = (
            f"{verb} needs a delta, the chance that the test passes where it must not: "
            "give delta=1e-6, or less than one over the number of rows."
        )
        raise ParameterError(msg)
    most = as_delta(delta)
    if not 0 < most < Fraction(1, 2):
        msg = f"delta must be above 0 and below 1/2; got {shown(delta)}."
        raise ParameterError(msg)
    each, chance = epsilon / tests, most / tests
    return StabilityTest(each, chance, stability_threshold(each, chance), tests)


def read_share(test_share: object) -> Fraction:
    """Read the part of epsilon that the test takes."""
    share = as_fraction(test_share, "test_share")
    if not 0 < share < 1:
        msg = (
            "test_share is the part of epsilon that the test takes, above 0 and below "
            f"1, such as 0.5; got {shown(test_share)}."
        )
        raise ParameterError(msg)
    return share


def cap(test: StabilityTest) -> int:
    """Return the distance from which on a test surely passes: public."""
    return test.threshold + math.ceil(_SURE / test.epsilon)


def passes(test: StabilityTest, distance: int) -> bool:
    """Run a test of a true distance, which moves by 1 at most between neighbors."""
    exact = np.array([distance], dtype=np.int64)
    (noisy,) = add_noise((exact,), test.law, Sensitivity(1, 1, 1, 1))
    return bool(noisy[0] > test.threshold)


@final
@dataclass(frozen=True, slots=True)
class PTRRequest(Request[PTRRelease]):
    """One statistic by propose-test-release.

    Parameters
    ----------
    verb : str
        The verb as typed.
    setting : Setting
        Unit, relation and accountant of the session.
    proposal : Proposal
        What is proposed.
    test : StabilityTest
        Loss, delta and threshold of each test.
    epsilon_release : Fraction or None
        Loss of a released number; None where the exact answer is stable.
    schema : Schema
        Of the frame.
    """

    verb: str
    setting: Setting
    proposal: Proposal
    test: StabilityTest
    epsilon_release: Fraction | None
    schema: Schema

    def __post_init__(self) -> None:
        _ = self.law, self.test.law  # a scale that does not fit is refused here

    @property
    def law(self) -> DiscreteLaplace | None:
        """Noise of a released number, in steps of the grid."""
        if self.epsilon_release is None:
            return None
        return DiscreteLaplace(self.proposal.moved / self.epsilon_release)

    @property
    def loss(self) -> PrivacyLoss:  # type: ignore[override]
        """All tests and the release, whatever comes of them."""
        parts = [self.test.epsilon] * self.test.tests
        if self.epsilon_release is not None:
            parts.append(self.epsilon_release)
        delta = self.test.delta * self.test.tests
        if self.setting.accountant.name == "zcdp":
            rho = sum((part**2 for part in parts), Fraction(0)) / 2
            return PrivacyLoss(None, delta, rho)
        return PrivacyLoss(sum(parts, Fraction(0)), delta)

    @property
    def mechanism(self) -> str:
        """The mechanism, in words."""
        return "propose-test-release"

    def describe(self) -> dict[str, object]:
        """Return the call with its defaults filled in."""
        law = self.law
        return {
            "verb": self.verb,
            "mechanism": self.mechanism,
            "loss": self.loss.describe(),
            "test": self.test.describe(),
            "scale": None if law is None else str(law.scale),
            **dict(self.proposal.facts),
            **self.setting.unit.describe(),
            "neighboring": self.setting.neighboring,
        }

    def reduce(self, source: Source) -> Secret[Occurrences]:
        """Ask the engine how often each value occurs."""
        return source.multiset(self.proposal.query)

    def answer(
        self, secret: Secret[Occurrences] | None, receipt: Receipt
    ) -> PTRRelease:
        """Test each proposal in turn; release the answer to the first that passes."""
        assert secret is not None
        proposal, law = self.proposal, self.law
        data = proposal.read(secret.reveal())
        for distance, exact in zip(proposal.distances, proposal.steps, strict=True):
            if not passes(self.test, distance(data, cap(self.test))):
                continue
            steps = np.array(exact(data), dtype=np.int64)
            if law is not None:
                moved = self.proposal.moved
                declared = Sensitivity(moved, moved**2, 1, moved)
                (steps,) = add_noise((steps,), law, declared)
            steps.setflags(write=False)
            return self._release(receipt, steps)
        return self._release(receipt, None)

    def _release(
        self, receipt: Receipt, steps: np.ndarray[Any, np.dtype[np.int64]] | None
    ) -> PTRRelease:
        proposal, grid = self.proposal, self.proposal.rounded
        if steps is not None:
            grid = replace(grid, steps=steps)
        return PTRRelease(
            receipt,
            self.schema.library,
            proposal.name,
            proposal.columns,
            self.test,
            steps is not None,
            proposal.bound,
            self.law,
            grid,
        )
