from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest
from unit.releases.made import (
    FLOAT,
    INTEGER,
    RECEIPT,
    averaged,
    counted,
    keys_of,
    lattice_of,
)

from dpframe.domain.schema import ColumnType
from dpframe.noise import DiscreteLaplace
from dpframe.privacy.loss import PrivacyLoss
from dpframe.releases import HistogramRelease, ScalarRelease, TableRelease
from dpframe.releases.answers import Answer

NASTY = "<script>alert('&')</script>"


def histogram(values, cells, receipt=RECEIPT):
    return HistogramRelease.of((counted(values),), cells, receipt, "polars")


def parsed(release):
    """The HTML as a tree: it is well-formed, or this raises."""
    return ElementTree.fromstring(release._repr_html_())


def test_a_scalar_in_words():
    r = ScalarRelease.of(
        (counted([48_842], law=DiscreteLaplace(10)),), None, RECEIPT, "polars"
    )
    assert repr(r).splitlines() == [
        "ScalarRelease: count = 48,842 ± 14",
        "95 % interval 48,812 to 48,872",
        "discrete Laplace of scale 10",
        "epsilon=0.5; unit row; add_remove",
    ]


def test_a_histogram_in_words():
    h = histogram([16_192, -3], keys_of(sex=["Female", None]))
    assert repr(h).splitlines() == [
        "HistogramRelease: 2 cells of sex",
        "sex            count     95 % interval",
        "Female  16,192 ± 2.8  16,186 to 16,198",
        "None        -3 ± 2.8           -9 to 3",
        "discrete Laplace of scale 2",
        "epsilon=0.5; unit row; add_remove",
    ]


def test_digits_follow_the_error():
    grid = lattice_of(FLOAT, 17.0, 90.0, "mean")
    w = grid.width
    r = ScalarRelease.of(
        (averaged([400 * w], [600 * w], grid, DiscreteLaplace(w)),),
        None,
        RECEIPT,
        "polars",
    )
    first, second, third, _, last = repr(r).splitlines()
    assert first == "ScalarRelease: mean = 46.200 ± 0.074"
    assert second == "95 % interval 45.931 to 46.469"
    assert third == "discrete Laplace"
    assert last == "each row of x clamped to [17, 90]"


def test_dates_are_shown():
    grid = lattice_of(ColumnType("date"), date(2024, 1, 1), date(2024, 1, 31), "mean")
    t = TableRelease.of(
        (averaged([900], [900], grid, DiscreteLaplace(30)),),
        keys_of(k=[1]),
        RECEIPT,
        "polars",
    )
    assert "2024-01-16" in repr(t)
    assert "2024-01-16" in t._repr_html_()


def test_not_private_comes_first():
    h = histogram([1], keys_of(k=[1]), replace(RECEIPT, private=False))
    assert repr(h).startswith("NOT PRIVATE")
    assert "NOT PRIVATE" in h._repr_html_()
    assert "NOT PRIVATE" not in repr(histogram([1], keys_of(k=[1])))


def test_label_and_free_answers_are_said():
    free = replace(RECEIPT, loss=PrivacyLoss(Fraction(0)), label="zero")
    r = ScalarRelease.of(
        (Answer("sum", "sum", None, lattice_of(INTEGER, 0, 0, "sum")),),
        None,
        free,
        "polars",
    )
    assert "public constant" in repr(r)
    assert "free; unit row; add_remove; label zero" in repr(r)


def test_a_rho_is_said():
    loss = PrivacyLoss(rho=Fraction(1, 8))
    h = histogram([1], keys_of(k=[1]), replace(RECEIPT, loss=loss))
    assert "rho=0.125" in repr(h)
    assert "free" not in repr(h)


def test_text_is_escaped():
    receipt = replace(RECEIPT, label=NASTY)
    h = histogram([1, 2], keys_of(**{NASTY: [NASTY, "two\nlines"]}), receipt)
    html = h._repr_html_()
    assert "<script" not in html
    assert html.count("&lt;script&gt;alert(&#x27;&amp;") == 4
    tree = parsed(h)
    assert any(NASTY in (cell.text or "") for cell in tree.iter("td"))
    assert r"two\nlines" in html
    assert "two\nlines" not in repr(h)
    assert r"two\nlines" in repr(h)


def test_html_says_what_the_text_says():
    h = histogram([16_192, -3], keys_of(sex=["Female", None]))
    said = " ".join(parsed(h).itertext())
    for line in repr(h).splitlines():
        for word in line.split():
            assert word in said


def test_each_row_has_a_bar_with_a_whisker():
    tree = parsed(histogram([5, 50, -5], keys_of(k=[1, 2, 3])))
    svgs = list(tree.iter("svg"))
    assert len(svgs) == 3
    widths = [float(svg.find("rect").get("width")) for svg in svgs]
    assert widths[1] == pytest.approx(10 * widths[0], rel=0.05)
    assert widths[2] == pytest.approx(widths[0], abs=0.11)
    assert all(svg.find("path") is not None for svg in svgs)


def test_colors_are_those_of_the_page():
    html = histogram([5], keys_of(k=[1]))._repr_html_()
    for color in ("#", ":white;", "black", "rgb("):
        assert color not in html
    assert "currentColor" in html


@pytest.mark.parametrize("key", ["k{}", "<&>" * 40 + "{}"])
@pytest.mark.parametrize("aggregates", [1, 3, 60])
def test_ten_thousand_bins_stay_below_20_kb(key, aggregates):
    n = 10_000
    values = np.arange(n) * 123_456_789
    t = TableRelease.of(
        tuple(counted(values, f"n{i}") for i in range(aggregates)),
        keys_of(k=[key.format(i) for i in range(n)]),
        RECEIPT,
        "polars",
    )
    html = t._repr_html_()
    assert len(html.encode()) < 20_000
    rows = html.count("<tr>") - 1
    assert rows > 0
    assert f"… {n - rows:,} more cells" in html
    assert len(repr(t)) < 20_000
    assert "… 9,980 more cells" in repr(t)
    if aggregates == 60:
        assert "further columns: n4, n5" in html


def test_no_cells_are_shown_as_such():
    h = HistogramRelease.of(
        (Answer("count", "count", None),), keys_of(k=[]), RECEIPT, "polars"
    )
    assert "0 cells of k" in repr(h)
    assert "0 cells of k" in " ".join(parsed(h).itertext())
