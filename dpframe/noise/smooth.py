"""Noise for smooth sensitivity: one frozen choice, made before any data is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpframe.errors import ParameterError
from dpframe.noise.continuous_laplace import Laplace
from dpframe.noise.law import as_positive
from dpframe.noise.lomax import Lomax
from dpframe.noise.on_grid import Cells, draw_on_grid
from dpframe.noise.student import StudentT, as_degrees
from dpframe.privacy.amounts import Amount, as_fraction, show_amount
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.rounding import as_decimal, precision, round_down

__all__ = ["SLACK", "Family", "SmoothNoise"]

Family = Literal["lomax", "student_t", "laplace"]

#: The noise is made for epsilon (1 - SLACK) and beta (1 + SLACK): what is left pays for
#: a smooth sensitivity that was worked out in floats.
SLACK = Fraction(1, 10**6)

_LEAST_BETA = Fraction(1, 10**6)  # so that SLACK · beta is far above float rounding
_TWO_LOG_TWO = Fraction("1.3862943611198906188")  # rounded down


@final
@dataclass(frozen=True, slots=True)
class SmoothNoise:
    """Noise (S / s) Z for a statistic of smooth sensitivity S, S computed with beta.

    Made by `read`, from the user's arguments alone. All fields are public; the scale
    S / s is not.

    Parameters
    ----------
    family : {"lomax", "student_t", "laplace"}
        The law of Z.
    epsilon, delta : Fraction
        What a release costs; delta is 0 but for Laplace noise.
    beta : Fraction
        S must satisfy S(x) <= e^beta S(y) for neighbors x and y, to within a relative
        10^-13, and |f(x) - f(y)| <= S(x).
    law : Lomax, StudentT or Laplace
        Of Z, for epsilon (1 - 10^-6) and beta (1 + 10^-6).
    s : Fraction
        What of S is added: the noise is (S / s) Z.

    Notes
    -----
    .. admonition:: Privacy

       Releases drawn with it are epsilon-DP (Lomax, Student) or (epsilon, delta)-DP
       (Laplace), exactly as computed: the sampler has no error, and that of S is paid
       by the millionth. Proof: docs/proofs/smooth_noise.

    Examples
    --------
    >>> noise = SmoothNoise.read("lomax", 1)
    >>> noise.beta, noise.loss, round(noise.std, 3)
    (Fraction(3, 10), PrivacyLoss(epsilon=1), 3.388)
    >>> steps = noise.draw([12, 40], [0.5, 2.0], low=0, high=120, grid=Fraction(1, 8))
    >>> steps.shape, bool((steps <= 8 * 120).all())
    ((2,), True)
    """

    family: Family
    epsilon: Fraction
    delta: Fraction
    beta: Fraction
    law: Lomax | StudentT | Laplace
    s: Fraction

    @classmethod
    def read(
        cls,
        family: str,
        epsilon: Amount,
        *,
        beta: Amount | None = None,
        delta: Amount | None = None,
        degrees: int = 3,
    ) -> SmoothNoise:
        """Choose the noise of a smooth release from a user's arguments.

        Parameters
        ----------
        family : {"lomax", "student_t", "laplace"}
            Lomax is the one to use. Laplace noise is (epsilon, delta)-DP, wider, and
            kept for teaching.
        epsilon : number
            Privacy loss of the release; at most 2 ln 2 for Laplace noise.
        beta : number, optional
            By default 0.3 epsilon for Lomax noise and epsilon / (2 degrees) for Student
            noise, both near the best over medians of data of many shapes and sizes.
            Laplace noise has none to choose: it is epsilon / (2 ln(2 / delta)).
        delta : number, optional
            For Laplace noise, which needs it.
        degrees : int
            Degrees of freedom of Student noise, 1 to 30.

        Raises
        ------
        ParameterError
            If an argument is wrong, missing, or not for this family.
        """
        amount = as_positive(epsilon, "epsilon")
        if family == "laplace":
            return cls._laplace(amount, beta, delta)
        if family not in ("lomax", "student_t"):
            msg = f'noise must be "lomax", "student_t" or "laplace"; got {family!r}.'
            raise ParameterError(msg)
        if delta is not None:
            msg = f'{family} noise is pure: leave delta out, or take noise="laplace".'
            raise ParameterError(msg)
        used = amount * (1 - SLACK)
        if family == "lomax":
            decay = amount * 3 / 10 if beta is None else Lomax(amount, beta).beta
            lomax = Lomax(used, _long_enough(decay) * (1 + SLACK))
            return cls("lomax", amount, Fraction(0), decay, lomax, lomax.s)
        half = amount / (2 * as_degrees(degrees))
        decay = StudentT(amount, half if beta is None else beta, degrees).beta
        student = StudentT(used, _long_enough(decay) * (1 + SLACK), degrees)
        return cls("student_t", amount, Fraction(0), decay, student, student.s)

    @classmethod
    def _laplace(
        cls, epsilon: Fraction, beta: Amount | None, delta: Amount | None
    ) -> SmoothNoise:
        if beta is not None:
            msg = "laplace noise sets beta by delta: leave beta out."
            raise ParameterError(msg)
        if delta is None:
            msg = 'laplace noise is not pure: pass delta=, or take noise="lomax".'
            raise ParameterError(msg)
        chance = as_fraction(delta, "delta")
        if not 0 < chance < 1:
            msg = f"delta must lie between 0 and 1; got {show_amount(chance)}."
            raise ParameterError(msg)
        if epsilon > _TWO_LOG_TWO:
            msg = (
                "laplace noise is proved private for epsilon up to 2 ln 2 = 1.386; got "
                f'{show_amount(epsilon)}. Take noise="lomax".'
            )
            raise ParameterError(msg)
        used = epsilon * (1 - SLACK)
        with precision(60):
            depth = as_decimal(2 / chance).ln()
            decay = round_down(as_decimal(used / (2 + 2 * SLACK)) / depth, 17)
        law = Laplace(1)
        return cls("laplace", epsilon, chance, _long_enough(decay), law, used / 2)

    @property
    def loss(self) -> PrivacyLoss:
        """What one release costs."""
        return PrivacyLoss(self.epsilon, self.delta)

    @property
    def std(self) -> float:
        """Standard deviation of the noise in units of S; infinite for heavy tails."""
        return self.law.std / float(self.s)

    def half_width(self, level: Amount = 0.95) -> float:
        """Return the h with P(|noise| <= h S) = ``level``."""
        return self.law.interval(level)[1] / float(self.s)

    def draw(
        self,
        value: ArrayLike,
        smooth: ArrayLike,
        low: Fraction | int,
        high: Fraction | int,
        grid: Fraction | int,
    ) -> NDArray[np.int64]:
        """Return noisy values, clamped to bounds and rounded to a grid, in steps.

        The i-th is floor(y / grid + 1/2), y = value_i + (smooth_i / s) Z_i cut to
        [low, high], with independent Z_i of exactly the law. The least and the greatest
        are floor(low / grid + 1/2) and floor(high / grid + 1/2).

        Parameters
        ----------
        value, smooth : array_like, shape (n,)
            Statistics, and their smooth sensitivities > 0: integers, floats or
            Fractions, taken as the exact numbers they are. Private.
        low, high, grid : Fraction or int
            Public, in the unit of the values; low < high, grid > 0.

        Returns
        -------
        ndarray of int64, shape (n,)

        Raises
        ------
        ParameterError
            If bounds or grid are wrong, or a bound is beyond 2^62 steps.
        DPFrameError
            If a value is not finite or a sensitivity not positive: a bug of the caller.
        """
        cells = Cells.read(Fraction(low), Fraction(high), Fraction(grid), self.s)
        values, spreads = np.broadcast_arrays(
            np.atleast_1d(np.asarray(value)), np.atleast_1d(np.asarray(smooth))
        )
        return draw_on_grid(self.law, values, spreads, cells)


def _long_enough(beta: Fraction) -> Fraction:
    if beta < _LEAST_BETA:
        msg = (
            "beta must be at least 1e-6, for floats to follow; got "
            f"{show_amount(beta)}. Spend more epsilon."
        )
        raise ParameterError(msg)
    return beta
