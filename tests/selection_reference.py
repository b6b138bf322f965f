"""The exact law of permute-and-flip, by its own words."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence


def exact_law(scores: Sequence[float], rate: float) -> list[float]:
    """P(i) over every order of the candidates, and every outcome of their coins."""
    coins = [math.exp(-rate * (max(scores) - score)) for score in scores]
    law = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        reached = 1 / len(orders)
        for i in order:
            law[i] += reached * coins[i]
            reached *= 1 - coins[i]
    return law
