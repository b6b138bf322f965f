from __future__ import annotations

from xml.etree import ElementTree

import pytest

from dpframe.display.svg import bars, meter


def drawn(svg):
    """Bar (start, end) and whisker (low, high), in pixels."""
    tree = ElementTree.fromstring(svg)
    rect = tree.find("rect")
    start = float(rect.get("x"))
    path = tree.find("path").get("d")
    low, high = path.split("M")[1].split(" 7H")
    return (start, start + float(rect.get("width"))), (float(low), float(high))


def test_bars_share_one_axis_from_zero():
    first, second = map(drawn, bars([10.0, 20.0], [8.0, 18.0], [12.0, 22.0]))
    assert first[0][0] == second[0][0] == 1
    assert second[1][1] == 159
    assert first[0][1] == pytest.approx(1 + 158 * 10 / 22, abs=0.1)
    assert first[1][0] == pytest.approx(1 + 158 * 8 / 22, abs=0.1)
    assert first[1][1] == pytest.approx(1 + 158 * 12 / 22, abs=0.1)


def test_negative_values_go_left():
    (start, end), (low, high) = drawn(bars([-5.0], [-10.0], [0.0])[0])
    assert (start, end) == pytest.approx((80, 159), abs=0.1)
    assert (low, high) == (1, 159)


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e308])
def test_extreme_sizes_stay_on_the_canvas(size):
    for svg in bars([size, -size], [-size, -size], [size, size]):
        ends, whisker = drawn(svg)
        assert all(0 <= x <= 160 for x in (*ends, *whisker))


def test_no_bars():
    assert bars([], [], []) == []


def test_bars_are_small():
    assert len(bars([123.456], [100.0], [150.0])[0]) < 260


@pytest.mark.parametrize(
    ("fraction", "width", "said"),
    [(0.25, 60, "25 %"), (2.0, 240, "100 %"), (-1.0, 0, "0 %"), (0, 0, "0 %")],
)
def test_meter(fraction, width, said):
    svg, words = meter(fraction).rsplit("</svg>", 1)
    filled = ElementTree.fromstring(svg + "</svg>").findall("rect")[1]
    assert float(filled.get("width")) == width
    assert words == f" {said} spent"
