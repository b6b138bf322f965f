"""Lines that a user writes and that must type-check (mypy --strict)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa

import dpframe as dpf
from dpframe.estimands import (
    at_least,
    box,
    chi_square,
    entropy,
    kl_divergence,
    partition_function,
    polynomial,
    power_sum,
    quantile_range,
    separable,
    variance,
)
from dpframe.mechanisms import sparse_vector
from dpframe.multiplicative_weights import Distribution, fit, update
from dpframe.noise import Lomax, StudentT, permute_and_flip
from dpframe.queries.predicates import Predicate
from dpframe.testing import Audit, audit, broken, check_distance

session = dpf.Session(epsilon=3.0, unit="row", domain=dpf.Domain({"sex": ["F", "M"]}))
dpf.Session(epsilon="1/3", unit=dpf.Unit("person", max_rows=10), delta=1e-6)
dpf.Session(rho=Fraction(1, 2), unit="row", neighboring="replace")

session.activate()
people = dpf.private(pl.DataFrame({"sex": ["F"], "age": [30]}), session)
assert_type(people, dpf.PrivateFrame)
assert_type(dpf.private(pl.LazyFrame({"age": [30]})), dpf.PrivateFrame)
assert_type(dpf.private(pd.DataFrame({"age": [30]})), dpf.PrivateFrame)
dpf.private(pa.table({"age": [30]})).count(0.1)  # pyarrow ships no types
assert_type(dpf.private(pl.Series("age", [30])), dpf.PrivateSeries)

assert_type(people.count(0.1), dpf.ScalarRelease)
assert_type(people.sum("age", 0.1, bounds=(17, 90)), dpf.ScalarRelease)
assert_type(people.mean("age", 0.1, bounds=(17, 90), per="row"), dpf.ScalarRelease)
assert_type(people.n_unique("sex", "0.1", label="sexes"), dpf.ScalarRelease)
histogram = people.histogram(0.1, "sex")
assert_type(histogram, dpf.HistogramRelease)
assert_type(histogram.debias(entropy), dpf.Estimate)
assert_type(histogram.debias(power_sum(2), domain=(0, None), total=9), dpf.Estimate)
assert_type(histogram.debias(lambda x: x.max(axis=1), method="auto"), dpf.Estimate)
assert_type(histogram.to_laplace(), dpf.ConvertedRelease)
assert_type(histogram.to_staircase("1/4"), dpf.ConvertedRelease)
assert_type(histogram.to_noisier("0.05"), dpf.HistogramRelease)
wide = (17, 90)
assert_type(people.median("age", 0.1, bounds=wide), dpf.ScalarRelease)
assert_type(people.quantile("age", "1/3", 0.1, bounds=wide), dpf.ScalarRelease)
assert_type(people.quantile("age", [0.1, 0.9], 0.1, bounds=wide), dpf.TableRelease)
levels = np.linspace(0, 1, 5)
assert_type(people.quantile("age", levels, 0.1, bounds=wide), dpf.TableRelease)
smooth = people.median("age", 0.1, bounds=wide, method="smooth", beta=0.01)
assert_type(smooth, dpf.SmoothRelease)
assert_type(people.iqr("age", 0.1, bounds=wide, per="row"), dpf.ScalarRelease)
assert_type(people.min("age", 0.1, bounds=wide), dpf.ScalarRelease)
assert_type(people.max("age", 0.1, bounds=wide).rank_error(0.9), float)
public = people.bounds("age", 0.1, coverage="0.9")
assert_type(public, dpf.BoundsRelease)
assert_type(people.mean("age", 0.1, bounds=public), dpf.ScalarRelease)
by_sex = people.group_by("sex")
assert_type(by_sex.median("age", 0.1, bounds=wide), dpf.TableRelease)
assert_type(by_sex.quantile("age", [0.5], 0.1, bounds=wide), dpf.TableRelease)
by_sex.agg(0.1, mid=dpf.agg.quantile("age", 0.5, bounds=wide))
assert_type(people.plan.quantile("age", 0.5, 0.1, bounds=wide).rank_error(), float)
column = dpf.private(pl.Series("age", [30]))
assert_type(column.median(0.1, bounds=wide), dpf.ScalarRelease)
assert_type(column.quantile([0.5, 0.9], 0.1, bounds=wide), dpf.TableRelease)
assert_type(column.iqr(0.1, bounds=wide, method="smooth"), dpf.SmoothRelease)
assert_type(column.bounds(0.1), dpf.BoundsRelease)
assert_type(people.top_k("sex", 2, 0.1), dpf.SelectionRelease)
assert_type(people.mode("sex", 0.1), dpf.SelectionRelease)
assert_type(dpf.private(pl.Series("sex", ["F"])).mode(0.1), dpf.SelectionRelease)

ages = dpf.private(
    pl.DataFrame({"age": [30, 40], "height": [1.7, 1.8]}),
    dpf.Session(epsilon=20, delta=1e-5, unit="row", domain={"age": (0, 120)}),
)
assert_type(ages.mode("age", 1, keys=[30], method="ptr", delta=1e-6).released, bool)
mean = ages.trimmed_mean("age", 1, trim=5, interval=True, epsilon_interval=1)
assert_type(mean, dpf.SmoothRelease)
assert_type(mean.interval(0.9), tuple[Any, Any])
near = ages.closest_pair(["age", "height"], 1, bounds=(0, 250))
assert_type(near, dpf.SmoothRelease | dpf.PTRRelease)
proposed = ages.propose_test_release(
    ("quantile", 0.9), "age", bound=3, epsilon=1, delta=1e-6
)
assert_type(proposed, dpf.PTRRelease)
assert_type(proposed.released, bool)
assert_type(proposed.pass_probability(20), float)
assert_type(check_distance(len, lambda x: 0, [0, 1], 3, bound=1), int)
assert_type(people.group_by("sex").count(0.1), dpf.TableRelease)
assert_type(people.group_by("sex").agg(0.1, n=dpf.agg.count()), dpf.TableRelease)
found = ages.group_by("age", delta=1e-6)
assert_type(found, dpf.PrivateGroups)
assert_type(found.mean("height", 1, bounds=(0, 3)), dpf.TableRelease)
assert_type(ages.histogram(1, "age", delta=1e-6), dpf.HistogramRelease)

published = np.array([31, 12, -1, 4])
assert_type(dpf.debias(published, at_least(2), epsilon="0.5"), dpf.Estimate)
dpf.debias([[3, 4], [5, 6]], box([(1, {0: (2, None)})]), epsilon=1)
dpf.debias([31, 12], separable(np.sqrt), epsilon=[0.5, 2], sensitivity=2)
dpf.debias(published, quantile_range(0.25, 0.75), epsilon=1, domain="integers")
dpf.debias([3.5, 1.25], variance, epsilon=1, noise="continuous_laplace")
dpf.debias([3, 1], partition_function(0.2), noise="gaussian", sigma2=Fraction(9, 4))
dpf.debias([3, 1], polynomial([(2, {0: 1, 1: 2})]), epsilon=1, method="plugin")
dpf.debias([3, 1], chi_square([0.5, 0.5]), epsilon=1, total=4)
other = kl_divergence(people.histogram(0.1, "sex"), pseudo_count=0.5)
histogram.debias(other)
histogram.debias(kl_divergence([3, 1], pseudo_count=1, epsilon=1, sensitivity=2))
estimated = dpf.debias(published, entropy, epsilon=0.5)
assert_type(float(estimated), float)
assert_type(estimated.std_error, float)
assert_type(estimated.interval(0.9), tuple[float, float])
assert_type(estimated.warnings, tuple[str, ...])

asked = dpf.private(
    pl.DataFrame({"sex": ["F"], "age": [30]}),
    dpf.Session(
        epsilon=9, unit="row", domain={"sex": ["F", "M"], "age": dpf.integers(0, 99)}
    ),
)
adults = dpf.col("age") >= 18
assert_type(adults, Predicate)
assert_type((dpf.col("sex") == "F") & ~dpf.col("age").between(0, 17), Predicate)
assert_type(dpf.col("sex").is_in(["F", "M"]) | dpf.col("adult"), Predicate)
workload = dpf.marginals(["sex", "age"], degree=2) + dpf.cdf("age")
assert_type(workload, dpf.Workload)
assert_type(dpf.ranges("age"), dpf.Workload)
total = dpf.sum_by("sex", "age", bounds=(0, 99), keys=["F", "M"])
weighted = dpf.weights({"sex": [1, 0.5]})
first = asked.above_threshold("sex", 10_000, 0.1, direction="below", gap=True)
assert_type(first, dpf.AboveThresholdRelease)
assert_type(first.index, int | None)
assert_type(first.gap, float | None)
several = asked.sparse_vector([adults, total], "5/2", 0.1, max_above=3, values=True)
assert_type(several, dpf.SparseVectorRelease)
assert_type(several.indices, npt.NDArray[np.int64])
assert_type(several.gaps, npt.NDArray[np.float64] | None)
assert_type(several.exhausted, bool)
assert_type(several.hint, str | None)
assert_type(several.accuracy(0.9).low, int | float)
assert_type(
    asked.numeric_sparse(workload, 9, 1, max_above=1, noise="laplace", ratio=2),
    dpf.SparseVectorRelease,
)
assert_type(
    asked.adaptive_sparse_vector(weighted, 9, 0.1, max_above=2, margin=5),
    dpf.SparseVectorRelease,
)
with asked.open_sparse_vector(9, 0.1, max_above=2, monotonic=True) as stream:
    assert_type(stream, dpf.SparseVector)
    answer = stream.ask(adults, frame=pl.DataFrame({"age": [3]}))
    assert_type(answer, bool | float | int | None)
    stream.ask_many(["sex", adults])
    assert_type(stream.remaining, int)
    assert_type(stream.closed, bool)
plan = asked.plan.above_threshold(10_000, 0.1, threshold=500)
assert_type(plan.loss, dpf.PrivacyLoss)
assert_type(plan.scales, dict[str, float])
asked.plan.sparse_vector("sex", 0.1, max_above=2, values=True)
asked.plan.adaptive_sparse_vector(workload, 0.1, max_above=2).accuracy("0.99")

crossings = sparse_vector([3, 1_000, 5], 500, 1, max_above=2, grid="1/4", gap=True)
assert_type(crossings.indices, npt.NDArray[np.int64])
assert_type(crossings.n_examined, int)
mechanism = partial(broken.no_limit, threshold=1, epsilon=4)
assert_type(audit(mechanism, ([1, 0], [0, 1]), 1, vectorized=True), Audit)
assert_type(audit(len, ([1], [2]), epsilon=1, delta=1e-6, runs=1_000).violated, bool)

seen = dpf.sensitivity.compare(
    dpf.public(pl.DataFrame({"age": [30]})),
    ("quantile", 0.9),
    bounds=(17, 90),
    epsilon="0.5",
    neighboring="add_remove",
    column="age",
)
assert_type(seen, dpf.sensitivity.Comparison)
assert_type(seen.smooth_sensitivity, float)
local = dpf.sensitivity.local([30], "median", bounds=(17, 90), neighboring="replace")
assert_type(local, float)
assert_type(dpf.sensitivity.ptr_pass_probability(30, 1, 1e-6), float)
near_values = dpf.sensitivity.profile(
    [30, 40], ("trimmed_mean", 1), bounds=(17, 90), neighboring="replace", k_max=3
)
assert_type(near_values, npt.NDArray[np.float64])
dpf.sensitivity.smooth(
    [[0, 1], [2, 3]], "closest_pair", bounds=(0, 9), neighboring="add_remove", beta=0.1
)
until = dpf.sensitivity.distance([37, 29], "mode", neighboring="add_remove")
assert_type(until, float)
assert_type(dpf.sensitivity.evaluate([30], "iqr", bounds=(17, 90)), float)
lomax = Lomax(1, "0.3")
assert_type(lomax.pdf(0.5), float)
assert_type(lomax.std, float)
assert_type(lomax.interval(0.9), tuple[float, float])
student = StudentT(Fraction(1), 0.1, degrees=4)
assert_type(student.cdf(np.zeros(3)), npt.NDArray[np.float64])
assert_type(permute_and_flip([3, 9], epsilon="1", sensitivity=1), int)

assert_type(session.remaining, dpf.PrivacyLoss)
assert_type(session.remaining.epsilon, Fraction | None)
assert_type(float(people.count(0.1)), float)
with session as inner:
    assert_type(inner, dpf.Session)
session.deactivate()

cells = dpf.Domain({"sex": ["F", "M"], "age": dpf.edges([0, 40, 120])})
model = fit(cells, [(["sex"], [40, 61], 2.0), (["sex", "age"], np.ones(4), 8)], 101)
assert_type(model, Distribution)
assert_type(model.marginal("sex", "age"), npt.NDArray[np.float64])
assert_type(model.total, float | None)
assert_type(update(model, dpf.col("age") >= 40, 0.5, eta=0.5), Distribution)
assert_type(update(Distribution(cells), ("sex",), [0.4, 0.6]), Distribution)
