"""The threshold: public, finite, on a side."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpframe.errors import ParameterError
from dpframe.queries.threshold import LARGEST_STEPS, Threshold, read_direction


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (5, 5),
        (-5, -5),
        (0, 0),
        (0.1, Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (Decimal("2.5"), Fraction(5, 2)),
        (np.float64(2.5), Fraction(5, 2)),
        (np.int64(7), 7),
    ],
)
def test_numbers_are_read_exactly(value, exact):
    assert Threshold.read(value, Fraction(1), "above").value == exact


def test_steps_are_exact_and_signed():
    above = Threshold.read("1/3", Fraction(1, 4), "above")
    below = Threshold.read("1/3", Fraction(1, 4), "below")
    assert (above.steps, above.sign) == (Fraction(4, 3), 1)
    assert (below.steps, below.sign) == (Fraction(-4, 3), -1)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        "age",
        "",
        float("nan"),
        float("inf"),
        [5],
        pd.Series([5]),
        pl.Series([5]),
        pl.col("age").mean(),
        np.array([5]),
    ],
)
def test_what_is_no_public_number(value):
    with pytest.raises(ParameterError) as caught:
        Threshold.read(value, Fraction(1), "above")
    said = str(caught.value)
    assert said.startswith("threshold must be one finite, public number, such as")
    assert said.endswith(
        "A column or an expression of the private frame cannot be one."
    )
    assert caught.value.__suppress_context__


def test_a_threshold_that_no_answer_comes_near():
    for sign in (1, -1):
        edge = Threshold.read(sign * LARGEST_STEPS, Fraction(1), "above")
        assert edge.value == sign * LARGEST_STEPS
        with pytest.raises(ParameterError, match=r"beyond 2\*\*60 steps of the grid"):
            Threshold.read(sign * (LARGEST_STEPS + 1), Fraction(1), "below")
        with pytest.raises(ParameterError, match=r"beyond 2\*\*60 steps of the grid"):
            Threshold.read(sign * LARGEST_STEPS, Fraction(1, 2), "above")


@pytest.mark.parametrize("grid", [Fraction(10**400), Fraction(1, 10**400)])
def test_a_grid_that_leaves_float64(grid):
    with pytest.raises(ParameterError, match="a grid that leaves float64"):
        Threshold.read(0, grid, "above")
    for power in (280, -300):
        assert Threshold.read(0, Fraction(10) ** power, "above").value == 0


@pytest.mark.parametrize("direction", ["up", "", None, 1, True, ["above"], "Above"])
def test_directions(direction):
    with pytest.raises(ParameterError, match="must be 'above' or 'below'; got"):
        read_direction(direction)
    assert read_direction("below") == "below"


def test_description_is_json():
    threshold = Threshold(Fraction(1, 3), Fraction(1, 4), "below")
    assert threshold.describe() == {
        "value": "1/3",
        "grid": "1/4",
        "direction": "below",
    }
