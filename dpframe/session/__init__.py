"""Budgets, the door, and which session is active."""

from dpframe.session import active
from dpframe.session.session import Session

__all__ = ["Session", "active"]
