import dataclasses
import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.estimands import (
    Debiased,
    Estimand,
    Estimate,
    NoisyCounts,
    PlugInRisk,
    entropy,
    estimate,
    power_sum,
    profile,
    quantile_range,
)

NOISY = NoisyCounts(np.array([3, 1, 4]), 1.0)
E = Estimate("entropy", 1.5, 1.25, 0.04, "unbiased", ("a < b",), "nats")


class Fixed(Estimand):
    """Says what it was told to say."""

    name = "fixed"

    def __init__(self, variance, risk, stable=True):
        self.variance, self.risk, self.stable = variance, risk, stable

    def plug_in(self, noisy):
        return 10.0

    def debias(self, noisy):
        return Debiased(7.0, self.variance, ("told",), self.stable)

    def plug_in_risk(self, noisy, unbiased):
        assert unbiased.value == 7.0
        return self.risk


def test_the_record_is_a_frozen_number():
    assert float(E) == 1.5
    assert E.std_error == pytest.approx(0.2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        E.value = 2.0


def test_the_interval_is_normal():
    low, high = E.interval(0.95)
    assert (low, high) == pytest.approx((1.5 - 0.39199, 1.5 + 0.39199), abs=1e-5)
    assert E.interval(0.5)[0] > low


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, "1e1000"])
def test_a_bad_level_is_refused(level):
    with pytest.raises(ParameterError, match=r"inside \(0, 1\)"):
        E.interval(level)


@pytest.mark.parametrize("level", [float("nan"), None, "most", [0.95], Decimal("nan")])
def test_a_level_that_is_no_number_is_refused(level):
    with pytest.raises(ParameterError, match="level must be a number"):
        E.interval(level)


@pytest.mark.parametrize("level", ["0.95", Decimal("0.95"), Fraction(19, 20)])
def test_a_level_may_be_written_in_many_ways(level):
    assert E.interval(level) == E.interval(0.95)
    low, high = E.interval(1 - Fraction(1, 10**400))
    assert 30 < (high - low) / 2 / E.std_error < 40


def test_it_shows_itself():
    assert repr(E) == "Estimate(entropy = 1.5 ± 0.2 nats, unbiased, 1 warning)"
    html = E._repr_html_()
    assert "1.5 ± 0.2 nats" in html
    assert "1.10801 to 1.89199" in html
    assert "a &lt; b" in html
    assert len(html) < 1_000


def test_a_negative_variance_is_kept_cut_and_flagged():
    e = estimate(NOISY, Fixed(-2.0, None))
    assert (e.variance, e.std_error, e.interval()) == (-2.0, 0.0, (7.0, 7.0))
    assert any("no figure can be given" in text for text in e.warnings)


@pytest.mark.parametrize(
    ("risk", "method"),
    [
        (PlugInRisk(bias_squared=2.9, variance=1.0), "plugin"),
        (PlugInRisk(bias_squared=3.1, variance=1.0), "unbiased"),
        (PlugInRisk(bias_squared=-5.0, variance=9.0), "plugin"),
        (None, "unbiased"),
    ],
)
def test_auto_takes_the_smaller_estimated_error(risk, method):
    e = estimate(NOISY, Fixed(4.0, risk), method="auto")
    assert e.method == method
    assert e.value == (10.0 if method == "plugin" else 7.0)
    assert e.plug_in == 10.0
    assert e.variance == (risk.variance if method == "plugin" else 4.0)
    assert any("could not be estimated" in text for text in e.warnings) == (not risk)


@pytest.mark.parametrize("risk", [None, PlugInRisk(bias_squared=99.0, variance=1.0)])
def test_auto_never_takes_an_unstable_estimate(risk):
    e = estimate(NOISY, Fixed(4.0, risk, stable=False), method="auto")
    assert (e.value, e.method) == (10.0, "plugin")
    assert any("nothing is known about the bias" in text for text in e.warnings)


def test_a_plug_in_tells_its_bias_and_lacks_a_variance_where_none_is_known():
    e = estimate(NOISY, Fixed(4.0, None), method="plugin")
    assert (e.value, e.method) == (10.0, "plugin")
    assert math.isnan(e.std_error)
    assert any("biased by about 3" in text for text in e.warnings)


def test_a_bare_function_is_a_function_of_all_counts():
    found = estimate(NOISY, lambda x: x[:, 0] + x[:, 2])
    assert (found.estimand, found.value) == ("black_box", 7.0)


def test_functions_without_a_module_will_do():
    names = {}
    exec("first = lambda x: x[:, 0]", names)
    assert names["first"].__module__ is None
    assert estimate(NOISY, names["first"]).value == 3.0


def test_a_bare_function_of_one_count_is_sent_to_separable():
    with pytest.raises(ParameterError, match=r"separable\(f\)"):
        estimate(NOISY, lambda x: x**2)


@pytest.mark.parametrize(
    ("maker", "call"),
    [(power_sum, "power_sum(k)"), (quantile_range, "quantile_range(a, b)")],
)
def test_a_maker_of_estimands_says_how_it_is_called(maker, call):
    with pytest.raises(ParameterError, match=f"call it first, as in {re.escape(call)}"):
        estimate(NOISY, maker)


@pytest.mark.parametrize("estimand", ["entropy", None, 3])
def test_other_things_are_refused(estimand):
    with pytest.raises(ParameterError, match="an estimand was expected"):
        estimate(NOISY, estimand)


@pytest.mark.parametrize("method", ["best", None, "Unbiased", np.array(["auto"] * 2)])
def test_a_bad_method_is_refused(method):
    with pytest.raises(ParameterError, match="'unbiased', 'plugin' or 'auto'"):
        estimate(NOISY, entropy, method=method)


def test_the_methods_agree_on_the_plug_in():
    found = {
        method: estimate(NOISY, profile(3), method=method)
        for method in ("unbiased", "plugin", "auto")
    }
    assert {e.plug_in for e in found.values()} == {1.0}
    assert found["plugin"].value == 1.0
    assert found["auto"] == found[found["auto"].method]
