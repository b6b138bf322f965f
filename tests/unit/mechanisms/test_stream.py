"""`SparseVector`: one holder, one question at a time, and an end."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpframe as dpf
from dpframe.engines.source import FrameSource
from dpframe.mechanisms.above_threshold import Run
from dpframe.releases.crossings import Crossings

ROWS = {
    "status": ["ok"] * 9_000 + ["error"] * 2_000,
    "bytes": [100] * 9_000 + [0] * 2_000,
    "cost": [-1.0] * 9_000 + [4.0] * 2_000,
}
FRAME = pl.DataFrame(ROWS)
DOMAIN = {"status": ["error", "ok", "lost"], "bytes": dpf.integers(0, 100)}
MANY, FEW = dpf.col("status") == "ok", dpf.col("status") == "lost"
SOME = dpf.col("status") == "error"


@pytest.fixture
def session():
    return dpf.Session(epsilon=10, unit="row", domain=DOMAIN)


def opened(session, threshold=5_000, epsilon=1, *, max_above=2, **options):
    people = dpf.private(FRAME, session)
    return people.open_sparse_vector(threshold, epsilon, max_above=max_above, **options)


@pytest.fixture
def stream(session):
    return opened(session)


@pytest.fixture
def unread(monkeypatch):
    """Any reading of a frame fails the test."""

    def read(self, *args):
        pytest.fail("the frame was read")

    monkeypatch.setattr(FrameSource, "aggregate", read)
    monkeypatch.setattr(FrameSource, "crosstab", read)


# -- asking --------------------------------------------------------------------


def test_the_whole_epsilon_is_charged_at_opening(session, monkeypatch, unread):
    opened(session, epsilon="1/3")
    (charge,) = session.charges
    assert charge.verb == "open_sparse_vector"
    assert session.spent.epsilon == Fraction(1, 3)


def test_asking_is_free_until_the_last_positive_answer(session, stream):
    spent = session.spent
    assert stream.ask(FEW) is False
    assert (stream.remaining, stream.closed) == (2, False)
    assert stream.ask(MANY) is True
    assert (stream.remaining, stream.closed) == (1, False)
    for _ in range(50):
        assert stream.ask(SOME) is False
    assert stream.ask(MANY) is True
    assert (stream.remaining, stream.closed) == (0, True)
    assert session.spent == spent
    assert stream.loss == spent


def test_a_closed_stream_says_why_and_what_to_type(stream):
    stream.ask_many([MANY, MANY])
    for ask in (stream.ask, stream.ask_many):
        with pytest.raises(dpf.ClosedError) as caught:
            ask(FEW)
        assert str(caught.value) == (
            "the stream is closed: its last positive answer was given. Open another "
            "one with frame.dp.open_sparse_vector(...), a new charge."
        )


def test_it_closes_by_hand_and_at_the_end_of_a_block(session):
    stream = opened(session)
    stream.close()
    stream.close()
    assert (stream.closed, stream.remaining) == (True, 0)
    with pytest.raises(dpf.ClosedError, match="it was closed"):
        stream.ask(MANY)
    with opened(session) as again:
        assert again.ask(MANY)
    assert again.closed
    assert session.spent.epsilon == 2  # nothing is refunded


@pytest.mark.parametrize("asked", [[FEW], [FEW, MANY, SOME], [MANY, FEW, MANY, SOME]])
def test_ask_many_is_ask_one_by_one(session, asked):
    together, singly = opened(session), opened(session)
    indices = together.ask_many(asked)
    assert indices.dtype == np.int64
    answers = []
    for query in asked:
        if not singly.closed:
            answers.append(singly.ask(query))
    assert indices.tolist() == np.flatnonzero(answers).tolist()
    assert (together.remaining, together.closed) == (singly.remaining, singly.closed)


def test_ask_many_takes_columns_and_workloads(session):
    stream = opened(session, max_above=5)
    assert stream.ask_many("status").tolist() == [1]
    assert stream.ask_many([*dpf.marginals("status"), MANY]).tolist() == [1, 3]
    assert stream.ask_many(dpf.cdf("bytes")).tolist() == [100]
    assert stream.remaining == 1


def test_an_empty_list_asks_nothing(stream, unread):
    with pytest.raises(dpf.ParameterError, match="the list of queries is empty"):
        stream.ask_many([])
    assert (stream.remaining, stream.closed) == (2, False)


def test_what_is_handed_back_is_settled_at_opening(session):
    gap = opened(session, gap=True)
    assert gap.ask(FEW) is None
    assert gap.ask(MANY) == pytest.approx(9_000, abs=300)
    assert isinstance(gap.ask(MANY), float)
    fresh = opened(session, values=True)
    assert isinstance(fresh.ask(MANY), int)
    found = fresh.ask_many([FEW, MANY])
    assert isinstance(found, Crossings)
    assert (found.indices.tolist(), found.gaps) == ([1], None)
    both = opened(session, values=True, gap=True)
    found = both.ask_many([MANY])
    assert found.values.tolist() != found.estimates.tolist()
    assert found.estimates == pytest.approx([9_000], abs=300)


def test_below(session):
    stream = opened(session, direction="below")
    assert stream.ask_many([MANY, SOME, MANY, FEW]).tolist() == [1, 3]
    assert stream.closed


def test_sums_on_a_grid(session):
    cost = dpf.sum_by([], "cost", bounds=(-1, 4))
    grid = opened(session, -2_000, sensitivity=4, grid=Fraction(1, 2**28))
    assert grid.ask(cost) is True  # -9,000 + 8,000
    assert grid.ask(SOME) is True  # a count lies on the grid too


def test_answers_have_the_noise_of_the_sensitivity_and_unit_declared():
    unit = dpf.Unit("status", max_rows=3)
    stream = opened(dpf.Session(9, unit=unit), sensitivity=2, grid="1/2")
    assert stream.noise.sensitivity == 3 * 2 * 2
    replaced = dpf.Session(9, unit=unit, neighboring="replace")
    assert opened(replaced, sensitivity=1).noise.sensitivity == 3
    assert opened(dpf.Session(9, unit="row"), sensitivity="0.3").noise.sensitivity == 1


def test_adaptive_streams_give_up_to_twice_as_many_less_one(session):
    stream = opened(session, max_above=3, adaptive=True)
    assert [stream.ask(MANY) for _ in range(5)] == [True] * 5
    assert stream.closed
    with pytest.raises(dpf.ClosedError):
        stream.ask(MANY)


def test_remaining_of_an_adaptive_stream_is_what_is_sure(session):
    stream = opened(session, max_above=3, adaptive=True)
    left = []
    while not stream.closed:
        left.append(stream.remaining)
        stream.ask(MANY)
    assert left == [3, 2, 2, 1, 1]


@pytest.mark.parametrize(("max_above", "refreshed"), [(1, False), (2, True)])
def test_zcdp_sessions_refresh_where_it_pays(max_above, refreshed):
    session = dpf.Session(rho=5, unit="row")
    stream = opened(session, max_above=max_above)
    assert stream.noise.refresh is refreshed
    assert stream.loss.epsilon is None
    assert session.spent == stream.loss
    assert float(stream.loss.rho) == pytest.approx(1 / 2, rel=1e-9)
    assert [stream.ask(MANY) for _ in range(max_above)] == [True] * max_above
    assert stream.closed
    assert opened(session, max_above=2, refresh=False).noise.refresh is False


def test_children_pay_for_their_streams(session):
    child = session.child(epsilon="1.5")
    stream = opened(child)
    assert stream.ask(MANY)
    assert (child.spent.epsilon, session.spent.epsilon) == (1, 1)
    with pytest.raises(dpf.BudgetExceededError):
        opened(child)
    assert session.spent.epsilon == 1


def test_a_stream_outlives_the_block_of_its_session(session):
    with session:
        stream = FRAME.dp.open_sparse_vector(5_000, 1, max_above=1)
    assert stream.ask(MANY)


# -- other frames --------------------------------------------------------------


def test_the_frame_may_grow(stream):
    grown = pl.concat([FRAME, FRAME.filter(pl.col("status") == "error")] * 4)
    assert stream.ask(SOME) is False
    assert stream.ask(SOME, frame=grown) is True
    assert stream.ask(SOME) is False  # the frame it was opened on again
    assert stream.ask_many([FEW, SOME], frame=grown.lazy()).tolist() == [1]


@pytest.mark.parametrize("other", [pd.DataFrame, pa.table], ids=["pandas", "pyarrow"])
def test_a_frame_of_another_library_is_refused(stream, other, unread):
    with pytest.raises(dpf.ParameterError) as caught:
        stream.ask(MANY, frame=other(ROWS))
    library = "pandas" if other is pd.DataFrame else "pyarrow"
    assert str(caught.value) == (
        f"the stream was opened on a frame of polars, and this one is of {library}; "
        "convert it first."
    )
    assert (stream.remaining, stream.closed) == (2, False)


def test_a_frame_without_the_columns_is_refused(stream, unread):
    with pytest.raises(dpf.ColumnNotFoundError, match="'status'"):
        stream.ask(MANY, frame=FRAME.drop("status"))
    with pytest.raises(dpf.UnsupportedFrameError):
        stream.ask(MANY, frame=ROWS)
    assert not stream.closed


@pytest.mark.parametrize("other", [pd.DataFrame(ROWS), FRAME.drop("status")], ids=type)
def test_a_refusal_keeps_the_other_frame_out_of_its_traceback(stream, other):
    with pytest.raises(dpf.DPFrameError) as caught:
        stream.ask(MANY, frame=other)
    entry, *inner = local_variables(caught.value)
    assert entry["frame"] is other
    assert inner
    for names in inner:
        assert not any(value is other for value in names.values())


def test_a_frame_without_the_unit_is_refused(unread):
    session = dpf.Session(9, unit=dpf.Unit("status", max_rows=1))
    stream = opened(session)
    with pytest.raises(dpf.ColumnNotFoundError, match="protects units of column"):
        stream.ask(dpf.col("bytes") > 1, frame=FRAME.drop("status"))
    assert not stream.closed


@pytest.mark.filterwarnings("ignore::dpframe.PrivacyWarning")
def test_the_same_rows_of_a_unit_are_kept_in_every_question():
    """Each of 2,000 persons has a row of either kind, and one row counts."""
    people = pl.DataFrame({"who": [*range(2_000)] * 2, "at": [0] * 2_000 + [1] * 2_000})
    session = dpf.Session(
        "1e5", unit=dpf.Unit("who", max_rows=1), domain={"at": [0, 1]}
    )
    stream = dpf.private(people, session).open_sparse_vector(
        10, "1e4", max_above=9, values=True
    )
    seen = {stream.ask(dpf.col("at") == 0) for _ in range(3)}
    other = stream.ask(dpf.col("at") == 1)
    assert len(seen) == 1
    assert 800 < other < 1_200
    assert seen.pop() + other == 2_000


# -- refusals that leave it open -----------------------------------------------


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (
            dpf.sum_by([], "bytes", bounds=(0, 100)),
            "one row may move sum of bytes by 100, and this was opened for 1. Open it "
            "with a larger sensitivity=",
        ),
        (
            dpf.sum_by([], "cost", bounds=(0, 1)),
            "in steps of 1/1073741824, and this was opened for steps of 1. Open it "
            "with grid='1/1073741824'.",
        ),
        (dpf.weights({"status": [1, 0, 0.5]}), "Open it with grid='1/1048576'."),
        ("status", "ask takes one query, and this one has 3 answers; use ask_many."),
        ([MANY, SOME], "ask takes one query, and this one has 2 answers"),
        (dpf.col("bytes") == "x", "'bytes'"),
        (lambda frame: 3, "queries are a column name, a query such as"),
        (pl.col("status") == "ok", "queries are a column name, a query such as"),
        (None, "queries are a column name, a query such as"),
    ],
)
def test_a_query_that_does_not_fit_is_refused_before_data_is_read(
    stream, query, said, unread
):
    with pytest.raises(dpf.ParameterError) as caught:
        stream.ask(query)
    assert said in str(caught.value)
    assert (stream.remaining, stream.closed) == (2, False)


def test_monotone_streams_refuse_what_may_fall(session, unread):
    stream = opened(session, sensitivity=4, grid="1/268435456", monotonic=True)
    with pytest.raises(dpf.ParameterError) as caught:
        stream.ask(dpf.sum_by([], "cost", bounds=(-1, 4)))
    assert "a row may move sum of cost down" in str(caught.value)
    assert "monotonic=False" in str(caught.value)
    assert not stream.closed


def test_monotone_streams_answer_what_only_rises(session):
    stream = opened(session, sensitivity=100, monotonic=True)
    assert stream.noise.monotonic
    assert stream.ask_many([SOME, dpf.sum_by([], "bytes", bounds=(0, 100))]).size == 1
    assert not opened(session).noise.monotonic  # "auto": nobody knows yet


# -- failures that close it ----------------------------------------------------


def failing(error):
    def fail(batch):
        raise error

    return FRAME.lazy().map_batches(fail, schema=dict(FRAME.schema))


def test_an_engine_that_fails_closes_it_and_tells_nothing(session, stream):
    spent = session.spent
    with pytest.raises(dpf.EngineError) as caught:
        stream.ask(MANY, frame=failing(ValueError("row 7 holds 31337")))
    error = caught.value
    assert "31337" not in str(error)
    assert (error.__cause__, error.__context__) == (None, None)
    assert (stream.closed, stream.remaining) == (True, 0)
    assert session.spent == spent
    with pytest.raises(dpf.ClosedError, match="closed: a query failed"):
        stream.ask(MANY)


@pytest.mark.parametrize("ask", ["ask", "ask_many"])
def test_a_comparison_that_fails_closes_it_and_tells_nothing(
    session, stream, ask, monkeypatch
):
    def fail(self, answers, **options):
        msg = f"not {answers.tolist()}"
        raise ValueError(msg)

    monkeypatch.setattr(Run, "examine", fail)
    with pytest.raises(dpf.EngineError) as caught:
        getattr(stream, ask)(MANY)
    error = caught.value
    assert str(error) == "the query failed and closed the stream; its charge stands."
    assert (error.__cause__, error.__context__) == (None, None)
    assert "9000" not in "".join(str(frame) for frame in local_values(error))
    assert stream.closed
    assert session.spent.epsilon == 1
    monkeypatch.undo()
    with pytest.raises(dpf.ClosedError):
        getattr(stream, ask)(MANY)


def local_variables(error):
    """What a traceback printer with locals would show, call by call."""
    at = error.__traceback__
    while at is not None:
        if at.tb_frame.f_globals["__name__"].startswith("dpframe"):
            yield at.tb_frame.f_locals
        at = at.tb_next


def local_values(error):
    return [value for names in local_variables(error) for value in names.values()]


@pytest.mark.parametrize("place", ["crosstab", "examine"])
@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_passes_and_closes_it(stream, place, interrupt, monkeypatch):
    def struck(self, *args, **options):
        raise interrupt

    owner = FrameSource if place == "crosstab" else Run
    monkeypatch.setattr(owner, place, struck)
    with pytest.raises(interrupt):
        stream.ask(MANY)
    monkeypatch.undo()
    assert stream.closed
    with pytest.raises(dpf.ClosedError, match="a query failed"):
        stream.ask(MANY)


# -- one holder ----------------------------------------------------------------


def test_threads_take_turns(session, monkeypatch):
    usual, inside, most = Run.examine, [], []

    def slow(self, answers, **options):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.002)
        found = usual(self, answers, **options)
        inside.pop()
        return found

    monkeypatch.setattr(Run, "examine", slow)
    stream, start = opened(session, max_above=7), threading.Barrier(8)

    def ask(_):
        start.wait()
        answers = []
        for _ in range(4):
            try:
                answers.append(stream.ask(MANY))
            except dpf.ClosedError:
                answers.append(None)
        return answers

    with ThreadPoolExecutor(8) as pool:
        answers = [a for found in pool.map(ask, range(8)) for a in found]
    assert (answers.count(True), answers.count(None)) == (7, 25)
    assert max(most) == 1
    assert stream.closed


@pytest.mark.parametrize(
    "copier",
    [
        copy.copy,
        copy.deepcopy,
        pickle.dumps,
        lambda stream: copy.deepcopy({"held": [stream]}),
        lambda stream: pickle.dumps(stream, protocol=2),
    ],
    ids=["copy", "deepcopy", "pickle", "deepcopy of a holder", "old pickle"],
)
def test_it_is_never_copied(stream, copier):
    with pytest.raises(TypeError, match="would answer twice for one charge"):
        copier(stream)
    assert stream.ask(MANY)


def test_a_forked_child_is_refused_and_does_not_hang():
    script = """
        import os, signal
        import polars as pl
        import dpframe as dpf

        frame = pl.DataFrame({"n": list(range(1_000))})
        with dpf.Session(epsilon=1, unit="row"):
            stream = frame.dp.open_sparse_vector(500, 1, max_above=1)

        def refused(call):
            try:
                call(dpf.col("n") >= 0)
            except dpf.ClosedError as error:
                return "opened in another process" in str(error)
            return False

        with stream._lock:  # held by another thread, as far as the child can tell
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                calls = stream.ask, stream.ask_many
                done = all(map(refused, calls))
                stream.close()
                os._exit(0 if done and stream.closed else 1)
            status = os.waitpid(child, 0)[1]
        print(os.waitstatus_to_exitcode(status), stream.ask(dpf.col("n") >= 0))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0 True\n"


