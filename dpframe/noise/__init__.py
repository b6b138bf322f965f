"""Exact laws on the integers and their samplers; no session, no charge.

The plain-function layer: for tests, teaching, and the mechanisms built on it.
"""

from __future__ import annotations

from dpframe.noise.gaussian import DiscreteGaussian
from dpframe.noise.geometric import Geometric
from dpframe.noise.laplace import DiscreteLaplace
from dpframe.noise.selection import permute_and_flip

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "Geometric", "permute_and_flip"]
