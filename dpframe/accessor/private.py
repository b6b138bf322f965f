"""What every verb starts from: the thing guarded and the session that pays.

The object holds a frame and perhaps a session, keeps no state of its own, and shows
neither values nor sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from dpframe.domain.keys import Keys
from dpframe.engines.ingest import ingest
from dpframe.engines.protocol import Source
from dpframe.mechanisms.additive import Additive
from dpframe.mechanisms.spend import Price
from dpframe.mechanisms.terms import Asked
from dpframe.releases.measured import Measured
from dpframe.session import Session, active

__all__ = ["Private"]

R = TypeVar("R", bound=Measured)


class Private:
    """A frame or column behind its session."""

    __slots__ = ("__held", "__session")

    def __init__(self, held: object, session: Session | None = None) -> None:
        self.__held = held
        self.__session = session

    def _open(self, verb: str) -> tuple[Session, Source]:
        """Find the session and the engine, and check the unit; nothing is read."""
        session = active.resolve(self.__session, verb)
        source = ingest(self.__held)
        session.setting.check(source.schema)
        return session, source

    def _add(
        self,
        form: type[R],
        verb: str,
        asked: Sequence[Asked],
        keys: Keys | None,
        price: Price,
        opened: tuple[Session, Source],
        label: str | None,
    ) -> R:
        """Ask for an additive release and send it through the door."""
        session, source = opened
        request = Additive(
            verb=verb,
            setting=session.setting,
            spend=price.spend(session.setting),
            asked=tuple(asked),
            keys=keys,
            form=form,
            schema=source.schema,
        )
        return session.release(request, source, label=label)

    def __repr__(self) -> str:
        session = self.__session or active.current()
        guard = (
            "no session: open dpf.Session(...)" if session is None else session.brief
        )
        return f"<{type(self).__name__}: {guard}>"

    def __reduce__(self) -> Any:
        msg = f"a {type(self).__name__} guards private rows and cannot be pickled."
        raise TypeError(msg)
