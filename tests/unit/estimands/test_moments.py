import math

import pytest

from dpframe.errors import ParameterError
from dpframe.estimands import NoisyCounts, debias, moment, power_sum

COUNTS = [4, 0, -2, 11, 3]
LAWS = [
    {"epsilon": 0.5},
    {"epsilon": 0.5, "domain": (1, 8)},
    {"epsilon": 0.5, "noise": "continuous_laplace"},
    {"sigma2": 2, "noise": "gaussian"},
]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", ["unbiased", "plugin", "auto"])
@pytest.mark.parametrize("k", [1, 3])
def test_a_moment_is_a_power_sum_over_the_number_of_bins(law, method, k):
    mean = debias(COUNTS, moment(k), method=method, **law)
    total = debias(COUNTS, power_sum(k), method=method, **law)
    assert mean.value == pytest.approx(total.value / 5)
    assert mean.plug_in == pytest.approx(total.plug_in / 5)
    assert mean.method == total.method
    assert mean.variance == pytest.approx(total.variance / 25, nan_ok=True)
    assert len(mean.warnings) == len(total.warnings)
    assert math.isnan(mean.variance) == (method == "plugin" and "noise" in law)


def test_a_table_has_as_many_bins_as_cells():
    law = {"epsilon": 2}
    table = debias([[4, 2], [3, 1]], moment(2), **law)
    assert table == debias([4, 2, 3, 1], moment(2), **law)
    assert table.estimand == "moment(2)"


@pytest.mark.parametrize("law", [{"epsilon": 1}, {"sigma2": 2, "noise": "gaussian"}])
def test_a_mean_over_no_bins_is_refused(law):
    with pytest.raises(ParameterError, match="there are no counts"):
        debias([], moment(2), **law)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "2", None])
def test_a_bad_power_is_refused(k):
    with pytest.raises(ParameterError, match=r"moment needs an integer k >= 1"):
        moment(k)


def test_the_plug_ins_risk_is_that_of_the_power_sum_over_the_square():
    noisy = NoisyCounts(COUNTS, 0.5)
    mean, total = moment(2), power_sum(2)
    one = mean.plug_in_risk(noisy, mean.debias(noisy))
    other = total.plug_in_risk(noisy, total.debias(noisy))
    assert 25 * one.bias_squared == pytest.approx(other.bias_squared)
    assert 25 * one.variance == pytest.approx(other.variance)
