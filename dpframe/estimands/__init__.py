"""What can be estimated from noisy counts, and unbiased estimates of it."""

from __future__ import annotations

from dpframe.estimands.black_boxes import BlackBox, black_box
from dpframe.estimands.boxes import Boxes, box
from dpframe.estimands.chi_square_distance import (
    ChiSquare,
    ChiSquareOfExpected,
    chi_square,
)
from dpframe.estimands.data_quantile import DataQuantile, data_quantile
from dpframe.estimands.divergence import Divergence, HasNoisyCounts, kl_divergence
from dpframe.estimands.estimand import Debiased, Estimand, PlugInRisk
from dpframe.estimands.estimation import Estimate, Method, estimate
from dpframe.estimands.gaussian_numbers import GaussianNumbers
from dpframe.estimands.laplace_numbers import LaplaceNumbers
from dpframe.estimands.moments import Moment, moment
from dpframe.estimands.mutual_informations import (
    MutualInformation,
    mutual_information,
)
from dpframe.estimands.noisy_counts import CountDomain, NoisyCounts
from dpframe.estimands.noisy_numbers import NoInverseError, NoisyNumbers, RealDomain
from dpframe.estimands.order_statistics import (
    OrderStatistics,
    maximum,
    median,
    minimum,
    order_statistic,
    quantile,
    quantile_range,
)
from dpframe.estimands.partition_functions import (
    PartitionFunction,
    partition_function,
)
from dpframe.estimands.polynomials import Polynomial, polynomial
from dpframe.estimands.power_sums import k_stars, power_sum
from dpframe.estimands.profiles import at_least, profile
from dpframe.estimands.published import Noise, debias
from dpframe.estimands.sample_variance import SampleVariance, variance
from dpframe.estimands.separable_sums import Separable, separable, smooth
from dpframe.estimands.shannon_entropy import Entropy, entropy
from dpframe.estimands.trees import Tree, tree
from dpframe.estimands.tsallis_entropy import Tsallis, gini_simpson, tsallis

__all__ = [
    "BlackBox",
    "Boxes",
    "ChiSquare",
    "ChiSquareOfExpected",
    "CountDomain",
    "DataQuantile",
    "Debiased",
    "Divergence",
    "Entropy",
    "Estimand",
    "Estimate",
    "GaussianNumbers",
    "HasNoisyCounts",
    "LaplaceNumbers",
    "Method",
    "Moment",
    "MutualInformation",
    "NoInverseError",
    "Noise",
    "NoisyCounts",
    "NoisyNumbers",
    "OrderStatistics",
    "PartitionFunction",
    "PlugInRisk",
    "Polynomial",
    "RealDomain",
    "SampleVariance",
    "Separable",
    "Tree",
    "Tsallis",
    "at_least",
    "black_box",
    "box",
    "chi_square",
    "data_quantile",
    "debias",
    "entropy",
    "estimate",
    "gini_simpson",
    "k_stars",
    "kl_divergence",
    "maximum",
    "median",
    "minimum",
    "moment",
    "mutual_information",
    "order_statistic",
    "partition_function",
    "polynomial",
    "power_sum",
    "profile",
    "quantile",
    "quantile_range",
    "separable",
    "smooth",
    "tree",
    "tsallis",
    "variance",
]


def __dir__() -> list[str]:
    return __all__
