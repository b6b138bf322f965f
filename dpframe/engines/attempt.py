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

    An ``interrupt`` from outside may be raised. A ``refusal`` is an error of dpframe's
    own: it may be raised where no row was read, for a function of the user's can raise
    one too. Of all other failures nothing is known but that they happened.
    """

    value: T
    failed: bool = False
    refusal: DPFrameError | None = None
    interrupt: BaseException | None = None


def attempt(work: Callable[P, T], *given: P.args, **named: P.kwargs) -> Outcome[T]:
    """Run ``work`` and drop its exception: class, words, notes, cause and traceback.

    The caller raises after this function has returned: without a context, and with
    no frame of ``work`` in the traceback (``design: security`` A4).
    """
    value: Any = None
    failed = True
    refusal: DPFrameError | None = None
    struck: BaseException | None = None
    # The handlers call nothing: Ctrl-C there would be chained to the failure.
    try:
        value = work(*given, **named)
        failed = False
    except DPFrameError as error:
        refusal = error
    except (KeyboardInterrupt, SystemExit) as error:
        struck = error
    except BaseException:  # a panic of Polars is no Exception
        pass
    if refusal is not None:
        refusal.__cause__ = refusal.__context__ = refusal.__traceback__ = None
    return Outcome(value, failed, refusal, struck and type(struck)())