def test_a_label_hands_back_the_same_stream(session):
    first = opened(session, label="alerts")
    assert first.ask(MANY)
    again = opened(session, label="alerts")
    assert again is first
    assert again.remaining == 1
    assert session.spent.epsilon == 1
    again.close()
    assert opened(session, label="alerts").closed
    with pytest.raises(dpf.LabelConflictError):
        opened(session, 4_999, label="alerts")
    with pytest.raises(dpf.LabelConflictError):
        opened(session, gap=True, label="alerts")
    assert opened(session, label="more alerts") is not first


def leads_to(thing, kinds):
    """Whether an object of these classes can be reached from ``thing``."""
    seen, left = set(), [thing]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, (type, type(sys))) or callable(one):
            continue
        if isinstance(one, kinds):
            return True
        seen.add(id(one))
        left += gc.get_referents(one)
    return False


def test_a_closed_stream_holds_neither_frame_nor_noisy_threshold(session):
    held = pl.LazyFrame, Run
    spent, failed, closed = (opened(session, max_above=1, label=x) for x in "abc")
    assert leads_to(spent, held[:1])
    assert leads_to(spent, held[1:])
    assert leads_to(session, held)
    assert spent.ask(MANY)
    with pytest.raises(dpf.EngineError):
        failed.ask(MANY, frame=failing(ValueError("lost")))
    closed.close()
    for stream in spent, failed, closed:
        assert stream.closed
        assert not leads_to(stream, held)
    assert not leads_to(session, held)


