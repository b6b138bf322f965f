"""What releases of sparse vector technique say of themselves."""

from __future__ import annotations

from dpframe.display.column import Column
from dpframe.display.report import Report
from dpframe.display.text import printable, show, show_spread
from dpframe.releases.charged import alert, charge_note, stored_notes
from dpframe.releases.columns import key_labels
from dpframe.releases.compared import Compared

__all__ = ["first_report", "several_report"]

_MOST_ROWS = 20


def first_report(release: Compared) -> Report:
    """Show the first answer that passed, if any."""
    side, examined = _side(release), _examined(release)
    if not len(release.indices):
        title = f"nothing {side} ({examined})"
        notes = _notes(release)
    else:
        index = int(release.indices[0])
        name = printable(release.listing.text(index))
        title = f"first {side} is {name} (index {index:,}; {examined})"
        said = [f"{column.name} {column.cells[0]}" for column in _estimated(release, 1)]
        notes = (*said, *_notes(release))
    return Report(
        f"{type(release).__name__}: {title}", (), notes, alert=alert(release.receipt)
    )


def several_report(release: Compared, hint: str) -> Report:
    """Show the answers that passed in a table."""
    noise, passed = release.crossings.noise, len(release.indices)
    most = 2 * noise.max_above - 1 if noise.adaptive else noise.max_above
    title = (
        f"{type(release).__name__}: {passed:,} of at most {most:,} {_side(release)} "
        f"({_examined(release)})"
    )
    return Report(
        title,
        _columns(release, min(passed, _MOST_ROWS)) if passed else (),
        (*_notes(release), *([hint] if hint else [])),
        alert=alert(release.receipt),
        total=passed,
    )


def _side(release: Compared) -> str:
    return f"{release.direction} {show(release.threshold)}"


def _examined(release: Compared) -> str:
    queries = len(release.listing)
    noun = "query" if queries == 1 else "queries"
    return f"{release.n_examined:,} of {queries:,} {noun} examined"


def _columns(release: Compared, rows: int) -> tuple[Column, ...]:
    """The first rows: which queries, by which branch, and what is estimated."""
    listing, at = release.listing, release.indices[:rows]
    columns = [Column("index", tuple(map(show, at.tolist())))]
    if listing.keys is None:
        texts = tuple(printable(listing.text(i)) for i in at.tolist())
        columns.append(Column("query", texts, left=True))
    else:
        labels = key_labels(listing.keys, at)
        columns += [
            Column(name, tuple(map(show, label)), left=True)
            for name, label in zip(listing.keys.columns, labels, strict=True)
        ]
    if release.branches is not None:
        columns.append(Column("branch", tuple(release.branches[:rows]), left=True))
    return (*columns, *_estimated(release, rows))


def _estimated(release: Compared, rows: int) -> list[Column]:
    """The first estimates with their errors and intervals, where there are any."""
    found = release.crossings
    if found.estimates is None:
        return []
    errors = found.errors[:rows].tolist()
    values = zip(found.estimates[:rows].tolist(), errors, strict=True)
    low, high = (e[:rows].tolist() for e in found.bounds(len(release.listing)))
    figures = [f"{show(x, e)} ± {show_spread(e)}" for x, e in values]
    intervals = [
        f"{show(a, e)} to {show(b, e)}"
        for a, b, e in zip(low, high, errors, strict=True)
    ]
    name = "value" if found.excess is None else "estimate"
    return [Column(name, tuple(figures)), Column("95 % interval", tuple(intervals))]


def _notes(release: Compared) -> tuple[str, ...]:
    """How sure it is, the noise, the charge, and what to bear in mind."""
    found, receipt = release.crossings, release.receipt
    scales = [f"{show_spread(s)} ({name})" for name, s in release.scales.items()]
    notes = [
        release.accuracy().text,
        f"{release.mechanism} of scale {', '.join(scales)}",
        charge_note(receipt),
    ]
    if found.excess is not None and found.fresh is None and len(found.indices):
        notes.append("the gap makes estimates too large: what passed had lucky noise")
    if receipt.unit != "row":
        notes.append("all this covers noise, not rows beyond the unit's bounds")
    return (*notes, *stored_notes(receipt))
