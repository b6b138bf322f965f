"""Nothing of the data gets out of a source but through a Secret."""

from __future__ import annotations

import copy
import gc
import pickle
import traceback

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpframe.domain.coding import Lookup
from dpframe.domain.keys import Keys
from dpframe.domain.lattice import fit_lattice
from dpframe.domain.schema import ColumnType
from dpframe.engines import polars as shim
from dpframe.engines.ingest import ingest
from dpframe.errors import ColumnNotFoundError, EngineError, ParameterError
from dpframe.privacy.unit import ROW, Unit
from dpframe.queries.reduction import (
    Crosstab,
    Cuts,
    Distinct,
    Listed,
    Measure,
    Reduction,
    Split,
)
from dpframe.secret import Secret

CANARY = "canary-4711"

FRAMES = {
    "pandas": pd.DataFrame({"name": [CANARY, "b"], "x": [4711.0, 2.0]}),
    "polars": pl.DataFrame({"name": [CANARY, "b"], "x": [4711.0, 2.0]}),
    "lazy": pl.LazyFrame({"name": [CANARY, "b"], "x": [4711.0, 2.0]}),
    "pyarrow": pa.table({"name": [CANARY, "b"], "x": [4711.0, 2.0]}),
}
MEASURE = Measure("x", fit_lattice("x", ColumnType("float"), (0, 10), "sum"))
KEYS = Keys(("name",), (Lookup(("a", "b")),))
SPLITS = (Split("name", Listed(("a", "b"))), Split("x", Cuts((1.0, 3.0))))
REQUESTS = [
    Reduction(ROW, KEYS, rows=True, measures=(MEASURE,)),
    Reduction(Unit("name", max_rows=1), rows=True, measures=(MEASURE,)),
    Distinct(ROW, "name"),
    Distinct(Unit("x", max_rows=1), "name"),
    Crosstab(ROW, SPLITS, measures=(MEASURE,)),
    Crosstab(Unit("name", max_rows=1), SPLITS),
]


def ask(source, request):
    if isinstance(request, Distinct):
        return source.distinct(request)
    if isinstance(request, Crosstab):
        return source.crosstab(request)
    return source.aggregate(request)


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]


def locals_of(error):
    """Every local of every frame that the traceback passed in dpframe."""
    for step, _ in traceback.walk_tb(error.__traceback__):
        if "/dpframe/" in step.f_code.co_filename:
            yield from step.f_locals.values()


def holds_data(value, depth=3):
    if isinstance(value, (pd.DataFrame, pd.Series, pl.DataFrame, pl.LazyFrame)):
        return True
    if isinstance(value, (pl.Series, pa.Table, pa.ChunkedArray, pa.Array)):
        return True
    if CANARY in repr(value):
        return True
    # The source itself is the private object; what else reaches a frame is a leak.
    if depth == 0 or type(value).__name__ == "FrameSource":
        return False
    return any(holds_data(part, depth - 1) for part in parts(value))


def parts(value):
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple, set)):
        return list(value)
    if callable(value) and getattr(value, "__closure__", None):
        return [cell.cell_contents for cell in value.__closure__]
    return []


class Panic(BaseException):
    """What a panic of Polars is: no Exception."""


@pytest.mark.parametrize("request_", REQUESTS)
@pytest.mark.parametrize("failure", [ValueError, MemoryError, Panic])
def test_a_failing_engine_tells_nothing(frame, request_, failure, monkeypatch):
    def fail(*given):
        rows = [CANARY]
        msg = f"could not read {rows[0]}"
        raise failure(msg)

    monkeypatch.setattr("dpframe.engines.reduce.collect", fail)
    monkeypatch.setattr("dpframe.engines.distinct.collect", fail)
    monkeypatch.setattr("dpframe.engines.crosstab.collect", fail)
    source = ingest(frame)
    with pytest.raises(EngineError) as caught:
        ask(source, request_)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert not getattr(error, "__notes__", [])
    assert CANARY not in "".join(traceback.format_exception(error))
    assert "'name'" in str(error)
    assert failure.__name__ not in str(error)
    assert not any(holds_data(value) for value in locals_of(error))


