"""Bounds too wide for the noise of a smooth answer are refused before any charge."""

from __future__ import annotations

from typing import Literal

import polars as pl
import pytest

import dpframe as dpf


@pytest.mark.parametrize("verb", ["median", "iqr"])
def test_too_wide_bounds_cost_nothing(verb: Literal["median", "iqr"]) -> None:
    frame = pl.DataFrame({"x": [1, 2, 3]})
    with dpf.Session(epsilon=1, unit="row") as session:
        with pytest.raises(dpf.ParameterError, match="narrow them"):
            getattr(frame.dp, verb)("x", 1, bounds=(-(2**62), 2**62), method="smooth")
        assert session.spent.epsilon == 0
