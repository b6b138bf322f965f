"""Reading the epsilon and sensitivity that noise was made with."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError
from dpframe.privacy.amounts import as_fraction

__all__ = ["positive_amounts"]


def positive_amounts(value: Any, name: str) -> npt.NDArray[np.float64]:
    """Read one positive amount for all bins, or an array of one for each.

    Amounts beyond float64 are infinite.

    Raises
    ------
    ParameterError
        If one is no number or not positive.
    """
    given = np.asarray(value)
    amounts = [as_fraction(each, name) for each in given.ravel().tolist()]
    if not all(amount > 0 for amount in amounts):
        msg = f"{name} must be positive in every bin: the noise was made with it."
        raise ParameterError(msg)
    return np.array([_to_float(amount) for amount in amounts]).reshape(given.shape)


def _to_float(amount: Fraction) -> float:
    try:
        return float(amount)
    except OverflowError:
        return np.inf
