"""Exceptions, built from templates that hold arguments and schema, never data.

A message says what was asked, what is public about it, and what to type next.
Each class also inherits the builtin that a caller would think of catching.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction

__all__ = [
    "AccountantError",
    "BudgetExceededError",
    "ClosedError",
    "ColumnNotFoundError",
    "DPFrameError",
    "DomainError",
    "EngineError",
    "LabelConflictError",
    "LedgerBusyError",
    "LedgerError",
    "NoSessionError",
    "ParameterError",
    "PrivacyWarning",
    "ProvenanceError",
    "UnstableEstimateError",
    "UnsupportedFrameError",
    "nearest",
    "shown",
    "warn",
]


_SCALARS = (bool, int, float, complex, str, bytes, Decimal, Fraction, date, timedelta)


class DPFrameError(Exception):
    """Root of every exception that dpframe raises on purpose."""


class ParameterError(DPFrameError, ValueError):
    """An argument is wrong, whatever the data."""


class BudgetExceededError(DPFrameError, ValueError):
    """The request would pass the session's total; nothing was spent."""


class NoSessionError(DPFrameError, LookupError):
    """A verb was called with no session given and none active."""

    @classmethod
    def for_verb(cls, verb: str) -> NoSessionError:
        """Name the two lines that open a session."""
        return cls(
            f"{verb} needs a session that holds the privacy budget, and none is "
            "active. Type:\n"
            '    session = dpf.Session(epsilon=1.0, unit="row")\n'
            "    with session: ...        # or session.activate() in a notebook"
        )


class DomainError(DPFrameError, ValueError):
    """A public fact about a column is missing or contradicts itself."""


class ColumnNotFoundError(DPFrameError, KeyError):
    """The frame's schema has no column of that name."""

    @classmethod
    def named(cls, name: object, columns: Iterable[str]) -> ColumnNotFoundError:
        """Offer the nearest column names of the schema."""
        return cls(f"no column {shown(name)} in the frame.{nearest(name, columns)}")

    def __str__(self) -> str:
        # KeyError shows the repr of its argument, with the quotes and all.
        return str(self.args[0]) if self.args else ""


class UnsupportedFrameError(DPFrameError, TypeError):
    """The object is not a frame that dpframe can read."""


class EngineError(DPFrameError, RuntimeError):
    """The engine failed while it read the data; its own words are withheld."""


class AccountantError(DPFrameError, ValueError):
    """The session's accountant cannot hold this mechanism's guarantee."""


class LabelConflictError(DPFrameError, ValueError):
    """The label already belongs to another request."""


class ProvenanceError(DPFrameError, ValueError):
    """The numbers are not a plain release, so their noise law is unknown."""


class UnstableEstimateError(DPFrameError, ArithmeticError):
    """The estimate exists, but its size or variance is beyond float64."""


class LedgerError(DPFrameError, RuntimeError):
    """The ledger is missing, damaged, or out of reach."""


class LedgerBusyError(LedgerError):
    """Another process held the ledger for too long; nothing was charged."""


class ClosedError(DPFrameError, RuntimeError):
    """An interactive mechanism was asked after it closed."""


class PrivacyWarning(UserWarning):
    """Legal, but unwise: the message says why and what is usual."""


def nearest(name: object, names: Iterable[str]) -> str:
    """Return " Did you mean …?" for the closest of ``names``, or the list."""
    known = list(names)
    matches = get_close_matches(
        name if isinstance(name, str) else shown(name), known, n=3, cutoff=0.6
    )
    if matches:
        return f" Did you mean {' or '.join(map(repr, matches))}?"
    listing = ", ".join(map(repr, known[:10])) + (", …" if len(known) > 10 else "")
    return f" It has: {listing}." if known else " It has none."


def shown(argument: object) -> str:
    """Show an argument in a message: scalars and short lists of them, else its class.

    A frame or a column given by mistake must not print its values.
    """
    if argument is None or isinstance(argument, _SCALARS):
        text = repr(argument)
        return text if len(text) <= 80 else f"{text[:77]}..."
    if isinstance(argument, (tuple, list)) and len(argument) <= 8:
        inner = ", ".join(map(shown, argument))
        return f"({inner})" if isinstance(argument, tuple) else f"[{inner}]"
    kind = argument if isinstance(argument, type) else type(argument)
    return f"<{kind.__name__}>"


def warn(message: str) -> None:
    """Issue a `PrivacyWarning` at the line of the user who called into dpframe."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("dpframe"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, PrivacyWarning, stacklevel=level)
