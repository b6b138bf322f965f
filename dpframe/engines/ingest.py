"""One door for frames: recognize the library, read the declared types, scan nothing.

No library is imported that the frame itself does not prove to be loaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from narwhals.stable.v2 import dependencies

from dpframe.domain.schema import Schema
from dpframe.engines.attempt import attempt
from dpframe.engines.protocol import Source
from dpframe.engines.source import FrameSource
from dpframe.errors import EngineError, UnsupportedFrameError

__all__ = ["ingest"]

#: The name of a nameless Series.
_VALUE = "value"


def ingest(frame: object) -> Source:
    """Put a frame behind its engine.

    Parameters
    ----------
    frame : DataFrame, LazyFrame, Series or Table
        pandas DataFrame or Series, with any dtypes; Polars DataFrame, LazyFrame or
        Series; pyarrow Table or RecordBatch. A Series is a frame of one column: its
        name, or ``"value"``.

    Returns
    -------
    Source
        The frame, closed; its ``schema`` is public.

    Raises
    ------
    UnsupportedFrameError
        If the object is none of these, or its column names are not distinct text.
    EngineError
        If a lazy frame's own plan has no schema.
    """
    shown = _class(frame)
    opened = attempt(_open, frame, shown)
    del frame  # a traceback may be printed with its locals
    if not opened.failed:
        return opened.value
    if opened.interrupt is not None:
        raise opened.interrupt
    if opened.refusal is not None:
        raise opened.refusal
    msg = (
        f"this {shown} does not tell its columns: a source of its plan is missing, or "
        "a step does not fit. Its own schema or collect_schema() says more."
    )
    raise EngineError(msg)


def _open(frame: Any, shown: str) -> Source:
    if dependencies.is_pandas_dataframe(frame):
        return _from_pandas(frame, shown)
    if dependencies.is_pandas_series(frame):
        named = isinstance(frame.name, str) and frame.name
        return _from_pandas(frame.to_frame(frame.name if named else _VALUE), shown)
    if dependencies.is_polars_lazyframe(frame):
        return _from_polars(frame, shown)
    if dependencies.is_polars_dataframe(frame):
        return _from_polars(frame.lazy(), shown)
    if dependencies.is_polars_series(frame):
        return _from_polars(frame.to_frame(frame.name or _VALUE).lazy(), shown)
    pyarrow = dependencies.get_pyarrow()
    if pyarrow is not None and isinstance(frame, pyarrow.RecordBatch):
        return _from_pyarrow(pyarrow.Table.from_batches([frame]), shown)
    if dependencies.is_pyarrow_table(frame):
        return _from_pyarrow(frame, shown)
    msg = (
        "dpframe reads a pandas DataFrame or Series, a Polars DataFrame, LazyFrame or "
        f"Series, and a pyarrow Table or RecordBatch; got {shown}. Convert it first, "
        "for example to a pyarrow Table."
    )
    raise UnsupportedFrameError(msg)


def _from_pandas(frame: Any, shown: str) -> Source:
    from dpframe.engines.pandas import column_types, scan

    _check_names(list(frame.columns), shown)
    return FrameSource(frame, scan, Schema(column_types(frame), "pandas"), shown)


def _from_polars(frame: Any, shown: str) -> Source:
    from dpframe.engines.polars import column_types, scan

    return FrameSource(frame, scan, Schema(column_types(frame), "polars"), shown)


def _from_pyarrow(frame: Any, shown: str) -> Source:
    from dpframe.engines.pyarrow import column_types, scan

    _check_names(frame.column_names, shown)
    return FrameSource(frame, scan, Schema(column_types(frame), "pyarrow"), shown)


def _check_names(names: Sequence[object], shown: str) -> None:
    if not all(isinstance(name, str) for name in names):
        msg = (
            f"the columns of a {shown} must be named by text; some of these are "
            "numbers, tuples or other labels. Rename them: frame.columns = [...]."
        )
        raise UnsupportedFrameError(msg)
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        msg = f"this {shown} has several columns {twice[0]!r}; rename or drop one."
        raise UnsupportedFrameError(msg)


def _class(frame: object) -> str:
    kind = type(frame)
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"
