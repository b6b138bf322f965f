"""One pass for many queries: rows and sums of every combination of classes.

Each column is divided into the classes that the queries tell apart, each row becomes
the numbers of its classes, packed into as few integers as hold them, and rows are
grouped by these. The steps are those of ``design: units`` §3, without keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from dpframe.engines.bounding import keep_rows
from dpframe.engines.columns import by_value
from dpframe.engines.labels import label
from dpframe.engines.needs import Needs
from dpframe.engines.polars import collect, count_below
from dpframe.engines.prepare import measured, owned, usable
from dpframe.engines.tally import count_rows, exact_sum
from dpframe.queries.reduction import Crosstab, Cuts, Listed
from dpframe.secret import Combinations

__all__ = ["cross_rows", "cross_units"]

Frames = Iterable[nw.LazyFrame[Any]]
Word = tuple[int, ...]  # splits whose classes are packed into one integer

_LARGEST_WORD = 2**62


def cross_rows(frames: Frames, crosstab: Crosstab, needs: Needs) -> Combinations:
    """Tabulate with ``unit="row"``: every row counts."""
    words = _words(crosstab, needs)
    return _join(
        [
            _group(_prepare(frame, crosstab, needs, words), crosstab, words)
            for frame in frames
        ]
    )


def cross_units(
    frames: Frames, crosstab: Crosstab, needs: Needs, hash_key: bytes
) -> Combinations:
    """Tabulate the bounded frame of a unit that is a column.

    Parameters
    ----------
    frames : iterable of narwhals.LazyFrame
        The columns of the call, in chunks.
    crosstab : Crosstab
        What is asked.
    needs : Needs
        The columns and their places.
    hash_key : bytes
        The key by which rows are chosen.
    """
    bound = crosstab.unit.max_rows
    assert bound is not None
    words = _words(crosstab, needs)
    rows = nw.concat([collect(_prepare(f, crosstab, needs, words)) for f in frames])
    content = _content(crosstab, needs, words)
    rows = keep_rows(rows, content, hash_key, bound)
    return _group(rows.lazy(), crosstab, words)


def _words(crosstab: Crosstab, needs: Needs) -> list[Word]:
    """Pack the splits; those of columns that enter tickets by value for themselves."""
    words: list[Word] = []
    for valued in (False, True):
        chosen = [
            i
            for i, split in enumerate(crosstab.splits)
            if needs.by_value([split.column]) == valued
        ]
        size = _LARGEST_WORD
        for i in chosen:
            size *= crosstab.splits[i].classes.size
            if size > _LARGEST_WORD:
                size = crosstab.splits[i].classes.size
                words.append(())
            words[-1] += (i,)
    return words


def _content(crosstab: Crosstab, needs: Needs, words: Sequence[Word]) -> list[str]:
    """Name what tells rows of one unit apart; what enters by value needs no class."""
    content = [f"also{i}" for i in range(len(needs.also))]
    for i, word in enumerate(words):
        if not needs.by_value(crosstab.splits[j].column for j in word):
            content.append(f"word{i}")
    for i, measure in enumerate(crosstab.measures):
        if not needs.by_value([measure.column]):
            content.append(f"value{i}")
    return content


def _prepare(
    frame: nw.LazyFrame[Any], crosstab: Crosstab, needs: Needs, words: Sequence[Word]
) -> nw.LazyFrame[Any]:
    """Class and measure each row; drop rows that say nothing."""
    frame, columns = owned(frame, crosstab.unit, needs)
    columns |= measured(frame, crosstab.measures, needs)
    for i, split in enumerate(crosstab.splits):
        place = needs.places[split.column]
        frame = _classed(frame, place, split.classes, f"class{i}")
    if not (crosstab.rows or crosstab.measures):  # values of the splits are counted
        frame = frame.filter(nw.any_horizontal(*_present(crosstab), ignore_nulls=False))
    for i, word in enumerate(words):
        packed = nw.col(f"class{word[0]}")
        for j in word[1:]:
            packed = packed * crosstab.splits[j].classes.size + nw.col(f"class{j}")
        columns[f"word{i}"] = packed
    # Not by select alone: a column of nothing but null is a literal, one row long.
    rows = frame.with_columns(**columns).select(*columns) if columns else frame
    limited = not crosstab.unit.is_row  # else no place is used up
    if crosstab.rows or not (limited and crosstab.measures):
        return rows
    return usable(rows, crosstab.measures)


def _present(crosstab: Crosstab) -> list[nw.Expr]:
    """Tell for each split whether a row has a value there."""
    missing = [split.classes.size - 1 for split in crosstab.splits]
    return [nw.col(f"class{i}") != last for i, last in enumerate(missing)]


def _classed(
    frame: nw.LazyFrame[Any], column: str, classes: Cuts | Listed, name: str
) -> nw.LazyFrame[Any]:
    """Add the class of each row as column ``name``."""
    missing = classes.size - 1
    if isinstance(classes, Cuts):
        frame = count_below(frame, column, classes.points, name)
        return frame.with_columns(nw.col(name).fill_null(missing))
    dtype = frame.collect_schema()[column]
    x, others = by_value(nw.col(column), dtype), nw.lit(missing - 1, dtype=nw.Int64)
    code_of = _codes(classes, binary=dtype == nw.Binary)
    if code_of:
        others = x.replace_strict(
            list(code_of),
            list(code_of.values()),
            default=missing - 1,
            return_dtype=nw.Int64,
        )
    code = nw.when(~x.is_null()).then(others).otherwise(nw.lit(missing))
    return frame.with_columns(code.alias(name))


def _codes(classes: Listed, *, binary: bool) -> dict[object, int]:
    """Map each listed value, as the plan holds it, to its class."""
    codes: dict[object, int] = {}
    for code, value in enumerate(classes.values):
        if binary:
            codes[label(value)] = code
        elif isinstance(value, str) and _is_unicode(value):
            codes[value] = code
    return codes


def _is_unicode(text: str) -> bool:
    """Whether a text column can hold it: not with half a surrogate pair."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _group(
    rows: nw.LazyFrame[Any], crosstab: Crosstab, words: Sequence[Word]
) -> Combinations:
    """Count and sum by combination, and unpack the classes."""
    sums = [exact_sum(i, measure) for i, measure in enumerate(crosstab.measures)]
    asked = [count_rows()]
    for i, total in enumerate(sums):
        asked += total.expressions(nw.col(f"value{i}"))
    names = [f"word{i}" for i in range(len(words))]
    plan = rows.group_by(*names).agg(*asked) if names else rows.select(*asked)
    grouped = collect(plan)
    integers = {name: grouped[name].to_numpy() for name in grouped.columns}
    classes = np.zeros((len(crosstab.splits), len(grouped)), dtype=np.int64)
    for name, word in zip(names, words, strict=True):
        packed = integers[name]
        for j in reversed(word):
            packed, classes[j] = np.divmod(packed, crosstab.splits[j].classes.size)
    return Combinations(
        classes, integers["rows"], tuple(total.read(integers) for total in sums)
    )


def _join(parts: Sequence[Combinations]) -> Combinations:
    """Put the chunks of one frame side by side."""
    if len(parts) == 1:
        return parts[0]
    return Combinations(
        np.concatenate([part.classes for part in parts], axis=1),
        np.concatenate([part.rows for part in parts]),
        tuple(
            np.concatenate(sums)
            for sums in zip(*(part.sums for part in parts), strict=True)
        ),
    )
