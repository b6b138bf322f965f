from decimal import Decimal

import numpy as np
import pytest
from debias_reference import enumerate_inverse

from dpframe.errors import UnstableEstimateError
from dpframe.estimands import NoisyCounts
from dpframe.estimands.exact_total import ExactTerm, exact_sum_over_bins
from dpframe.estimands.stencil import Stencil

TERMS = [
    ExactTerm(lambda z: Decimal(z), lambda total: Decimal(total) ** 2),
    ExactTerm(lambda z: Decimal(z) ** 2, lambda total: 1 / (1 + Decimal(total) ** 2)),
]


def written_out(x):
    return sum(sum(term.u(z) for z in x) * term.v(sum(x)) for term in TERMS)


@pytest.mark.parametrize("domain", ["integers", "counts", (-1, 2), (None, 3), (2, 2)])
@pytest.mark.parametrize("rates", [0.6, [0.1, 1.0, 1.0, 3.0]])
def test_it_is_the_sum_over_all_neighbors(domain, rates):
    noisy = NoisyCounts(np.array([-2, 0, 1, 5]), rates, domain)
    got = exact_sum_over_bins(Stencil.of(noisy), TERMS)
    assert got == pytest.approx(enumerate_inverse(noisy, written_out), rel=1e-14)


def test_bins_may_have_weights():
    noisy = NoisyCounts(np.array([-2, 0, 0, 4]), [0.5, 1.0, 1.0, 1.0], "integers")
    weights = np.array([0.5, -2.0, 0.25, 1.0])
    u, v, _ = TERMS[1]

    def weighted(x):
        each = zip(weights.tolist(), x, strict=True)
        return sum(Decimal(w) * u(z) for w, z in each) * v(sum(x))

    got = exact_sum_over_bins(Stencil.of(noisy), [ExactTerm(u, v, weights)])
    assert got == pytest.approx(enumerate_inverse(noisy, weighted), rel=1e-14)


def test_a_norm_of_1e200_costs_no_digit():
    # T of the total is the noisy total, however hard its weights cancel.
    counts = np.arange(150) - 70
    noisy = NoisyCounts(counts, 0.4, "integers")
    identity = [ExactTerm(lambda z: Decimal(z), lambda total: Decimal(1))]
    got = exact_sum_over_bins(Stencil.of(noisy), identity)
    assert got == counts.sum()


@pytest.mark.parametrize(("n", "rate"), [(1_001, 9.0), (800, 0.5)])
def test_what_would_take_too_long_is_refused_with_the_norm(n, rate):
    noisy = NoisyCounts(np.zeros(n, int), rate, "integers")
    with pytest.raises(UnstableEstimateError, match=r"norm of 1e\d+.*domain='counts'"):
        exact_sum_over_bins(Stencil.of(noisy), TERMS)
