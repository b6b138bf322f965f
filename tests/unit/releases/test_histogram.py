from __future__ import annotations

import pickle
from dataclasses import replace
from datetime import date
from fractions import Fraction

import numpy as np
import pytest
from unit.releases.made import RECEIPT, bins_of, counted, keys_of

from dpframe.domain.coding import Bins, Lookup
from dpframe.domain.keys import Keys
from dpframe.errors import ParameterError, ProvenanceError
from dpframe.estimands.divergence import kl_divergence
from dpframe.estimands.estimation import estimate
from dpframe.estimands.mutual_informations import mutual_information
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.power_sums import power_sum
from dpframe.estimands.shannon_entropy import entropy
from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.releases import HistogramRelease
from dpframe.releases.answers import Answer

COUNTS = [12, -3, 0, 5]
LATER = replace(RECEIPT, release_id="release-8")


def histogram(values=COUNTS, law=None, cells=None, name="count", receipt=RECEIPT):
    cells = cells or keys_of(job=["a", "b", "c", "d"])
    return HistogramRelease.of((counted(values, name, law),), cells, receipt, "polars")


def test_counts_are_signed():
    h = histogram()
    assert h.counts.dtype == np.int64
    assert h.counts.tolist() == COUNTS
    assert h.keys == ["a", "b", "c", "d"]
    assert h.columns == ["job", "count"]
    assert len(h) == 4
    assert h.to_frame().to_dict(as_series=False) == {"job": h.keys, "count": COUNTS}


def test_noise():
    h = histogram(law=DiscreteLaplace(3))
    assert h.scale == 3.0
    assert h.std_error == DiscreteLaplace(3).std
    ends = h.interval(0.9)
    half = DiscreteLaplace(3).interval(0.9)[1]
    assert ends["count_lower"].to_list() == [c - half for c in COUNTS]
    assert ends["count_upper"].to_list() == [c + half for c in COUNTS]


def test_a_key_column_called_count():
    h = histogram(cells=keys_of(count=[1, 2, 3, 4]))
    assert h.columns == ["count", "count_"]
    assert h.interval().columns == ["count", "count__lower", "count__upper"]


def test_edges():
    assert histogram().edges is None
    assert histogram(cells=bins_of(x=[0, 1, 2, 5, 9])).edges == [0, 1, 2, 5, 9]
    days = [date(2024, 1, 1), date(2024, 2, 1)]
    crossed = Keys(("x", "day"), (Lookup((1, 2, 3, 4)), Bins(tuple(days))))
    assert histogram(cells=crossed).edges == {"day": days}
    plain = keys_of(a=[1, 2], b=[1, 2])
    assert histogram(cells=plain).edges is None


def test_debias_is_the_estimator_at_the_exact_scale():
    h = histogram(law=DiscreteLaplace("7/3"))
    for domain in ("counts", "integers", (None, 20)):
        got = h.debias(power_sum(2), domain=domain)
        noisy = NoisyCounts(np.array(COUNTS), np.float64(Fraction(3, 7)), domain)
        expected = estimate(noisy, power_sum(2))
        assert (got.value, got.variance) == (expected.value, expected.variance)
    plug_in = h.debias(power_sum(2), method="plugin")
    assert float(plug_in) == sum(max(c, 0) ** 2 for c in COUNTS)


def test_debias_is_unbiased_by_enumeration():
    law = DiscreteLaplace(1)
    true = [2, 0]
    steps = np.arange(-25, 26)
    chance = law.pmf(steps)
    cells = keys_of(k=[1, 2])
    total = 0.0
    for x, p in zip(steps, chance, strict=True):
        for y, q in zip(steps, chance, strict=True):
            noisy = histogram([true[0] + x, true[1] + y], law, cells)
            total += p * q * float(noisy.debias(power_sum(2)))
    assert total == pytest.approx(4.0, abs=1e-6)


def test_nonnegative_keeps_its_provenance():
    h = histogram()
    clamped = h.nonnegative()
    assert clamped.counts.tolist() == [12, 0, 0, 5]
    assert h.counts.tolist() == COUNTS
    assert clamped.receipt is h.receipt
    assert "nonnegative" in repr(clamped)
    assert clamped.debias(power_sum(2)) == h.debias(power_sum(2))
    assert clamped.nonnegative().counts.tolist() == [12, 0, 0, 5]
    assert clamped.interval()["count_lower"].min() >= 0
    for domain in ("integers", (0, 50), (None, None)):
        with pytest.raises(ProvenanceError, match=r"clamped at 0.*before nonnegative"):
            clamped.debias(power_sum(2), domain=domain)


def test_polynomials_of_gaussian_counts_are_debiased():
    law = DiscreteGaussian("1/2")
    h = histogram(law=law)
    expected = sum(y**2 for y in COUNTS) - len(COUNTS) * law.variance
    assert h.debias(power_sum(2)).value == pytest.approx(expected, rel=1e-14)
    crossed = histogram(COUNTS, cells=keys_of(a=["x", "y"], b=[1, 2]), law=law)
    assert crossed.debias(power_sum(2)) == h.debias(power_sum(2))


