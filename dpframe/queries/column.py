"""`col`: a column by name, to be compared with public values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn, final

from dpframe.domain.values import family, listed, ordered, plain, uniform
from dpframe.errors import ParameterError, shown
from dpframe.queries.predicates import Condition, Not, Operator, Predicate, no_truth

__all__ = ["Column", "col"]


@final
class Column:
    """A column by name, to be compared with public values; made by `col`.

    A boolean column is a predicate by itself. A Column cannot be hashed, as ``==``
    makes a predicate of it.
    """

    __slots__ = ("_name",)

    _name: str

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            msg = f"col needs a column name, such as dpf.col('age'); got {shown(name)}."
            raise ParameterError(msg)
        object.__setattr__(self, "_name", name)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        msg = "a column of a query is fixed; write dpf.col(...) again."
        raise AttributeError(msg)

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def __eq__(self, value: object) -> Predicate:  # type: ignore[override]
        return Condition(self._name, "==", (self._value(value),))

    def __ne__(self, value: object) -> Predicate:  # type: ignore[override]
        return Condition(self._name, "!=", (self._value(value),))

    def __lt__(self, value: object) -> Predicate:
        return self._ordered("<", value)

    def __le__(self, value: object) -> Predicate:
        return self._ordered("<=", value)

    def __gt__(self, value: object) -> Predicate:
        return self._ordered(">", value)

    def __ge__(self, value: object) -> Predicate:
        return self._ordered(">=", value)

    def between(self, lower: object, upper: object) -> Predicate:
        """Compare with a range, both ends included."""
        low, high = self._end(lower), self._end(upper)
        ordered((low, high), f"the ends of between on {self._name!r}")
        if low > high:
            msg = (
                f"between on {self._name!r}: {shown(low)} is above {shown(high)}. "
                "Write the lower end first."
            )
            raise ParameterError(msg)
        return self._ordered(">=", low) & self._ordered("<=", high)

    def is_in(self, values: Iterable[object]) -> Predicate:
        """Compare with a list: equal to one of its values."""
        what = f"the values of is_in on {self._name!r}"
        exact = uniform([self._value(v) for v in listed(values, what)], what)
        return Condition(self._name, "in", tuple(dict.fromkeys(exact)))

    def is_null(self) -> Predicate:
        """Ask for missing values: null, NaN, NaT."""
        return Condition(self._name, "null")

    def is_not_null(self) -> Predicate:
        """Ask for values that are not missing."""
        return Not(Condition(self._name, "null"))

    def is_true(self) -> Predicate:
        """Ask for rows where a boolean column is true; the column alone does, too."""
        return Condition(self._name, "true")

    def __and__(self, other: Predicate | Column) -> Predicate:
        return self.is_true() & _as_predicate(other)

    def __rand__(self, other: Predicate) -> Predicate:
        return _as_predicate(other) & self.is_true()

    def __or__(self, other: Predicate | Column) -> Predicate:
        return self.is_true() | _as_predicate(other)

    def __ror__(self, other: Predicate) -> Predicate:
        return _as_predicate(other) | self.is_true()

    def __invert__(self) -> Predicate:
        return ~self.is_true()

    def __bool__(self) -> NoReturn:
        raise no_truth()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Column], tuple[str]]:
        return (Column, (self._name,))

    def __repr__(self) -> str:
        return f"col({self._name!r})"

    def _value(self, value: object) -> Any:
        exact = plain(value)
        if exact is None:
            msg = (
                f"a missing value equals nothing; for rows without {self._name!r} "
                f"write dpf.col({self._name!r}).is_null()."
            )
            raise ParameterError(msg)
        if family(exact) is None:
            msg = (
                f"{self._name!r} is compared with one public value: text, a number, a "
                f"boolean, a date, a datetime, a timedelta or a Decimal; got "
                f"{shown(value)}."
            )
            raise ParameterError(msg)
        return exact

    def _end(self, value: object) -> Any:
        exact = self._value(value)
        if isinstance(exact, str):
            msg = (
                f"text has no order that all engines share, so {self._name!r} cannot "
                "be compared by order. List the values: "
                f"dpf.col({self._name!r}).is_in([...])."
            )
            raise ParameterError(msg)
        ordered((exact,), f"what {self._name!r} is compared with by order")
        return exact

    def _ordered(self, operator: Operator, value: object) -> Predicate:
        return Condition(self._name, operator, (self._end(value),))


def col(name: str) -> Column:
    """Name a column, to ask how many rows fulfil a condition on it.

    Parameters
    ----------
    name : str
        A column of the frame.

    Returns
    -------
    Column
        Compare it by ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``between``,
        ``is_in``, ``is_null``, ``is_not_null``; join by ``&``, ``|``, ``~``.

    Raises
    ------
    ParameterError
        If the name is no text.

    Notes
    -----
    Values are compared exactly and as Python compares them: numbers across types, a
    datetime with a zone only with others that have one. A date compared by order with
    a column of datetimes means the whole day, in the column's time zone. Text has no
    order here: engines differ.

    Examples
    --------
    >>> import dpframe as dpf
    >>> (dpf.col("sex") == "Female") & ~(dpf.col("age") >= 40)
    (sex == 'Female') & ~(age >= 40)
    >>> dpf.col("married") | dpf.col("job").is_in(["nurse", "miner"])
    married | (job in ['nurse', 'miner'])
    """
    return Column(name)


def _as_predicate(given: object) -> Predicate:
    if isinstance(given, Column):
        return given.is_true()
    if isinstance(given, Predicate):
        return given
    msg = (
        "&, | and ~ join queries such as (dpf.col('age') >= 40), each in brackets; got "
        f"{shown(given)}."
    )
    raise ParameterError(msg)
