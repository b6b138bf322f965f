"""
Alerts: ask about everything, pay for the few that are large
============================================================

Sparse vector technique compares any number of answers with a threshold for one epsilon:
hot topics among 10,000, regions below a service target, a stream of security metrics,
and facts that go with a high income. All data but the census are made up on the spot.
"""

from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

import dpframe as dpf

rng = np.random.default_rng(2)

# %%
# Hot topics. The noise hides ten posts of a person, on one topic or on ten. More topics
# cost no more. (They do not overlap, so that a histogram would do as well, and better.)
hot = {815: 6_000, 2718: 4_500, 9001: 5_000}
topics = np.r_[rng.integers(0, 10_000, 400_000), np.repeat([*hot], [*hot.values()])]
posts = pl.DataFrame({"topic": topics, "user": rng.integers(0, 100_000, topics.size)})
true = dict(posts["topic"].value_counts().iter_rows())

person = dpf.Unit("user", max_rows=10)
with dpf.Session(epsilon=2, unit=person, domain={"topic": range(10_000)}) as session:
    plan = posts.dp.plan.above_threshold("topic", 0.5, threshold=2_500)
    first = posts.dp.above_threshold("topic", 2_500, 0.5)
    found = posts.dp.numeric_sparse("topic", 2_500, 1.5, max_above=5)
print(f"10,000 topics. Known before any look: {plan.accuracy()}.")
print(f"The first hot topic is {first.query}; {first.n_examined:,} were compared.")
for topic, low, high in found.interval(0.95).select("topic", "lower", "upper").rows():
    print(f"  topic {topic:5,}: {low:,} to {high:,} posts; true {true[topic]:,}")
print(f"Left: epsilon {session.remaining.epsilon}, as if nothing had been found.")

# %%
# Regions where fewer than nine in ten deliveries are on time. One delivery moves a rate
# by who knows what; a sum in which each late one takes nine points away, by nine.
region = np.tile(np.arange(50), 4_000)
late = rng.random(region.size) < np.where(region % 10 == 7, 0.17, 0.05)
orders = pl.DataFrame({"region": region, "points": np.where(late, -9, 1)})
points = dpf.sum_by("region", "points", bounds=(-9, 1))
with dpf.Session(epsilon=1, unit="row", domain={"region": range(50)}):
    bad = orders.dp.sparse_vector(points, 0, 1, max_above=8, direction="below")
print(f"\nRegions below target: {', '.join(map(str, bad.queries))}")

# %%
# A stream is paid when it is opened, and asked hour after hour, of another frame each
# time. An account counts three times an hour at most: one that is noisy is no alarm.
WHAT = ["ok", "failed", "reset", "download"]
session = dpf.Session(epsilon=1, unit=dpf.Unit("account", max_rows=3))
stream = None
print("\nThree metrics an hour, each against 700 events:")
for hour in range(24):
    odds = [0.7, 0.2, 0.05, 0.05] if hour in (9, 17) else [0.94, 0.03, 0.02, 0.01]
    what, account = rng.choice(WHAT, 8_000, p=odds), rng.integers(0, 9_000, 8_000)
    log = pl.DataFrame({"what": what, "account": account})
    with session:
        stream = stream or log.dp.open_sparse_vector(700, 1, max_above=2)
    for metric in [dpf.col("what") == name for name in WHAT[1:]]:
        if not stream.closed and stream.ask(metric, log):
            print(f"  {hour:02}:00 {metric!r}; alarms left: {stream.remaining}")

# %%
# Which pairs of facts go with a majority of high incomes, by 1,000 persons or more? A
# person is counted in 28 sums: Laplace noise on each would have to be 28 times as wide.
here = Path(__file__).parent / "data"
domain = dpf.Domain.from_json(here / "adult-domain.json")
people = pl.read_parquet(here / "adult.parquet")
majority = pl.when(pl.col("income") == ">50K").then(1).otherwise(-1).alias("majority")
facts = [c for c in people.columns if people[c].dtype == pl.Enum and c != "income"]
pairs = [dpf.sum_by(p, "majority", bounds=(-1, 1)) for p in combinations(facts, 2)]
with dpf.Session(epsilon=1, unit="row", domain=domain) as session:
    rich = people.with_columns(majority).dp.sparse_vector(pairs, 1_000, 1, max_above=10)
print(f"\n{len(rich.queries)} of {rich.n_examined:,} pairs:", *rich.queries, sep="\n  ")
print(f"\n{session}")
