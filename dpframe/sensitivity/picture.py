"""A picture of sensitivities beside each other, by matplotlib where it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["draw_sizes"]


def draw_sizes(
    sizes: Mapping[str, float], title: str, notes: Sequence[str], ax: Any = None
) -> Any:
    """Draw each size as a dot with its figure, the first one at the top.

    They may be powers of ten apart, so the axis is logarithmic; a bar would need a zero
    to start from, a dot does not. Where a size is 0 an arrow points to the left.

    Returns
    -------
    matplotlib Axes
        ``ax``, or that of a new figure.

    Raises
    ------
    ImportError
        If a figure has to be made, and matplotlib is not installed.
    """
    axes = _new_axes(len(sizes) + len(notes)) if ax is None else ax
    positive = [size for size in sizes.values() if size] or [1.0]
    least = min(positive) / (1 if len(positive) == len(sizes) else 10)
    for place, size in enumerate(sizes.values()):
        color, height = f"C{place}", len(sizes) - place
        at = size or least
        axes.axvline(at, color=color, linewidth=0.8, alpha=0.5)
        axes.plot([at], [height], "o" if size else "<", color=color)
        axes.annotate(
            f"{size:.4g}",
            (at, height),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
        )
    axes.set_xscale("log")
    axes.set_xlim(least / 4, max(positive) * 4)  # a power of ten is in it
    axes.tick_params(axis="x", which="minor", labelbottom=False)
    axes.set_yticks(range(len(sizes), 0, -1), list(sizes))
    axes.set_ylim(0.5, len(sizes) + 0.7)
    axes.set_title(title)
    axes.set_xlabel("\n".join(["in the unit of the statistic", *notes]))
    return axes


def _new_axes(rows: int) -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        msg = "plot() draws with matplotlib: pip install 'dpframe[plot]'."
        raise ImportError(msg) from None
    _, axes = pyplot.subplots(figsize=(7, 1 + 0.5 * rows), layout="constrained")
    return axes
