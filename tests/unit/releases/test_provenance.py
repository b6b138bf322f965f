"""What is no plain count of every public key cannot be debiased, and says why."""

from __future__ import annotations

import numpy as np
import pytest
from unit.releases.made import RECEIPT, counted, keys_of
from unit.releases.test_compared import above, sparse
from unit.releases.test_selected import selection

import dpframe as dpf
from dpframe.errors import ParameterError, ProvenanceError
from dpframe.estimands import entropy, kl_divergence, power_sum
from dpframe.releases import HistogramRelease, ScalarRelease, TableRelease

SCALAR = ScalarRelease.of((counted([3]),), None, RECEIPT, "polars")
JOBS = keys_of(job=["cook", "nurse"])
TABLE = TableRelease.of((counted([3, 4]),), JOBS, RECEIPT, "polars")
HISTOGRAM = HistogramRelease.of((counted([3, 4]),), JOBS, RECEIPT, "polars")

REASONS = {
    "ScalarRelease": (SCALAR, "a noisy count of every public key"),
    "TableRelease": (TABLE, "a noisy count of every public key"),
    "SelectionRelease": (selection(), "no estimate can undo a choice"),
    "SparseVectorRelease": (sparse(), "one side of the threshold"),
    "AboveThresholdRelease": (above(), "one side of the threshold"),
}


@pytest.mark.parametrize("form", REASONS)
def test_releases_that_lost_something_are_refused_with_the_reason(form):
    release, reason = REASONS[form]
    message = rf"^a {form} cannot be debiased: .*{reason}.*df\.dp\.histogram\("
    with pytest.raises(ProvenanceError, match=message):
        release.debias(entropy)
    with pytest.raises(ProvenanceError, match=message):
        release.debias(power_sum(2), domain="integers", method="plugin", total=3)


@pytest.mark.parametrize("form", REASONS)
def test_they_are_refused_where_counts_are_expected_too(form):
    release, _ = REASONS[form]
    with pytest.raises(ParameterError, match="counts must be"):
        dpf.debias(release, entropy, epsilon=1)
    with pytest.raises(ParameterError, match="other must be a HistogramRelease"):
        kl_divergence(release, pseudo_count=1)


def test_a_histogram_knows_its_own_noise():
    with pytest.raises(ParameterError, match=r"release\.debias\(estimand\)"):
        dpf.debias(HISTOGRAM, entropy, epsilon=1)
    assert np.isfinite(float(HISTOGRAM.debias(entropy)))
