"""One small Polars frame as a frame of every library and column type."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import polars as pl
from backends.frames import ENGINES, build

#: Frames that keep the chunks they have.
_CHUNKED: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars eager": lambda frame: frame,
    "polars lazy": pl.DataFrame.lazy,
    "pyarrow": pl.DataFrame.to_arrow,
}


def convert(engine: str, frame: pl.DataFrame) -> Any:
    """Return the frame as one of ``engine``."""
    if engine in _CHUNKED:
        return _CHUNKED[engine](frame)
    types = frame.schema.items()
    return build(engine, {name: (t, frame[name].to_list()) for name, t in types})


#: From a Polars frame to each engine's, by name.
CONVERTERS: dict[str, Callable[[pl.DataFrame], Any]] = {
    engine: partial(convert, engine) for engine in ENGINES
}
