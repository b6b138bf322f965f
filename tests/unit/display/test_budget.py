from __future__ import annotations

from fractions import Fraction

import pytest

from dpframe.display.budget import budget_bar, ledger_table
from dpframe.display.report import Report

CHARGES = [
    {"id": i, "verb": "count", "loss": "epsilon=0.1", "label": None}
    for i in range(1, 31)
]


@pytest.mark.parametrize(
    ("fraction", "bar"),
    [
        (0, "░" * 10 + " 0 % spent"),
        (0.001, "█" + "░" * 9 + " 0.1 % spent"),
        (Fraction(1, 3), "███" + "░" * 7 + " 33.3 % spent"),
        (0.999, "█" * 9 + "░ 99.9 % spent"),
        (1, "█" * 10 + " 100 % spent"),
        (1.5, "█" * 10 + " 100 % spent"),
    ],
)
def test_budget_bar(fraction, bar):
    assert budget_bar(fraction, width=10) == bar


def test_the_latest_charges_are_laid_out():
    columns = ledger_table(CHARGES, limit=3)
    assert [c.name for c in columns] == ["id", "verb", "loss", "label"]
    assert columns[0].cells == ("28", "29", "30")
    assert columns[3].cells == ("", "", "")


def test_an_empty_ledger():
    assert ledger_table([]) == ()


def test_in_a_report():
    report = Report("Session", ledger_table(CHARGES), total=30, noun="earlier charge")
    assert "… 10 earlier charges" in report.text()
    assert report.html().count("<tr>") == 21
