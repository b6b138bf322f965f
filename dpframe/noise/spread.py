"""The spread of a smooth release, published at a cost of its own.

The scale of smooth noise is private, and so is an interval made from it. But ln S moves
by at most beta between neighbors: rounded to a public grid and with discrete Laplace
noise it may be shown, and then everybody can work out an interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpframe.noise.laplace import DiscreteLaplace
from dpframe.noise.law import Floats, as_miss, as_positive
from dpframe.noise.smooth import SLACK, SmoothNoise
from dpframe.privacy.amounts import Amount

__all__ = ["SpreadNoise"]

_STEPS = 16  # of the grid by default, in the way that one unit can move ln S


@final
@dataclass(frozen=True, slots=True)
class SpreadNoise:
    """Noise for k = floor(ln S / step + 1/2), S a smooth sensitivity.

    Parameters
    ----------
    smooth : SmoothNoise
        The noise of the release whose spread it is.
    epsilon : Fraction
        What publishing k costs, beside the release.
    step : Fraction
        The grid of ln S; public.
    law : DiscreteLaplace
        Of the noise in k, of scale ceil(beta / step) / epsilon.

    Notes
    -----
    .. admonition:: Privacy

       A published k is epsilon-DP: one unit moves ln S by at most beta, with a
       millionth of it for what S and its logarithm, which are floats, are off.
       Proof: docs/proofs/smooth_noise.

    Examples
    --------
    >>> spread = SpreadNoise.read(SmoothNoise.read("lomax", 1), "0.5")
    >>> spread.law.scale, spread.draw([0.5, 2.0]).shape
    (Fraction(32, 1), (2,))
    >>> bool((spread.half_width([-40, 40], 0.9) > 0).all())
    True
    """

    smooth: SmoothNoise
    epsilon: Fraction
    step: Fraction
    law: DiscreteLaplace

    @classmethod
    def read(
        cls, smooth: SmoothNoise, epsilon: Amount, *, step: Amount | None = None
    ) -> SpreadNoise:
        """Choose the noise of a published spread.

        Parameters
        ----------
        smooth : SmoothNoise
            The noise of the release.
        epsilon : number
            Privacy loss of publishing the spread.
        step : number, optional
            The grid of ln S; by default a sixteenth of what one unit can move it.

        Raises
        ------
        ParameterError
            If an amount is not positive, or the step so fine that noise would pass 2^54
            steps.
        """
        amount, reach = as_positive(epsilon, "epsilon"), smooth.beta * (1 + SLACK)
        grid = reach / _STEPS if step is None else as_positive(step, "step")
        return cls(smooth, amount, grid, DiscreteLaplace(ceil(reach / grid) / amount))

    def draw(self, smooth: ArrayLike) -> NDArray[np.int64]:
        """Return the noisy k of smooth sensitivities > 0, shape (n,).

        What comes out may be published; what goes in may not.
        """
        logs = np.log(np.asarray(smooth, dtype=np.float64))
        steps = np.floor(logs / float(self.step) + 0.5).astype(np.int64)
        return steps + self.law.sample(steps.size)

    def half_width(self, published: ArrayLike, level: Amount = 0.95) -> Floats:
        """Return how far each released value may be from its truth.

        Two noisy numbers are at work, and each is allowed half of 1 - level to miss.
        Only the upper end of S matters, so its half may be all on that side.

        Parameters
        ----------
        published : array_like, shape (n,)
            Noisy k, as drawn.
        level : number
            Inside (0, 1).

        Returns
        -------
        ndarray of float64, shape (n,)
            In the unit of S; add grid / 2 for the rounding of the released value.
        """
        miss = as_miss(level)
        noise = self.smooth.half_width(1 - miss / 2)
        _, over = self.law.interval(1 - miss)
        steps = np.asarray(published, dtype=np.float64) + over + 0.5
        with np.errstate(over="ignore"):
            half_width: Floats = noise * np.exp(float(self.step) * steps)
        return half_width
