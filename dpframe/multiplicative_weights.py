"""Models of released answers, as plain functions: no session, no charge.

What goes in is public or was released with noise, so all that comes out is
post-processing. ``frame.dp.pmw`` measures, fits and keeps the account; here one can fit
the same model to numbers published by others, or take the textbook's steps one by one.
"""

from __future__ import annotations

from dpframe.models.distribution import Distribution
from dpframe.models.fit import fit
from dpframe.models.multiplicative import update

__all__ = ["Distribution", "fit", "update"]
