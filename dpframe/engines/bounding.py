"""Keep at most g groups, then m rows, of every unit (``design: units`` §3, 5 and 6).

The choice within a unit is a function of that unit's rows as a multiset and of a
key that knows nothing of the data, so a unit's coming or going leaves every other
unit's rows as they are (proof: ``docs/proofs/bounding``). Units are told apart by
value; a hash orders, and its ties are broken by the columns, never by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from dpframe.engines import polars

__all__ = ["keep_groups", "keep_rows"]

Rows = nw.DataFrame[Any]


def keep_groups(rows: Rows, groups: Sequence[str], key: bytes, bound: int) -> Rows:
    """Keep the ``bound`` groups of each unit with the least (hash, group).

    Parameters
    ----------
    rows : narwhals.DataFrame
        Columns ``unit``, ``groups`` and any others.
    groups : sequence of str
        Columns that tell the groups apart: public codes, or values.
    key : bytes
        The release's key.
    bound : int
        Groups of one unit to keep.
    """
    bound = min(bound, len(rows))
    light, heavy = _split(rows, bound)
    heavy = _with_hash(heavy, "group ticket", ["unit", *groups], key)
    heavy = heavy.sort("unit number", "group ticket", *groups)
    place = _place(heavy, among=["unit number"], of=["unit number", *groups])
    return nw.concat([light, heavy.filter(place < bound).select(light.columns)])


def keep_rows(rows: Rows, columns: Sequence[str], key: bytes, bound: int) -> Rows:
    """Keep the ``bound`` rows of each unit with the least (hash, columns, number).

    Rows of a unit that are equal in all ``columns`` are numbered, or they would share
    one ticket. They are interchangeable: which of them has which number is all one.

    Parameters
    ----------
    rows : narwhals.DataFrame
        Columns ``unit`` and ``columns``.
    columns : sequence of str
        Codes and integers, in this order.
    key : bytes
        The release's key.
    bound : int
        Rows of one unit to keep.
    """
    bound = min(bound, len(rows))
    light, heavy = _split(rows, bound)
    heavy = _with_hash(heavy, "content", ["unit", *columns], key)
    heavy = heavy.sort("content", "unit number", *columns)
    number = _place(heavy, among=["unit number", *columns])
    heavy = heavy.with_columns(number.alias("number"))
    heavy = _with_hash(heavy, "ticket", ["content", "number"], key)
    heavy = heavy.drop("content").with_columns(_unit_and_ticket().alias("order"))
    heavy = heavy.sort("order", "ticket", *columns, "number")
    place = _place(heavy, among=["unit number"])
    return nw.concat([light, heavy.filter(place < bound).select(light.columns)])


def _split(rows: Rows, bound: int) -> tuple[Rows, Rows]:
    """Units with at most ``bound`` rows pass whole; the rest must choose.

    These are numbered, in any order: a number stands for a value, which is slow to
    sort by if it is text, and only tells units apart.
    """
    sizes = rows.lazy().group_by("unit").agg(nw.len().alias("size"))
    large = polars.collect(sizes.filter(nw.col("size") > bound).select("unit"))
    large = large.with_row_index("unit number")
    rows = polars.collect(rows.lazy().join(large.lazy(), on="unit", how="left"))
    light = nw.col("unit number").is_null()
    return rows.filter(light).drop("unit number"), rows.filter(~light)


def _with_hash(rows: Rows, name: str, columns: Sequence[str], key: bytes) -> Rows:
    """Add the hash of ``columns``; other names have other hashes under one key."""
    return rows.with_columns(polars.hash_rows(rows, columns, key, name).alias(name))


def _unit_and_ticket() -> nw.Expr:
    """Return the unit's number and half of the ticket in 64 bits.

    It sorts as the two columns do, up to the other half, and twice as fast.
    """
    number = nw.col("unit number").cast(nw.UInt64) * 2**32
    return number + nw.col("ticket") // 2**32


def _place(
    rows: Rows, *, among: Sequence[str], of: Sequence[str] | None = None
) -> nw.Series[Any]:
    """Number from 0 the rows, or the runs equal in ``of``, in each run of ``among``.

    Rows must be sorted so that what is equal stands together.
    """
    if of is None:
        nth = rows.with_row_index("nth")["nth"].cast(nw.Int64)
    else:
        nth = polars.run_starts(rows, of).cast(nw.Int64).cum_sum()
    starts = polars.run_starts(rows, among).cast(nw.Int64)
    return nth - (nth * starts).cum_max()
