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