def test_nothing_of_the_data_can_be_seen_of_it(stream):
    said = repr(stream)
    assert said == "<SparseVector: above 5,000, 2 left, epsilon=1>"
    stream.ask(MANY)
    stream.close()
    assert repr(stream) == (
        "<SparseVector: above 5,000, closed: it was closed, epsilon=1>"
    )
    with pytest.raises(TypeError):
        vars(stream)
    public = {name for name in dir(stream) if not name.startswith("_")}
    assert public == {
        "ask",
        "ask_many",
        "close",
        "closed",
        "loss",
        "noise",
        "remaining",
        "replay",
    }


# -- wrong arguments -----------------------------------------------------------

NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"threshold": NAN}, "threshold must be one finite, public number"),
        ({"threshold": INFINITE}, "threshold must be one finite, public number"),
        ({"threshold": "many"}, "threshold must be one finite, public number"),
        ({"threshold": pl.col("bytes").mean()}, "expression of the private frame"),
        ({"threshold": 2**61}, "threshold is beyond 2**60 steps"),
        ({"epsilon": 0}, "epsilon must be positive"),
        ({"epsilon": NAN}, "epsilon must be a number such as 0.5 or '1/3'. It must be"),
        ({"epsilon": INFINITE}, "It must be finite."),
        ({"max_above": 0}, "max_above must be an integer of 1 or more"),
        ({"max_above": 1.0}, "max_above must be an integer of 1 or more"),
        ({"sensitivity": 0}, "sensitivity must be positive"),
        ({"sensitivity": -1}, "sensitivity must be positive"),
        ({"sensitivity": INFINITE}, "sensitivity must be a number such as 0.5"),
        ({"sensitivity": None}, "sensitivity must be a number"),
        ({"grid": 0}, "grid must be positive"),
        ({"grid": NAN}, "grid must be a number such as 0.5"),
        ({"noise": None}, "noise must be 'geometric'"),
        ({"ratio": 0}, "ratio must be positive"),
        ({"direction": "up"}, "direction must be 'above' or 'below'"),
        ({"gap": 1}, "gap must be True or False"),
        ({"values": "yes"}, "values must be True or False"),
        ({"adaptive": 1}, "adaptive must be True or False"),
        ({"refresh": "often"}, "refresh must be True or False or 'auto'"),
        ({"monotonic": 1}, "monotonic must be 'auto', True or False"),
        ({"adaptive": True, "values": True}, "gap=True, which is free"),
        ({"adaptive": True, "refresh": True}, "the adaptive form has one run"),
        ({"adaptive": True, "margin": -1}, "margin must not be negative"),
        ({"grid": "1e-30"}, "at most 2^54"),
    ],
)
def test_wrong_arguments_open_nothing(session, arguments, said, unread):
    with pytest.raises(dpf.ParameterError) as caught:
        opened(session, **arguments)
    assert said in str(caught.value)
    assert session.charges == ()


def test_nothing_is_monotone_under_replace():
    session = dpf.Session(9, unit="row", neighboring="replace")
    with pytest.raises(dpf.ParameterError, match="under neighboring='replace'"):
        opened(session, monotonic=True)
    assert not opened(session).noise.monotonic


def test_a_unit_without_max_rows_opens_nothing():
    session = dpf.Session(9, unit=dpf.Unit("status", max_groups=1))
    with pytest.raises(dpf.ParameterError, match="max_rows"):
        opened(session)


def test_opening_needs_a_session():
    with pytest.raises(dpf.NoSessionError, match="open_sparse_vector needs a session"):
        FRAME.dp.open_sparse_vector(1, 1, max_above=1)
