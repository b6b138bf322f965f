from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.estimands.rates import positive_amounts


@pytest.mark.parametrize("value", [0.5, "1/2", Fraction(1, 2), Decimal("0.5")])
def test_one_amount_for_all_bins(value):
    got = positive_amounts(value, "epsilon")
    assert got.shape == ()
    assert got == 0.5


def test_an_amount_for_each_bin_keeps_the_shape():
    got = positive_amounts([[1, "1/4"], [Fraction(3), 2.5]], "epsilon")
    assert got.tolist() == [[1.0, 0.25], [3.0, 2.5]]


def test_beyond_float64_is_infinite():
    assert positive_amounts("1e400", "sensitivity") == np.inf


@pytest.mark.parametrize("bad", [0, -1, [1, 0], "x", None, True, float("nan")])
def test_other_things_are_refused(bad):
    with pytest.raises(ParameterError, match="sensitivity"):
        positive_amounts(bad, "sensitivity")
