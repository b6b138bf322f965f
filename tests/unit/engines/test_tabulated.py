"""How often each value occurs, on every engine, against the reference row by row."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from helpers_frames import CONVERTERS
from reference_engine import ReferenceSource

from dpframe.domain.coding import Lookup
from dpframe.domain.keys import Keys
from dpframe.domain.lattice import fit_lattice
from dpframe.domain.schema import ColumnType
from dpframe.engines.ingest import ingest
from dpframe.errors import ParameterError
from dpframe.privacy.unit import ROW, Unit
from dpframe.queries.reduction import Crosstab, Cuts, Measure, Reduction, Split

RNG = np.random.default_rng(3)
N = 60
VALUES = {
    "person": ["a", "b", "c", None],
    "key": ["x", "y", "z", None],
    "pay": [-5.0, 0.1, 2.5, 99.0, np.inf, -np.inf, np.nan, None],
    "age": [-(2**40), 3, 4, 2**39, 2**40 - 1, None],
    "ok": [True, False, None],
}
FRAME = pl.DataFrame(
    {
        name: [values[i] for i in RNG.integers(0, len(values), N)]
        for name, values in VALUES.items()
    }
)
KEYS = Keys(("key",), (Lookup(("y", "x", None, "none has it")),))
LOOSE = Unit("person", max_rows=N, max_groups=4)


def measure(column, kind, bounds, per="row"):
    return Measure(
        column, fit_lattice(column, ColumnType(kind), bounds, "quantile", per=per)
    )


PAY = measure("pay", "float", (0, 50))
AGE = measure("age", "integer", (-(2**40), 2**40))
OK = measure("ok", "boolean", (0, 1))
TOTAL = measure("age", "integer", (-(2**40), 2**41), "unit")


def lists(aggregates):
    return [
        [found.cells.tolist(), found.values.tolist(), found.times.tolist()]
        for found in aggregates.occurrences
    ]


@pytest.fixture(params=CONVERTERS)
def source(request):
    return ingest(CONVERTERS[request.param](FRAME))


@pytest.mark.parametrize("keys", [None, KEYS])
@pytest.mark.parametrize(
    ("unit", "tabulated"),
    [(ROW, (PAY, AGE, OK)), (LOOSE, (PAY, AGE)), (LOOSE, (TOTAL, PAY))],
)
def test_values_are_counted_by_key(source, keys, unit, tabulated):
    summed = measure("age", "integer", (0, 5)) if unit is ROW else TOTAL
    for others in ({}, {"rows": True, "units": True, "measures": (summed,)}):
        reduction = Reduction(unit, keys, tabulated=tabulated, **others)
        found = source.aggregate(reduction).reveal()
        expected = ReferenceSource(FRAME).aggregate(reduction).reveal()
        assert lists(found) == lists(expected)
        for name in ("rows", "units"):
            asked = getattr(found, name)
            assert (asked is None) == (not others)
            assert others == {} or asked.tolist() == getattr(expected, name).tolist()
        assert [s.tolist() for s in found.sums] == [s.tolist() for s in expected.sums]


def test_rows_of_a_unit_are_limited_before_they_are_counted(source):
    """Of one person 2 rows in all; rows without a value take no place."""
    unit = Unit("person", max_rows=2)
    reduction = Reduction(unit, KEYS, tabulated=(OK,))
    (found,) = source.aggregate(reduction).reveal().occurrences
    people = FRAME.drop_nulls(["person", "ok"]).filter(
        pl.col("key").is_in(["x", "y"]) | pl.col("key").is_null()
    )
    assert found.times.sum() == 2 * people["person"].n_unique()
    assert found.times.dtype == found.values.dtype == np.int64


def test_a_stride_rounds_to_the_nearest_candidate(source):
    lattice = AGE.lattice
    assert (lattice.shift, lattice.width) == (21, 2**20)
    (found,) = source.aggregate(Reduction(ROW, tabulated=(AGE,))).reveal().occurrences
    assert found.values.ravel().tolist() == [0, 2**19, 2**19 + 2**18, 2**20]


def test_a_grid_of_too_many_values_is_refused(source):
    wide = Measure("age", fit_lattice("age", ColumnType("integer"), (0, 2**33), "sum"))
    with pytest.raises(ParameterError, match="too many values"):
        source.aggregate(Reduction(ROW, tabulated=(wide,)))


def test_an_empty_frame_has_no_values(source):
    empty = ingest(FRAME.clear())
    for keys in (None, KEYS):
        for unit in (ROW, LOOSE):
            reduction = Reduction(unit, keys, tabulated=(PAY, OK))
            for found in empty.aggregate(reduction).reveal().occurrences:
                assert found.values.shape == (0, 1)
                assert len(found.cells) == len(found.times) == 0


@pytest.mark.parametrize("unit", [ROW, LOOSE])
def test_classes_of_values_alone_leave_missing_ones_out(source, unit):
    split = Split("pay", Cuts((0.0, 2.5)))
    crosstab = Crosstab(unit, (split,), rows=False)
    found = source.crosstab(crosstab).reveal()
    expected = ReferenceSource(FRAME).crosstab(crosstab).reveal()

    def counted(combinations):
        times = np.zeros(4, dtype=np.int64)
        np.add.at(times, combinations.classes[0], combinations.rows)
        return times.tolist()

    assert counted(found) == counted(expected)
    assert counted(found)[-1] == 0
    assert sum(counted(found)) > 0
