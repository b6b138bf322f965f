from __future__ import annotations

import logging
import sys
import warnings

import numpy as np
import polars as pl
import pytest

import dpframe as dpf
from dpframe.mechanisms.noising import Draw, watched
from dpframe.noise import DiscreteLaplace
from dpframe.noise.bits import is_private, random_bytes
from dpframe.privacy.sensitivity import Sensitivity
from dpframe.session.active import current
from dpframe.testing.recording import record, shapes

FRAME = pl.DataFrame({"x": [1, 2, 3]})


def opened():
    return dpf.Session(10, unit="row")


def total(frame):
    return frame.dp.sum("x", 1, bounds=(0, 5))


def test_a_run_is_written_down():
    run = record(total, FRAME, opened, 0)
    assert [draw.exact[0].tolist() for draw in run.draws] == [[6]]
    assert run.draws[0].law == DiscreteLaplace(5)
    assert run.draws[0].sensitivity == Sensitivity(5, 25, 1, 5)
    assert run.charged == [1]
    assert [charge.verb for charge in run.charges] == ["sum"]
    assert not run.error
    assert run.seen["type(result)"] == "dpframe.releases.scalar.ScalarRelease"


def test_outputs_are_handed_back():
    first = record(total, FRAME, opened, 0)
    again = record(total, FRAME.head(1), opened, 1, first)
    assert again.seen == first.seen
    assert again.draws[0].exact[0].tolist() == [1]
    assert not again.outputs


def bins(keys):
    return lambda frame: frame.dp.histogram(1, "x", keys=keys)


def test_outputs_of_another_shape_are_drawn():
    first = record(bins([1, 2]), FRAME, opened, 0)
    run = record(bins([1, 2, 3]), FRAME, opened, 0, first)
    assert shapes(run.outputs[0]) == [("int64", (3,))]


def test_outputs_of_another_law_are_drawn():
    first = record(total, FRAME, opened, 0)
    run = record(
        lambda frame: frame.dp.sum("x", 2, bounds=(0, 5)), FRAME, opened, 1, first
    )
    assert len(run.outputs) == 1


def test_outputs_past_the_end_are_drawn():
    def twice(frame):
        return total(frame), total(frame)

    run = record(twice, FRAME, opened, 0, record(total, FRAME, opened, 0))
    assert len(run.draws) == 2
    assert len(run.outputs) == 1


def test_noise_is_that_of_the_law_and_the_seed():
    values = {record(total, FRAME, opened, s).outputs[0][0][0] for s in range(40)}
    assert len(values) > 10
    first, second = (record(total, FRAME, opened, 7).outputs[0] for _ in range(2))
    assert first[0].tolist() == second[0].tolist()


def test_noise_leaves_the_other_stream_in_step():
    """Whether noise is drawn must not change which rows of a unit are kept."""

    def verb(frame):
        total(frame)
        return random_bytes(4)

    drawn = record(verb, FRAME, opened, 0)
    handed = record(verb, FRAME, opened, 0, drawn)
    assert drawn.seen == handed.seen
    assert drawn.bytes == handed.bytes
    assert drawn.bytes[-1] == 4


def test_exact_inputs_are_kept_as_they_were():
    held = []

    def spoil(frame):
        total(frame)
        held.append(1)

    run = record(spoil, FRAME, opened, 0)
    run.outputs[0][0][:] = 0
    assert run.draws[0].exact[0].tolist() == [6]


def test_warnings_log_lines_and_prints_are_heard():
    def loud(frame):
        warnings.warn("unwise", UserWarning, stacklevel=1)
        warnings.warn("unwise", UserWarning, stacklevel=1)
        logging.getLogger("dpframe").debug("read %d", 3)
        logging.getLogger("dpframe.engines.polars").log(1, "deep")
        try:
            raise KeyError(4)
        except KeyError:
            logging.getLogger("dpframe").exception("failed")
        print("out")
        print("err", file=sys.stderr)

    heard = record(loud, FRAME, opened, 0).heard
    assert heard == [
        "dpframe DEBUG: read 3",
        "dpframe.engines.polars Level 1: deep",
        "dpframe ERROR: failedKeyError(4,): 4",
        "UserWarning: unwise",
        "UserWarning: unwise",
        "out",
        "err",
    ]


def test_logging_is_left_as_it_was():
    logger = logging.getLogger("dpframe")
    before = logger.level, list(logger.handlers)
    record(total, FRAME, opened, 0)
    assert (logger.level, list(logger.handlers)) == before


def test_errors_are_written_down_and_hooks_removed():
    def failing(frame):
        total(frame)
        msg = "after the charge"
        raise RuntimeError(msg)

    run = record(failing, FRAME, opened, 0)
    assert run.error == "RuntimeError('after the charge',): after the charge"
    assert len(run.charges) == len(run.draws) == 1
    assert is_private()
    assert not watched()


def test_interrupts_are_not_swallowed():
    def interrupted(frame):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(interrupted, FRAME, opened, 0)
    assert is_private()
    assert current() is None


def test_nothing_recorded_is_private():
    run = record(total, FRAME, opened, 0)
    assert not run.charges[0].private
    assert "NOT PRIVATE" in run.seen["result.repr()"]


def test_shapes_name_dtype_and_shape():
    vectors = (np.zeros(2, dtype=np.int64), np.array([2**70], dtype=object))
    assert shapes(Draw(vectors, DiscreteLaplace(1), None).exact) == [
        ("int64", (2,)),
        ("object", (1,)),
    ]
