"""Real draws of a release with keys that are found: which pass, and their numbers."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from helpers import assert_law, assert_not_law

import dpframe as dpf
from dpframe.noise import DiscreteLaplace
from dpframe.noise.key_threshold import KeyThreshold

N = 100_000
UNITS = 8

pytestmark = pytest.mark.filterwarnings("ignore::dpframe.PrivacyWarning")


def law_of_one(rule):
    """A key of eight units: 0 if it is missing, else its noisy number above τ >= 1."""

    def pmf(k):
        shown = np.where(k > rule.threshold, rule.law.pmf(k - UNITS), 0.0)
        return np.where(k == 0, 1 - rule.chance(UNITS), shown)

    return pmf


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_numbers_of_a_hundred_thousand_keys(relation):
    frame = pl.DataFrame({"key": np.repeat(np.arange(N, dtype=np.int32), UNITS)})
    session = dpf.Session(1, delta="0.01", unit="row", neighboring=relation)
    h = dpf.private(frame, session).histogram(1, delta="0.01")
    rule = h.key_threshold
    samples = np.zeros(N, dtype=np.int64)
    samples[h.keys] = h.counts
    assert_law(samples, law_of_one(rule))
    for factor in (Fraction(95, 100), Fraction(105, 100)):
        off = KeyThreshold(
            DiscreteLaplace(rule.law.scale * factor), rule.delta, rule.groups
        )
        assert_not_law(samples, law_of_one(off))
