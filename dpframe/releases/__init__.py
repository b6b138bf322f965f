"""Public values: what came out, how it was made, and what may be said of it."""

from __future__ import annotations

from dpframe.releases.base import Release
from dpframe.releases.histogram import HistogramRelease
from dpframe.releases.receipt import Receipt
from dpframe.releases.scalar import ScalarRelease
from dpframe.releases.table import TableRelease

__all__ = [
    "HistogramRelease",
    "Receipt",
    "Release",
    "ScalarRelease",
    "TableRelease",
]
