from __future__ import annotations

from xml.etree import ElementTree

import pytest

from dpframe.display.column import Column
from dpframe.display.report import Report


def test_text():
    report = Report(
        "Title",
        (Column("k", ("a", "b"), left=True), Column("n", ("1", "20"))),
        ("a note",),
        alert="CARE",
        total=5,
        noun="more row",
        spent=0.5,
    )
    bar = "█" * 15 + "░" * 15
    assert report.text().splitlines() == [
        "CARE",
        "Title",
        f"{bar} 50 % spent",
        "k   n",
        "a   1",
        "b  20",
        "… 3 more rows",
        "a note",
    ]


def test_html_is_well_formed_and_escaped():
    report = Report(
        "<T>",
        (Column("<k>", ("<a>",), left=True), Column("n", ("1",), drawings=("<svg/>",))),
        ("a & b",),
        alert="<!>",
        spent=0.5,
    )
    tree = ElementTree.fromstring(report.html())
    said = " ".join(tree.itertext())
    for text in ("<T>", "<k>", "<a>", "a & b", "<!>", "50 % spent"):
        assert text in said
    assert [th.get("colspan") for th in tree.iter("th")] == [None, "2"]
    assert len(list(tree.iter("td"))) == 3


def test_a_title_alone():
    assert Report("T").text() == "T"
    assert "<table" not in Report("T").html()


@pytest.mark.parametrize("width", [10, 39])
def test_rows_stop_at_a_size(width):
    cells = tuple("é" * width for _ in range(2_000))
    report = Report("T", (Column("k", cells, left=True),), total=2_000)
    html = report.html()
    assert len(html.encode()) < 16_000
    rows = html.count("<tr>") - 1
    assert f"… {2_000 - rows:,} more rows" in html
    assert "more row" not in report.text()
