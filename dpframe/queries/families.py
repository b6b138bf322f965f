"""Families of queries over the cells that a domain declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any

from dpframe.domain.resolve import resolve_bounds
from dpframe.domain.values import distinct, family, listed, plain
from dpframe.errors import ParameterError, shown
from dpframe.queries.blocks import Marginal, Prefixes, Ranges, SumBy, Weights
from dpframe.queries.workload import Workload

__all__ = ["cdf", "marginals", "ranges", "sum_by", "weights"]

_MOST_QUERIES = 2**20


def marginals(columns: str | Sequence[str], degree: int | None = None) -> Workload:
    """Ask for the rows of every cell, for every choice of ``degree`` columns.

    Parameters
    ----------
    columns : str or list of str
        Columns whose keys the domain declares.
    degree : int, optional
        Columns of one marginal; all of them if not given.

    Returns
    -------
    Workload
        One query for each choice, each with one answer for each cell.

    Raises
    ------
    ParameterError
        If the columns repeat, or there are fewer of them than ``degree``.

    Examples
    --------
    >>> import dpframe as dpf
    >>> len(dpf.marginals(["sex", "race", "income"], degree=2))
    3
    """
    names = _names(columns, "marginals")
    size = len(names) if degree is None else degree
    whole = isinstance(size, int) and not isinstance(size, bool)
    if not whole or not 1 <= size <= len(names):
        msg = (
            f"degree is how many of the {len(names)} columns go together, from 1 to "
            f"{len(names)}; got {shown(degree)}."
        )
        raise ParameterError(msg)
    if comb(len(names), size) > _MOST_QUERIES:
        msg = f"{comb(len(names), size):,} marginals are too many; take fewer columns."
        raise ParameterError(msg)
    return Workload(map(Marginal, combinations(names, size)))


def cdf(column: str) -> Workload:
    """Ask for the rows up to each cell of an ordered column, the last cell included.

    Parameters
    ----------
    column : str
        Declared by `integers`, `edges` or `dates`.

    Examples
    --------
    >>> import dpframe as dpf
    >>> dpf.cdf("age")
    Workload of 1 query:
      cdf of age
    """
    return Workload([Prefixes(_name(column, "cdf"))])


def ranges(column: str) -> Workload:
    """Ask for the rows of every run of neighboring cells of an ordered column.

    Parameters
    ----------
    column : str
        Declared by `integers`, `edges` or `dates`; n cells have n(n + 1)/2 runs,
        ordered by their first and then by their last cell.
    """
    return Workload([Ranges(_name(column, "ranges"))])


def weights(tables: Mapping[str, Sequence[float]]) -> Weights:
    """Ask for one weighted count, each row weighted by its cells.

    Parameters
    ----------
    tables : mapping of str to list of float
        Column -> weight of each of its codes, in the domain's order, in [0, 1]. A
        row weighs the product; a missing or unlisted value without a cell, 0.

    Raises
    ------
    ParameterError
        If a weight is no number in [0, 1].

    Examples
    --------
    >>> import dpframe as dpf
    >>> dpf.weights({"sex": [1, 0.5]})
    rows weighted by sex
    """
    if not isinstance(tables, Mapping) or not tables:
        msg = (
            "weights needs a dictionary of column -> list of weights, such as "
            f"dpf.weights({{'sex': [1, 0.5]}}); got {shown(tables)}."
        )
        raise ParameterError(msg)
    return Weights(
        tuple(
            (_name(column, "weights"), _weights(column, given))
            for column, given in tables.items()
        )
    )


def sum_by(
    by: str | Sequence[str],
    column: str,
    *,
    bounds: object = None,
    keys: object = None,
) -> SumBy:
    """Ask for the sum of a column under every key of others.

    Parameters
    ----------
    by : str or list of str
        Key columns; ``[]`` asks for the one sum over the whole frame.
    column : str
        What is summed. Missing values add nothing.
    bounds : pair, optional
        Each row is clamped to them; the domain's if not given.
    keys : list or dict, optional
        Public keys; the domain's if not given.

    Raises
    ------
    ParameterError
        If an argument is wrong; what needs the frame is checked when it is asked.

    Examples
    --------
    >>> import dpframe as dpf
    >>> dpf.sum_by("topic", "bytes", bounds=(0, 100))
    sum of bytes by topic
    """
    name = _name(column, "sum_by")
    names = _names(by, "sum_by", least=0)
    if keys is not None and not names:
        msg = "keys= are the keys of key columns, and sum_by([], ...) has none."
        raise ParameterError(msg)
    pair = None
    if bounds is not None:
        pair = resolve_bounds(name, domain=None, bounds=bounds)
    if not isinstance(keys, Mapping):
        return SumBy(names, name, pair, keys if keys is None else _keys(keys))
    pairs = tuple((column, _keys(values)) for column, values in keys.items())
    return SumBy(names, name, pair, pairs, by_column=True)


def _name(column: object, what: str) -> str:
    if isinstance(column, str):
        return column
    msg = f"{what} needs a column name; got {shown(column)}."
    raise ParameterError(msg)


def _names(columns: object, what: str, least: int = 1) -> tuple[str, ...]:
    given = [columns] if isinstance(columns, str) else listed(columns, "columns")
    names = tuple(_name(column, what) for column in given)
    if len(names) < least:
        msg = f"{what} needs at least one column; the list is empty."
        raise ParameterError(msg)
    distinct(names, "columns")
    return names


def _weights(column: str, given: object) -> tuple[float, ...]:
    exact = [plain(weight) for weight in listed(given, f"weights of {column!r}")]
    for weight in exact:
        if not isinstance(weight, (bool, int, float)) or not 0 <= weight <= 1:
            msg = f"weights of {column!r} are numbers from 0 to 1; got {shown(weight)}."
            raise ParameterError(msg)
    return tuple(map(float, exact))


def _keys(given: object) -> tuple[Any, ...]:
    return tuple(
        tuple(map(_key, key)) if isinstance(key, tuple) else _key(key)
        for key in listed(given, "keys")
    )


def _key(given: object) -> Any:
    exact = plain(given)
    if exact is not None and family(exact) is None:
        msg = (
            "keys must be text, numbers, booleans, dates, datetimes, timedeltas or "
            f"Decimals, or None, or tuples of them; got {type(given).__name__}."
        )
        raise ParameterError(msg)
    return exact
