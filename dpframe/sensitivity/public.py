"""A mark on frames whose contents are public: synthetic, published, made up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from dpframe.errors import ColumnNotFoundError, ParameterError, UnsupportedFrameError

__all__ = ["PublicFrame", "public"]


@final
@dataclass(frozen=True, slots=True, repr=False)
class PublicFrame:
    """A frame that somebody declared public; made by `public`."""

    frame: Any

    def __repr__(self) -> str:
        return f"public({type(self.frame).__name__})"

    def numbers(self, column: str | Sequence[str] | None) -> Any:
        """Return a column without nulls, or rows of several, as an array."""
        import narwhals.stable.v2 as nw

        eager = nw.from_native(self.frame, eager_only=True)
        names = [column] if isinstance(column, str) else list(column or ())
        if not names:
            msg = "name a column of the frame, as in column='age'."
            raise ParameterError(msg)
        for name in names:
            if name not in eager.columns:
                raise ColumnNotFoundError.named(name, eager.columns)
        chosen = eager.select(names).drop_nulls()
        return chosen[names[0]].to_numpy() if len(names) == 1 else chosen.to_numpy()


def public(frame: Any) -> PublicFrame:
    """Declare that everything in a frame is public.

    What is worked out from it is then shown freely: local sensitivities, profiles, the
    distance of a test. Never mark private data to have a look at them.

    Parameters
    ----------
    frame : eager frame of pandas, Polars or pyarrow
        Synthetic, published, or made up to teach with.

    Raises
    ------
    UnsupportedFrameError
        If it is no such frame.

    Examples
    --------
    >>> import polars as pl
    >>> from dpframe.sensitivity import public
    >>> public(pl.DataFrame({"age": [31, 44, 62]}))
    public(DataFrame)
    """
    import narwhals.stable.v2 as nw

    try:
        nw.from_native(frame, eager_only=True)
    except TypeError:
        msg = (
            "public() marks an eager frame of pandas, Polars or pyarrow; got "
            f"{type(frame).__name__}."
        )
        raise UnsupportedFrameError(msg) from None
    return PublicFrame(frame)
