from __future__ import annotations

import copy
import pickle
from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pytest
from unit.releases.made import (
    FLOAT,
    INTEGER,
    RECEIPT,
    averaged,
    counted,
    lattice_of,
    summed,
)

from dpframe.domain.schema import ColumnType
from dpframe.errors import ParameterError
from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.releases import ScalarRelease


def scalar(answer, library="pandas"):
    return ScalarRelease.of((answer,), None, RECEIPT, library)


def test_a_count():
    r = scalar(counted([48_842], law=DiscreteLaplace(10)))
    assert r.value == 48_842
    assert type(r.value) is int
    assert (float(r), int(r)) == (48_842.0, 48_842)
    assert r.scale == 10
    assert r.std_error == pytest.approx(14.136, abs=0.01)
    assert r.interval(0.95) == (48_842 - 30, 48_842 + 30)
    assert all(type(end) is int for end in r.interval())
    assert (f"{r:.2f}", f"{r:,}", f"{r:>7d}") == ("48842.00", "48,842", "  48842")
    assert f"{r}" == str(r) == repr(r)


def test_exact_integers_above_2_53():
    big = np.array([2**70 + 1], dtype=object)
    r = scalar(summed(big, lattice_of(INTEGER, 0, 2**60, "sum")))
    assert r.value == int(r) == 2**70 + 1
    assert r.interval()[0] == 2**70 + 1 - 6


def test_a_mean():
    grid = lattice_of(FLOAT, 17.0, 90.0, "mean")
    w = grid.width
    r = scalar(averaged([400 * w], [600 * w], grid, DiscreteLaplace(w)))
    assert r.value == pytest.approx(17 + 0.4 * 73)
    low, high = r.interval(0.95)
    assert low < r.value - r.std_error < r.value + r.std_error < high
    with pytest.raises(ParameterError, match="none has a scale"):
        _ = r.scale
    with pytest.raises(TypeError, match="float"):
        int(r)


def test_a_mean_of_integers_is_a_float():
    grid = lattice_of(INTEGER, 0, 10, "mean")
    value = scalar(averaged([50], [50], grid)).value
    assert (value, type(value)) == (5.0, float)


def test_a_date():
    day = ColumnType("date")
    grid = lattice_of(day, date(2024, 1, 1), date(2024, 1, 31), "mean")
    r = scalar(averaged([900], [900], grid, DiscreteLaplace(30)))
    assert r.value == date(2024, 1, 16)
    assert isinstance(r.std_error, timedelta)
    assert f"{r:%d.%m.%Y}" == "16.01.2024"
    with pytest.raises(TypeError):
        float(r)
    assert r.to_frame("polars")["mean"].to_list() == [date(2024, 1, 16)]


def test_a_decimal():
    grid = lattice_of(ColumnType("decimal", scale=2), Decimal(0), Decimal(9), "sum")
    r = scalar(summed([1_234], grid))
    assert r.value == Decimal("12.34")
    assert r.scale == Decimal("0.02")
    assert float(r) == 12.34


def test_gaussian_noise():
    r = scalar(counted([10], law=DiscreteGaussian(9)))
    assert r.mechanism == "discrete Gaussian"
    assert r.scale == 3.0


def test_nonnegative():
    r = scalar(counted([-4]))
    assert r.value == -4
    assert r.nonnegative().value == 0
    assert "nonnegative" in repr(r.nonnegative())
    assert r.nonnegative().receipt is r.receipt


def test_facts_of_the_receipt():
    r = scalar(counted([1]))
    assert r.loss is RECEIPT.loss
    assert r.epsilon == RECEIPT.loss.epsilon
    assert (r.unit, r.neighboring, r.label) == ("row", "add_remove", None)
    assert (r.release_id, r.time) == ("release-7", RECEIPT.time)
    assert r.private
    assert not r.replayed


def test_replay_is_the_same_number_and_says_so():
    r = scalar(counted([7]))
    again = r.replay()
    assert again.value == r.value
    assert again.replayed
    assert not r.replayed
    said = "stored release of 2026-05-01 12:30:00 UTC; the frame was not read"
    assert said in repr(again)
    assert said in again._repr_html_()
    assert said not in repr(r)


def test_equality_is_identity():
    r = scalar(counted([7]))
    assert r == r
    assert r != scalar(counted([7]))
    assert r != 7
    assert len({r, r}) == 1


def test_it_cannot_be_changed():
    r = scalar(counted([7]))
    with pytest.raises(AttributeError):
        r.library = "polars"
    assert not hasattr(r, "__dict__")


def test_it_can_be_pickled_and_copied():
    r = scalar(counted([7]))
    for twin in (pickle.loads(pickle.dumps(r)), copy.deepcopy(r)):
        assert twin.value == 7
        assert twin.receipt == r.receipt
        assert repr(twin) == repr(r)
