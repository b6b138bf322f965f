"""A short report, as plain text and as HTML of the same content."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import final

from dpframe.display.budget import budget_bar
from dpframe.display.column import Column
from dpframe.display.svg import meter
from dpframe.display.text import plural, printable, text_table

__all__ = ["Report"]

#: Rows stop here: a notebook stores the HTML of every output.
_MOST_BYTES = 14_000

# Colours are those of the page, so that dark themes need nothing of their own.
_STYLE = (
    "<style>.dpframe table{border-collapse:collapse;color:inherit}"
    ".dpframe{overflow-x:auto}.dpframe td,.dpframe th{"
    "text-align:right;white-space:nowrap;padding:.1em .7em;color:inherit;"
    "background:none;border-bottom:1px solid rgba(128,128,128,.35)}"
    ".dpframe .left{text-align:left}.dpframe p{margin:.3em 0}"
    ".dpframe svg{vertical-align:middle;color:inherit}</style>"
)


@final
@dataclass(frozen=True, slots=True)
class Report:
    """A title, a table and some lines.

    Parameters
    ----------
    title : str
        The first line.
    columns : tuple of Column
        The table, all columns of one length; may be empty.
    notes : tuple of str
        Lines below it.
    alert : str
        A line above everything.
    total : int
        How many rows there are in all, where the table does not hold every one.
    noun : str
        What the rows that are not shown are called.
    spent : float or None
        Spent part of a budget, drawn as a bar under the title.
    """

    title: str
    columns: tuple[Column, ...] = ()
    notes: tuple[str, ...] = ()
    alert: str = ""
    total: int = 0
    noun: str = "more row"
    spent: float | None = None

    def text(self) -> str:
        """Return the report for a terminal."""
        bar = "" if self.spent is None else budget_bar(self.spent)
        lines = [self.alert, self.title, bar]
        if self._rows:
            lines.append(text_table(self.columns))
        lines += [self._more(self._rows), *self.notes]
        return "\n".join(line for line in lines if line)

    def html(self) -> str:
        """Return the report for a notebook; all text in it is escaped."""
        body, shown = self._body()
        alert = f"<p><strong>{escape(self.alert)}</strong></p>" if self.alert else ""
        notes = [note for note in (self._more(shown), *self.notes) if note]
        bar = "" if self.spent is None else f"<p>{meter(self.spent)}</p>"
        title = f"<p><strong>{escape(self.title)}</strong></p>"
        lines = "".join(f"<p>{escape(note)}</p>" for note in notes)
        return f'<div class="dpframe">{_STYLE}{alert}{title}{bar}{body}{lines}</div>'

    @property
    def _rows(self) -> int:
        return len(self.columns[0].cells) if self.columns else 0

    def _body(self) -> tuple[str, int]:
        """Return the table, and how many rows found room in it."""
        rows: list[str] = []
        room = _MOST_BYTES - sum(len(escape(c.name)) for c in self.columns)
        for i in range(self._rows):
            row = f"<tr>{''.join(self._cell(c, i) for c in self.columns)}</tr>"
            room -= len(row.encode())
            if room < 0:
                break
            rows.append(row)
        if not rows:
            return "", 0
        head = "".join(map(_heading, self.columns))
        return f"<table><tr>{head}</tr>{''.join(rows)}</table>", len(rows)

    def _cell(self, column: Column, row: int) -> str:
        drawn = f"<td>{column.drawings[row]}</td>" if column.drawings else ""
        return f"<td{_side(column)}>{escape(column.cells[row])}</td>{drawn}"

    def _more(self, shown: int) -> str:
        rest = self.total - shown
        return f"… {plural(rest, self.noun)}" if rest > 0 else ""


def _heading(column: Column) -> str:
    wide = ' colspan="2"' if column.drawings else ""
    return f"<th{_side(column)}{wide}>{escape(printable(column.name))}</th>"


def _side(column: Column) -> str:
    return ' class="left"' if column.left else ""
