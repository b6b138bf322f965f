"""`Workload`: a list of queries, and what a verb's ``queries=`` may be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, final, get_args, overload

from dpframe.errors import ParameterError, shown
from dpframe.queries.blocks import Block, Cell, Marginal, Query, Weights
from dpframe.queries.column import Column
from dpframe.queries.predicates import Predicate

__all__ = ["Workload", "as_workload"]

_SHOWN = 5
_KINDS = (Predicate, *get_args(Block), Weights, Cell)


@final
class Workload(Sequence[Query]):
    """A fixed list of queries: public, and it holds no data.

    Parameters
    ----------
    queries : list
        Queries, column names (the marginal of that column), and other workloads,
        which are joined to the list.

    Raises
    ------
    ParameterError
        If something else is among them.

    Examples
    --------
    >>> import dpframe as dpf
    >>> dpf.marginals(["sex", "race"], degree=2) + [dpf.col("age") >= 40]
    Workload of 2 queries:
      marginal of sex, race
      age >= 40
    """

    __slots__ = ("_queries",)

    _queries: tuple[Query, ...]

    def __init__(self, queries: Iterable[Any]) -> None:
        object.__setattr__(self, "_queries", tuple(_flat(queries)))

    def __setattr__(self, name: str, value: object) -> None:
        msg = "a Workload is fixed; add two of them to make another."
        raise AttributeError(msg)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that are read, each once, in the order of first use."""
        return tuple(dict.fromkeys(c for query in self for c in query.columns))

    def describe(self) -> list[dict[str, object]]:
        """Return the queries as canonical, JSON-able values."""
        return [query.describe() for query in self]

    def __len__(self) -> int:
        return len(self._queries)

    def __iter__(self) -> Iterator[Query]:
        return iter(self._queries)

    @overload
    def __getitem__(self, index: int) -> Query: ...
    @overload
    def __getitem__(self, index: slice) -> Workload: ...
    def __getitem__(self, index: int | slice) -> Query | Workload:
        found = self._queries[index]
        return Workload(found) if isinstance(found, tuple) else found

    def __add__(self, other: Any) -> Workload:
        return Workload([*self, other])

    def __radd__(self, other: Any) -> Workload:
        return Workload([other, *self])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Workload) and self._queries == other._queries

    def __hash__(self) -> int:
        return hash(self._queries)

    def __reduce__(self) -> tuple[type[Workload], tuple[list[Query]]]:
        return (Workload, (list(self._queries),))

    def __repr__(self) -> str:
        lines = [repr(query) for query in self._queries[:_SHOWN]]
        lines += ["…"] if len(self) > _SHOWN else []
        heading = f"Workload of {len(self):,} quer{'y' if len(self) == 1 else 'ies'}"
        return "\n  ".join([f"{heading}:" if lines else heading, *lines])


def as_workload(given: object) -> Workload:
    """Read a verb's ``queries=``: a column name, a query, a list, or a `Workload`.

    Raises
    ------
    ParameterError
        If it is something else, or empty.
    """
    workload = given if isinstance(given, Workload) else Workload([given])
    if not workload:
        msg = (
            "the list of queries is empty; give at least one, such as "
            "[dpf.col('age') >= 40]."
        )
        raise ParameterError(msg)
    return workload


def _flat(given: object) -> Iterator[Query]:
    """Read queries one by one; lists inside lists are joined."""
    if isinstance(given, str):
        yield Marginal((given,))
    elif isinstance(given, Column):
        yield given.is_true()
    elif isinstance(given, _KINDS):
        yield given
    elif isinstance(given, (list, tuple, Workload, Iterator)):
        for one in given:
            yield from _flat(one)
    else:
        msg = (
            "queries are a column name, a query such as dpf.col('age') >= 40, or a "
            f"list of queries; got {shown(given)}. Answers that you hold already go to "
            "dpframe.mechanisms.sparse_vector."
        )
        raise ParameterError(msg)
