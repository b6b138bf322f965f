"""One column of a table that people read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

__all__ = ["Column"]


@final
@dataclass(frozen=True, slots=True)
class Column:
    """Cells under a name.

    Parameters
    ----------
    name : str
        The heading.
    cells : tuple of str
        The rows, from the first.
    left : bool
        Align to the left, as for keys; numbers go to the right.
    drawings : tuple of str
        SVG beside each cell, in HTML only.
    """

    name: str
    cells: tuple[str, ...]
    left: bool = False
    drawings: tuple[str, ...] = ()
