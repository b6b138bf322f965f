"""Public facts about columns, and how a value becomes the code of a public cell."""

from __future__ import annotations

from dpframe.domain.coding import Bins, Coding, Linear, Lookup
from dpframe.domain.domain import Domain
from dpframe.domain.keys import Keys
from dpframe.domain.kinds import (
    Booleans,
    Bounds,
    Categories,
    ColumnKind,
    Dates,
    Edges,
    Integers,
)
from dpframe.domain.resolve import resolve_bounds
from dpframe.domain.shorthand import bounds, dates, edges, integers

__all__ = [
    "Bins",
    "Booleans",
    "Bounds",
    "Categories",
    "Coding",
    "ColumnKind",
    "Dates",
    "Domain",
    "Edges",
    "Integers",
    "Keys",
    "Linear",
    "Lookup",
    "bounds",
    "dates",
    "edges",
    "integers",
    "resolve_bounds",
]
