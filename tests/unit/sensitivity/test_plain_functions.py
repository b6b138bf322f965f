import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpframe import sensitivity
from dpframe.errors import ParameterError
from dpframe.sensitivity.catalog import as_statistic
from dpframe.sensitivity.ordered import Ordered, exact_sum

KNOWN = {"bounds": (0, 10), "neighboring": "add_remove"}
NAMES = [
    "median", "iqr", "variance", "mean", "sum", "count", "closest_pair",
    ("quantile", 0.9), ("order", 2), ("trimmed_mean", 1), ("trimmed_mean", 0.1),
]  # fmt: skip


@pytest.mark.parametrize(
    "values",
    [
        [3, 9, 4],
        (9.0, 3.0, 4.0),
        np.array([4, 3, 9], dtype=np.uint8),
        np.array([3, 4, 9], dtype=np.float32),
        [Decimal(4), Decimal(9), Decimal(3)],
        [Fraction(4), 9, 3],
        pd.Series([9, 4, 3]),
        pl.Series([3, 4, 9]),
    ],
)
@pytest.mark.parametrize("statistic", NAMES)
def test_any_array_in_any_order(values, statistic):
    ks = sensitivity.profile(values, statistic, k_max=4, **KNOWN)
    assert (
        ks.tolist()
        == sensitivity.profile([3, 4, 9], statistic, k_max=4, **KNOWN).tolist()
    )
    assert ks.dtype == np.float64
    assert sensitivity.local(values, statistic, **KNOWN) == ks[0]


@pytest.mark.parametrize("neighboring", ["add_remove", "replace"])
@pytest.mark.parametrize("values", [[], [4], [9, 2], [5, 5]])
@pytest.mark.parametrize("statistic", NAMES)
def test_few_values(statistic, values, neighboring):
    known = {"bounds": (0, 10), "neighboring": neighboring}
    if statistic == "closest_pair" and neighboring == "replace":
        return
    if statistic == ("order", 2) and neighboring == "replace" and len(values) == 1:
        return
    ks = sensitivity.profile(values, statistic, k_max=5, **known)
    assert (np.diff(ks) >= 0).all()
    assert np.isfinite(ks).all()
    beta = Fraction(1, 10)
    smooth = sensitivity.smooth(values, statistic, beta=beta, **known)
    assert ks[0] <= smooth <= ks[-1]
    assert sensitivity.distance(values, statistic, bound=1e9, **known) == math.inf
    if neighboring == "replace" and not values:
        assert not ks.any()


def test_values_of_nothing():
    empty = {
        "median": 2, "iqr": 0, "variance": 0, "mean": 2, "sum": 0, "count": 0,
        "closest_pair": 8, ("quantile", 1): 2, ("trimmed_mean", 3): 2,
        ("trimmed_mean", 0.2): 2, ("order", 1): 10,
    }  # fmt: skip
    for statistic, value in empty.items():
        assert sensitivity.evaluate([], statistic, bounds=(2, 10)) == value, statistic


def test_values_are_clamped_first():
    values = [-5, 1, 2, 3, 400]
    expected = {
        "median": 2, ("quantile", 0.2): 0, ("quantile", 0.21): 1, ("quantile", 1): 10,
        "iqr": 2, "sum": 16, "mean": 3.2, "count": 5, ("order", 4): 3,
        ("order", 6): 10, ("trimmed_mean", 1): 2, ("trimmed_mean", 2): 2,
        ("trimmed_mean", 3): 0, ("trimmed_mean", 0.19): 3.2,
        ("trimmed_mean", 0.2): 2, "closest_pair": 1,
        "variance": np.var([0, 1, 2, 3, 10]),
    }  # fmt: skip
    for statistic, value in expected.items():
        found = sensitivity.evaluate(values, statistic, bounds=(0, 10))
        assert found == pytest.approx(value), statistic


