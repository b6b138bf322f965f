"""Noisy integers: the one thing that leaves a mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, final

from numpy.typing import NDArray

from dpframe.domain.lattice import Lattice
from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Sensitivity

__all__ = ["Measurement", "Quantity"]

#: What the integers count. A pair is (Σk, Σ(W − k)), a triple is
#: (Σ(W − k)², Σ2k(W − k), Σk²): parts that add up to W (W²) for each usable row.
Quantity = Literal["rows", "units", "distinct", "sum", "pair", "triple"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """True lattice integers plus noise of a public law.

    Parameters
    ----------
    quantity : str
        What was counted or summed.
    values : tuple of ndarray, shape (cells,)
        One array of noisy integers for each part: 1, 2 of a pair, 3 of a triple;
        int64, or Python integers (dtype object) where sums may pass 2**63.
    law : DiscreteLaplace or DiscreteGaussian
        The law of the independent noise in every entry, in lattice steps.
    sensitivity : Sensitivity
        What the law was calibrated to, in lattice steps.
    loss : PrivacyLoss
        The share of the release's loss that this measurement took.
    column : str or None
        The column that was summed.
    lattice : Lattice or None
        Its grid.
    """

    quantity: Quantity
    values: tuple[NDArray[Any], ...]
    law: DiscreteLaplace | DiscreteGaussian
    sensitivity: Sensitivity
    loss: PrivacyLoss
    column: str | None = None
    lattice: Lattice | None = None
