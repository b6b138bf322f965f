"""What can be estimated from noisy counts, and unbiased estimates of it."""

from __future__ import annotations

from dpframe.estimands.estimand import Debiased, Estimand, PlugInRisk
from dpframe.estimands.estimation import Estimate, Method, estimate
from dpframe.estimands.noisy_counts import CountDomain, NoisyCounts
from dpframe.estimands.power_sums import k_stars, power_sum
from dpframe.estimands.profiles import at_least, profile
from dpframe.estimands.published import debias
from dpframe.estimands.separable_sums import Separable, separable
from dpframe.estimands.shannon_entropy import Entropy, entropy

__all__ = [
    "CountDomain",
    "Debiased",
    "Entropy",
    "Estimand",
    "Estimate",
    "Method",
    "NoisyCounts",
    "PlugInRisk",
    "Separable",
    "at_least",
    "debias",
    "entropy",
    "estimate",
    "k_stars",
    "power_sum",
    "profile",
    "separable",
]


def __dir__() -> list[str]:
    return __all__
