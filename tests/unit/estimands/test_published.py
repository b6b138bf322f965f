from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.estimands import (
    GaussianNumbers,
    LaplaceNumbers,
    NoisyCounts,
    debias,
    entropy,
    estimate,
    power_sum,
    profile,
)

COUNTS = [4, 0, -1, 12]


@pytest.mark.parametrize(
    ("epsilon", "sensitivity"),
    [
        (0.5, 1),
        ("1/2", 1),
        (Fraction(1, 2), "1"),
        (Decimal("0.5"), Fraction(1)),
        (1, 2),
        (np.float64(1.5), np.int64(3)),
        ([0.5] * 4, 1),
        (np.full(4, 0.5), np.ones(4)),
        (1, [2, 2, 2, 2]),
        (["1/2", "0.5", 0.5, Fraction(1, 2)], 1),
    ],
)
def test_the_rate_is_epsilon_over_sensitivity(epsilon, sensitivity):
    expected = estimate(NoisyCounts(np.array(COUNTS), 0.5), entropy)
    found = debias(COUNTS, entropy, epsilon=epsilon, sensitivity=sensitivity)
    assert found.value == expected.value


def test_rates_may_differ_from_bin_to_bin():
    epsilon, sensitivity = [1, 2, 0.5, 1], np.array([1, 1, 1, 4])
    noisy = NoisyCounts(np.array(COUNTS), np.array([1, 2, 0.5, 0.25]))
    for estimand in (entropy, power_sum(2)):
        found = debias(COUNTS, estimand, epsilon=epsilon, sensitivity=sensitivity)
        assert found == estimate(noisy, estimand)


@pytest.mark.parametrize("bad", [0, -1, "0", [1, 1, 0, 1], [1, -2, 1, 1]])
@pytest.mark.parametrize("name", ["epsilon", "sensitivity"])
def test_amounts_must_be_positive(name, bad):
    with pytest.raises(ParameterError, match=f"{name} must be positive"):
        debias(COUNTS, entropy, **{"epsilon": 1, name: bad})


@pytest.mark.parametrize(
    "bad", [None, "x", True, float("nan"), float("inf"), "1e400", "1e-400", [1, 2]]
)
def test_amounts_must_be_numbers_that_fit(bad):
    with pytest.raises(ParameterError, match="epsilon"):
        debias(COUNTS, entropy, epsilon=bad)


def test_the_total_is_passed_on():
    noisy = NoisyCounts(np.array(COUNTS), 1.0)
    found = debias(COUNTS, entropy, epsilon=1, total=17)
    assert found == estimate(noisy, entropy, total=17)
    assert found != estimate(noisy, entropy)


def test_the_range_and_the_method_are_passed_on():
    found = debias(COUNTS, power_sum(1), epsilon=1, domain=(0, 5), method="plugin")
    assert (found.value, found.method) == (9.0, "plugin")


def test_other_noise_is_read_by_its_own_parameters():
    for sigma2 in (2, "2", Fraction(2), [2] * 4, np.full(4, 2.0)):
        found = debias(COUNTS, power_sum(2), noise="gaussian", sigma2=sigma2)
        noisy = GaussianNumbers(np.array(COUNTS), 2.0)
        assert found == estimate(noisy, power_sum(2))
    found = debias(
        COUNTS, power_sum(2), epsilon="1/4", sensitivity=3, noise="continuous_laplace"
    )
    assert found == estimate(LaplaceNumbers(np.array(COUNTS), 12.0), power_sum(2))


@pytest.mark.parametrize("noise", ["normal", None, 3, ["laplace"]])
def test_a_bad_noise_is_refused(noise):
    with pytest.raises(ParameterError, match="noise must be 'laplace', 'continuous_l"):
        debias(COUNTS, entropy, epsilon=1, noise=noise)


@pytest.mark.parametrize("noise", ["gaussian", "continuous_gaussian"])
@pytest.mark.parametrize("law", [{}, {"epsilon": 1}, {"epsilon": 1, "sigma2": 1}])
def test_gaussian_noise_takes_sigma2_and_no_epsilon(noise, law):
    with pytest.raises(ParameterError, match="described by sigma2 alone"):
        debias(COUNTS, power_sum(2), noise=noise, **law)


@pytest.mark.parametrize("noise", ["laplace", "continuous_laplace"])
@pytest.mark.parametrize("law", [{}, {"sigma2": 1}, {"epsilon": 1, "sigma2": 1}])
def test_laplace_noise_takes_epsilon_and_no_sigma2(noise, law):
    with pytest.raises(
        ParameterError, match=r"described by the epsilon .* pass epsilon="
    ):
        debias(COUNTS, power_sum(2), noise=noise, **law)


def test_a_release_debiases_itself():
    class Release:
        def noisy_counts(self):
            return NoisyCounts(np.array(COUNTS), 1.0)

    with pytest.raises(ParameterError, match=r"release\.debias\(estimand\)"):
        debias(Release(), entropy, epsilon=1)


@pytest.mark.parametrize("sigma2", [0, -1, [1, 1, 0, 1]])
def test_sigma2_must_be_positive(sigma2):
    with pytest.raises(ParameterError, match="sigma2 must be positive"):
        debias(COUNTS, power_sum(2), noise="gaussian", sigma2=sigma2)


def test_counts_published_from_a_threshold_on_are_a_clipped_domain():
    tau, law = 3, {"epsilon": 1}
    released = [7, 3, tau - 1, tau - 1]
    complete = [7, 3, 1, -6]
    for estimand in (power_sum(2), profile(2), profile(5)):
        seen = debias(released, estimand, domain=(tau - 1, None), **law)
        assert seen == debias(complete, estimand, domain=(tau - 1, None), **law)
