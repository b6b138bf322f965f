"""`fit`, the plain function, and its arguments."""

import numpy as np
import pytest

import dpframe as dpf
from dpframe.errors import DomainError, ParameterError
from dpframe.multiplicative_weights import Distribution, fit

DOMAIN = dpf.Domain({"a": [0, 1], "b": dpf.integers(0, 2), "c": [0, 1]})


def test_a_single_marginal_is_met_and_the_rest_is_uniform():
    p = fit(DOMAIN, [(["b"], [20, 30, 50], 2.0)])
    np.testing.assert_allclose(p.marginal("b"), [0.2, 0.3, 0.5], atol=1e-9)
    np.testing.assert_allclose(p.marginal("a", "c"), 1 / 4)
    assert p.total == pytest.approx(100)


def test_columns_in_any_order_and_one_by_its_name():
    table = np.array([[5, 10, 15], [20, 25, 25]])
    one = fit(DOMAIN, [(("a", "b"), table, 2.0), ("c", [60, 40], 2.0)])
    two = fit(DOMAIN, [(["b", "a"], table.T.ravel(), 2), (["c"], [60, 40], 2)])
    np.testing.assert_allclose(one.cells, two.cells, atol=1e-12)
    np.testing.assert_allclose(one.marginal("a", "b"), table.ravel() / 100, atol=1e-9)


def test_a_public_total_is_kept():
    p = fit(DOMAIN, [(["a"], [30, 60], 2.0)], total=100)
    assert p.total == 100
    np.testing.assert_allclose(p.marginal("a"), [0.35, 0.65], atol=1e-9)


def test_a_count_of_all_rows_joins_the_total():
    p = fit(DOMAIN, [(["a"], [30, 60], 2.0), ([], [100], 4.0)])
    assert p.total == pytest.approx(95)
    assert fit(DOMAIN, [((), 42, 1.0)]).total == 42


def test_precise_measurements_count_more():
    p = fit(DOMAIN, [(["a"], [30, 70], 1.0), (["a"], [60, 40], 9.0)])
    np.testing.assert_allclose(p.marginal("a"), [0.33, 0.67], atol=1e-9)


def test_negative_counts_are_taken_as_they_are():
    p = fit(DOMAIN, [(["b"], [-10, 40, 70], 2.0)])
    assert p.total == pytest.approx(100)
    # The least squares point with b = 0 at zero, not the clipped and rescaled one.
    np.testing.assert_allclose(p.marginal("b"), [0, 0.35, 0.65], atol=1e-6)


def test_a_prior():
    prior = Distribution(DOMAIN, np.arange(1, 13) / 78)
    p = fit(DOMAIN, [(["a"], [50, 50], 2.0)], prior=prior)
    expected = prior.table(("a", "b", "c")) * (0.5 / prior.marginal("a"))[:, None, None]
    np.testing.assert_allclose(p.cells, expected.ravel(), atol=1e-8)


def test_fewer_iterations_stay_nearer_to_the_prior():
    told = [(["a", "b"], [90, 1, 2, 3, 4, 0], 2.0)]
    near, far = (fit(DOMAIN, told, iterations=i).cells for i in (1, 200))
    uniform = np.full(12, 1 / 12)
    assert np.abs(near - uniform).max() < np.abs(far - uniform).max()


def test_without_measurements_the_prior_is_left():
    np.testing.assert_allclose(fit(DOMAIN, [], total=5).cells, 1 / 12)


@pytest.mark.parametrize(
    ("measurements", "options", "error", "match"),
    [
        ([], {}, ParameterError, "nothing to fit to"),
        ([(["a"], [1, 2])], {}, ParameterError, "columns, values, variance"),
        ([3], {}, ParameterError, "columns, values, variance"),
        ([(["a"], [1, 2, 3], 1)], {}, ParameterError, "each of 2 cells"),
        ([(["a"], [1, 2], 0)], {}, ParameterError, "variance"),
        ([(["a", "a"], [1, 2, 3, 4], 1)], {}, ParameterError, "each column once"),
        ([(["z"], [1, 2], 1)], {}, DomainError, "no column 'z'"),
        ([(["a"], [1, 2], 1)], {"total": 0}, ParameterError, "positive number of rows"),
        (
            [(["a"], [1, 2], 1)],
            {"prior": Distribution(dpf.Domain({"a": [0, 1]}))},
            ParameterError,
            "another domain",
        ),
    ],
)
def test_wrong_arguments(measurements, options, error, match):
    with pytest.raises(error, match=match):
        fit(DOMAIN, measurements, **options)


def test_columns_without_cells():
    domain = dpf.Domain({"a": [0, 1], "hours": (0, 99)})
    with pytest.raises(DomainError, match="'hours' is declared by bounds alone"):
        fit(domain, [(["a"], [1, 2], 1)])


def test_the_facade_hands_out_three_names():
    assert dpf.multiplicative_weights.__all__ == ["Distribution", "fit", "update"]
    assert dpf.multiplicative_weights.fit is fit
