import itertools
import math
from decimal import Decimal

import pytest

from dpframe.estimands.tie_weights import StepWeights, Tie, product

ONE = StepWeights(Decimal("0.25"), Decimal("0.5"))
OTHER = StepWeights(Decimal(2), Decimal("0.125"))
EDGE = StepWeights(Decimal("0.75"), Decimal(0))
TIES = [
    (),
    ((ONE, 1),),
    ((ONE, 4),),
    ((EDGE, 3),),
    ((ONE, 2), (OTHER, 3)),
    ((OTHER, 1), (EDGE, 2), (ONE, 1)),
]


def enumerated(bins):
    """Every (stayers, fallers, risers) with its signed probability."""
    each = [weights for weights, count in bins for _ in range(count)]
    law = {}
    for moves in itertools.product("sfr", repeat=len(each)):
        p = math.prod(
            {"s": w.stay, "f": -w.down, "r": -w.up}[move]
            for w, move in zip(each, moves, strict=True)
        )
        key = tuple(moves.count(kind) for kind in "sfr")
        law[key] = law.get(key, 0) + p
    return law


@pytest.mark.parametrize(
    ("rate", "rises", "falls"),
    [(1.0, True, True), (0.1, True, False), (3.0, False, True), (1.0, False, False)],
)
def test_weights_are_those_of_the_stencil(rate, rises, falls):
    d = 1 / math.expm1(rate)
    step = d * (1 + d) if rises and falls else d
    weights = StepWeights.of(rate, rises=rises, falls=falls)
    assert float(weights.up) == pytest.approx(step if rises else 0)
    assert float(weights.down) == pytest.approx(step if falls else 0)
    assert weights.stay == 1 + weights.up + weights.down


@pytest.mark.parametrize("bins", TIES)
def test_steps_in_one_direction(bins):
    law = enumerated(bins)
    for place, found in ((2, Tie(bins).risers), (1, Tie(bins).fallers)):
        for k, p in enumerate(found):
            expected = sum(q for key, q in law.items() if key[place] == k)
            assert float(p) == pytest.approx(float(expected), abs=1e-20)
        assert float(sum(found)) == pytest.approx(1)


@pytest.mark.parametrize("bins", TIES)
@pytest.mark.parametrize("zeros", [(0, 0), (1, 0), (0, 2), (2, 1), (9, 0), (3, 3)])
def test_the_expectation_of_a_product(bins, zeros):
    size = sum(count for _, count in bins)
    by_fall, by_rise = (
        [Decimal(0) if i < none else Decimal(3 * i + shift) for i in range(size + 1)]
        for none, shift in zip(zeros, (2, 7), strict=True)
    )
    expected = sum(
        p * by_fall[fall] * by_rise[rise]
        for (_, fall, rise), p in enumerated(bins).items()
    )
    got = Tie(bins).expect(by_fall, by_rise)
    assert float(got) == pytest.approx(float(expected), rel=1e-20, abs=1e-18)


def test_an_expectation_of_too_many_terms_is_not_begun():
    def expect(bins, zeros):
        size = sum(count for _, count in bins)
        late = [Decimal(i >= zeros) for i in range(size + 1)]
        return Tie(bins).expect(late, late)

    assert expect(((ONE, 1_200),), 0) is None
    assert expect(((ONE, 1_200),), 600) is not None
    many = tuple((ONE, 1) for _ in range(150))
    assert expect(many, 0) is None
    assert expect(many, 75) is not None


def test_product_is_the_law_of_a_sum():
    p, q = [Decimal(1), Decimal(2)], [Decimal(3), Decimal(-1), Decimal(5)]
    assert product(p, q) == product(q, p) == [3, 5, 3, 10]
