"""Which session a verb charges: the entered one, else the activated one, else none.

Sessions entered by ``with`` belong to the thread or task that entered them; new
threads start without one. There is no default budget.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

from dpframe.errors import NoSessionError

if TYPE_CHECKING:
    from dpframe.session.session import Session

__all__ = ["activate", "current", "deactivate", "enter", "leave", "resolve"]

_ENTERED: ContextVar[tuple[Session, ...]] = ContextVar("dpframe_sessions", default=())
_ACTIVATED: list[Session] = []


def enter(session: Session) -> None:
    """Put ``session`` on top of this thread's or task's stack."""
    _ENTERED.set((*_ENTERED.get(), session))


def leave(session: Session) -> None:
    """Take ``session`` off, where it was last entered; others may lie above it."""
    stack = list(_ENTERED.get())
    for place in reversed(range(len(stack))):
        if stack[place] is session:
            del stack[place]
            break
    _ENTERED.set(tuple(stack))


def activate(session: Session) -> None:
    """Make ``session`` the process's own."""
    _ACTIVATED.append(session)


def deactivate(session: Session) -> None:
    """Undo every `activate` of ``session``."""
    _ACTIVATED[:] = [other for other in _ACTIVATED if other is not session]


def current() -> Session | None:
    """Return the session that a verb would charge now, if any."""
    stack = _ENTERED.get() or tuple(_ACTIVATED)
    return stack[-1] if stack else None


def resolve(explicit: Session | None, verb: str) -> Session:
    """Return the explicit session, else the active one.

    Raises
    ------
    NoSessionError
        If there is neither; the message is the line to type.
    """
    session = explicit if explicit is not None else current()
    if session is None:
        raise NoSessionError.for_verb(verb)
    return session
