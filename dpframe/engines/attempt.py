"""Running what may fail on private data, so that nothing of the failure gets out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar, final

from dpframe.errors import DPFrameError

__all__ = ["Outcome", "attempt"]

P = ParamSpec("P")
T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """A value, or what to raise instead.

    ``public`` failures may be raised as they are: dpframe's own errors, and an
    interrupt from outside. Of all others nothing is known but that they happened.
    """

    value: T
    failed: bool = False
    public: BaseException | None = None


def attempt(work: Callable[P, T], *given: P.args, **named: P.kwargs) -> Outcome[T]:
    """Run ``work`` and drop its exception: class, words, notes, cause and traceback.

    The caller raises after this function has returned: without a context, and with
    no frame of ``work`` in the traceback (``design: security`` A4).
    """
    nothing: Any = None
    try:
        return Outcome(work(*given, **named))
    except DPFrameError as error:
        error.__cause__ = error.__context__ = None
        return Outcome(nothing, True, error.with_traceback(None))
    except (KeyboardInterrupt, SystemExit) as error:
        return Outcome(nothing, True, type(error)())
    except BaseException:  # a panic of Polars is no Exception
        return Outcome(nothing, True)
