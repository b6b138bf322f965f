import dataclasses
import re

import numpy as np
import pytest

from dpframe.errors import ParameterError, ProvenanceError
from dpframe.estimands import (
    GaussianNumbers,
    LaplaceNumbers,
    NoInverseError,
    at_least,
    entropy,
    estimate,
    power_sum,
    profile,
    separable,
)

MAKERS = [LaplaceNumbers, GaussianNumbers]
GAUSSIAN = GaussianNumbers([3, 0, -2], 2.0)
LAPLACE = LaplaceNumbers([3.5, 0, -2.25], 2.0)


@pytest.mark.parametrize("make", MAKERS)
def test_numbers_are_frozen_flat_floats(make):
    given = np.array([[3, 0], [-2, 7]])
    noisy = make(given, [[1, 2], [3, 4]])
    assert noisy.values.tolist() == [3.0, 0.0, -2.0, 7.0]
    given[0, 0] = 99
    assert noisy.values[0] == 3.0
    with pytest.raises(ValueError, match="read-only"):
        noisy.values[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        noisy.domain = "integers"


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("domain", "ends", "clipped"),
    [
        ("counts", (0, None), [0.0, 0.5, 9.0]),
        ("integers", (None, None), [-2.0, 0.5, 9.0]),
        ((0.25, 4), (0.25, 4.0), [0.25, 0.5, 4.0]),
        ((None, 4.5), (None, 4.5), [-2.0, 0.5, 4.5]),
    ],
)
def test_ends_may_be_fractional(make, domain, ends, clipped):
    noisy = make([1], 1.0, domain)
    assert noisy.ends == ends
    assert noisy.clip(np.array([-2.0, 0.5, 9.0])).tolist() == clipped


@pytest.mark.parametrize("make", MAKERS)
def test_shifting_moves_numbers_and_ends(make):
    moved = make([5, 8], [1.0, 2.0]).shifted(5)
    assert (moved.values.tolist(), moved.ends) == ([0.0, 3.0], (-5, None))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("values", "text"),
    [
        (3, "got int"),
        (["a"], "must be numbers"),
        ([1.0, float("nan")], "must be numbers"),
        ([float("inf")], "must be numbers"),
        ([1e151], "below 1e150"),
        ([None], "must be numbers"),
        ([True], "must be numbers"),
    ],
)
def test_bad_numbers_are_refused(make, values, text):
    with pytest.raises(ParameterError, match=text):
        make(values, 1.0)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("parameter", [0, -1.0, float("nan"), 1e101, [1, 0]])
def test_bad_parameters_are_refused(make, parameter):
    with pytest.raises(ParameterError, match="above 1e-100 and below 1e100"):
        make([1, 2], parameter)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("parameter", [[1, 2, 3], "x"])
def test_one_parameter_or_one_per_bin(make, parameter):
    with pytest.raises(ParameterError, match="one number per bin, 2 of them"):
        make([1, 2], parameter)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "domain", ["reals", (3, 1), (1, 2, 3), [0, 1], (float("nan"), 1), (True, 2), None]
)
def test_bad_domains_are_refused(make, domain):
    with pytest.raises(ParameterError, match="domain must be"):
        make([1], 1.0, domain)


@pytest.mark.parametrize(
    "estimand", [entropy, profile(1), at_least(2), separable(abs)], ids=repr
)
@pytest.mark.parametrize("method", ["unbiased", "plugin", "auto"])
def test_what_has_no_inverse_is_refused_with_the_reason(estimand, method):
    reasons = {LAPLACE: "kinks or jumps.*smooth", GAUSSIAN: "only polynomials"}
    for noisy, reason in reasons.items():
        text = rf"{re.escape(estimand.name)} has no .*{reason}"
        for error in (NoInverseError, ParameterError, ProvenanceError):
            with pytest.raises(error, match=text):
                estimate(noisy, estimand, method=method)
            with pytest.raises(error, match="noise='laplace'"):
                estimate(noisy, estimand, method=method)


@pytest.mark.parametrize("noisy", [LAPLACE, GAUSSIAN])
def test_auto_is_unbiased_and_the_plug_in_has_no_variance(noisy):
    unbiased, plug_in, auto = (
        estimate(noisy, power_sum(2), method=method)
        for method in ("unbiased", "plugin", "auto")
    )
    assert auto.value == unbiased.value != plug_in.value == unbiased.plug_in
    assert auto.method == "unbiased"
    assert any("could not be estimated" in text for text in auto.warnings)
    assert np.isnan(plug_in.variance)
    assert any("biased by about" in text for text in plug_in.warnings)


@pytest.mark.parametrize("make", MAKERS)
def test_no_numbers_sum_to_0(make):
    e = estimate(make([], 1.0), power_sum(2))
    assert (e.value, e.plug_in, e.variance) == (0.0, 0.0, 0.0)
