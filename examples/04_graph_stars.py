"""
Stars of a social graph, from noisy degrees
===========================================

Of a graph of 4,039 Facebook users no more is released than a noisy number of friends of
each user. To count stars (a person and k friends) in it is free: the plug-in has a bias
that grows with the number of users, the debiased estimate has none. The graph is
public, so the truth can be shown.
"""

import math
from pathlib import Path

import polars as pl

import dpframe as dpf
from dpframe.estimands import k_stars, maximum, partition_function, variance

here = Path(__file__).parent / "data"
degrees = pl.read_csv(here / "facebook_degrees.csv")

# %%
# One row for each end of a friendship: epsilon protects one end of it. To protect the
# friendship, which has two ends, costs twice as much. Users as such are not protected.
ends = degrees.select(pl.col("node").repeat_by("degree").explode())
users = dpf.Domain({"node": range(degrees.height)})
session = dpf.Session(epsilon=2, unit="row", domain=users)
with session:
    releases = {eps: ends.dp.histogram(eps, by="node") for eps in (0.1, 0.5, 1.0)}

# %%
# Errors relative to the truth. In the last column every user adds noise to their
# own number of stars, which needs a cap on friends and moves by up to C(cap, k - 1).
cap = degrees["degree"].max()
print(f"{'':16}{'true':>13}{'naive':>10}{'unbiased':>10}{'±':>8}{'± own stars':>13}")
for eps, h in releases.items():
    for k in (2, 3):
        true = sum(math.comb(d, k) for d in degrees["degree"])
        e = h.debias(k_stars(k))
        own = math.sqrt(2 * degrees.height) * math.comb(cap, k - 1) / eps
        figures = [e.plug_in / true - 1, e.value / true - 1, e.std_error / true]
        print(
            f"{f'{k}-stars at {eps:g}':16}{true:13,}{figures[0]:+10.2%}"
            f"{figures[1]:+10.2%}{figures[2]:8.2%}{own / true:13.1%}"
        )

h = releases[0.5]
for estimand, true in ((maximum, cap), (variance, degrees["degree"].var())):
    e = h.debias(estimand)
    low, high = e.interval(0.95)
    print(f"\n{estimand.name} of friends at 0.5: {e.value:,.1f}", end="")
    print(f"  [{low:,.1f}, {high:,.1f}]  true {true:,.1f}", end="")

# %%
# The same counts for tools that expect continuous noise. Polynomials can be debiased
# from it too, statistics with kinks cannot; and e^(t x) only for a small t.
smooth = {"epsilon": 0.5, "noise": "continuous_laplace"}
values = h.to_laplace().values
print(f"\n\nfrom continuous noise: {dpf.debias(values, k_stars(2), **smooth)}")
requests = {
    "greatest degree, from continuous noise": lambda: dpf.debias(
        values, maximum, **smooth
    ),
    "sum of e^(t x) at t = epsilon": lambda: h.debias(partition_function(0.5)),
}
for request, ask in requests.items():
    try:
        ask()
    except dpf.DPFrameError as error:
        print(f"\n{request}:\n  {type(error).__name__}: {error}")

print(f"\n{session}")
