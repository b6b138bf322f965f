import math

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.estimands import at_least, debias, profile

COUNTS = [0, -2, 7, 1, 3, 3, 2, 1, 8]


@pytest.mark.parametrize("k", range(-1, 9))
@pytest.mark.parametrize("domain", ["counts", "integers"])
def test_profile_is_a_three_point_stencil_on_the_noisy_profile(k, domain):
    c, d = 1 / (4 * math.sinh(0.5) ** 2), 1 / math.expm1(1)
    y = np.array(COUNTS)
    inside = y >= 1 if domain == "counts" else y == y
    q = {j: int((y[inside] == j).sum()) for j in range(-3, 11)}
    expected = (1 + 2 * c) * q[k] - c * (q[k - 1] + q[k + 1])
    if domain == "counts":
        at_edge = int((y <= 0).sum())
        expected += {0: (1 + d) * at_edge, 1: -d * at_edge}.get(k, 0)
        expected = 0 if k < 0 else expected
    got = debias(COUNTS, profile(k), epsilon=1, domain=domain).value
    assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("domain", ["counts", "integers", (0, 6)])
def test_bins_at_least_k_are_those_not_below(domain):
    n = len(COUNTS)
    for k in range(9):
        above = debias(COUNTS, at_least(k), epsilon=0.5, domain=domain).value
        below = [
            debias(COUNTS, profile(j), epsilon=0.5, domain=domain).value
            for j in range(-9, k)
        ]
        assert above == pytest.approx(n - sum(below), abs=1e-9)


def test_nothing_is_uncertain_about_certain_things():
    e = debias(COUNTS, at_least(0), epsilon=0.5)
    assert (e.value, e.variance) == (9.0, 0.0)


@pytest.mark.parametrize("make", [profile, at_least])
@pytest.mark.parametrize(
    "k",
    [
        1.0,
        True,
        "1",
        None,
        pytest.param(10**400, id="huge"),
        pytest.param(-(10**400), id="-huge"),
    ],
)
def test_k_must_be_an_integer(make, k):
    with pytest.raises(ParameterError, match="needs an integer"):
        make(k)
