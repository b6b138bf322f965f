"""What the representations of releases say, in text and in HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from fractions import Fraction

import numpy as np

from dpframe.display.column import Column
from dpframe.display.report import Report
from dpframe.display.svg import bars
from dpframe.display.text import plural, printable, show, show_spread
from dpframe.domain.keys import Keys
from dpframe.noise.key_threshold import KeyThreshold
from dpframe.releases.answers import Answer
from dpframe.releases.charged import alert, charge_note, stored_notes
from dpframe.releases.chosen import Chosen
from dpframe.releases.columns import key_labels
from dpframe.releases.numbers import Numbers
from dpframe.releases.receipt import Receipt

__all__ = ["scalar_report", "table_report"]

_MOST_ROWS = 20
_MOST_ANSWERS = 4


def scalar_report(form: str, answer: Answer | Chosen, receipt: Receipt) -> Report:
    """Show one number with its error and interval, or with how sure its rank is."""
    if isinstance(answer, Chosen):
        value = show(answer.estimates().value())
        return Report(
            f"{form}: {printable(answer.name)} = {value}",
            notes=_notes([answer], receipt),
            alert=alert(receipt),
        )
    error = _size(answer.errors(), 0)
    lower, upper = (show(end.value(), error) for end in answer.bounds())
    return Report(
        f"{form}: {printable(answer.name)} = {_figures(answer, 1)[0]}",
        notes=(f"95 % interval {lower} to {upper}", *_notes([answer], receipt)),
        alert=alert(receipt),
    )


def table_report(
    form: str,
    cells: Keys,
    named: Mapping[str, Answer | Chosen],
    receipt: Receipt,
    rule: KeyThreshold | None = None,
) -> Report:
    """Show the first cells of a table, with errors, intervals and bars."""
    labels = key_labels(cells, np.arange(min(_MOST_ROWS, cells.size)))
    columns = [
        Column(name, tuple(map(show, label)), left=True)
        for name, label in zip(cells.columns, labels, strict=True)
    ]
    rows = len(labels[0])
    for name, answer in list(named.items())[:_MOST_ANSWERS]:
        columns += _answer_columns(name, answer, rows)
    rest = list(named)[_MOST_ANSWERS:]
    further = f"further columns: {', '.join(map(printable, rest))}"
    keys = ", ".join(map(printable, cells.columns))
    return Report(
        f"{form}: {plural(cells.size, 'cell')} of {keys}",
        tuple(columns),
        (
            *((further,) if rest else ()),
            *_notes(list(named.values()), receipt),
            *_found(rule),
        ),
        alert=alert(receipt),
        total=cells.size,
        noun="more cell",
    )


def _answer_columns(name: str, answer: Answer | Chosen, rows: int) -> list[Column]:
    """Show one answer for the first ``rows`` cells."""
    if isinstance(answer, Chosen):
        chosen = answer.estimates()
        return [Column(name, tuple(show(chosen.value(i)) for i in range(rows)))]
    values = answer.estimates().first(rows)
    errors = answer.errors().first(rows)
    lower, upper = (end.first(rows) for end in answer.bounds())
    drawings = bars(*(n.offsets.astype(float).tolist() for n in (values, lower, upper)))
    intervals = tuple(
        " to ".join(show(end.value(i), _size(errors, i)) for end in (lower, upper))
        for i in range(rows)
    )
    return [
        Column(name, _figures(answer, rows), drawings=tuple(drawings)),
        Column("95 % interval", intervals),
    ]


def _figures(answer: Answer, rows: int) -> tuple[str, ...]:
    values, errors = answer.estimates().first(rows), answer.errors().first(rows)
    return tuple(
        f"{show(values.value(i), _size(errors, i))} ± {show_spread(errors.value(i))}"
        for i in range(rows)
    )


def _size(errors: Numbers, cell: int) -> float:
    """The standard error that says how many digits to show; 0 for times."""
    error = errors.value(cell)
    return 0.0 if isinstance(error, timedelta) else float(error)


def _notes(answers: Sequence[Answer | Chosen], receipt: Receipt) -> tuple[str, ...]:
    """The noise, the charge, and what was done afterwards."""
    noises = set(map(_noise, answers)) if len(answers) == 1 else set()
    noise = ", ".join(noises or dict.fromkeys(a.mechanism for a in answers))
    clamped = dict.fromkeys(map(_clamped, answers))
    notes = [*map(_sure, answers), noise, charge_note(receipt), *clamped]
    if receipt.unit != "row":
        noisy = any(isinstance(answer, Answer) for answer in answers)
        what = "the interval covers noise" if noisy else "this covers chance"
        notes.append(f"{what}, not rows beyond the unit's bounds")
    notes = [note for note in notes if note]
    if any(answer.clamped for answer in answers):
        notes.append("negative counts are shown as 0 (nonnegative)")
    return (*notes, *stored_notes(receipt))


def _found(rule: KeyThreshold | None) -> tuple[str, ...]:
    """How the keys were chosen, where they were found in the data."""
    if rule is None:
        return ()
    return (
        f"keys found in the data: those of more than {rule.threshold:,} units after "
        f"noise of scale {show_spread(float(rule.law.scale))}; others are not shown",
    )


def _sure(answer: Answer | Chosen) -> str:
    """How near a chosen answer is to its rank, in words."""
    if not isinstance(answer, Chosen) or not answer.choices:
        return ""
    error = show_spread(answer.rank_error())
    whose = f"each {printable(answer.name)}" if answer.cells > 1 else "it"
    what = "the ranks asked for" if answer.statistic == "iqr" else "the rank asked for"
    return f"with 95 % chance {whose} is within {error} rows of {what}"


def _noise(answer: Answer | Chosen) -> str:
    if isinstance(answer, Chosen) and answer.choices:
        return f"{answer.mechanism} among {answer.choices[0].candidates:,} candidates"
    if answer.measurement is None or not answer.single:
        return answer.mechanism
    return f"{answer.mechanism} of scale {show_spread(answer.scale)}"


def _clamped(answer: Answer | Chosen) -> str:
    """To what a column's values, or a unit's totals, were clamped."""
    lattice, column = answer.lattice, _column(answer)
    if column is None or lattice is None:
        return ""
    lower, upper = (
        show(lattice.answer(Fraction(bound)))
        for bound in (lattice.lower, lattice.upper)
    )
    what = "each unit's total" if lattice.per == "unit" else "each row"
    return f"{what} of {printable(column)} clamped to [{lower}, {upper}]"


def _column(answer: Answer | Chosen) -> str | None:
    """The column that was summed or chosen from, if anything was."""
    if isinstance(answer, Chosen):
        return answer.column if answer.choices else None
    return None if answer.measurement is None else answer.measurement.column