def test_levels_are_the_decimals_that_were_written():
    """0.07 * 100 is above 7 in floats; the seventh of a hundred values is meant."""
    values = np.arange(1, 101)
    for q, rank in ((0.07, 7), ("0.07", 7), (Fraction(7, 100), 7), (0.0701, 8)):
        assert sensitivity.evaluate(values, ("quantile", q), bounds=(0, 200)) == rank
    trimmed = sensitivity.evaluate(values, ("trimmed_mean", 0.29), bounds=(0, 200))
    assert trimmed == np.mean(values[29:-29])
    assert 0.29 * 100 < 29


def test_counts_of_booleans_are_of_true_ones():
    assert sensitivity.evaluate([True, False, True], "count") == 2
    assert sensitivity.evaluate(["a", "b", "c"], "count") == 3
    for relation in ("add_remove", "replace"):
        assert sensitivity.local([False, False], "count", neighboring=relation) == 1


def test_integers_beyond_floats():
    values = [2**60, 2**60 + 1, 2**60 + 2]
    known = {"bounds": (0, 2**61), "neighboring": "replace"}
    assert sensitivity.local(values, "median", **known) == 1
    assert sensitivity.evaluate(values, "median", bounds=(0, 2**61)) == 2**60 + 1
    assert sensitivity.evaluate(values, "iqr", bounds=(0, 2**61)) == 2
    mean = sensitivity.evaluate(values, "mean", bounds=(0, 2**61))
    assert mean == float(2**60 + 1)
    huge = np.array([2**64 - 1, 5], dtype=np.uint64)
    assert sensitivity.evaluate(huge, "sum", bounds=(-3, 100)) == 105
    assert sensitivity.evaluate(huge, ("order", 2), bounds=(0, 2**63)) == 2.0**63
    small = np.array([100, -100], dtype=np.int8)
    assert sensitivity.evaluate(small, ("order", 2), bounds=(150, 300)) == 150
    assert sensitivity.evaluate(small, ("order", 1), bounds=(-300, 300)) == -100
    width = Ordered.read(small, (-(2**63), 2**63 - 1)).width
    assert width == 2.0**64


def test_sums_are_exact():
    values = np.array([1e16, 1.0, -1e16, 2.0**-60] * 3)
    assert exact_sum(values) == 3 + 3 * Fraction(2) ** -60
    assert exact_sum(np.array([], dtype=np.float64)) == 0
    assert exact_sum(np.array([2**62] * 4)) == 2**64


def test_equal_bounds_leave_nothing_to_hide():
    for statistic in NAMES:
        if statistic == "count":
            continue
        known = {"bounds": (5, 5), "neighboring": "add_remove"}
        ks = sensitivity.profile([1, 9], statistic, k_max=3, **known)
        expected = 5 if statistic == "sum" else 0
        assert ks.tolist() == [expected] * 4
        assert sensitivity.smooth([1, 9], statistic, beta=1, **known) == expected


def test_large_shares_of_trimming_have_any_denominator():
    share = Fraction(10**30 - 1, 4 * 10**30)
    found = sensitivity.profile(
        range(100),
        ("trimmed_mean", share),
        k_max=3,
        bounds=(0, 99),
        neighboring="add_remove",
    )
    near = sensitivity.profile(
        range(100),
        ("trimmed_mean", "0.2499"),
        k_max=3,
        bounds=(0, 99),
        neighboring="add_remove",
    )
    assert found.tolist() == near.tolist()


def test_a_million_values_take_no_time_for_small_betas():
    rng = np.random.default_rng(11)
    values = rng.normal(50, 10, 10**5)
    for statistic in (
        "median",
        ("quantile", 0.99),
        "iqr",
        ("trimmed_mean", 0.1),
        "variance",
        ("trimmed_mean", 100),
    ):
        smooth = sensitivity.smooth(
            values, statistic, bounds=(0, 100), neighboring="add_remove", beta=0.03
        )
        assert 0 < smooth < 1


