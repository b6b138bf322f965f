"""Mirror steps extrapolated from the last few, as in Anderson's acceleration.

Moves of the exponents change the marginals nearly linearly. So the past moves and the
changes they made tell which combination of them would lower f the most; a mirror step
from there, with the gradient predicted for it, adds what the past has not seen [1]_.

References
----------
.. [1] Walker and Ni (2011), Anderson acceleration for fixed-point iterations, eq. 2.2,
   with the residual measured by f itself.
"""

from __future__ import annotations

from collections import deque
from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Extrapolation"]

Flat = NDArray[np.float64]

#: Relative size below which past changes are taken as dependent.
_DEPENDENT = 1e-10


@final
class Extrapolation:
    """The last moves and what they changed.

    Parameters
    ----------
    weights : array
        Second derivative of f by each cell of the marginals.
    memory : int
        How many moves are kept; 0 makes every move a plain mirror step.
    """

    __slots__ = ("_changes", "_moves", "_weights")

    def __init__(self, weights: Flat, memory: int) -> None:
        self._weights = weights
        self._moves: deque[Flat] = deque(maxlen=memory)
        self._changes: deque[Flat] = deque(maxlen=memory)

    def clear(self) -> None:
        """Forget the past."""
        self._moves.clear()
        self._changes.clear()

    @property
    def empty(self) -> bool:
        """Whether the next move is a plain mirror step."""
        return not self._moves

    def add(self, move: Flat, change: Flat) -> None:
        """Remember a move of the exponents and the change of the marginals."""
        self._moves.append(move)
        self._changes.append(change)

    def move(self, gradient: Flat, step: float) -> Flat:
        """Return the next move of the exponents."""
        if self.empty:
            return -step * gradient
        changes = np.array(self._changes)
        bent = changes * self._weights
        hessian = bent @ changes.T
        hessian[np.diag_indices_from(hessian)] *= 1 + _DEPENDENT
        parts = -np.linalg.lstsq(hessian, changes @ gradient, rcond=_DEPENDENT)[0]
        predicted = gradient + parts @ bent
        return parts @ np.array(self._moves) - step * predicted
