"""Public facts as JSON and back, exactly.

Text, numbers, booleans and None are JSON's own; other values are objects of one
entry, such as ``{"date": "2024-01-31"}`` or ``{"float": "-inf"}``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

from dpframe.domain.coding import Coding
from dpframe.domain.kinds import (
    Booleans,
    Bounds,
    Categories,
    ColumnKind,
    Dates,
    Edges,
    Integers,
)
from dpframe.domain.missing import about
from dpframe.errors import ParameterError

__all__ = ["Facts", "dump_record", "dump_value", "read_domain", "write_domain"]

#: Column name -> kind and whether it has an ``other`` cell, in order.
Facts = dict[str, tuple[ColumnKind, bool]]

_VERSION = 1
#: What JSON of another form makes Python say while it is read.
_MALFORMED = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
_MICROSECOND = timedelta(microseconds=1)
_KINDS: dict[str, type[ColumnKind]] = {
    "categories": Categories,
    "integers": Integers,
    "bounds": Bounds,
    "edges": Edges,
    "booleans": Booleans,
    "dates": Dates,
}


def dump_value(value: Any) -> Any:
    """Return a public value, or a tuple of them, in a form that JSON holds."""
    if isinstance(value, tuple):
        return [dump_value(item) for item in value]
    if isinstance(value, float):
        return value if isfinite(value) else {"float": repr(value)}
    for name, (kind, write, _) in _TAGGED.items():
        if type(value) is kind:  # a datetime is a date, too
            return {name: write(value)}
    return value


def dump_record(record: ColumnKind | Coding) -> dict[str, Any]:
    """Return a kind or a coding as a JSON-able dictionary."""
    return {"kind": type(record).__name__.lower()} | {
        field.name: dump_value(getattr(record, field.name)) for field in fields(record)
    }


def write_domain(facts: Facts) -> str:
    """Write a domain as JSON text, columns in order."""
    columns = [
        {"name": name, **dump_record(kind), "other": other}
        for name, (kind, other) in facts.items()
    ]
    document = {"dpframe": "domain", "version": _VERSION, "columns": columns}
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def read_domain(text: str | bytes) -> Facts:
    """Read the text of `write_domain`, or the plain form written by hand.

    Raises
    ------
    ParameterError
        If the text is neither.
    """
    try:
        return _read(json.loads(text))
    except ParameterError:
        raise
    except _MALFORMED:
        pass
    raise ParameterError(
        _told("it is no JSON object, or an entry is missing or of the wrong form")
    )


def _read(document: Any) -> Facts:
    return _own(document) if "dpframe" in document else _by_hand(document)


def _own(document: Mapping[str, Any]) -> Facts:
    if document["dpframe"] != "domain" or document["version"] != _VERSION:
        raise ParameterError(_told(f"only version {_VERSION} can be read"))
    facts: Facts = {}
    for entry in document["columns"]:
        name, kind = _new(entry["name"], facts), _KINDS[entry["kind"]]
        arguments = {f.name: _load(entry[f.name]) for f in fields(kind)}
        with about(name):
            facts[name] = (kind(**arguments), bool(entry["other"]))
    return facts


def _by_hand(document: Mapping[str, Any]) -> Facts:
    """Read {"categories": {column: [...]}, "bounds": {column: [low, high]}, ...}."""
    facts: Facts = {}
    for section, columns in document.items():
        if section not in _SECTIONS:
            raise ParameterError(_told(f"a section is named {section!r}"))
        for name, values in columns.items():
            with about(_new(name, facts)):
                facts[name] = (_SECTIONS[section](_load(values)), False)
    return facts


def _new(name: str, facts: Facts) -> str:
    if name in facts:
        raise ParameterError(_told(f"column {name!r} is declared twice"))
    return name


def _load(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_load(item) for item in value)
    if isinstance(value, dict):
        ((name, text),) = value.items()
        _, _, read = _TAGGED[name]
        return read(text)
    return value


def _told(reason: str) -> str:
    return (
        f"the text is no dpframe domain: {reason}. Give what Domain.to_json() wrote, "
        'or {"categories": {"sex": ["Female", "Male"]}, "bounds": {"age": [17, 90]}, '
        '"integers": {...}, "edges": {...}}.'
    )


_SECTIONS: dict[str, Callable[[tuple[Any, ...]], ColumnKind]] = {
    "categories": Categories,
    "bounds": lambda ends: Bounds(*ends),
    "integers": lambda ends: Integers(*ends),
    "edges": Edges,
}
#: Tag -> type, its text or number, and the way back.
_TAGGED: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "float": (float, repr, float),
    "decimal": (Decimal, str, Decimal),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "timedelta_us": (
        timedelta,
        lambda span: span // _MICROSECOND,
        lambda count: count * _MICROSECOND,
    ),
}
