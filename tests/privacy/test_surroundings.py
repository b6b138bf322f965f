"""What surrounds a mechanism holds no data: errors, releases, interrupts."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import sys
import threading
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpframe as dpf
from dpframe.engines.source import FrameSource

CANARY = "canary-7734"
PEOPLE = pl.DataFrame({"x": [1, 2, 3], "who": [1, 1, 2]})
UNIT = dpf.Unit("who", max_rows=2, max_groups=2)
HOLDERS = (pl.DataFrame, pl.LazyFrame, pl.Series, pd.DataFrame, pa.Table, np.ndarray)


def fail(value):
    raise ValueError(value)


BROKEN = {
    "cast": pl.LazyFrame({"x": [CANARY]}).select(pl.col("x").cast(pl.Int64)),
    "function": pl.LazyFrame({"x": [CANARY]}).select(
        pl.col("x").map_batches(fail, return_dtype=pl.Int64)
    ),
}
VERBS = {
    "sum": lambda d: d.sum("x", 1, bounds=(0, 1)),
    "mean": lambda d: d.mean("x", 1, bounds=(0, 1)),
    "histogram": lambda d: d.histogram(1, "x", keys=[1, 2]),
    "group_by": lambda d: d.group_by("x", keys=[1]).std("x", 1, bounds=(0, 1)),
    "n_unique": lambda d: d.n_unique("x", 1),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("broken", BROKEN)
def test_a_failing_engine_tells_nothing_of_the_data(broken, verb):
    session = dpf.Session(epsilon=1, unit="row")
    with pytest.raises(dpf.EngineError) as caught:
        VERBS[verb](dpf.private(BROKEN[broken], session))
    error = caught.value
    assert CANARY not in f"{error}{error.args}{getattr(error, '__notes__', '')}"
    assert error.__cause__ is None
    assert error.__context__ is None
    assert session.spent.epsilon == 1  # a failure may depend on data: it is paid for


@pytest.mark.parametrize("broken", BROKEN)
def test_no_frame_of_the_library_holds_data_in_a_traceback(broken):
    session = dpf.Session(epsilon=1, unit="row")
    with pytest.raises(dpf.EngineError) as caught:
        dpf.private(BROKEN[broken], session).sum("x", 1, bounds=(0, 1))
    step = caught.value.__traceback__
    files = []
    while step is not None:
        if step.tb_frame.f_globals["__name__"].startswith("dpframe."):
            files.append(step.tb_frame.f_code.co_filename)
            for value in step.tb_frame.f_locals.values():
                assert not isinstance(value, HOLDERS)
        step = step.tb_next
    assert len(files) > 3


def reachable(thing):
    """Every object that can be reached from ``thing``, code and modules aside."""
    seen, stack = {}, [thing]
    while stack:
        one = stack.pop()
        if id(one) in seen or isinstance(one, (type, type(sys))) or callable(one):
            continue
        seen[id(one)] = one
        stack += gc.get_referents(one)
    return seen.values()


@pytest.mark.parametrize("convert", ["clone", "lazy", "to_pandas", "to_arrow"])
def test_no_release_or_session_leads_back_to_the_frame(convert):
    session = dpf.Session(epsilon=4, unit=UNIT)
    people = dpf.private(getattr(PEOPLE, convert)(), session)
    releases = [
        people.count(1, label="n"),
        people.histogram(1, "x", keys=[1, 2]),
        people.group_by("x", keys=[1]).mean("x", 1, bounds=(0, 3), per="unit"),
    ]
    frames = (pl.DataFrame, pl.LazyFrame, pd.DataFrame, pa.Table)
    for thing in (*releases, session):
        assert not [one for one in reachable(thing) if isinstance(one, frames)]
    for release in releases:
        again = pickle.loads(pickle.dumps(release))
        assert again.to_arrow() == release.to_arrow()
        assert copy.deepcopy(release).to_arrow() == release.to_arrow()


def test_the_accessor_shows_and_keeps_nothing():
    assert not hasattr(PEOPLE.dp, "__dict__")
    assert "3" not in repr(PEOPLE.dp)
    for frame in (PEOPLE, PEOPLE.to_pandas()):
        assert frame.dp is not None
        assert pickle.loads(pickle.dumps(frame)).shape == (3, 2)
        assert copy.deepcopy(frame).shape == (3, 2)
        with pytest.raises(TypeError):
            pickle.dumps(frame.dp)


def interrupted(ask, line):
    """Run ``ask`` with Ctrl-C at the given line of dpframe; tell if it came through."""
    lines = 0

    def trace(frame, event, argument):
        nonlocal lines
        if not frame.f_globals.get("__name__", "").startswith("dpframe"):
            return None
        if event == "line":
            lines += 1
            if lines == line:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        ask()
    except KeyboardInterrupt:
        return False
    finally:
        sys.settrace(None)
    return True


def test_an_interrupt_anywhere_loses_no_charge(monkeypatch):
    read = []
    original = FrameSource.aggregate

    def aggregate(self, reduction):
        read.append(reduction)
        return original(self, reduction)

    monkeypatch.setattr(FrameSource, "aggregate", aggregate)
    line, through = 1, False
    while not through:
        read.clear()
        session = dpf.Session(epsilon=1, unit="row")
        people = dpf.private(PEOPLE, session)
        through = interrupted(lambda: people.sum("x", "1/2", bounds=(0, 3)), line)  # noqa: B023
        if read:
            assert session.spent.epsilon == Fraction(1, 2)
        assert session.spent.epsilon in (0, Fraction(1, 2))
        people.count("1/4")  # no lock is left held
        line += 5
    assert line > 500


def test_threads_racing_for_one_label_get_one_release():
    session = dpf.Session(epsilon=1, unit="row")
    answers = []

    def ask():
        people = dpf.private(PEOPLE, session)
        answers.append(people.sum("x", "0.5", bounds=(0, 3), label="total").value)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert len(set(answers)) == 1
    assert len(session.charges) == 1


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_cannot_spend_its_parents_budget():
    session = dpf.Session(epsilon=1, unit="row")
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            dpf.private(PEOPLE, session).count("0.1")
            os.write(sender, b"spent")
        except dpf.LedgerError:
            os.write(sender, b"refused")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(receiver, 100) == b"refused"
    assert session.spent.epsilon == 0


@pytest.mark.parametrize("values", [["a"], ["z"], [None], []])
@pytest.mark.parametrize("unit", ["row", dpf.Unit("k", max_rows=1)])
def test_counting_declared_values_never_depends_on_their_presence(values, unit):
    frame = pl.DataFrame({"k": values}, schema={"k": pl.String})
    session = dpf.Session(epsilon=2, unit=unit, domain={"k": ["a", "b"]})
    for native in (frame, frame.to_pandas(), frame.to_arrow()):
        value = dpf.private(native, session).n_unique("k", "0.5").value
        assert isinstance(value, int)


@pytest.mark.parametrize(
    "ask",
    [
        lambda d, column: d.histogram(0.5, column),
        lambda d, column: d.group_by(column, keys=["F"]).count(0.5),
        lambda d, column: d.mean(column, 0.5),
        lambda d, column: d.n_unique(column, 0.5),
        lambda d, column: d.sum("x", 0.5, bounds=column),
        lambda d, column: d.count(0.5, label=column),
        lambda d, column: d.count(0.5, noise=column),
        lambda d, column: d.count(column),
        lambda d, column: dpf.Session(epsilon=1, unit="row", domain=column),
        lambda d, column: dpf.Session(epsilon=1, unit=column),
        lambda d, column: dpf.Session(epsilon=1, unit="row", account=column),
    ],
)
@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_column_given_by_mistake_is_not_printed(ask, library):
    frame = pl.DataFrame({"x": [7734, 7735, 7736], "s": [CANARY, "b", "c"]})
    native = frame if library == "polars" else frame.to_pandas()
    people = dpf.private(native, dpf.Session(epsilon=20, unit="row"))
    for column in (native["s"], native["x"]):
        with pytest.raises(dpf.DPFrameError) as caught:
            ask(people, column)
        assert CANARY not in str(caught.value)
        assert "7734" not in str(caught.value)


def test_a_public_error_raised_by_a_step_of_the_frame_is_withheld():
    def leak(column):
        raise dpf.ParameterError(str(column.to_list()))

    step = pl.col("x").map_batches(leak, return_dtype=pl.Int64)
    lazy = pl.LazyFrame({"x": [7734]}).select(step)
    session = dpf.Session(epsilon=1, unit="row")
    with pytest.raises(dpf.EngineError) as caught:
        dpf.private(lazy, session).sum("x", 1, bounds=(0, 1))
    assert "7734" not in str(caught.value)


def test_no_true_value_is_in_a_traceback_after_the_reduction(monkeypatch):
    def strike(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("dpframe.mechanisms.additive.add_noise", strike)
    session = dpf.Session(epsilon=1, unit="row")
    with pytest.raises(KeyboardInterrupt) as caught:
        dpf.private(PEOPLE, session).sum("x", 1, bounds=(0, 3))
    assert session.spent.epsilon == 1
    step = caught.value.__traceback__
    while step is not None:
        names = step.tb_frame.f_globals["__name__"]
        assert not names.startswith("dpframe.mechanisms")
        step = step.tb_next


def test_a_block_that_ends_out_of_order_leaves_the_right_session():
    first, second = (dpf.Session(epsilon=1, unit="row") for _ in range(2))

    def block():
        with first:
            yield

    suspended = block()
    next(suspended)
    with second:
        suspended.close()
        PEOPLE.dp.count("0.5")
    assert (len(first.charges), len(second.charges)) == (0, 1)


def test_a_stored_release_cannot_be_altered():
    session = dpf.Session(epsilon=1, unit="row")
    people = dpf.private(PEOPLE, session)
    release = people.count(1, label="n")
    with pytest.raises(ValueError, match="read-only"):
        release.answers[0].measurement.values[0][0] = 99
