from __future__ import annotations

import numpy as np
import pytest

from dpframe.mechanisms.noising import Draw, add_noise, draw, watch_draws, watched
from dpframe.noise import DiscreteLaplace
from dpframe.noise.selection import PermuteAndFlip
from dpframe.privacy.sensitivity import Sensitivity

ONE = Sensitivity(1, 1, 1, 1)
EXACT = (np.array([10**9, -(10**9)]),)
CHOICE = Draw(EXACT, PermuteAndFlip(1, 1), ONE)


def chosen():
    return (np.array([1]),)


def test_a_draw_is_performed_and_read_only():
    (index,) = draw(CHOICE, chosen)
    assert index.tolist() == [1]
    with pytest.raises(ValueError, match="read-only"):
        index[0] = 0


def test_noise_is_added_read_only():
    (noisy,) = add_noise(EXACT, DiscreteLaplace(2), ONE)
    assert np.abs(noisy - EXACT[0]).max() < 1_000
    with pytest.raises(ValueError, match="read-only"):
        noisy[0] = 0


def test_a_watcher_sees_the_draw_and_decides():
    seen = []

    def watcher(what, perform):
        seen.append((what, perform()))
        return (np.array([0]),)

    with watch_draws(watcher):
        assert watched()
        (index,) = draw(CHOICE, chosen)
        (noisy,) = add_noise(EXACT, DiscreteLaplace(2), ONE)
    assert not watched()
    assert index.tolist() == noisy.tolist() == [0]
    assert not index.flags.writeable
    (first, performed), (second, drawn) = seen
    assert first is CHOICE
    assert performed[0].tolist() == [1]
    assert second.exact is EXACT
    assert second.law == DiscreteLaplace(2)
    assert second.sensitivity == ONE
    assert drawn[0].shape == (2,)


def test_laws_are_known_by_their_parameters():
    law = PermuteAndFlip("1/2", 3, monotonic=True)
    assert law == PermuteAndFlip(0.5, 3, monotonic=True)
    assert hash(law) == hash(PermuteAndFlip("1/2", 3, monotonic=True))
    assert law != PermuteAndFlip("1/2", 3)
    assert law.rate == 2 * PermuteAndFlip("1/2", 3).rate
