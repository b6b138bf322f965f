import sys
from unittest.mock import Mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpframe as dpf
from dpframe import sensitivity
from dpframe.errors import ColumnNotFoundError, ParameterError, UnsupportedFrameError
from dpframe.sensitivity import PublicFrame, compare, public

AGES = np.random.default_rng(12).normal(45, 12, 1000)
KNOWN = {"bounds": (0, 120), "neighboring": "add_remove"}
FRAMES = [pd.DataFrame, pl.DataFrame, pa.table]


def test_the_figures_are_those_of_the_functions():
    seen = compare(AGES, "median", epsilon=0.5, **KNOWN)
    assert (seen.statistic, seen.neighboring) == ("median", "add_remove")
    assert (seen.epsilon, seen.beta) == (0.5, 0.15)
    assert seen.value == sensitivity.evaluate(AGES, "median", bounds=(0, 120))
    assert seen.global_sensitivity == 120
    assert seen.local_sensitivity == sensitivity.local(AGES, "median", **KNOWN)
    assert seen.exact_local == seen.local_sensitivity
    smooth = sensitivity.smooth(AGES, "median", beta="0.15", **KNOWN)
    assert seen.smooth_sensitivity == smooth
    assert seen.local_sensitivity < smooth < seen.global_sensitivity
    assert seen.ptr_pass_probability is None


def test_propose_test_release_with_half_of_epsilon():
    seen = compare(AGES, "median", epsilon=1, delta=1e-6, bound=3, **KNOWN)
    far = sensitivity.distance(AGES, "median", bound=3, **KNOWN)
    assert (seen.ptr_bound, seen.ptr_distance, seen.delta) == (3, far, 1e-6)
    passes = sensitivity.ptr_pass_probability(far, 0.5, 1e-6)
    assert seen.ptr_pass_probability == passes


def test_the_bound_chosen_is_the_least_that_usually_passes():
    seen = compare(AGES, "median", epsilon=1, delta=1e-6, **KNOWN)
    assert seen.ptr_pass_probability >= 0.95
    less = compare(
        AGES, "median", epsilon=1, delta=1e-6, bound=seen.ptr_bound * 0.999, **KNOWN
    )
    assert less.ptr_pass_probability < 0.95


def test_statistics_without_an_exact_local_sensitivity():
    known = {"bounds": (0, 120), "epsilon": 1, "neighboring": "replace"}
    seen = compare(AGES, "variance", **known)
    assert seen.exact_local < seen.local_sensitivity
    assert compare(AGES, "iqr", **known).exact_local is None
    flat = compare(
        [5, 5], "median", bounds=(5, 5), epsilon=1, delta=1e-6, neighboring="replace"
    )
    assert (flat.ptr_bound, flat.ptr_distance) == (0, float("inf"))


def test_it_prints_as_a_table():
    seen = compare(AGES, "median", epsilon=1, delta=1e-6, **KNOWN)
    title, head, *lines = repr(seen).splitlines()
    assert (title, head.strip()) == ("sensitivity of median, add_remove", "sensitivity")
    names = ["global", "smooth, beta = 0.3", "local", "PTR"]
    assert [line.split("  ")[0] for line in lines[:4]] == names
    assert [float(line.split()[-1]) for line in lines[:4]] == pytest.approx(
        [120, seen.smooth_sensitivity, seen.local_sensitivity, seen.ptr_bound], rel=1e-5
    )
    value, changes, chance, warning = lines[4:]
    assert value == f"statistic = {seen.value:.4f}, epsilon = 1"
    assert changes == f"PTR: {seen.ptr_distance} changes until its bound may fail"
    assert chance.endswith(f"{seen.ptr_pass_probability:.3g}, delta = 1e-06")
    assert "no noise scale" in warning
    mean = compare(AGES, "mean", epsilon=1, **KNOWN)
    assert list(mean.sizes) == ["global", "smooth, beta = 0.3", "local, at most"]
    assert "PTR" not in repr(mean)


def test_its_html_says_the_same_with_bars():
    seen = compare(AGES, "median", epsilon=1, delta=1e-6, **KNOWN)
    html = seen._repr_html_()
    assert html.count("<svg") == html.count("</tr><tr>") == 4
    for line in repr(seen).splitlines()[:1] + repr(seen).splitlines()[-4:]:
        assert line in html
    for name, size in seen.sizes.items():
        assert f'<td class="left">{name}</td><td>{size:.6g}</td>' in html


def drawn(axes):
    """Figure, place and height of each dot."""
    return [(call.args[0], *call.args[1]) for call in axes.annotate.mock_calls]


