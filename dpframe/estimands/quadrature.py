"""Gauss-Legendre integration of functions with one scale or many, on 0 <= t <= end."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["gauss_legendre", "panel_edges"]

Floats = npt.NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


def panel_edges(end: float, *, even: int, geometric: int, least: float) -> Floats:
    """Return 0, ``even`` equal steps, and a geometric series from ``least * end``."""
    grown = np.geomspace(least * end, end, geometric)
    return np.unique(np.concatenate([np.linspace(0, end, even + 1), grown]))


def gauss_legendre(edges: Floats) -> tuple[Floats, Floats]:
    """Return ascending nodes and their weights, 16 in each panel."""
    half = np.diff(edges)[:, None] / 2
    middle = (edges[:-1] + edges[1:])[:, None] / 2
    return (middle + half * _NODES).ravel(), (half * _WEIGHTS).ravel()
