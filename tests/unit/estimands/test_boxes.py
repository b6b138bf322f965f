import math
from decimal import Decimal

import numpy as np
import pytest
from debias_reference import enumerate_inverse

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands import Boxes, NoisyCounts, box, debias, profile
from dpframe.estimands import box_sums as engine

DOMAINS = ["counts", "integers", (2, 6), (1, None), (None, 4), (3, 3), (0, 1)]


def random_terms(rng, n, boxes):
    """Boxes around small counts: overlapping, open on some sides."""
    terms = []
    for _ in range(boxes):
        sides = {}
        for i in rng.choice(n, rng.integers(0, n + 1), replace=False):
            low = int(rng.integers(-2, 7))
            ends = [low, low + int(rng.integers(0, 5))]
            if rng.random() < 0.4:
                ends[rng.integers(2)] = None
            sides[int(i)] = tuple(ends)
        terms.append((float(rng.uniform(-3, 3)), sides))
    return terms


def evaluate(terms, z):
    return math.fsum(
        value
        for value, sides in terms
        if all(
            (low is None or low <= z[i]) and (high is None or z[i] <= high)
            for i, (low, high) in sides.items()
        )
    )


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize(("n", "boxes"), [(1, 3), (3, 8), (6, 20)])
def test_it_is_the_sum_over_all_neighbors(domain, n, boxes):
    rng = np.random.default_rng(n + boxes)
    noisy = NoisyCounts(rng.integers(-2, 8, n), rng.uniform(0.5, 4.0, n), domain)
    terms = random_terms(rng, n, boxes)
    got = box(terms).debias(noisy)
    value = enumerate_inverse(noisy, lambda z: Decimal(evaluate(terms, z)), 40)
    square = enumerate_inverse(noisy, lambda z: Decimal(evaluate(terms, z)) ** 2, 40)
    assert got.value == pytest.approx(value, rel=1e-11, abs=1e-12)
    assert got.variance == pytest.approx(value**2 - square, rel=1e-8, abs=1e-9)
    assert box(terms).plug_in(noisy) == evaluate(terms, noisy.clip(noisy.values))


def test_eight_bins_by_brute_force():
    rng = np.random.default_rng(8)
    noisy = NoisyCounts(rng.integers(0, 6, 8), rng.uniform(0.7, 3.0, 8))
    terms = random_terms(rng, 8, 30)
    value = enumerate_inverse(noisy, lambda z: Decimal(evaluate(terms, z)), 30)
    assert box(terms).debias(noisy).value == pytest.approx(value, rel=1e-11)


def test_one_bin_is_the_profile():
    counts = [3, 4, 0, 2, 9, 3]
    terms = [(1, {i: (3, 3)}) for i in range(6)]
    for domain in ("counts", "integers"):
        got = debias(counts, box(terms), epsilon=0.7, domain=domain)
        expected = debias(counts, profile(3), epsilon=0.7, domain=domain)
        assert got.value == pytest.approx(expected.value, rel=1e-14)
        assert got.variance == pytest.approx(expected.variance, rel=1e-13)


def test_boxes_that_share_no_bin_are_independent():
    counts, rates = [3, 4, 2, 9], 0.3
    left = [(2.0, {0: (3, None), 1: (None, 4)})]
    right = [(-5.0, {2: (1, 2), 3: (9, 9)})]
    both = debias(counts, box(left + right), epsilon=rates)
    parts = [debias(counts, box(part), epsilon=rates) for part in (left, right)]
    assert both.value == pytest.approx(sum(p.value for p in parts), rel=1e-13)
    assert both.variance == pytest.approx(sum(p.variance for p in parts), rel=1e-12)


def test_far_from_every_end_nothing_is_left_to_undo():
    terms = [(5, {0: (1, 9)}), (8, {0: (10, None), 2: (None, 3)}), (1, {})]
    got = debias([20, 5, 0], box(terms), epsilon=0.1)
    assert (got.value, got.variance, got.plug_in, got.warnings) == (9.0, 0.0, 9.0, ())
    assert debias([20, 5, 7], box(terms), epsilon=0.1).value == 1.0


def test_open_ends_and_large_ends():
    huge = box([(1, {0: (None, None)}), (2, {0: (-(10**30), 10**30)})])
    assert debias([-4], huge, epsilon=1, domain="integers").value == 3.0
    single = box([(7.0, {0: (5, 5)})])
    assert debias([5], single, epsilon=50).value == pytest.approx(7.0)


