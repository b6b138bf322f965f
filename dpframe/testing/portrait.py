"""Everything that can be seen of a result, as text, to compare two of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from dpframe.display.text import show_moment
from dpframe.releases.base import Release

__all__ = ["OPAQUE", "portrait", "words"]

#: What is said of objects whose state nobody can see.
OPAQUE = "cannot be seen into"

#: Fields that differ from one call to the next, whatever the data.
_PASSING = frozenset({"release_id", "time", "at"})

_UNSET = object()  # a slot may hold nothing yet

#: Where functions keep what they know.
_FUNCTIONS = {
    FunctionType: ["__qualname__", "__closure__", "__defaults__", "__kwdefaults__"],
    MethodType: ["__func__", "__self__"],
    CellType: ["cell_contents"],
    partial: ["func", "args", "keywords"],
}

_PLAIN = (
    type(None), bool, int, float, complex, str, bytes, Fraction, Decimal, date,
    datetime, time, timedelta, np.generic, type,
)  # fmt: skip


def portrait(thing: object) -> dict[str, str]:
    """Return what can be seen of ``thing``: text by path, down to its private fields.

    Releases are also shown as they show themselves: in print, in a notebook, as an
    Arrow table with its metadata and as a frame. Ids and times are left out. Functions
    are seen with what they enclose; of a generator there is nothing to see but that.
    """
    return dict(_walk(thing, "result", frozenset()))


def words(error: BaseException | None) -> str:
    """Return all that an exception says, with its notes, causes and context."""
    if error is None:
        return ""
    said = f"{type(error).__qualname__}{error.args!r}: {error}"
    notes = "".join(f" [{note}]" for note in getattr(error, "__notes__", ()))
    cause, context = words(error.__cause__), words(error.__context__)
    return said + notes + "".join(f" <- {text}" for text in (cause, context) if text)


def _walk(thing: Any, path: str, above: frozenset[int]) -> Iterator[tuple[str, str]]:
    """Yield path and text of ``thing`` and of what it holds."""
    yield f"type({path})", f"{type(thing).__module__}.{type(thing).__qualname__}"
    if isinstance(thing, _PLAIN):
        yield path, repr(thing)
    elif id(thing) in above:
        yield path, "itself"
    elif isinstance(thing, np.ndarray):
        yield path, f"{thing.dtype} {thing.shape} {thing.tolist()!r}"
    elif isinstance(thing, (pa.Table, pl.DataFrame, pd.DataFrame)):
        yield path, _frame(thing)
    elif isinstance(thing, BaseException):
        yield path, words(thing)
    else:
        parts = _parts(thing)
        if parts is None:
            yield path, OPAQUE
            return
        for name, part in parts:
            yield from _walk(part, f"{path}{name}", above | {id(thing)})
        if isinstance(thing, Release):
            yield from _shown(thing, path)


def _parts(thing: Any) -> list[tuple[str, Any]] | None:
    """Return what an object holds: items of containers, else its fields."""
    if isinstance(thing, Mapping):
        pairs = enumerate(thing.items())
        return [(f"[{number}]", pair) for number, pair in pairs]
    if isinstance(thing, (tuple, list, set, frozenset)):
        return [(f"[{number}]", item) for number, item in enumerate(thing)]
    names = _FUNCTIONS.get(type(thing)) or _fields(thing)
    if not names and not is_dataclass(thing):
        return None
    parts = [(f".{name}", getattr(thing, name, _UNSET)) for name in names]
    return [(n, p) for n, p in parts if n[1:] not in _PASSING and p is not _UNSET]


def _fields(thing: Any) -> list[str]:
    """Return the names of an object's state, in slots, fields or dictionary."""
    names = [field.name for field in fields(thing)] if is_dataclass(thing) else []
    for owner in type(thing).__mro__:
        slots = owner.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            private = name.startswith("__") and not name.endswith("__")
            names.append(f"_{owner.__name__.lstrip('_')}{name}" if private else name)
    names.extend(getattr(thing, "__dict__", ()))
    return [n for n in dict.fromkeys(names) if n not in ("__dict__", "__weakref__")]


def _shown(release: Release, path: str) -> Iterator[tuple[str, str]]:
    """Yield a release in every form in which it leaves."""
    at = release.time
    known = (release.release_id, str(at), at.isoformat(), show_moment(at))
    views = {
        "repr": repr(release),
        "_repr_html_": release._repr_html_(),
        "to_arrow": _frame(release.to_arrow()),
        "to_frame": _frame(release.to_frame()),
    }
    for name, text in views.items():
        for passing in known:
            text = text.replace(passing, "…")
        yield f"{path}.{name}()", text


def _frame(frame: Any) -> str:
    """Return types, values and metadata of a frame of any library."""
    if isinstance(frame, pa.Table):
        facts = [frame.schema.metadata, *(field.metadata for field in frame.schema)]
        types = [f"{f.name}: {f.type}, {f.nullable}" for f in frame.schema]
        metadata = [_without_passing(fact) for fact in facts]
        return f"{types} {frame.to_pydict()!r} {metadata}"
    if isinstance(frame, pl.DataFrame):
        return f"polars {frame.schema!r} {frame.to_dict(as_series=False)!r}"
    if isinstance(frame, pd.DataFrame):
        dtypes, values = frame.dtypes.to_dict(), frame.to_dict("list")
        return f"pandas {dtypes!r} {values!r} {frame.index!r} {frame.attrs!r}"
    return repr(frame)


def _without_passing(metadata: Mapping[bytes, bytes] | None) -> dict[bytes, object]:
    read = {key: json.loads(value) for key, value in (metadata or {}).items()}
    for record in read.values():
        for name in _PASSING:
            record.pop(name, None)
    return read
