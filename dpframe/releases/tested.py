"""`StabilityTest`: the public part of a propose-test-release test."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from dpframe.errors import ParameterError, shown
from dpframe.noise.laplace import DiscreteLaplace
from dpframe.privacy.amounts import as_fraction

__all__ = ["StabilityTest"]


@final
@dataclass(frozen=True, slots=True)
class StabilityTest:
    """D + X > threshold, for a private whole distance D and discrete Laplace noise X.

    Parameters
    ----------
    epsilon : Fraction
        Loss of the test.
    delta : Fraction
        With this chance at most it passes where D = 0.
    threshold : int
        In changes of one unit.
    tests : int
        How many there may be, each at this loss.
    """

    epsilon: Fraction
    delta: Fraction
    threshold: int
    tests: int = 1

    @property
    def law(self) -> DiscreteLaplace:
        """The law of X."""
        return DiscreteLaplace(1 / self.epsilon)

    def pass_probability(self, distance: int) -> float:
        """Return how probably a test passes at an imagined distance.

        For planning: public, as the distance of the data at hand is unknown.

        Parameters
        ----------
        distance : int
            Changes of one unit after which the proposal may fail, not negative.

        Raises
        ------
        ParameterError
            For any other distance.

        Examples
        --------
        >>> from fractions import Fraction
        >>> from dpframe.releases.tested import StabilityTest
        >>> test = StabilityTest(Fraction(1), Fraction(1, 10**6), 13)
        >>> test.pass_probability(0) <= 1e-6, test.pass_probability(20) > 0.99
        (True, True)
        """
        far = as_fraction(distance, "distance")
        if far < 0 or far.denominator > 1:
            msg = f"distance must be whole, not negative; got {shown(distance)}."
            raise ParameterError(msg)
        # X is symmetric: P(X > t - D) = P(X < D - t).
        return self.law.cdf(int(far) - self.threshold - 1)

    def needed(self, probability: Fraction = Fraction(19, 20)) -> int:
        """Return the distance at which the test passes with this probability."""
        return self.threshold + 1 + self.law.interval(2 * probability - 1)[1]

    def describe(self) -> dict[str, object]:
        """Return the test as plain JSON values."""
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "threshold": self.threshold,
            "tests": self.tests,
        }
