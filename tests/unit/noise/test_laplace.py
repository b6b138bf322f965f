from fractions import Fraction

import numpy as np
import pytest
from noise_reference import scripted

from dpframe.noise import DiscreteLaplace, Geometric
from dpframe.noise.bits import use_source_for_tests
from dpframe.noise.digits import GeometricHead, low_digits
from dpframe.noise.laplace import _signed_head_table


def cells_by_outcome(table):
    """One sure sixteen-bit cell for each outcome that has one."""
    cells = np.arange(1 << 16, dtype="<u2")
    with use_source_for_tests(
        lambda n: cells.tobytes() if n == cells.nbytes else bytes(n)
    ):
        outcomes = table.draw(cells.size)
    # The second cell of a run cannot hold the threshold at the run's start.
    values, firsts, runs = np.unique(outcomes, return_index=True, return_counts=True)
    return {
        int(v): int(f + 1).to_bytes(2, "little")
        for v, f, run in zip(values, firsts, runs, strict=True)
        if run > 2
    }


@pytest.mark.parametrize("scale", [Fraction(5), Fraction(100), Fraction(10**6)])
def test_sign_head_and_digits_make_all_integers_once(scale):
    """X = sign · (1 + B H + L), for signs, heads and digits put in by hand."""
    digits = low_digits(1 / scale)
    head = GeometricHead(digits)
    signed = cells_by_outcome(
        _signed_head_table(1 / scale, digits.head_rate, head.reach)
    )
    low = [cells_by_outcome(table) for table in digits.tables]
    law = DiscreteLaplace(scale)
    assert {-2, -1, 1, 2} <= set(signed)
    for v in {-3, -2, -1, 0, 1, 2, 3} & set(signed):
        for chosen in ([0, 0], [7, 3], [255, 254]):
            used = chosen[: len(low)]
            pieces = [t[d] for t, d in zip(low, used, strict=True)][::-1]
            with use_source_for_tests(scripted([signed[v], *pieces])):
                x = law.sample()
            number = sum(d * 256**j for j, d in enumerate(used))
            magnitude = 1 + digits.base * (abs(v) - 1) + number
            assert x == (0 if v == 0 else magnitude if v > 0 else -magnitude)


@pytest.mark.parametrize("side", [-1, 1])
def test_both_tails_go_on_past_the_table(side):
    head = GeometricHead(low_digits(Fraction(1, 10)))
    edge = b"\x00" if side < 0 else b"\xff"
    top = [b"\xff" * 2, b"\xff" * 8]
    pieces = [edge * 2, edge * 8, *top, b"\x00" * 2, b"\x00" * 8]
    with use_source_for_tests(scripted(pieces)):
        assert DiscreteLaplace(10).sample() == side * (1 + 2 * head.reach)


@pytest.mark.parametrize(
    ("law", "scale", "words"),
    [
        (DiscreteLaplace, 1, 1),
        (DiscreteLaplace, 1000, 2),
        (DiscreteLaplace, 10**6, 3),
        (Geometric, 32, 1),
        (Geometric, 33, 2),
    ],
)
def test_two_bytes_a_digit_and_a_few_more_for_thresholds(
    monkeypatch, law, scale, words
):
    law(scale).sample(10)
    asked = []

    def source(n):
        asked.append(n)
        return b"\x81\x80" * (n // 2)  # a cell without a threshold in these tables

    with use_source_for_tests(source):
        law(scale).sample(1000)
    assert sorted(asked)[-words:] == [2000] * words
