"""
Quickstart: private answers about the Adult census data
=======================================================

Open a session with a budget, ask, and read the ledger. The Adult data are public, so
each answer can be printed beside the number that it estimates; with private data only
the left half of these lines exists.
"""

from pathlib import Path

import polars as pl

import dpframe as dpf
from dpframe.estimands import entropy

here = Path(__file__).parent / "data"
people = pl.read_parquet(here / "adult.parquet")

# %%
# Public facts come from documentation, never from the rows: category lists, bounds.
ADULT = dpf.Domain.from_json(here / "adult-domain.json")

session = dpf.Session(epsilon=3.0, unit="row", domain=ADULT, account="adult-1994")
with session:
    n = people.dp.count(0.1)
    pay = people.dp.mean("hours-per-week", 0.2)  # bounds come from the domain
    age = people["age"].dp.std(0.2, bounds=(17, 90))  # a column is a subject too
    jobs = people.select("education").dp.histogram(0.5)  # keys come from the domain
    h = jobs.debias(entropy)  # post-processing: free
    table = people.dp.group_by("sex").agg(
        0.5, n=dpf.agg.count(), age=dpf.agg.mean("age")
    )


def show(name, answer, truth):
    """Print an answer, its 95 % interval and what it estimates."""
    low, high = answer.interval(0.95)
    interval = f"[{low:,.3f}, {high:,.3f}]"
    print(f"{name:21}{answer.value:11,.3f}  {interval:24} true {truth:,.3f}")


# %%
# Answers with their intervals, beside what they estimate.
shares = people["education"].value_counts()["count"] / people.height
show("rows", n, people.height)
show("mean hours per week", pay, people["hours-per-week"].mean())
show("spread of age", age, people["age"].std())
show("entropy of education", h, -(shares * shares.log()).sum())

print("\nRows of each level of education, the first four of 16:")
true = dict(people["education"].cast(str).value_counts().iter_rows())
for key, low, high in jobs.interval(0.95).head(4).iter_rows():
    print(f"  {key:14} [{low:,}, {high:,}]  true {true[key]:,}")

print("\nBy sex, in one charge:")
print(table.to_frame())

# %%
# What was released, what it cost, what is left.
print(session)
