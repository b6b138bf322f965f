"""Histograms whose noise is changed by post-processing."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import assert_law, assert_not_law
from unit.releases.made import RECEIPT, counted, keys_of, measured

import dpframe as dpf
from dpframe.errors import ParameterError, ProvenanceError
from dpframe.estimands import entropy, power_sum
from dpframe.noise import DiscreteGaussian, DiscreteLaplace, Laplace, Staircase
from dpframe.noise.bits import use_source_for_tests
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Sensitivity
from dpframe.releases import ConvertedRelease, HistogramRelease, ScalarRelease
from dpframe.releases.answers import Answer
from dpframe.releases.record import METADATA_KEY

COUNTS = [12, -3, 0, 5]
N = 100_000


def histogram(values=COUNTS, law=None, cells=None, l1=1, library="polars"):
    measurement = replace(
        measured("rows", values, law=law), sensitivity=Sensitivity(l1, l1, 1, l1)
    )
    answer = Answer("count", "count", measurement)
    cells = cells or keys_of(job=list(range(len(values))))
    return HistogramRelease.of((answer,), cells, RECEIPT, library)


def test_to_laplace():
    h = histogram(law=DiscreteLaplace("7/3"), l1=7)
    got = h.to_laplace()
    assert isinstance(got, ConvertedRelease)
    assert got.law == Laplace("7/3")
    assert got.values.dtype == np.float64
    assert (np.abs(got.values - COUNTS) <= 1).all()
    assert len(set(got.values - COUNTS)) == 4
    assert not got.values.flags.writeable
    assert (got.keys, got.columns, len(got)) == (h.keys, ["job", "count"], 4)
    assert (got.mechanism, got.std_error) == ("Laplace", Laplace("7/3").std)
    assert got.receipt is h.receipt
    assert (got.epsilon, got.library) == (h.epsilon, "polars")
    assert h.counts.tolist() == COUNTS


def test_to_staircase():
    got = histogram(law=DiscreteLaplace(2)).to_staircase()
    assert got.law == Staircase("1/2")
    assert got.mechanism == "staircase"
    assert (np.abs(got.values - COUNTS) <= 1).all()
    chosen = histogram(law=DiscreteLaplace(2)).to_staircase(gamma="1/4")
    assert chosen.law == Staircase("1/2", "1/4")
    with pytest.raises(ParameterError, match="gamma"):
        histogram().to_staircase(gamma=2)


def test_a_staircase_of_sensitivity_two_is_refused_with_the_reason():
    with pytest.raises(
        ParameterError, match=r"sensitivity of 2.*negative prob.*to_laplace.*row"
    ):
        histogram(law=DiscreteLaplace(4), l1=2).to_staircase()


def test_to_noisier():
    h = histogram(law=DiscreteLaplace(6), l1=3)
    got = h.to_noisier("1/10")
    assert type(got) is HistogramRelease
    assert got.scale == 30.0
    assert got.counts.dtype == np.int64
    assert (got.epsilon, got.loss) == (Fraction(1, 10), PrivacyLoss(Fraction(1, 10)))
    assert got.answers[0].measurement.loss == got.loss
    assert not got.answers[0].measurement.values[0].flags.writeable
    assert got.release_id == h.release_id
    assert got.receipt.verb == "histogram.to_noisier"
    assert (h.scale, h.epsilon) == (6.0, Fraction(1, 2))
    expected = debias_of(got.counts, 30)
    assert float(got.debias(power_sum(2))) == pytest.approx(expected)
    assert got.to_noisier("1/20").scale == 60.0
    assert "epsilon=0.1" in repr(got)


def debias_of(counts, scale):
    p = np.exp(-1 / scale)
    c, d = p / (1 - p) ** 2, p / (1 - p)
    return sum(y**2 - 2 * c if y > 0 else -d for y in counts.tolist())


@pytest.mark.parametrize("epsilon", ["1/2", 0.5, 1, 30])
@pytest.mark.filterwarnings("ignore:epsilon=30")
def test_a_copy_is_never_less_noisy(epsilon):
    with pytest.raises(ParameterError, match=r"below 0\.5, that of the release"):
        histogram(law=DiscreteLaplace(4), l1=2).to_noisier(epsilon)


@pytest.mark.parametrize("epsilon", [0, -1, "x", None, float("nan")])
def test_a_wrong_epsilon_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        histogram().to_noisier(epsilon)


def test_a_copy_made_by_a_test_is_not_private():
    assert histogram().to_noisier("1/9").private
    with use_source_for_tests(lambda n: b"\x00" * n):
        copy = histogram().to_noisier("1/9")
    assert not copy.private
    assert "NOT PRIVATE" in repr(copy)


CONVERSIONS = [
    lambda h: h.to_laplace(),
    lambda h: h.to_staircase(),
    lambda h: h.to_noisier("1/10"),
]


@pytest.mark.parametrize("convert", CONVERSIONS)
def test_only_plain_discrete_laplace_counts_are_converted(convert):
    with pytest.raises(ProvenanceError, match=r"clamped at 0.*before nonnegative"):
        convert(histogram().nonnegative())
    with pytest.raises(ProvenanceError, match=r"discrete Gaussian noise.*'laplace'"):
        convert(histogram(law=DiscreteGaussian(4)))
    empty = Answer("count", "count", None)
    h = HistogramRelease.of((empty,), keys_of(job=[]), RECEIPT, "polars")
    with pytest.raises(ProvenanceError, match="without keys"):
        convert(h)


@pytest.mark.parametrize("convert", CONVERSIONS[:2])
def test_converted_counts_cannot_be_debiased(convert):
    with pytest.raises(ProvenanceError, match=r"noise, added.*histogram itself"):
        convert(histogram()).debias(entropy)
    with pytest.raises(ProvenanceError):
        convert(histogram()).debias(entropy, domain="integers", method="auto")


def test_scalars_have_no_conversions():
    scalar = ScalarRelease.of((counted([3]),), None, RECEIPT, "polars")
    assert not hasattr(scalar, "to_laplace")


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_frames(library):
    got = histogram(library=library).to_laplace()
    kinds = {"polars": pl.DataFrame, "pandas": pd.DataFrame}
    frame = got.to_frame()
    if library in kinds:
        assert type(frame) is kinds[library]
    assert frame["count"].to_numpy().tolist() == got.values.tolist()
    assert frame["job"].to_numpy().tolist() == [0, 1, 2, 3]
    ends = got.interval("0.9")
    half = got.law.interval("0.9")[1]
    assert ends["count_lower"].to_numpy().tolist() == (got.values - half).tolist()
    assert ends["count_upper"].to_numpy().tolist() == (got.values + half).tolist()
    with pytest.raises(ParameterError, match="level"):
        got.interval(2)


def test_a_key_column_called_count():
    got = histogram(cells=keys_of(count=[1, 2, 3, 4])).to_laplace()
    assert got.columns == ["count", "count_"]
    assert got.to_frame().columns == ["count", "count_"]
    assert got.interval().columns == ["count", "count__lower", "count__upper"]


def test_the_record():
    table = histogram().to_staircase("1/4").to_arrow()
    record = json.loads(table.schema.metadata[METADATA_KEY])
    assert record["release"] == "ConvertedRelease"
    assert record["mechanism"] == ["staircase"]
    assert record["columns"][1] == {
        "name": "count",
        "role": "value",
        "statistic": "count",
        "mechanism": "staircase",
        "epsilon": "1/2",
        "gamma": "1/4",
        "post_processing": ["to_staircase"],
    }
    laplace = json.loads(
        histogram().to_laplace().to_arrow().schema.metadata[METADATA_KEY]
    )
    assert laplace["columns"][1]["scale"] == "2"
    assert laplace["columns"][1]["post_processing"] == ["to_laplace"]
    noisier = json.loads(
        histogram().to_noisier("1/8").to_arrow().schema.metadata[METADATA_KEY]
    )
    assert noisier["verb"] == "histogram.to_noisier"
    assert noisier["loss"] == {"epsilon": "1/8"}


def test_it_shows_itself():
    got = histogram().to_laplace()
    text = repr(got)
    assert "ConvertedRelease: 4 cells of job" in text
    assert "by post-processing of discrete Laplace noise" in text
    assert "epsilon=0.5" in text
    html = got._repr_html_()
    assert html.count("<tr>") == 5
    assert "<svg" in html
    long = histogram(list(range(50))).to_laplace()
    assert "30 more cells" in repr(long)
    assert got.replay().replayed


def test_a_session_under_replace_has_a_sensitivity_of_two():
    people = pl.DataFrame({"job": ["cook", "nurse"]})
    keys = ["cook", "nurse", "pilot"]
    with dpf.Session(epsilon=2, unit="row", neighboring="replace") as session:
        h = people.dp.histogram(1, by="job", keys=keys)
        copy, smooth = h.to_noisier("1/4"), h.to_laplace()
        with pytest.raises(ParameterError, match="sensitivity of 2"):
            h.to_staircase()
    assert (h.scale, copy.scale, smooth.law) == (2.0, 8.0, Laplace(2))
    assert session.spent.epsilon == 1


def test_released_counts_have_the_law_that_they_name():
    law = DiscreteLaplace(2)
    h = histogram(7 + law.sample(N), law)
    for got in (h.to_laplace(), h.to_staircase("1/5")):
        steps = np.floor((got.values - 7) / 0.3).astype(np.int64)

        def pmf(k, law=got.law):
            return law.cdf((k + 1) * 0.3) - law.cdf(k * 0.3)

        assert_law(steps, pmf)
        for factor in (0.95, 1.05):
            off = np.floor((got.values - 7) * factor / 0.3).astype(np.int64)
            assert_not_law(off, pmf)
    copy = h.to_noisier("1/3")
    assert_law(copy.counts - 7, DiscreteLaplace(3))
    for factor in (Fraction(95, 100), Fraction(105, 100)):
        assert_not_law(copy.counts - 7, DiscreteLaplace(3 * factor))
