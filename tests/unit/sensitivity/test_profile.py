import math

import numpy as np
import pytest

from dpframe.errors import ParameterError
from dpframe.sensitivity.profile import Constant, Largest, Profile, UnitProfile
from dpframe.sensitivity.statistic import Statistic


class Listed(Profile):
    """Heights that are given, and a note of what was looked at."""

    def __init__(self, *heights):
        self.heights, self.seen = np.array(heights, dtype=float), []

    @property
    def last(self):
        return self.heights.size - 1

    def _at(self, ks):
        self.seen += ks.tolist()
        return self.heights[ks]


def test_all_three_sensitivities_of_one_profile():
    profile = Listed(1, 2, 8, 9)
    assert (profile.local, profile.limit) == (1, 9)
    assert profile.at([[0, 2], [9, 1]]).tolist() == [[1, 8], [9, 2]]
    assert profile.at([]).size == 0
    assert profile.smooth(1) == pytest.approx(8 * math.exp(-2))
    assert profile.smooth("1e-400") == 9
    assert [profile.distance(b) for b in (0.5, 1, 2, 8, 9)] == [0, 1, 2, 3, math.inf]
    assert profile.exact_local is None


def test_a_cap_ends_the_search():
    heights = np.repeat([1.0, 5.0], 500)
    for cap in (0, 1, 37, 499, 500, 501, 10_000):
        profile = Listed(*heights)
        assert profile.distance(2, cap=cap) == min(500, cap)
        assert max(profile.seen) <= cap
        assert Listed(*heights).distance(5, cap=cap) == cap
    early = Listed(*heights)
    assert early.distance(0.5) == 0
    assert early.seen == [0]


def test_units_sum_the_terms_of_their_rows():
    row = Listed(1, 2, 8, 9)
    unit = row.of_unit(3)
    assert isinstance(unit, UnitProfile)
    assert unit.at(range(4)).tolist() == [1 + 2 + 8, 27, 27, 27]
    assert unit.last == 1
    assert unit.of_unit(2).at([0, 1]).tolist() == [1 + 2 + 8 + 27, 54]
    assert unit.distance(11) == 1
    assert Constant(3.0).of_unit(4).at([0, 7]).tolist() == [12, 12]


def test_sums_of_a_unit_are_rounded_once():
    """Rounding after each term would lose what falls below the digits of the sum."""
    unit = Listed(1, 2.0**53, 2.0**53 + 2).of_unit(3)
    assert unit.local == 2.0**54 + 4


def test_the_largest_of_profiles():
    both = Largest([Listed(1, 1, 7), Listed(2, 3)])
    assert both.at(range(4)).tolist() == [2, 3, 7, 7]
    assert both.last == 2
    assert not both.exact
    for beta in (0.01, 0.5, 3):
        ks = np.arange(3)
        slow = (np.exp(-beta * ks) * both.at(ks)).max()
        assert both.smooth(beta) == pytest.approx(slow, rel=1e-14)


def test_a_relation_is_never_replaced_by_another():
    one = Statistic("f", lambda values, bounds: values, len, {"replace": Listed})
    with pytest.raises(ParameterError, match="f has no proved profile under") as caught:
        one.profile([1], "add_remove")
    assert "one under neighboring='replace'" in str(caught.value)
    assert one.profile([], "replace").limit == 0  # no record can be replaced
