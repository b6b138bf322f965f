"""Classes of a column: cuts exactly where comparisons turn, and what holds in each."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import dpframe as dpf
from dpframe.domain.coding import Bins, Linear, Lookup
from dpframe.domain.schema import ColumnType
from dpframe.engines.cuts import ALWAYS, above, at_least, code_cuts, interval
from dpframe.engines.partition import divide, marks
from dpframe.queries.reduction import Cuts, Listed

INF = math.inf
INTEGER, FLOAT = ColumnType("integer"), ColumnType("float")
DECIMAL = ColumnType("decimal", scale=2)
DATE, TEXT = ColumnType("date"), ColumnType("text")
NANO, MILLI = ColumnType("datetime", unit="ns"), ColumnType("datetime", unit="ms")
TOKYO = ColumnType("datetime", unit="s", zone="Asia/Tokyo")
SPAN = ColumnType("duration", unit="ms")
UP = math.nextafter


@pytest.mark.parametrize(
    ("value", "type_", "least", "beyond"),
    [
        (3, INTEGER, 3, 4),
        (2.5, INTEGER, 3, 3),
        (-2.5, INTEGER, -2, -2),
        (Decimal("1E+400"), INTEGER, None, None),
        (-Decimal("1E+400"), INTEGER, ALWAYS, ALWAYS),
        (INF, INTEGER, None, None),
        (-INF, INTEGER, ALWAYS, ALWAYS),
        (2**127 - 1, INTEGER, 2**127 - 1, None),
        (-(2**127), INTEGER, ALWAYS, 1 - 2**127),
        (True, INTEGER, 1, 2),
        (3, FLOAT, 3.0, UP(3.0, INF)),
        (2**53 + 1, FLOAT, 2.0**53 + 2, 2.0**53 + 2),
        (Decimal("0.1"), FLOAT, 0.1, 0.1),  # 0.1 is above a tenth
        (0.1, FLOAT, 0.1, UP(0.1, INF)),
        (-0.0, FLOAT, 0.0, 5e-324),
        (INF, FLOAT, INF, None),
        (-INF, FLOAT, -INF, UP(-INF, INF)),
        (10**400, FLOAT, INF, INF),
        (Decimal("2.5"), DECIMAL, 250, 251),
        (Decimal("2.495"), DECIMAL, 250, 250),
        (0.5, DECIMAL, 50, 51),
        (date(1970, 1, 3), DATE, 2, 3),
        (datetime(1970, 1, 3), DATE, 2, 3),
        (datetime(1970, 1, 3, 1), DATE, 3, 3),
        (date(1970, 1, 1), MILLI, 0, 86_400_000),
        (date.max, MILLI, 253402214400000, None),
        (datetime(1970, 1, 1, 0, 0, 0, 500), MILLI, 1, 1),
        (datetime(1970, 1, 1, 0, 0, 0, 1), NANO, 1000, 2000),
        (date(1970, 1, 1), TOKYO, -9 * 3600, 15 * 3600),
        (datetime(1970, 1, 1, tzinfo=UTC), TOKYO, 0, 1),
        (timedelta(milliseconds=1.5), SPAN, 2, 2),
    ],
)
def test_cuts_are_the_least_stored_numbers(value, type_, least, beyond):
    assert (at_least(value, type_), above(value, type_)) == (least, beyond)


def test_nothing_lies_between_the_cuts_of_a_float():
    for value in (1e308, 5e-324, -1.5, 1 / 3):
        low, high = interval(value, FLOAT)
        assert low == value
        assert UP(low, INF) == high
    assert interval(Decimal("0.1"), FLOAT) == (0.1, 0.1)
    assert interval("x", FLOAT) == (None, None)
    assert interval(datetime(2024, 1, 1, tzinfo=UTC), MILLI) == (None, None)


@pytest.mark.parametrize("type_", [FLOAT, INTEGER, DECIMAL])
@pytest.mark.parametrize(
    "ends",
    [
        (-3, 4),
        (2**52 - 2, 2**52 + 2),
        (2**53, 2**53 + 9),
        (-(2**52) - 3, 3 - 2**52),
    ],
)
def test_cuts_of_integers_are_where_the_code_turns(ends, type_):
    coding = Linear(*ends)
    cuts = code_cuts(coding, type_).tolist()
    assert len(cuts) == ends[1] - ends[0]
    digits = 10**type_.scale

    def code(stored):
        value = Decimal(stored) / digits if type_ is DECIMAL else stored
        return int(coding.code([value])[0])

    for k, cut in enumerate(cuts):
        before = UP(cut, -INF) if type_ is FLOAT else cut - 1
        assert code(before) <= k < code(cut) or cut in cuts[:k]


def test_a_partition_knows_the_code_of_each_class():
    codings = [
        Lookup((3, 2.5, None), other=True),
        Lookup((0, 7)),
        Linear(1, 4, other=True),
        Bins((0, 2, 2.5, 10)),
    ]
    values = [-INF, -1.0, 0.0, 1.5, 2.0, 2.5, 3.0, 3.5, 7.0, 8.0, INF]
    partition = divide(FLOAT, [1.25], codings)
    points = np.array(partition.classes.points)
    for coding in codings:
        codes = partition.codes(coding)
        assert len(codes) == partition.size == len(points) + 2
        classes = points.searchsorted(values, side="right")
        assert codes[classes].tolist() == coding.code(values).tolist()
        assert codes[-1] == coding.code([None])[0]


def test_a_partition_of_text():
    codings = [Lookup(("a", "b", None)), Lookup(("c",), other=True), Bins((0, 1, 2))]
    partition = divide(TEXT, ["b", "z"], codings)
    assert partition.classes == Listed(("b", "z", "a", "c"))
    by_value = dict(zip(["b", "z", "a", "c", "unlisted", None], range(6), strict=True))
    for coding in codings[:2]:
        codes = partition.codes(coding)[list(by_value.values())]
        assert codes.tolist() == coding.code(list(by_value)).tolist()
    assert partition.codes(codings[2]).tolist() == [-1] * 6


def test_outcomes_are_unknown_where_a_value_is_missing():
    condition = (dpf.col("x") >= 2).conditions[0]
    partition = divide(INTEGER, marks(condition, INTEGER))
    assert partition.classes == Cuts((2,))
    assert partition.outcome(condition, True).tolist() == [False, True, False]
    assert partition.outcome(condition, False).tolist() == [True, False, False]
    null = dpf.col("x").is_null().conditions[0]
    assert partition.outcome(null, True).tolist() == [False, False, True]
    assert partition.outcome(null, False).tolist() == [True, True, False]


@pytest.mark.parametrize("type_", [FLOAT, INTEGER, TEXT])
def test_a_coarser_partition_agrees(type_):
    c = dpf.col("x")
    values = ["a", "b", "c", "d"] if type_ is TEXT else [0, 1, 2.5, 3]
    conditions = [c.is_in(values[:2]), c == values[3], c != values[2], c.is_null()]
    if type_ is not TEXT:
        conditions += [c >= 1, c < 2.5, c <= 3, c > 9]
    conditions = [one.conditions[0] for one in conditions]
    found = [mark for one in conditions for mark in marks(one, type_)]
    fine = divide(type_, set(found), [Lookup(tuple(values))])
    for one in conditions:
        coarse = divide(type_, marks(one, type_))
        onto = fine.onto(coarse)
        for outcome in (True, False):
            expected = fine.outcome(one, outcome).tolist()
            assert coarse.outcome(one, outcome)[onto].tolist() == expected


def test_numbers_beyond_64_bits_are_cut_exactly():
    c = dpf.col("x")
    asked = [(c >= n).conditions[0] for n in (2**64, 2**64 + 1, -(2**70), 5)]
    partition = divide(INTEGER, {m for one in asked for m in marks(one, INTEGER)})
    assert partition.classes == Cuts((-(2**70), 5, 2**64, 2**64 + 1))
    starts = [int(partition.outcome(one, True).argmax()) for one in asked]
    assert starts == [3, 4, 1, 2]


def test_half_steps_follow_the_sum_of_floats():
    """0.49999999999999994 + 0.5 is 1.0: such a row has the code of 1."""
    (cut,) = code_cuts(Linear(0, 1), FLOAT).tolist()
    assert cut == 0.49999999999999994
    assert Fraction(cut) < Fraction(1, 2)
