import numpy as np
import pytest
from sensitivity_reference import ordered

from dpframe.sensitivity import two_sided
from dpframe.sensitivity.order_statistics import TwoSidedProfile
from dpframe.sensitivity.search import damped_maximum
from dpframe.sensitivity.two_sided import two_sided_smooth


def by_definition(upper, lower, beta):
    """All pairs (a, b) but (0, 0): O(n²)."""
    a, b = np.ogrid[: len(lower), : len(upper)]
    terms = np.exp(-beta * np.maximum(a + b - 1, 0)) * (upper - lower[:, None])
    terms[0, 0] = 0
    return terms.max()


def random_case(rng):
    """Sorted values of many shapes, ends that may be bounds, a rank, a beta."""
    n = int(rng.integers(1, 120))
    shapes = [
        rng.normal(0, 1, n),
        rng.standard_cauchy(n),
        rng.integers(0, 6, n) * 1.0,
        np.repeat(rng.normal(0, 1, 1), n),
        np.append(rng.normal(-50, 1, n // 2), rng.normal(50, 1, n - n // 2)),
        np.exp(rng.normal(0, 4, n)),
    ]
    x = np.sort(shapes[rng.integers(len(shapes))])
    width = 10 ** rng.uniform(-1, 4)
    padded = np.concatenate([[x[0] - width], x, [x[-1] + width * rng.integers(2)]])
    high = int(rng.integers(1, n + 1))
    low = int(rng.integers(1, high + 1))
    return padded[high:], padded[low::-1], 10 ** rng.uniform(-4, 0.7)


@pytest.mark.parametrize("few", [2, 1000])
def test_envelope_is_the_quadratic_form(few, monkeypatch):
    """With lines dropped below chords, which only many lines are worth, and without."""
    monkeypatch.setattr(two_sided, "_FEW", few)
    rng = np.random.default_rng(1)
    for _ in range(400):
        upper, lower, beta = random_case(rng)
        assert two_sided_smooth(upper, lower, beta) == pytest.approx(
            by_definition(upper, lower, beta), rel=1e-12
        )


def test_the_shift_and_the_cut_do_not_change_the_answer():
    """Far from zero, where lines through unshifted values would be dropped."""
    rng = np.random.default_rng(2)
    for offset in (-1e6, 1e6):
        for _ in range(60):
            upper, lower, beta = random_case(rng)
            assert two_sided_smooth(
                upper + offset, lower + offset, beta
            ) == pytest.approx(by_definition(upper, lower, beta), rel=1e-8)


def test_pairs_on_both_sides_can_win():
    """One step each way: neither side alone reaches as far."""
    upper, lower = np.array([0.0, 10, 10]), np.array([0.0, -10, -10])
    assert two_sided_smooth(upper, lower, 0.1) == pytest.approx(20 * np.exp(-0.1))


@pytest.mark.parametrize("beta", [1e-300, 1e-6, 0.01, 30, 1e300])
def test_extreme_rates(beta):
    rng = np.random.default_rng(3)
    x = np.sort(rng.normal(0, 1, 500))
    padded = np.concatenate([[-9], x, [9]])
    found = two_sided_smooth(padded[200:], padded[200::-1], beta)
    slow = by_definition(padded[200:], padded[200::-1], beta)
    assert found == pytest.approx(slow, rel=1e-12)
    ends = {1e-300: 18.0, 1e300: np.diff(padded[199:202]).max()}
    assert found == pytest.approx(ends.get(beta, slow), rel=1e-12)


def test_no_width_and_underflow():
    assert two_sided_smooth(np.array([5.0, 5]), np.array([5.0, 5]), 0.1) == 0
    upper = np.concatenate([np.zeros(1000), [1.0]])
    assert two_sided_smooth(upper, np.zeros(2), 1.0) == 0


@pytest.mark.parametrize("beta", [0.365, 0.37, 0.3725])
def test_sizes_near_the_least_float_warn_of_nothing(beta):
    """A warning would tell of the data; R/S is beyond the floats here."""
    padded = np.concatenate([[0.0], np.full(4000, 7.0), [1000.0]])
    found = two_sided_smooth(padded[2000:], padded[2000::-1], beta)
    assert found == by_definition(padded[2000:], padded[2000::-1], beta)
    assert 0 < found < 1e-300


def test_integers_beyond_floats_keep_their_differences():
    x = np.array([2**60, 2**60 + 1, 2**60 + 3])
    padded = np.concatenate([[-(2**62)], x, [2**62]])
    assert two_sided_smooth(padded[2:], padded[2::-1], 50.0) == 2
    padded = np.concatenate([[-(2**63)], x, [2**63 - 1]])
    assert two_sided_smooth(padded[2:], padded[2::-1], 1e-9) == pytest.approx(2.0**64)


def test_it_agrees_with_the_pruned_search_over_changes():
    rng = np.random.default_rng(5)
    for _ in range(40):
        n = int(rng.integers(1, 60))
        data = ordered(np.sort(rng.uniform(0, 7, n)))
        rank = int(rng.integers(1, n + 3))
        found = TwoSidedProfile(data, rank, rank)
        for beta in (0.01, 0.2, 2):
            slow = damped_maximum(found.at, found.last, found.limit, beta)
            assert found.smooth(beta) == pytest.approx(slow, rel=1e-12)
