"""
Medians: how far can one person move them?
==========================================

One row can move a median across all of its bounds, but hardly ever does. Noise for the
worst of all data sets would drown the answer; a choice among public candidates, smooth
sensitivity and propose-test-release need far less. Incomes and cities are made up, and
the census is public, so that errors can be shown.
"""

from pathlib import Path

import numpy as np
import polars as pl

import dpframe as dpf

rng = np.random.default_rng(5)
ROWS, BOUNDS = 5_000, (0, 1_000_000)


def draw_year():
    """Draw one year of incomes."""
    income = rng.lognormal(np.log(30_000), 0.8, ROWS).round(2)
    city = rng.choice(["Ayr", "Bath", "Cork", "Deal"], ROWS, p=[0.5, 0.3, 0.198, 0.002])
    return pl.DataFrame({"income": income, "city": city})


# %%
# Last year's incomes were published, and only therefore may what one person can do to
# their median be looked at. PTR takes its proposal from there.
price = {"bounds": BOUNDS, "epsilon": 1, "delta": 1e-6}
how = {"column": "income", "neighboring": "add_remove"}
seen = dpf.sensitivity.compare(dpf.public(draw_year()), "median", **how, **price)
print(f"{seen}\n")

# %%
# This year's are private. Four ways to their median, over 40 years for their errors.
WAYS = {
    "exponential (default)": {},
    "smooth, Lomax noise": {"method": "smooth"},
    "smooth, Laplace noise": {"method": "smooth", "noise": "laplace", "delta": 1e-6},
}
proposal = {"bound": seen.ptr_bound, **price}
far = {way: [] for way in [*WAYS, "propose, test, release"]}
for _ in range(40):
    people = draw_year()
    truth = people["income"].median()
    with dpf.Session(epsilon=4, delta=1e-5, unit="row"):
        for way, options in WAYS.items():
            answer = people.dp.median("income", 1, bounds=BOUNDS, **options)
            far[way].append(abs(answer.value - truth))
        tested = people.dp.propose_test_release("median", "income", **proposal)
    if tested.released:
        far["propose, test, release"].append(abs(tested.value - truth))
print(f"{'Mean error of a median near 30,000':36}{'released':>20}")
for way, errors in far.items():
    print(f"  {way:25}{np.mean(errors):9,.1f}{len(errors):>14} of 40")
print(f"  {'global sensitivity':25}{seen.global_sensitivity:9,.0f}{'always':>20}")

# %%
# Nobody knows the range, and nobody listed the cities: both are found, at a price. Deal
# has ten rows or so, and stays hidden.
with dpf.Session(epsilon=4, delta=1e-6, unit="row") as session:
    bounds = people.dp.bounds("income", 1, coverage=0.9)
    table = people.dp.quantile("income", [0.1, 0.25, 0.5, 0.75, 0.9], 1, bounds=bounds)
    sizes = people.dp.histogram(0.5, "city", delta=1e-7)
    cities = people.dp.group_by("city", delta=1e-7)
    medians = cities.median("income", 1, bounds=bounds)
for release in (bounds, table, sizes, medians, session):
    print(f"\n{release}")

# %%
# Whole numbers are chosen among whole numbers, and are mostly exact.
census = pl.read_parquet(Path(__file__).parent / "data" / "adult.parquet")
with dpf.Session(epsilon=1, unit="row"):
    hours = census["hours-per-week"].dp.median(0.1, bounds=(1, 99))
print(f"\nHours per week: {hours.value}, true {census['hours-per-week'].median():.0f}")