@pytest.mark.parametrize(
    ("statistic", "match"),
    [
        ("mediam", "statistic must be one of 'median', .*trimmed_mean"),
        ("quantile", r"statistic must be one of .*\('quantile', 0.9\)"),
        (("median", 1), "statistic must be one of"),
        (("quantile", 1.5), r"q of \('quantile', q\) must be in \[0, 1\]"),
        (("quantile", None), "q must be a number"),
        (("order", 0), "rank of .* must be 1 or more"),
        (("order", 1.5), "rank of .* must be 1 or more"),
        (("order", True), "rank of .* must be 1 or more"),
        (("trimmed_mean", -1), "must not be negative"),
        (("trimmed_mean", 0.5), "below 1/2"),
        (("trimmed_mean", True), "trim must be a number"),
        (None, "statistic must be one of"),
        (np.array([1, 2]), "statistic must be one of"),
        ("mode", "mode is a label, not a number"),
    ],
)
def test_statistics_are_checked(statistic, match):
    with pytest.raises(ParameterError, match=match):
        sensitivity.local([1, 2], statistic, **KNOWN)
    with pytest.raises(ParameterError, match=match):
        as_statistic(statistic)


@pytest.mark.parametrize(
    ("bounds", "match"),
    [
        (None, r"bounds must be a pair \(lower, upper\) that is public"),
        ((1,), "bounds must be a pair"),
        ("ab", "bounds must be a pair"),
        ((0, math.inf), "bounds must be a number.*finite"),
        ((math.nan, 1), "bounds must be a number"),
        ((3, 1), "must not be above"),
        ((0, 10**151), "within ±1e150"),
    ],
)
def test_bounds_are_checked(bounds, match):
    with pytest.raises(ParameterError, match=match):
        sensitivity.local([1, 2], "median", bounds=bounds, neighboring="add_remove")


@pytest.mark.parametrize(
    "values",
    [
        [1.0, math.nan],
        [1.0, math.inf],
        [1, None],
        ["a", "b"],
        [1e400, -math.inf],
        [10**400, 1],
        [1 + 2j],
        ["1", "2"],
    ],
)
def test_values_must_be_finite_numbers_and_are_not_shown(values):
    with pytest.raises(ParameterError, match="must all be finite numbers") as caught:
        sensitivity.local(values, "median", **KNOWN)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("values", [3, [[1, 2], [3, 4]]])
def test_values_must_be_flat(values):
    for statistic in ("median", "count"):
        with pytest.raises(ParameterError, match="flat list"):
            sensitivity.local(values, statistic, **KNOWN)


@pytest.mark.parametrize(
    ("statistic", "relation", "match"),
    [
        ("median", "edge", "'add_remove' or neighboring='replace'"),
        ("median", "swap", "neighboring must be one of"),
        ("closest_pair", "replace", "under neighboring='add_remove'"),
        ("mode", "edge", "mode has a distance under"),
    ],
)
def test_pairs_without_a_proof_are_refused(statistic, relation, match):
    bound = None if statistic == "mode" else 1
    with pytest.raises(ParameterError, match=match):
        sensitivity.distance(
            [1, 2], statistic, bounds=(0, 3), neighboring=relation, bound=bound
        )


@pytest.mark.parametrize(
    "matrix",
    [
        [[0, 1]],
        [[0, 2], [2, 0]],
        [[0, 1], [0, 0]],
        [[1, 0], [0, 0]],
        [0, 1],
        [["a", "b"], ["b", "a"]],
        [[0, math.nan], [math.nan, 0]],
    ],
)
def test_graphs_are_checked(matrix):
    with pytest.raises(ParameterError, match="adjacency matrix"):
        sensitivity.local(matrix, "triangles", neighboring="edge")
    with pytest.raises(ParameterError, match="under neighboring='edge'"):
        sensitivity.local(np.zeros((2, 2)), "triangles", neighboring="add_remove")


