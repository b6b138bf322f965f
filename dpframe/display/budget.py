"""The budget and the ledger of a session, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpframe.display.column import Column
from dpframe.display.text import show

__all__ = ["budget_bar", "ledger_table"]


def budget_bar(fraction: float, *, width: int = 30) -> str:
    """Draw the spent part of a budget in characters.

    Parameters
    ----------
    fraction : float
        Spent / budget, cut to [0, 1]. Anything spent fills one character at least.
    width : int
        Characters of a full bar.

    Examples
    --------
    >>> print(budget_bar(0.3, width=10))
    ███░░░░░░░ 30 % spent
    """
    part = min(max(float(fraction), 0.0), 1.0)
    full = max(int(part * width), 1) if part else 0
    return f"{'█' * full}{'░' * (width - full)} {part * 100:.3g} % spent"


def ledger_table(
    rows: Sequence[Mapping[str, object]], *, limit: int = 20
) -> tuple[Column, ...]:
    """Lay out charges as columns of a `dpframe.display.report.Report`.

    Parameters
    ----------
    rows : sequence of mapping
        One for each charge, oldest first; all have the keys of the first one.
    limit : int
        Only the latest so many are laid out.

    Examples
    --------
    >>> ledger_table([{"verb": "count", "loss": "epsilon=0.1"}])[0].cells
    ('count',)
    """
    latest = rows[-limit:]
    names = list(latest[0]) if latest else []
    return tuple(
        Column(name, tuple(_cell(row[name]) for row in latest), left=True)
        for name in names
    )


def _cell(value: object) -> str:
    return "" if value is None else show(value)
