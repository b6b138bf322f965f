"""Laws of noise, exact samplers of those on the integers; no session, no charge.

The plain-function layer: for tests, teaching, and the mechanisms built on it.
"""

from __future__ import annotations

from dpframe.noise.continuous_laplace import Laplace
from dpframe.noise.gaussian import DiscreteGaussian
from dpframe.noise.geometric import Geometric
from dpframe.noise.laplace import DiscreteLaplace
from dpframe.noise.lomax import Lomax
from dpframe.noise.selection import permute_and_flip
from dpframe.noise.staircase import Staircase
from dpframe.noise.student import StudentT

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Geometric",
    "Laplace",
    "Lomax",
    "Staircase",
    "StudentT",
    "permute_and_flip",
]
