"""Public values: what came out, how it was made, and what may be said of it."""

from __future__ import annotations

from dpframe.releases.above import AboveThresholdRelease
from dpframe.releases.base import Release
from dpframe.releases.bounds import BoundsRelease
from dpframe.releases.converted import ConvertedRelease
from dpframe.releases.histogram import HistogramRelease
from dpframe.releases.proposed import PTRRelease
from dpframe.releases.receipt import Receipt
from dpframe.releases.scalar import ScalarRelease
from dpframe.releases.selection import SelectionRelease
from dpframe.releases.smooth import SmoothRelease
from dpframe.releases.sparse import SparseVectorRelease
from dpframe.releases.table import TableRelease

__all__ = [
    "AboveThresholdRelease",
    "BoundsRelease",
    "ConvertedRelease",
    "HistogramRelease",
    "PTRRelease",
    "Receipt",
    "Release",
    "ScalarRelease",
    "SelectionRelease",
    "SmoothRelease",
    "SparseVectorRelease",
    "TableRelease",
]
