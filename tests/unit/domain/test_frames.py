import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpframe.domain import Domain, bounds, dates, edges, integers
from dpframe.errors import (
    ColumnNotFoundError,
    DomainError,
    ParameterError,
    UnsupportedFrameError,
)

DOMAIN = Domain(
    {
        "sex": ["F", "M"],
        "age": integers(17, 19),
        "hours": bounds(0, 99),
        "pay": edges([0, 10, 50]),
        "ok": bool,
    },
    other=["sex"],
)
ROWS = {
    "pay": [0.0, 10.0, 99.0, None],
    "sex": ["M", None, "x", "F"],
    "age": [18, 3, 99, None],
    "ok": [True, False, None, True],
    "hours": [1, 2, 3, 4],
}
CODES = {
    "sex": [1, 2, 2, 0],
    "age": [1, 0, 2, -1],
    "pay": [0, 1, 1, -1],
    "ok": [1, 0, -1, 1],
}
FRAMES = {
    "polars": pl.DataFrame(ROWS),
    "pandas": pd.DataFrame(ROWS),
    "pandas-nullable": pd.DataFrame(ROWS).convert_dtypes(),
    "pandas-pyarrow": pd.DataFrame(ROWS).convert_dtypes(dtype_backend="pyarrow"),
    "pyarrow": pa.table(ROWS),
}


def columns(frame):
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    if isinstance(frame, pd.DataFrame):
        return frame.to_dict("list")
    return frame.to_dict(as_series=False)


@pytest.mark.parametrize("library", FRAMES)
def test_encode_gives_the_same_codes_on_every_library(library):
    frame = FRAMES[library]
    coded = DOMAIN.encode(frame)
    assert type(coded) is type(frame)
    assert columns(coded) == CODES


def test_encode_some_columns_in_their_order():
    coded = DOMAIN.encode(FRAMES["polars"], ["ok", "sex"])
    assert coded.columns == ["ok", "sex"]
    assert coded.dtypes == [pl.Int64, pl.Int64]


def test_encode_reads_an_index_free_copy_of_pandas():
    frame = FRAMES["pandas"].iloc[[3, 0]]
    assert columns(DOMAIN.encode(frame, ["sex"])) == {"sex": [0, 1]}


def test_encode_reads_categories_by_value():
    frame = pd.DataFrame({"sex": pd.Categorical(["M", "F"], ["M", "F", "z"])})
    assert columns(DOMAIN.encode(frame, ["sex"])) == {"sex": [1, 0]}
    enum = pl.DataFrame({"sex": ["M", "F"]}, schema={"sex": pl.Enum(["M", "F"])})
    assert columns(DOMAIN.encode(enum, ["sex"])) == {"sex": [1, 0]}


def test_encode_refuses_what_it_cannot_code():
    with pytest.raises(ColumnNotFoundError, match="no column 'age'"):
        DOMAIN.encode(FRAMES["polars"].drop("age"))
    with pytest.raises(DomainError, match="bounds alone"):
        DOMAIN.encode(FRAMES["polars"], ["hours"])
    for frame in (FRAMES["polars"].lazy(), {"sex": ["F"]}, 3):
        with pytest.raises(UnsupportedFrameError, match="public eager frame"):
            DOMAIN.encode(frame)


@pytest.mark.parametrize(
    ("library", "kind"),
    [("polars", pl.DataFrame), ("pandas", pd.DataFrame), ("pyarrow", pa.Table)],
)
def test_cells_come_in_order_with_the_last_column_fastest(library, kind):
    frame = DOMAIN.cells(["pay", "age"], library=library)
    assert type(frame) is kind
    assert columns(frame) == {
        "pay": [0, 0, 0, 10, 10, 10],
        "age": [17, 18, 19, 17, 18, 19],
    }


def test_cells_default_to_all_columns_that_have_cells():
    frame = DOMAIN.cells()
    assert frame.columns == ["sex", "age", "pay", "ok"]
    assert len(frame) == 3 * 3 * 2 * 2
    assert frame.is_unique().all()
    assert frame["sex"].null_count() == 3 * 2 * 2


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_cells_of_every_kind_are_coded_back(library):
    domain = Domain(
        {
            "text": ["a", None],
            "floats": [0.5, 1],
            "bools": [False, True],
            "decimals": edges([Decimal("0.1"), Decimal("0.25"), Decimal(3)]),
            "open": edges([-math.inf, 0, math.inf]),
            "days": dates("2024-01-01", "2024-01-20", every="1w"),
            "moments": edges([datetime(2024, 1, day, tzinfo=UTC) for day in (1, 2, 3)]),
            "spans": [timedelta(1), timedelta(hours=1)],
            "listed": [date(2024, 1, 1), date(2023, 1, 1)],
        }
    )
    frame = domain.cells(library=library)
    coded = columns(domain.encode(frame))
    sizes = [domain.coding(name).size for name in domain]
    grid = np.indices(sizes).reshape(len(sizes), -1)
    assert {name: list(column) for name, column in coded.items()} == {
        name: codes.tolist() for name, codes in zip(domain, grid, strict=True)
    }


def test_wrong_cells():
    with pytest.raises(ParameterError, match="library must be one of"):
        DOMAIN.cells(["sex"], library="duckdb")
    with pytest.raises(ParameterError, match="at least one column"):
        DOMAIN.cells([])
    with pytest.raises(DomainError, match="bounds alone"):
        DOMAIN.cells(["hours"])
    with pytest.raises(DomainError, match="more than 67,108,864"):
        Domain({"a": integers(0, 10**9)}).cells()
