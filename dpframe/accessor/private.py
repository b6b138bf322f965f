"""What every verb starts from: the thing guarded and the session that pays.

The object holds a frame and perhaps a session, keeps no state of its own, and shows
neither values nor sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from dpframe.domain.keys import Keys
from dpframe.domain.open_keys import OpenKeys
from dpframe.engines.ingest import ingest
from dpframe.engines.protocol import Source
from dpframe.mechanisms.additive import Additive
from dpframe.mechanisms.spend import Price
from dpframe.mechanisms.terms import Asked, ask
from dpframe.mechanisms.unknown_keys import UnknownKeys
from dpframe.privacy.loss import PrivacyLoss
from dpframe.queries.agg import Aggregate
from dpframe.releases.measured import Measured
from dpframe.releases.scalar import ScalarRelease
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

    def _scalar(
        self, aggregate: Aggregate, price: Price, label: str | None
    ) -> ScalarRelease:
        """Ask for one aggregate of the whole frame."""
        verb = aggregate.statistic
        opened = session, source = self._open(verb)
        asked = ask(verb, aggregate, session.setting, source.schema)
        return self._add(ScalarRelease, verb, [asked], None, price, opened, label)

    def _add(
        self,
        form: type[R],
        verb: str,
        asked: Sequence[Asked],
        keys: Keys | None,
        price: Price,
        opened: tuple[Session, Source],
        label: str | None,
        *,
        by_q: bool = False,
    ) -> R:
        """Ask for an additive or chosen release and send it through the door."""
        session, source = opened
        request = Additive(
            verb=verb,
            setting=session.setting,
            spend=price.spend(session.setting),
            asked=tuple(asked),
            keys=keys,
            form=form,
            schema=source.schema,
            by_q=by_q,
        )
        return session.release(request, source, label=label)

    def _find(
        self,
        form: type[R],
        verb: str,
        asked: Sequence[Asked],
        keys: OpenKeys,
        loss: PrivacyLoss,
        opened: tuple[Session, Source],
        label: str | None,
        *,
        by_q: bool = False,
    ) -> R:
        """Ask for a release under keys found in the data, as `_add` does."""
        session, source = opened
        request = UnknownKeys(
            verb=verb,
            setting=session.setting,
            loss=loss,
            asked=tuple(asked),
            keys=keys,
            form=form,
            schema=source.schema,
            by_q=by_q,
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