def test_no_boxes_and_no_bins():
    for counts in ([1, 2], []):
        got = debias(counts, box([]), epsilon=1)
        assert (got.value, got.plug_in, got.variance) == (0.0, 0.0, 0.0)
    assert debias([], box([(4, {})]), epsilon=1).value == 4.0


def test_many_boxes_far_away_cost_no_variance():
    terms = [(1.0, {0: (k, k)}) for k in range(50_000)]
    got = debias([123], box(terms), epsilon=1)
    assert got.value == pytest.approx(1.0, rel=1e-12)
    assert got.variance == pytest.approx(0.0, abs=1e-9)


def test_too_many_pairs_leave_the_variance_unknown(monkeypatch):
    terms = [(1.0, {0: (None, 3)}), (2.0, {1: (2, 4)}), (3.0, {0: (3, 8)})]
    known = debias([3, 4], box(terms), epsilon=1)
    monkeypatch.setattr(engine, "_MOST_WORK", 89)
    unknown = debias([3, 4], box(terms), epsilon=1)
    assert unknown.value == known.value
    assert math.isnan(unknown.std_error)
    assert any("std_error is unknown" in text for text in unknown.warnings)
    monkeypatch.setattr(
        engine, "_MOST_WORK", 90
    )  # three boxes squared, as for ten bins
    assert debias([3, 4], box(terms), epsilon=1).variance == known.variance


def test_disjoint_boxes_need_no_pairs(monkeypatch):
    terms = [(1.0, {0: (None, 3)}), (2.0, {0: (4, None), 1: (2, 4)})]
    boxes = box(terms).boxes
    stencil = engine.Stencil.of(NoisyCounts([3, 4], 1.0))
    by_pairs = engine.debias_box_sum(boxes, stencil)
    monkeypatch.setattr(engine, "_MOST_WORK", 0)
    apart = engine.BoxSum(boxes.values, boxes.conditions, 0.0, disjoint=True)
    found = engine.debias_box_sum(apart, stencil)
    assert found.value == by_pairs.value
    assert found.variance == pytest.approx(by_pairs.variance, rel=1e-12)
    assert not found.warnings


def test_estimates_beyond_float64_are_unstable():
    terms = [(1.0, {i: (5, 5) for i in range(200)})]
    with pytest.raises(UnstableEstimateError, match="beyond 1e300"):
        debias([5] * 200, box(terms), epsilon=0.1)


def test_warnings():
    narrow = box([(1.0, {0: (5, 5), 1: (5, 5), 2: (5, 5)})])
    got = debias([5, 5, 5], narrow, epsilon=0.05)
    assert any("10 times the plug-in" in text for text in got.warnings)
    cancel = box([(1e12, {0: (5, None)}), (-1e12, {0: (5, None), 1: (0, None)})])
    exact = debias([5, 4], cancel, epsilon=0.001)
    assert any("condition number" in text for text in exact.warnings)


def test_names():
    assert box([]).name == "box"
    assert repr(box([], name="fee")) == "fee"
    assert isinstance(box([]), Boxes)


@pytest.mark.parametrize(
    "terms",
    [
        3,
        None,
        [3],
        ["ab"],
        [(1, 2)],
        [("1", {})],
        [(float("nan"), {})],
        [(float("inf"), {})],
        [(1, {}, 2)],
        [(1j, {})],
    ],
    ids=str,
)
def test_wrong_terms_are_refused(terms):
    with pytest.raises(ParameterError, match=r"box needs \(value"):
        box(terms)


@pytest.mark.parametrize(
    "sides",
    [
        {-1: (0, 1)},
        {"0": (0, 1)},
        {True: (0, 1)},
        {0: (2, 1)},
        {0: (0.5, 1)},
        {0: 3},
        {0: (0, 1, 2)},
        {0: "ab"},
        {0: (0, True)},
    ],
    ids=str,
)
def test_wrong_sides_are_refused(sides):
    with pytest.raises(ParameterError, match=r"a box is \{bin: \(lo, hi\)\}"):
        box([(1, sides)])


def test_a_bin_that_is_not_there_is_refused():
    with pytest.raises(ParameterError, match=r"bin 2, and there are 2 bins"):
        debias([1, 2], box([(1, {2: (0, 1)})]), epsilon=1)