def test_other_statistics_of_gaussian_counts_cannot_be_debiased():
    for error in (ProvenanceError, ParameterError):
        with pytest.raises(error, match=r"entropy has no .*Gaussian noise.*'laplace'"):
            histogram(law=DiscreteGaussian(4)).debias(entropy)


def test_clamped_gaussian_counts_cannot_be_debiased():
    with pytest.raises(ProvenanceError, match=r"clamped Gaussian.*before nonnegative"):
        histogram(law=DiscreteGaussian(4)).nonnegative().debias(power_sum(2))


def test_a_public_total_is_passed_on():
    got = histogram(law=DiscreteLaplace(2)).debias(power_sum(2), total=20)
    noisy = NoisyCounts(np.array(COUNTS), 0.5)
    expected = estimate(noisy, power_sum(2), total=20)
    assert (got.value, got.variance) == (expected.value, expected.variance)
    assert got.value != histogram(law=DiscreteLaplace(2)).debias(power_sum(2)).value


def test_two_releases_can_be_compared():
    h = histogram(law=DiscreteLaplace(2))
    noisy = h.noisy_counts()
    assert noisy.values.tolist() == COUNTS
    assert (noisy.rate.tolist(), noisy.domain) == ([0.5] * 4, "counts")
    other = histogram([9, 4, 1, 0], DiscreteLaplace(3), receipt=LATER)
    e = h.debias(kl_divergence(other, pseudo_count=0.5))
    by_hand = kl_divergence([9, 4, 1, 0], pseudo_count=0.5, epsilon=1, sensitivity=3)
    assert e == h.debias(by_hand)
    clamped = kl_divergence(other.nonnegative(), pseudo_count=0.5)
    assert h.debias(clamped).value == e.value
    with pytest.raises(ProvenanceError, match=r"discrete Gaussian noise.*'laplace'"):
        kl_divergence(histogram(law=DiscreteGaussian(4)), pseudo_count=1)


@pytest.mark.parametrize(
    "copy",
    [
        lambda h: h,
        lambda h: h.replay(),
        lambda h: h.nonnegative(),
        lambda h: h.to_noisier("1/4"),
        lambda h: pickle.loads(pickle.dumps(h)),
    ],
    ids=["itself", "a replay", "clamped", "noisier", "pickled"],
)
def test_a_release_is_not_compared_with_its_own_noise(copy):
    h = histogram(law=DiscreteLaplace(2))
    with pytest.raises(ProvenanceError, match="their noise is the same"):
        h.debias(kl_divergence(copy(h), pseudo_count=1))
    with pytest.raises(ProvenanceError, match="their noise is the same"):
        copy(h).debias(kl_divergence(h, pseudo_count=1))


def test_releases_are_compared_key_with_key():
    h = histogram()
    turned = histogram(cells=keys_of(job=["b", "a", "c", "d"]), receipt=LATER)
    with pytest.raises(ParameterError, match="in another order"):
        h.debias(kl_divergence(turned, pseudo_count=1))
    renamed = histogram(cells=keys_of(task=["a", "b", "c", "d"]), receipt=LATER)
    assert h.debias(kl_divergence(renamed, pseudo_count=1)).unit == "nats"
    fewer = histogram([1], cells=keys_of(job=["a"]), receipt=LATER)
    with pytest.raises(ParameterError, match="4 bins here, and 1 in other"):
        h.debias(kl_divergence(fewer, pseudo_count=1))


def test_mutual_information_of_two_crossed_columns():
    values = [42, 3, 10, 5, 27, 11]
    crossed = histogram(values, cells=keys_of(a=["x", "y"], b=[1, 2, 3]))
    table = NoisyCounts(np.array(values).reshape(2, 3), crossed.noisy_counts().rate)
    expected = estimate(table, mutual_information)
    assert crossed.debias(mutual_information).value == expected.value
    flat = histogram(values, cells=keys_of(a=list("uvwxyz")))
    with pytest.raises(ParameterError, match="two-dimensional counts"):
        flat.debias(mutual_information)


def test_wrong_arguments_of_debias():
    with pytest.raises(ParameterError, match=r"domain must be"):
        histogram().debias(power_sum(2), domain="reals")
    with pytest.raises(ParameterError, match=r"method must be"):
        histogram().debias(power_sum(2), method="best")


def test_two_crossed_columns_are_a_matrix_in_order():
    values = [12, -3, 0, 5, 7, 1]
    crossed = histogram(values, cells=keys_of(a=["x", "y"], b=[1, 2, 3]))
    assert crossed._shaped(crossed.counts).tolist() == [[12, -3, 0], [5, 7, 1]]
    flat = histogram(values, cells=keys_of(a=list("uvwxyz")))
    assert crossed.debias(power_sum(2)) == flat.debias(power_sum(2))


def test_no_keys():
    cells = keys_of(job=[])
    h = HistogramRelease.of((Answer("count", "count", None),), cells, RECEIPT, "polars")
    assert h.counts.dtype == np.int64
    assert h.counts.size == 0
    assert (h.keys, len(h), h.scale, h.std_error) == ([], 0, 0.0, 0.0)
    assert h.mechanism == "public constant"
    assert h.to_frame().columns == ["job", "count"]
    assert h.interval().height == 0
    assert h._repr_html_()