def test_the_message_is_the_same_for_every_failure(monkeypatch):
    words = set()
    for failure in (ValueError(CANARY), KeyError(), pl.exceptions.ComputeError("x")):

        def fail(*given, failure=failure):
            raise failure

        monkeypatch.setattr("dpframe.engines.reduce.collect", fail)
        with pytest.raises(EngineError) as caught:
            ingest(FRAMES["polars"]).aggregate(REQUESTS[0])
        words.add(str(caught.value))
    assert len(words) == 1


def test_a_failing_plan_of_the_user_tells_nothing():
    """A strict cast quotes the value that it cannot read."""
    lazy = FRAMES["lazy"].with_columns(pl.col("name").cast(pl.Int64))
    lattice = fit_lattice("name", ColumnType("integer"), (0, 1), "sum")
    request = Reduction(ROW, measures=(Measure("name", lattice),))
    with pytest.raises(pl.exceptions.PolarsError, match=CANARY):
        lazy.collect()
    with pytest.raises(EngineError) as caught:
        ingest(lazy).aggregate(request)
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_stays_one_without_its_frames(interrupt, monkeypatch):
    def fail(frame):
        raise interrupt(CANARY)

    monkeypatch.setattr("dpframe.engines.reduce.collect", fail)
    with pytest.raises(interrupt) as caught:
        ingest(FRAMES["polars"]).aggregate(REQUESTS[0])
    assert caught.value.args == ()
    assert caught.value.__context__ is None
    assert not any(holds_data(value) for value in locals_of(caught.value))


def test_errors_of_ingest_hold_no_frame():
    twice = pd.DataFrame([[CANARY, 1]], columns=["x", "x"])
    for wrong in (twice, [CANARY], pl.LazyFrame({"x": [CANARY]}).select("y")):
        with pytest.raises(Exception, match=r".") as caught:
            ingest(wrong)
        assert CANARY not in "".join(traceback.format_exception(caught.value))
        assert caught.value.__context__ is None
        assert not any(holds_data(value) for value in locals_of(caught.value))


def test_a_source_shows_its_class_alone(frame):
    source = ingest(frame)
    assert CANARY not in repr(source)
    assert repr(source).endswith("behind its engine>")
    with pytest.raises(TypeError, match="pickled or copied"):
        pickle.dumps(source)
    with pytest.raises(TypeError, match="pickled or copied"):
        copy.deepcopy(source)
    assert not hasattr(source, "__dict__")


@pytest.mark.parametrize("request_", REQUESTS)
def test_answers_are_secrets_without_a_way_back(frame, request_):
    secret = ask(ingest(frame), request_)
    assert isinstance(secret, Secret)
    seen, todo = set(), [secret.reveal()]
    while todo:
        thing = todo.pop()
        if id(thing) in seen or isinstance(thing, type):
            continue
        seen.add(id(thing))
        assert not isinstance(thing, (pd.DataFrame, pl.DataFrame, pa.Table, pl.Series))
        todo += gc.get_referents(thing) if len(seen) < 500 else []


def test_wrong_questions_are_refused_before_the_data_is_read(monkeypatch):
    nested = pl.LazyFrame({"x": [1.0], "list": [[1]], "u": [1]})
    source = ingest(nested)

    def read(*given):
        pytest.fail("the data was read")

    monkeypatch.setattr(shim, "collect", read)
    monkeypatch.setattr("dpframe.engines.reduce.collect", read)
    monkeypatch.setattr("dpframe.engines.distinct.collect", read)
    monkeypatch.setattr("dpframe.engines.crosstab.collect", read)
    lists = Keys(("list",), (Lookup((1,)),))
    absent = Keys(("absent",), (Lookup((1,)),))
    for request, error in (
        (Reduction(ROW, lists, rows=True), ParameterError),
        (Reduction(Unit("list", max_rows=1), rows=True), ParameterError),
        (Distinct(ROW, "list"), ParameterError),
        (Crosstab(ROW, (Split("list", Listed(())),)), ParameterError),
        (Crosstab(Unit("u", max_groups=1), SPLITS), ParameterError),
        (Reduction(ROW, absent, rows=True), ColumnNotFoundError),
        (Reduction(Unit("absent", max_rows=1), rows=True), ColumnNotFoundError),
        (Distinct(ROW, "absent"), ColumnNotFoundError),
        (Crosstab(ROW, (Split("absent", Listed(())),)), ColumnNotFoundError),
    ):
        with pytest.raises(error):
            ask(source, request)
