r"""Functions v of the total as integrals of exponentials: v(N) = ∫ V(t) e^(-tN) dt."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "Kernel",
    "kernel_inverse",
    "kernel_inverse_power",
    "kernel_log_over_total",
    "kernel_one",
]

Floats = npt.NDArray[np.float64]


class Kernel(NamedTuple):
    """A function v of totals N >= 1, and the V that it is the transform of."""

    density: Callable[[Floats], Floats]  # V(t)
    head: Callable[[float], float]  # the integral of V from 0 to t
    exact: Callable[[Decimal], Decimal]  # v(N) in the current decimal context


def kernel_inverse_power(q: float) -> Kernel:
    """Return v(N) = 1/N^q, V = t^(q-1) / Gamma(q), for 0 < q <= 10.

    Orders up to 10 keep t^q of totals up to 2**53 in float64.
    """
    return Kernel(
        lambda t: t ** (q - 1) / math.gamma(q),
        lambda t: t**q / math.gamma(q + 1),
        lambda total: 1 / total ** Decimal(q),
    )


# Of v(N) = 1 the V is a unit mass at 0.
kernel_one = Kernel(np.zeros_like, lambda _: 1.0, lambda _: Decimal(1))

kernel_inverse = Kernel(np.ones_like, lambda t: t, lambda total: 1 / total)

kernel_log_over_total = Kernel(
    lambda t: -(np.euler_gamma + np.log(t)),
    lambda t: t * (1 - np.euler_gamma - math.log(t)),
    lambda total: total.ln() / total,
)
