"""High-precision figures of the noise laws, from integers and Taylor series only.

Shares no step with `dpframe.noise`, which takes exp from the decimal module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

BITS = 400  # errors below 2^-380

ByteSource = Callable[[int], bytes]


def exp_minus(x: Fraction, bits: int = BITS) -> Fraction:
    """exp(-x) for x >= 0, to within 2^(16 - bits)."""
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 8)
    if halvings > bits:
        return Fraction(0)
    working = bits + 2 * halvings + 16
    one = 1 << working
    y = (x.numerator << working) // (x.denominator << halvings)
    total, term, n = 0, one, 0
    while term:
        total += -term if n % 2 else term
        n += 1
        term = (term * y >> working) // n
    for _ in range(halvings):
        total = total * total >> working
    return Fraction(total, one)


def scripted(pieces: Iterable[bytes]) -> ByteSource:
    """A byte source that hands out the pieces in turn, each of the length asked."""
    waiting = iter(pieces)

    def source(n: int) -> bytes:
        piece = next(waiting)
        assert len(piece) == n, f"{n} bytes were asked, {len(piece)} prepared"
        return piece

    return source
