from decimal import Decimal, localcontext

import numpy as np
import pytest
from debias_reference import enumerate_inverse, row

from dpframe.estimands import NoisyCounts
from dpframe.estimands.stencil import Stencil
from dpframe.estimands.total_transform import TotalTransform

RATES = [0.4, 1.5, 0.4, 1.0]


@pytest.mark.parametrize("domain", ["counts", "integers", (0, 5), (1, None)])
@pytest.mark.parametrize("t", [1e-6, 0.3, 1.7, 9.0])
def test_it_is_the_transform_of_the_signed_law_of_the_total(domain, t):
    noisy = NoisyCounts(np.array([6, 0, 4, 3]), RATES, domain)
    transform = TotalTransform(Stencil.of(noisy))
    log_abs, sign, _ = transform.log_abs(np.array([t]))
    expected = enumerate_inverse(noisy, lambda x: (-Decimal(t) * sum(x)).exp())
    assert sign[0] * np.exp(log_abs[0]) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("counts", [[6, 0, 4, 3], [1, 0, 1, 1], [1, -2, 2, 0]])
@pytest.mark.parametrize("t", [1e-6, 0.3, 1.5, 9.0, 80.0])
@pytest.mark.parametrize("power", [1, 2])
def test_sums_over_bins_keep_their_digits_at_large_t(counts, t, power):
    # At t = 80 all that is left is the least total, 1e-35 of the terms' size.
    noisy = NoisyCounts(np.array(counts), RATES)
    stencil = Stencil.of(noisy)
    transform = TotalTransform(stencil)
    at = np.array([t])
    log_abs, sign, _ = transform.log_abs(at)
    u = stencil.evaluate(lambda z: z**power)
    got = transform.weigh(u, at, log_abs, sign)[0]

    def written_out(x):
        return sum(z**power for z in x) * (-Decimal(t) * sum(x)).exp()

    expected = enumerate_inverse(noisy, written_out, digits=80)
    assert got == pytest.approx(expected, rel=1e-11, abs=0)


def test_the_weight_of_an_empty_histogram():
    noisy = NoisyCounts(np.array([1, 0, -3, 1]), RATES)
    log, sign = TotalTransform(Stencil.of(noisy)).log_zero_weight()
    with localcontext() as context:
        context.prec = 40
        expected = Decimal(1)
        for y, rate in zip(noisy.values.tolist(), RATES, strict=True):
            expected *= row(y, rate, noisy.ends)[0]
    assert sign * np.exp(log) == pytest.approx(float(expected), rel=1e-13)
    some = NoisyCounts(np.array([2, 0]), 1.0)
    assert TotalTransform(Stencil.of(some)).log_zero_weight()[0] == -np.inf
