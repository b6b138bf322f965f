"""Ends of intervals around clamped points stay within the public bounds."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import dpframe as dpf


@pytest.mark.parametrize("reach", [1.0, 1e9, 1e300, np.inf])
def test_ends_of_dates_stay_within_the_calendar(reach: float) -> None:
    bounds = date.min, date.max
    days = pl.DataFrame({"day": [date(2020, 1, 1)] * 5})
    with dpf.Session(epsilon=1, unit="row"):
        release = days.dp.median("day", 1, bounds=bounds, method="smooth")
    lower, upper = release.rounded.around([reach])
    assert date.min <= lower.value() <= release.value <= upper.value() <= date.max


def test_a_noisy_date_stays_within_the_calendar() -> None:
    days = pl.DataFrame({"day": [date(2020, 1, 1)] * 200})
    with dpf.Session(epsilon=1, delta=1e-5, unit="row"):
        release = days.dp.propose_test_release(
            "median", "day", bound=timedelta(days=9), bounds=(date.min, date.max),
            epsilon=1, delta=1e-5,
        )  # fmt: skip
    far = replace(release.rounded, steps=np.array([-(10**9)]))
    assert far.numbers().value() == date.min