def test_it_draws_each_sensitivity_once():
    seen = compare(AGES, "median", epsilon=1, delta=1e-6, **KNOWN)
    axes = Mock()
    assert seen.plot(ax=axes) is axes
    sizes = list(seen.sizes.values())
    assert drawn(axes) == [(f"{size:.4g}", size, 4 - i) for i, size in enumerate(sizes)]
    axes.set_yticks.assert_called_once_with(range(4, 0, -1), list(seen.sizes))
    axes.set_xscale.assert_called_once_with("log")
    (low, high), _ = axes.set_xlim.call_args
    assert low < min(sizes) < max(sizes) < high
    axes.set_title.assert_called_once_with("sensitivity of median, add_remove")
    assert "32 changes" in axes.set_xlabel.call_args.args[0]


def test_a_sensitivity_of_zero_has_a_place_on_the_axis():
    axes = Mock()
    compare([5, 5, 5], "median", epsilon=1, **KNOWN).plot(axes)
    figures, places, _ = zip(*drawn(axes), strict=True)
    assert figures[2] == "0"
    assert 0 < places[2] < min(places[:2])
    assert [call.args[2] for call in axes.plot.mock_calls] == ["o", "o", "<"]
    axes = Mock()
    known = {"bounds": (5, 5), "neighboring": "replace"}
    compare([5, 5], "median", epsilon=1, **known).plot(axes)
    assert [figure for figure, *_ in drawn(axes)] == ["0", "0", "0"]
    assert all(place > 0 for _, place, _ in drawn(axes))


def test_a_new_figure_is_made_by_matplotlib(monkeypatch):
    pyplot, axes = Mock(), Mock()
    pyplot.subplots.return_value = (Mock(), axes)
    monkeypatch.setitem(sys.modules, "matplotlib", Mock(pyplot=pyplot))
    seen = compare(AGES, "median", epsilon=1, **KNOWN)
    assert seen.plot() is axes
    assert len(drawn(axes)) == 3
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'dpframe\[plot\]'"):
        seen.plot()


@pytest.mark.parametrize("make", FRAMES)
def test_public_frames_are_compared_and_others_refused(make):
    frame = make({"age": AGES.tolist(), "x": AGES.tolist()})
    marked = public(frame)
    assert isinstance(marked, PublicFrame)
    assert compare(marked, "median", epsilon=1, column="age", **KNOWN) == compare(
        AGES, "median", epsilon=1, **KNOWN
    )
    pairs = compare(marked, "closest_pair", epsilon=1, column=["age", "x"], **KNOWN)
    assert pairs.global_sensitivity == pytest.approx(120 * 2**0.5)
    with pytest.raises(ParameterError, match=r"dpf\.public"):
        compare(frame, "median", epsilon=1, **KNOWN)
    with pytest.raises(ParameterError, match=r"dpf\.public"):
        compare(frame["age"], "median", epsilon=1, **KNOWN)
    with pytest.raises(ParameterError, match="name a column"):
        compare(marked, "median", epsilon=1, **KNOWN)
    with pytest.raises(ColumnNotFoundError, match="age"):
        compare(marked, "median", epsilon=1, column="ages", **KNOWN)


def test_nulls_of_a_public_frame_are_dropped():
    marked = public(pl.DataFrame({"age": [31, None, 62]}))
    seen = compare(marked, "count", epsilon=1, column="age", neighboring="add_remove")
    assert seen.value == 2


def test_a_private_frame_is_refused():
    frame = pl.DataFrame({"age": AGES})
    for private in (dpf.private(frame), dpf.private(frame["age"]), frame.lazy()):
        with pytest.raises(ParameterError) as caught:
            compare(private, "median", epsilon=1, column="age", **KNOWN)
        with pytest.raises(ParameterError):
            compare(private, "median", epsilon=1, **KNOWN)
        assert not any(figure in str(caught.value) for figure in ("44", "45"))


def test_what_can_be_marked_and_compared():
    assert dpf.public is public
    assert repr(public(pd.DataFrame({"a": [1]}))) == "public(DataFrame)"
    for thing in ([1, 2], AGES, pl.LazyFrame({"a": [1]})):
        with pytest.raises(UnsupportedFrameError, match="eager frame"):
            public(thing)
    with pytest.raises(ParameterError, match="column= is for a frame"):
        compare(AGES, "median", epsilon=1, column="age", **KNOWN)
    for amount in (
        {"epsilon": 0},
        {"epsilon": 1, "delta": 0.5},
        {"epsilon": 1, "delta": 1e-6, "bound": 0},
    ):
        with pytest.raises(ParameterError):
            compare(AGES, "median", **amount, **KNOWN)
