import copy
import os
import pickle
import threading

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.noise import DiscreteGaussian, DiscreteLaplace, Geometric
from dpframe.noise.bits import (
    is_private,
    random_bytes,
    random_uint16,
    random_uint32,
    random_uint64,
    use_source_for_tests,
)


def count_up(n: int) -> bytes:
    return bytes(range(n))


def test_bytes_come_from_the_operating_system_and_none_are_kept(monkeypatch):
    asked = []

    def urandom(n):
        asked.append(n)
        return bytes(n)

    monkeypatch.setattr(os, "urandom", urandom)
    random_bytes(5)
    random_uint16(3)
    random_uint32(3)
    random_uint64(3)
    assert asked == [5, 6, 12, 24]


def test_integers_are_little_endian_words_of_the_source():
    with use_source_for_tests(count_up):
        assert random_uint16(2).tolist() == [0x0100, 0x0302]
        assert random_uint32(1).tolist() == [0x03020100]
        assert random_uint64(1).tolist() == [0x0706050403020100]


def test_a_test_source_shows_and_ends_with_its_block():
    assert is_private()
    with use_source_for_tests(count_up):
        assert not is_private()
        assert random_bytes(3) == b"\x00\x01\x02"
    assert is_private()
    with pytest.raises(ParameterError), use_source_for_tests(count_up):
        DiscreteLaplace(1).sample(-1)
    assert is_private()
    assert random_bytes(16) != random_bytes(16)


def test_other_threads_keep_the_real_source():
    seen = []
    with use_source_for_tests(count_up):
        thread = threading.Thread(target=lambda: seen.append(is_private()))
        thread.start()
        thread.join()
    assert seen == [True]


@pytest.mark.parametrize(
    "law", [DiscreteLaplace(1000), Geometric("1/3"), DiscreteGaussian(5)]
)
def test_copies_of_a_law_share_no_noise_and_global_seeds_do_nothing(law):
    wide = type(law)(10**12)
    draws = []
    for copied in (wide, copy.deepcopy(wide), pickle.loads(pickle.dumps(wide))):
        np.random.seed(1)  # noqa: NPY002 - the point is that it has no effect
        draws.append(tuple(copied.sample(8)))
    assert len(set(draws)) == 3
    assert pickle.loads(pickle.dumps(law)) == law
