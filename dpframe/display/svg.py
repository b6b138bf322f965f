"""Small inline drawings, in the colour of the text around them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["bars", "meter"]

_WIDTH, _HEIGHT = 160, 14


def bars(
    values: Sequence[float], lower: Sequence[float], upper: Sequence[float]
) -> list[str]:
    """Draw one bar from zero for each value, with a whisker from lower to upper.

    All bars share one axis, which holds zero and every whisker. They repeat numbers
    that stand beside them, so they are hidden from screen readers.
    """
    ends = [0.0, *values, *lower, *upper]
    size = max(map(abs, ends)) or 1.0
    least, span = min(ends) / size, (max(ends) / size - min(ends) / size) or 1.0

    def place(x: float) -> float:
        return round(1 + (_WIDTH - 2) * (x / size - least) / span, 1)

    return [
        _bar(place(0.0), place(value), place(low), place(high))
        for value, low, high in zip(values, lower, upper, strict=True)
    ]


def meter(fraction: float, width: int = 240) -> str:
    """Draw the spent part of a budget, in [0, 1], with its figure beside it."""
    part = min(max(fraction, 0.0), 1.0)
    full = round(width * part, 1)
    frame = (
        f'<rect x=".5" y=".5" width="{width - 1}" height="9" rx="2" fill="none" '
        'stroke="currentColor" opacity=".5"/>'
    )
    filled = f'<rect width="{full:g}" height="10" rx="2" fill="currentColor"/>'
    return (
        f'<svg width="{width}" height="10" aria-hidden="true">{frame}{filled}</svg> '
        f"{part * 100:.3g} % spent"
    )


def _bar(zero: float, value: float, low: float, high: float) -> str:
    start, length = min(zero, value), round(abs(value - zero), 1)
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" aria-hidden="true">'
        f'<rect x="{start:g}" y="3" width="{length:g}" height="8" '
        'fill="currentColor" opacity=".35"/>'
        f'<path d="M{low:g} 7H{high:g}M{low:g} 4v6M{high:g} 4v6" '
        'stroke="currentColor"/></svg>'
    )
