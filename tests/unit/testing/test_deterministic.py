from __future__ import annotations

import threading
import warnings
from hashlib import shake_256

import polars as pl
import pytest

import dpframe as dpf
from dpframe.errors import ParameterError, PrivacyWarning
from dpframe.noise.bits import is_private, random_bytes
from dpframe.testing import unsafe_deterministic
from dpframe.testing.deterministic import ShakeStream

FRAME = pl.DataFrame({"x": [1, 2, 3]})


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        yield


def test_stream_is_shake_of_seed_and_block():
    first = shake_256(b"7 block 0").digest(4096)
    second = shake_256(b"7 block 1").digest(4096)
    assert ShakeStream(7)(8192) == first + second


@pytest.mark.parametrize(
    "sizes", [(1, 1, 30), (0, 32), (5000, 1, 4095), (9000,), (1,) * 9]
)
def test_bytes_do_not_depend_on_the_requests(sizes):
    stream = ShakeStream("seed")
    pieces = [stream(n) for n in sizes]
    assert [len(piece) for piece in pieces] == list(sizes)
    assert b"".join(pieces) == ShakeStream("seed")(sum(sizes))


def test_seeds_name_streams():
    streams = {ShakeStream(seed)(32) for seed in (0, 1, -1, "0", "1", "", True)}
    assert len(streams) == 7


def test_bytes_are_balanced():
    bits = int.from_bytes(ShakeStream(0)(100_000), "big").bit_count()
    assert abs(bits - 400_000) < 7 * 447  # seven standard deviations


@pytest.mark.parametrize("seed", [None, 1.0, b"x", [1]])
def test_other_seeds_are_refused(seed):
    with pytest.raises(ParameterError, match="seed must be an int or a text"):
        ShakeStream(seed)
    with pytest.raises(ParameterError), unsafe_deterministic(seed):
        pass


def release(seed):
    with dpf.Session(10, unit="row"), unsafe_deterministic(seed):
        return [FRAME.dp.count(1).value, FRAME.dp.sum("x", "0.01", bounds=(0, 9)).value]


def test_same_seed_same_releases():
    assert release(3) == release(3)
    assert release(3) != release(4)


def test_it_warns_at_every_entry_at_the_line_of_the_with():
    for _ in range(2):
        with (
            pytest.warns(
                PrivacyWarning, match="nothing released in it is private"
            ) as w,
            unsafe_deterministic(1),
        ):
            pass
        assert len(w) == 1
        assert w[0].filename == __file__


def test_randomness_is_restored():
    with unsafe_deterministic(1):
        assert not is_private()
        fixed = random_bytes(16)
    assert is_private()
    assert random_bytes(16) != fixed
    with pytest.raises(ZeroDivisionError), unsafe_deterministic(1):
        1 / 0  # noqa: B018
    assert is_private()


def test_blocks_nest():
    with unsafe_deterministic(1):
        before = random_bytes(8)
        with unsafe_deterministic(2):
            inner = random_bytes(8)
        after = random_bytes(8)
    assert before + after == ShakeStream(1)(16)
    assert inner == ShakeStream(2)(8)


def test_other_threads_keep_the_real_source():
    found = []
    with unsafe_deterministic(1):
        thread = threading.Thread(target=lambda: found.append(is_private()))
        thread.start()
        thread.join()
    assert found == [True]


def test_session_used_inside_is_marked_for_ever():
    session = dpf.Session(10, unit="row")
    child = session.child(5)
    before = dpf.private(FRAME, child).count(1)
    with unsafe_deterministic(1):
        inside = dpf.private(FRAME, child).count(1)
    after = dpf.private(FRAME, session).count(1)
    assert before.private
    assert not inside.private
    assert not after.private
    assert not session.private
    assert not child.private
    assert "NOT PRIVATE" in repr(session)
    assert "NOT PRIVATE" in repr(after)
    assert [charge.private for charge in session.charges] == [True, False, False]


def test_session_opened_inside_is_marked_for_ever():
    with unsafe_deterministic(1):
        session = dpf.Session(10, unit="row")
    assert not session.private
    assert not dpf.private(FRAME, session).count(1).private


def test_session_beside_stays_private():
    session = dpf.Session(10, unit="row")
    with unsafe_deterministic(1):
        pass
    assert session.private
    assert dpf.private(FRAME, session).count(1).private
