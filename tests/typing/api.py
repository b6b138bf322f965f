"""Lines that a user writes and that must type-check (mypy --strict)."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_type

import pandas as pd
import polars as pl
import pyarrow as pa

import dpframe as dpf
from dpframe.estimands import entropy

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
assert_type(people.top_k("sex", 2, 0.1), dpf.SelectionRelease)
assert_type(people.mode("sex", 0.1), dpf.SelectionRelease)
assert_type(dpf.private(pl.Series("sex", ["F"])).mode(0.1), dpf.SelectionRelease)
assert_type(people.group_by("sex").count(0.1), dpf.TableRelease)
assert_type(people.group_by("sex").agg(0.1, n=dpf.agg.count()), dpf.TableRelease)

assert_type(session.remaining, dpf.PrivacyLoss)
assert_type(session.remaining.epsilon, Fraction | None)
assert_type(float(people.count(0.1)), float)
with session as inner:
    assert_type(inner, dpf.Session)
session.deactivate()
