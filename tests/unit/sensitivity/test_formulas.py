"""Each row as it is written in the proof note, term by term, on random data."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpframe.sensitivity.plain import profile_of

LOWER, UPPER = -2, 9
R = UPPER - LOWER


class Row:
    """Sorted clamped data with bounds around, and the formulas."""

    def __init__(self, values):
        self.sorted = sorted(min(max(v, LOWER), UPPER) for v in values)
        self.n = len(self.sorted)
        self.mean = sum(map(Fraction, self.sorted)) / max(self.n, 1)
        self.farthest = max(UPPER - self.mean, self.mean - LOWER)

    def x(self, i):
        return LOWER if i <= 0 else UPPER if i > self.n else self.sorted[i - 1]

    def order_statistic(self, m, k):
        return max(self.x(m + t) - self.x(m + t - k - 1) for t in range(k + 2))

    def quantile(self, q, k):
        return self.order_statistic(max(1, math.ceil(q * self.n)), k)

    def median_add_remove(self, k):
        half = [math.ceil(Fraction(self.n + s * (k + 1), 2)) for s in (1, -1)]
        return self.x(half[0]) - self.x(half[1])

    def iqr(self, k):
        return max(self.quantile(Fraction(q, 4), k) for q in (1, 3))

    def trimmed_replace(self, m, k):
        if self.n <= 2 * m:
            return 0
        ends = (
            self.x(self.n - m + 1 + k - t) - self.x(m + 1 - t) for t in range(k + 2)
        )
        return max(ends) / (self.n - 2 * m)

    def trimmed_share(self, share, k):
        def cut(size):
            return math.floor(share * size)

        sizes = range(max(self.n - k - 1, 0), self.n + k + 2)
        fewest = min(max(1, size - 2 * cut(size)) for size in sizes)
        m = cut(self.n)
        return (self.x(self.n - m + 1 + k) - self.x(m - k)) / fewest

    def trimmed_fixed(self, t, k):
        w, ratios = self.n - 2 * t, []
        for a in range(k + 1):
            for b in range(k + 1 - a):
                divisor = w + a + b - (k - a - b) - 1
                if divisor <= 0:
                    return R
                ratios.append((self.x(self.n - t + 1 + a) - self.x(t - b)) / divisor)
        return min(R, max(ratios))

    def variance_add_remove(self, k):
        left = self.n - k
        j = max(2, left)
        first = Fraction(R * R * (j - 1), j * j)
        if left <= 1:
            return first
        reach = min(R, self.farthest + Fraction(k * R, left))
        return min(first, reach**2 / (left - 1))

    def variance_replace(self, k):
        if self.n <= 1:
            return 0
        reach = min(R, self.farthest + Fraction(k * R, self.n))
        return min(Fraction(R * R * (self.n - 1), self.n**2), reach**2 / (self.n - 1))

    def mean_add_remove(self, k):
        return R / max(1, self.n - k)

    def sum_replace(self, k):
        if not self.n:
            return 0
        return R if k else max(UPPER - self.x(1), self.x(self.n) - LOWER)

    def mean_replace(self, k):
        return self.sum_replace(k) / max(self.n, 1)


FORMULAS = [
    ("median", "add_remove", Row.median_add_remove),
    ("median", "replace", lambda row, k: row.quantile(Fraction(1, 2), k)),
    (("order", 4), "add_remove", lambda row, k: row.order_statistic(4, k)),
    (("quantile", 0.3), "add_remove", lambda row, k: row.quantile(Fraction(3, 10), k)),
    (("quantile", "5/7"), "replace", lambda row, k: row.quantile(Fraction(5, 7), k)),
    ("iqr", "add_remove", Row.iqr),
    ("iqr", "replace", Row.iqr),
    (("trimmed_mean", 2), "replace", lambda row, k: row.trimmed_replace(2, k)),
    (("trimmed_mean", 3), "add_remove", lambda row, k: row.trimmed_fixed(3, k)),
    (("trimmed_mean", 0), "add_remove", lambda row, k: row.trimmed_fixed(0, k)),
    (
        ("trimmed_mean", 0.2),
        "add_remove",
        lambda row, k: row.trimmed_share(Fraction(1, 5), k),
    ),
    (
        ("trimmed_mean", "3/7"),
        "add_remove",
        lambda row, k: row.trimmed_share(Fraction(3, 7), k),
    ),
    ("variance", "add_remove", Row.variance_add_remove),
    ("variance", "replace", Row.variance_replace),
    ("mean", "add_remove", Row.mean_add_remove),
    ("mean", "replace", Row.mean_replace),
    ("sum", "replace", Row.sum_replace),
]


@pytest.mark.parametrize(
    ("statistic", "relation", "formula"), FORMULAS, ids=[f"{f[:2]}" for f in FORMULAS]
)
def test_profile_is_the_formula(statistic, relation, formula):
    rng = np.random.default_rng(13)
    for n in (0, 1, 2, 3, 5, 8, 13, 30):
        for values in (
            rng.normal(3, 4, n).tolist(),
            rng.integers(-4, 12, n).tolist(),
            [5] * n,
        ):
            row = Row(values)
            found = profile_of(
                values, statistic, bounds=(LOWER, UPPER), neighboring=relation
            )
            if relation == "replace" and not n:
                assert not found.at(np.arange(5)).any()
                continue
            ks = range(n + 4)
            expected = [float(formula(row, k)) for k in ks]
            assert found.at(ks) == pytest.approx(expected, rel=1e-13, abs=1e-13)