@pytest.mark.parametrize("counts", [[], [1, -2], [1.5, 2], ["a"], [[1], [2]], 4])
def test_counts_of_labels_are_checked(counts):
    with pytest.raises(ParameterError, match="rows of each label"):
        sensitivity.distance(counts, "mode", neighboring="replace")


def test_labels_alone_and_unsigned_counts():
    assert sensitivity.distance([3], "mode", neighboring="replace") == math.inf
    counts = np.array([3, 200], dtype=np.uint8)
    assert (
        sensitivity.distance(counts, "mode", neighboring="add_remove") == 196
    )  # the first wins ties
    assert sensitivity.distance([5.0, 2.0], "mode", neighboring="add_remove") == 3


def test_points_are_checked():
    points = np.zeros((3, 2))
    known = {"neighboring": "add_remove"}
    with pytest.raises(ParameterError, match="a pair for each of the 2 coordinates"):
        sensitivity.local(
            points, "closest_pair", bounds=((0, 1), (0, 1), (0, 1)), **known
        )
    with pytest.raises(ParameterError, match="a coordinate"):
        sensitivity.local(np.zeros((3, 0)), "closest_pair", bounds=(0, 1), **known)
    one = sensitivity.evaluate([[1], [4]], "closest_pair", bounds=(0, 9))
    assert one == 3
    box = sensitivity.evaluate([], "closest_pair", bounds=(0, 9))
    assert box == 9
    both = sensitivity.evaluate(points[:1], "closest_pair", bounds=((0, 3), (1, 5)))
    assert both == 5


@pytest.mark.parametrize("k_max", [-1, 1.5, None, True])
def test_k_max_is_checked(k_max):
    with pytest.raises(ParameterError, match="k_max must be a whole number"):
        sensitivity.profile([1], "median", k_max=k_max, **KNOWN)


def test_amounts_are_checked():
    for beta in (0, -1, "nan"):
        with pytest.raises(ParameterError, match="beta"):
            sensitivity.smooth([1], "median", beta=beta, **KNOWN)
    for bound in (0, -1, None):
        with pytest.raises(ParameterError, match="bound"):
            sensitivity.distance([1], "median", bound=bound, **KNOWN)
    with pytest.raises(ParameterError, match="mode has no bound"):
        sensitivity.distance([1], "mode", bound=1, neighboring="replace")


def test_units_are_checked():
    found = sensitivity.plain.profile_of([1, 2], "median", **KNOWN)
    for rows in (0, 1.5, True):
        with pytest.raises(ParameterError, match="rows must be a positive integer"):
            found.of_unit(rows)
    assert found.of_unit(1) is found
    assert found.of_unit(2).of_unit(3).rows == 6


def test_ranks_above_the_public_number_of_values():
    with pytest.raises(ParameterError, match="above the number of values"):
        sensitivity.local([1, 2], ("order", 3), bounds=(0, 9), neighboring="replace")
    assert sensitivity.local([1, 2], ("order", 5), **KNOWN) == 0
    assert sensitivity.profile([1, 2], ("order", 5), k_max=3, **KNOWN).tolist() == [
        0, 0, 8, 9,
    ]  # fmt: skip


def test_every_docstring_says_first_whose_numbers_these_are():
    private = [
        "profile", "local", "smooth", "distance", "evaluate", "compare",
        "ptr_pass_probability",
    ]  # fmt: skip
    for name in private:
        assert getattr(sensitivity, name).__doc__.startswith("Private unless")


@pytest.mark.parametrize("statistic", [*NAMES, "triangles"])
def test_no_text_shows_the_data(statistic):
    chosen = as_statistic(statistic)
    if statistic == "triangles":
        data, relation = chosen.read(np.ones((3, 3)) - np.eye(3), None), "edge"
    else:
        data, relation = chosen.read([41.5, 42.5, 43.5], (0, 97)), "add_remove"
    found = chosen.profile(data, relation)
    for thing in (data, found, found.of_unit(2)):
        for text in (repr(thing), str(thing), f"{thing}"):
            assert " object at 0x" in text
