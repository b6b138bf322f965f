"""The mechanisms: one Request for each; and `sparse_vector` on trusted numbers."""

from __future__ import annotations

from dpframe.mechanisms.plain import sparse_vector

__all__ = ["sparse_vector"]
