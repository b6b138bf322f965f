"""Whom the promise protects, and how two frames may differ.

A privacy unit is one row, or all rows with one value of a column. Its bounds are
enforced by truncation, never assumed (``design: units``): `max_rows` counts a
unit's rows in all, `max_groups` its distinct keys in one release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final, get_args

from dpframe.errors import ParameterError, shown

__all__ = ["ROW", "Neighboring", "Unit", "as_neighboring", "as_unit"]

Neighboring = Literal["add_remove", "replace"]


@final
@dataclass(frozen=True, slots=True)
class Unit:
    """All rows with one value of ``column`` belong to one protected unit.

    Parameters
    ----------
    column : str
        The column that names the unit (a person, a household, a device).
    max_rows : int, optional
        Rows of one unit that reach a release, over all groups. Rows above it are
        dropped by a keyed hash. Needed by every verb that counts or sums rows.
    max_groups : int, optional
        Distinct keys of one unit that reach a release.
    null_unit : {"drop"}
        Rows whose unit is null or NaN reach no release.

    Raises
    ------
    ParameterError
        If a bound is not a positive integer, or the column is not a name.

    Examples
    --------
    >>> import dpframe as dpf
    >>> dpf.Unit("person_id", max_rows=10, max_groups=3)
    Unit('person_id', max_rows=10, max_groups=3)
    """

    column: str
    max_rows: int | None = None
    max_groups: int | None = None
    null_unit: Literal["drop"] = "drop"

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            msg = f"Unit needs a column name, not {type(self.column).__name__}."
            raise ParameterError(msg)
        for name in ("max_rows", "max_groups"):
            bound = getattr(self, name)
            if bound is None:
                continue
            if isinstance(bound, bool) or not isinstance(bound, int) or bound < 1:
                msg = f"{name} must be a positive integer; got {shown(bound)}."
                raise ParameterError(msg)
        if self.null_unit != "drop":
            msg = f"null_unit must be 'drop'; got {shown(self.null_unit)}."
            raise ParameterError(msg)

    @property
    def is_row(self) -> bool:
        """Whether the unit is one row: nothing to limit."""
        return self is ROW

    def __repr__(self) -> str:
        if self.is_row:
            return "'row'"
        bounds = "".join(
            f", {name}={bound}"
            for name in ("max_rows", "max_groups")
            if (bound := getattr(self, name)) is not None
        )
        return f"Unit({self.column!r}{bounds})"

    def describe(self) -> dict[str, str | int | None]:
        """Return the canonical public facts, for ledgers and digests."""
        if self.is_row:
            return {"unit": "row"}
        return {
            "unit": self.column,
            "max_rows": self.max_rows,
            "max_groups": self.max_groups,
        }


#: One row is the unit: at most one row in one group, by definition.
ROW = Unit("", max_rows=1, max_groups=1)


def as_unit(value: object) -> Unit:
    """Read ``unit=``: the text "row" or a `Unit`."""
    if isinstance(value, Unit):
        return value
    if isinstance(value, str) and value == "row":
        return ROW
    msg = (
        f"unit must be 'row' or a dpf.Unit; got {shown(value)}. For people with "
        "several rows type unit=dpf.Unit('person_id', max_rows=10)."
    )
    raise ParameterError(msg)


def as_neighboring(value: object) -> Neighboring:
    """Read ``neighboring=``."""
    if isinstance(value, str) and value in get_args(Neighboring):
        return value  # type: ignore[return-value]
    msg = f"neighboring must be 'add_remove' or 'replace'; got {shown(value)}."
    raise ParameterError(msg)
