import math

import numpy as np
import pytest

from dpframe.estimands.quadrature import gauss_legendre, panel_edges


def test_edges_are_ascending_and_span_the_whole():
    edges = panel_edges(3.0, even=4, geometric=3, least=1e-4)
    assert edges.tolist() == pytest.approx([0, 3e-4, 0.03, 0.75, 1.5, 2.25, 3])
    assert (np.diff(edges) > 0).all()


def test_polynomials_of_degree_31_are_integrated_exactly():
    t, dt = gauss_legendre(np.array([0.0, 0.3, 2.0]))
    assert (np.diff(t) > 0).all()
    assert (dt * t**31).sum() == pytest.approx(2.0**32 / 32, rel=1e-13)
    assert dt.sum() == pytest.approx(2.0, rel=1e-15)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e5])
def test_a_lobe_far_narrower_than_the_range_is_not_missed(scale):
    t, dt = gauss_legendre(panel_edges(40.0, even=8, geometric=12, least=1e-6))
    got = (dt * np.exp(-scale * t)).sum()
    assert got == pytest.approx(-math.expm1(-40 * scale) / scale, rel=1e-12)
