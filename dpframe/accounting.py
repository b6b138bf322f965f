"""Composition and conversion of privacy losses, as plain functions.

They take numbers and return numbers: no session, no charge. Every result errs to the
safe side: an epsilon, delta or sigma is never below the true one, a rho never above.
"""

from __future__ import annotations

from dpframe.privacy.composition import advanced_composition, compose
from dpframe.privacy.conversion import (
    discrete_gaussian_variance,
    epsilon_to_zcdp,
    gaussian_sigma,
    rho_for_epsilon,
    zcdp_to_epsilon,
)
from dpframe.privacy.gaussian_curve import discrete_gaussian_delta, gaussian_delta

__all__ = [
    "advanced_composition",
    "compose",
    "discrete_gaussian_delta",
    "discrete_gaussian_variance",
    "epsilon_to_zcdp",
    "gaussian_delta",
    "gaussian_sigma",
    "rho_for_epsilon",
    "zcdp_to_epsilon",
]
