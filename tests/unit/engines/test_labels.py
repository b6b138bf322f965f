from __future__ import annotations

import math
import uuid
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import dpframe as dpf
from dpframe.engines.labels import label


@pytest.mark.parametrize(
    "value",
    [None, math.nan, np.nan, pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN")],
)
def test_missing_values_have_none(value):
    assert label(value) is None


@pytest.mark.parametrize(
    "same",
    [
        (1, 1.0, True, np.int8(1), Decimal("1.00")),
        (0.5, Decimal("0.5"), np.float32(0.5)),
        (0.0, -0.0, 0),
        (math.inf, Decimal("Infinity"), np.inf),
        ("a", np.str_("a")),
        (datetime(2024, 1, 1, tzinfo=UTC), pd.Timestamp("2024-01-01 01:00+01:00")),
        (date(2024, 1, 1), np.datetime64("2024-01-01")),
        (10**5000, Decimal("1E+5000")),
    ],
)
def test_equal_values_have_one_label(same):
    assert len({label(value) for value in same}) == 1


def test_other_values_have_others():
    texts = ["", "1", "a", "A", "\xff1", "\ud800", "\ud801"]
    numbers = [1, 2, 0.1, math.inf, -math.inf, 10**5000]
    times = [date(2024, 1, 1), datetime(2024, 1, 1)]
    values = [*texts, *numbers, *times, uuid.UUID(int=1), b"a"]
    values += [pd.Timestamp(1), pd.Timestamp(2), np.timedelta64(3, "ns")]
    values += [Decimal("1E-9999999"), Decimal("2E-9999999"), Decimal("1E+9999999")]
    assert len({label(value) for value in values}) == len(values)


class Mute:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    "value",
    [
        Mute(), object(), [1], (1,), {}, np.zeros(3), complex("nan"),
        np.float32("nan"), datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))),
        pd.Timestamp(np.datetime64("20000-01-01", "s")),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_no_known_scalar_is_missing(value):
    assert label(value) is None
    frame = pd.DataFrame({"k": pd.Series(["a", value], dtype=object)})
    with dpf.Session(epsilon=20, unit="row"):
        assert frame.dp.histogram(10, "k", keys=["a"]).counts.shape == (1,)
        assert isinstance(frame.dp.n_unique("k", 10).value, int)
