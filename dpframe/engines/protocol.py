"""What an engine does for dpframe: declare its schema, reduce to exact integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dpframe.domain.schema import Schema
from dpframe.queries.reduction import Census, Crosstab, Distinct, Multiset, Reduction
from dpframe.secret import Aggregates, Combinations, Found, Occurrences, Secret

__all__ = ["Source"]


class Source(Protocol):
    """A private frame behind its engine.

    Implementations hold the native frame in a slot, show nothing of it, read it only
    in the five methods below, and raise `dpframe.errors.EngineError` with column and
    class names only when the engine fails.
    """

    @property
    def schema(self) -> Schema:
        """Names and types, read without scanning."""
        ...

    def aggregate(
        self,
        reduction: Reduction,
        hash_key: bytes | None = None,
        also: Sequence[str] = (),
    ) -> Secret[Aggregates]:
        """Bound the contributions, group, count and sum."""
        ...

    def census(self, census: Census) -> Secret[Found]:
        """Bound the contributions; count and sum under the keys that are there."""
        ...

    def crosstab(
        self,
        crosstab: Crosstab,
        hash_key: bytes | None = None,
        also: Sequence[str] = (),
    ) -> Secret[Combinations]:
        """Bound the contributions; count and sum every combination of classes."""
        ...

    def multiset(self, query: Multiset) -> Secret[Occurrences]:
        """Bound the contributions; count how often each value occurs."""
        ...

    def distinct(self, query: Distinct) -> Secret[int]:
        """Bound the contributions and count distinct values."""
        ...
