"""The private frame: its types in public, its values only on their way to a Secret."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, final

from dpframe.domain.schema import Schema
from dpframe.engines.attempt import attempt
from dpframe.engines.needs import Needs
from dpframe.errors import EngineError
from dpframe.noise.bits import random_bytes
from dpframe.queries.reduction import Census, Crosstab, Distinct, Multiset, Reduction
from dpframe.secret import Aggregates, Combinations, Found, Occurrences, Secret

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

__all__ = ["FrameSource", "Scan", "draw_key"]

T = TypeVar("T")

#: Hands over columns of a native frame under their names in the plan, in chunks.
Scan = Callable[[Any, Mapping[str, str]], "Iterator[nw.LazyFrame[Any]]"]

_KEY_BYTES = 16


@final
class FrameSource:
    """A frame of pandas, Polars or pyarrow behind the one engine.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.LazyFrame or pyarrow.Table
        The private frame.
    scan : callable
        The library's shim: native frame and column places to plan frames.
    schema : Schema
        Names and types.
    shown : str
        The class that the user gave, for messages.
    """

    __slots__ = ("__frame", "__scan", "__schema", "__shown")

    def __init__(self, frame: Any, scan: Scan, schema: Schema, shown: str) -> None:
        self.__frame = frame
        self.__scan = scan
        self.__schema = schema
        self.__shown = shown

    @property
    def schema(self) -> Schema:
        """Names and types, read without scanning."""
        return self.__schema

    def aggregate(
        self,
        reduction: Reduction,
        hash_key: bytes | None = None,
        also: Sequence[str] = (),
    ) -> Secret[Aggregates]:
        """Bound the contributions, group, count and sum.

        Parameters
        ----------
        reduction : Reduction
            What is asked.
        hash_key : bytes, optional
            The key by which rows are chosen, of an object that asks more than once;
            else one is drawn for this release.
        also : sequence of str
            Columns that enter the tickets of rows by value, so that all questions
            under one key are about the same rows.

        Raises
        ------
        ColumnNotFoundError, ParameterError
            If the columns or the unit's bounds do not serve; the data is not read.
        EngineError
            If the engine fails while it reads the data.
        """
        from dpframe.engines.reduce import reduce_rows, reduce_units

        needs = Needs.of_reduction(reduction, self.__schema, also)
        if reduction.unit.is_row:
            return self.__close(needs, lambda f: reduce_rows(f, reduction, needs))
        key = _key(needs, hash_key)
        return self.__close(needs, lambda f: reduce_units(f, reduction, needs, key))

    def census(self, census: Census) -> Secret[Found]:
        """Bound the contributions; count and sum under the keys that are there.

        Parameters
        ----------
        census : Census
            What is asked.

        Raises
        ------
        ColumnNotFoundError, ParameterError
            If the columns or the unit's bounds do not serve; the data is not read.
        EngineError
            If the engine fails while it reads the data.
        """
        from dpframe.engines.find import find_rows, find_units

        needs = Needs.of_reduction(census.reduction, self.__schema)
        if census.unit.is_row:
            return self.__close(needs, lambda f: find_rows(f, census, needs))
        key = _key(needs, None)
        return self.__close(needs, lambda f: find_units(f, census, needs, key))

    def crosstab(
        self,
        crosstab: Crosstab,
        hash_key: bytes | None = None,
        also: Sequence[str] = (),
    ) -> Secret[Combinations]:
        """Bound the contributions; count and sum every combination of classes.

        Parameters
        ----------
        crosstab : Crosstab
            What is asked.
        hash_key, also
            As in `aggregate`.

        Raises
        ------
        ColumnNotFoundError, ParameterError
            If the columns or the unit's bounds do not serve; the data is not read.
        EngineError
            If the engine fails while it reads the data.
        """
        from dpframe.engines.crosstab import cross_rows, cross_units

        needs = Needs.of_crosstab(crosstab, self.__schema, also)
        if crosstab.unit.is_row:
            return self.__close(needs, lambda f: cross_rows(f, crosstab, needs))
        key = _key(needs, hash_key)
        return self.__close(needs, lambda f: cross_units(f, crosstab, needs, key))

    def multiset(self, query: Multiset) -> Secret[Occurrences]:
        """Bound the contributions; count how often each value occurs.

        Raises
        ------
        ColumnNotFoundError, ParameterError
            If the columns or the unit's bounds do not serve; the data is not read.
        EngineError
            If the engine fails while it reads the data.
        """
        from dpframe.engines.multiset import count_rows_alike, count_units_alike

        needs = Needs.of_reduction(query.reduction, self.__schema)
        if query.unit.is_row:
            return self.__close(needs, lambda f: count_rows_alike(f, query, needs))
        key = _key(needs, None)
        return self.__close(needs, lambda f: count_units_alike(f, query, needs, key))

    def distinct(self, query: Distinct) -> Secret[int]:
        """Bound the contributions and count distinct values.

        Raises
        ------
        ColumnNotFoundError, ParameterError
            If the columns or the unit's bounds do not serve; the data is not read.
        EngineError
            If the engine fails while it reads the data.
        """
        from dpframe.engines.distinct import count_distinct

        needs = Needs.of_distinct(query, self.__schema)
        key = _key(needs, None)
        return self.__close(needs, lambda f: count_distinct(f, query, needs, key))

    def __close(
        self, needs: Needs, reduce: Callable[[Iterator[nw.LazyFrame[Any]]], T]
    ) -> Secret[T]:
        """Run the plan; its failure is told in words that no data can change."""
        outcome = attempt(lambda: reduce(self.__scan(self.__frame, needs.places)))
        if not outcome.failed:
            return Secret(outcome.value)
        if outcome.interrupt is not None:
            raise outcome.interrupt
        columns = ", ".join(map(repr, needs.places)) or "none"
        msg = (
            f"the engine failed while it read this {self.__shown} (columns: {columns})."
            " Its own words are withheld, as they may quote data; if it was charged, "
            "the charge stands. Computing the frame outside .dp may show the cause."
        )
        raise EngineError(msg)

    def __repr__(self) -> str:
        return f"<{self.__shown} behind its engine>"

    def __reduce__(self) -> NoReturn:
        msg = "a private frame cannot be pickled or copied."
        raise TypeError(msg)


def draw_key() -> bytes:
    """Draw a key by which rows are chosen, for an object that asks more than once."""
    return random_bytes(_KEY_BYTES)


def _key(needs: Needs, given: bytes | None) -> bytes:
    """Return the key of one release, drawn before the data is read.

    Whether it is drawn depends on the arguments alone.
    """
    if not needs.hashed:
        return b""
    return draw_key() if given is None else given
