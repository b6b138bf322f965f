"""How far the most frequent label is from another one: a distance, with no profile.

Let r be the fewest changes after which another label wins, where equal counts go to the
label that is first in the public order:

    add_remove   r = min over j of c_1 - c_j, one more where j loses ties to the winner
    replace      half of that, rounded up

D = max(0, r - 1) moves by 1 at most between neighbors and is 0 wherever a neighbor has
another winner. For units of s rows (s = 2m under "replace"), D = max(0, ⌈r/s⌉ - 1) with
the r of add_remove. Proof: docs/proofs/sensitivity, theorem 12.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpframe.errors import ParameterError, shown
from dpframe.sensitivity.profile import read_rows

__all__ = ["mode_distance", "read_counts"]


def mode_distance(
    counts: NDArray[np.int64], neighboring: str = "add_remove", rows: int = 1
) -> float:
    """Return D for the counts of all labels, in the public order of the labels.

    Infinity where there is one label only.
    """
    if neighboring not in ("add_remove", "replace"):
        msg = (
            "mode has a distance under neighboring='add_remove' or "
            f"neighboring='replace'; got {shown(neighboring)}."
        )
        raise ParameterError(msg)
    if counts.size == 1:
        return math.inf
    winner = int(counts.argmax())  # the first of the greatest
    loses_ties = np.arange(counts.size) > winner
    lead = counts[winner] - counts + loses_ties
    changes = int(np.delete(lead, winner).min())
    if neighboring == "replace":
        changes = -(-changes // 2)
    return max(0, -(-changes // read_rows(rows)) - 1)


def read_counts(values: ArrayLike) -> NDArray[np.int64]:
    """Read the number of rows of each label."""
    given: NDArray[Any] = np.asarray(values)
    whole = given.dtype.kind in "iu" or (
        given.dtype.kind == "f" and (np.floor(given) == given).all()
    )
    if given.ndim != 1 or not given.size or not whole or (given < 0).any():
        msg = (
            "mode needs the number of rows of each label, whole and not negative, for "
            "all labels in a public order (np.bincount of their codes)."
        )
        raise ParameterError(msg)
    return given.astype(np.int64)
