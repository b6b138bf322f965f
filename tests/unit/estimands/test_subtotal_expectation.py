from decimal import Decimal

import numpy as np
import pytest
from debias_reference import enumerate_inverse

from dpframe.errors import UnstableEstimateError
from dpframe.estimands import NoisyCounts
from dpframe.estimands.exact_total import ExactTerm, exact_sum_over_bins
from dpframe.estimands.stencil import Stencil
from dpframe.estimands.subtotal_expectation import subtotal_log_subtotal


def log_of_part(part):
    def f(x):
        subtotal = sum(z for z, inside in zip(x, part, strict=True) if inside)
        if subtotal <= 1:
            return Decimal(0)
        return subtotal * Decimal(subtotal).ln() / sum(x)

    return f


@pytest.mark.parametrize(
    "part", [[1, 1, 0, 0], [0, 1, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 1, 0]]
)
@pytest.mark.parametrize("domain", ["counts", (0, 5), (1, None)])
@pytest.mark.parametrize("counts", [[6, 0, 4, 3], [1, 0, -2, 1], [90, 2, 300, 1]])
def test_it_is_the_sum_over_all_neighbors(counts, domain, part):
    noisy = NoisyCounts(np.array(counts), [0.5, 1.0, 2.0, 0.3], domain)
    got = subtotal_log_subtotal(Stencil.of(noisy), np.array(part, bool))
    expected = enumerate_inverse(noisy, log_of_part(part), digits=80)
    assert got == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_many_bins_against_the_exact_law(rate):
    # The subtotal of all bins is the total, and T[log N] has an exact road.
    rng = np.random.default_rng(5)
    noisy = NoisyCounts(rng.poisson(3, 120), rate)
    stencil = Stencil.of(noisy)
    exact = exact_sum_over_bins(
        stencil,
        [
            ExactTerm(
                Decimal,
                lambda total: Decimal(total).ln() / total if total > 0 else Decimal(0),
            )
        ],
    )
    got = subtotal_log_subtotal(stencil, np.ones(120, bool))
    assert got == pytest.approx(exact, rel=1e-11)


def test_beyond_1e300_is_an_error_and_no_infinity():
    noisy = NoisyCounts(np.full(4_000, 2), 0.1)
    with pytest.raises(UnstableEstimateError, match=r"about -?1e\d+ in size"):
        subtotal_log_subtotal(Stencil.of(noisy), np.arange(4_000) < 2_000)
