"""Public frames: all cells of a domain, and the codes of a frame that is public."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, get_args

from dpframe.domain.coding import Coding
from dpframe.domain.missing import check_cells
from dpframe.domain.schema import Library
from dpframe.errors import (
    ColumnNotFoundError,
    ParameterError,
    UnsupportedFrameError,
    shown,
)

__all__ = ["cells", "encode"]


def cells(codings: Mapping[str, Coding], library: Library) -> Any:
    """Build the frame of all cells of the columns, last column fastest."""
    import narwhals.stable.v2 as nw

    if not isinstance(library, str) or library not in get_args(Library):
        known = ", ".join(get_args(Library))
        msg = f"library must be one of {known}; got {shown(library)}."
        raise ParameterError(msg)
    if not codings:
        msg = "name at least one column that has cells."
        raise ParameterError(msg)
    sizes = [coding.size for coding in codings.values()]
    check_cells(list(codings), sizes)
    columns: dict[str, list[object]] = {}
    repeats = prod(sizes)
    for name, coding in codings.items():
        repeats //= coding.size
        once = [key for key in coding.keys for _ in range(repeats)]
        columns[name] = once * (prod(sizes) // len(once))
    return nw.from_dict(columns, backend=library).to_native()


def encode(codings: Mapping[str, Coding], frame: Any) -> Any:
    """Code the columns of a public eager frame, in the frame's own library."""
    import narwhals.stable.v2 as nw

    try:
        eager = nw.from_native(frame, eager_only=True)
    except TypeError:
        eager = None
    if eager is None:
        msg = (
            "encode needs a public eager frame of pandas, Polars or pyarrow; got "
            f"{type(frame).__name__}. Collect a lazy one first."
        )
        raise UnsupportedFrameError(msg)
    codes: dict[str, Any] = {}
    for name, coding in codings.items():
        if name not in eager.columns:
            raise ColumnNotFoundError.named(name, eager.columns)
        codes[name] = coding.code(eager[name].to_list())
    return nw.from_dict(codes, backend=eager.implementation).to_native()
