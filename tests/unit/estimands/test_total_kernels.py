import math
from decimal import Decimal

import numpy as np
import pytest

from dpframe.estimands.quadrature import gauss_legendre, panel_edges
from dpframe.estimands.total_kernels import (
    kernel_inverse,
    kernel_inverse_power,
    kernel_log_over_total,
    kernel_one,
)

KERNELS = {
    "one": (kernel_one, lambda n: 1.0),
    "inverse": (kernel_inverse, lambda n: 1 / n),
    "log over total": (kernel_log_over_total, lambda n: math.log(n) / n),
    "power 0.1": (kernel_inverse_power(0.1), lambda n: n**-0.1),
    "power 2": (kernel_inverse_power(2.0), lambda n: n**-2.0),
    "power 7.5": (kernel_inverse_power(7.5), lambda n: n**-7.5),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("total", [1, 3, 1_000])
def test_v_is_the_transform_of_its_density(name, total):
    kernel, v = KERNELS[name]
    edges = panel_edges(100 / total, even=40, geometric=60, least=1e-16)
    t, dt = gauss_legendre(edges[1:])
    lobe = (dt * kernel.density(t) * np.exp(-total * t)).sum()
    got = kernel.head(float(edges[1])) + lobe
    assert got == pytest.approx(v(total), rel=1e-12, abs=1e-15)
    assert float(kernel.exact(Decimal(total))) == pytest.approx(v(total), rel=1e-14)


@pytest.mark.parametrize("name", KERNELS)
def test_the_head_is_the_integral_of_the_density(name):
    kernel, _ = KERNELS[name]
    t, dt = gauss_legendre(np.geomspace(0.01, 0.2, 9))
    between = (dt * kernel.density(t)).sum()
    got = kernel.head(0.2) - kernel.head(0.01)
    assert got == pytest.approx(between, rel=1e-12, abs=1e-15)
