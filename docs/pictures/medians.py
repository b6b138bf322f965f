"""Draw the pictures of docs/explanation/beyond_global_sensitivity.rst.

    pip install -e '.[plot]' && python docs/pictures/medians.py

It takes a minute. Noise comes from a fixed seed: the same pictures come out again.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "benchmarks"))

from bench_medians import DELTA, Setting, errors, normal

import dpframe as dpf
from dpframe.testing import unsafe_deterministic

HERE = Path(__file__).parent

STYLE = {
    "svg.hashsalt": "dpframe",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}
GLOBAL, LAPLACE, TESTED, SMOOTH, CHOICE, RULE = (
    "#555555", "#d9a441", "#c44e29", "#1f5f99", "#4d9a6a", "#999999",
)  # fmt: skip
SIZES = [30, 100, 300, 1_000, 3_000, 10_000, 30_000]
SETS = 60


def draw_profile() -> Figure:
    """One public data set: its profile, and what each method makes of it."""
    setting = Setting("ages", normal, 120, "1")
    values = setting.draw(np.random.default_rng(3), setting.rows)
    steps = np.arange(61)
    profile = dpf.sensitivity.profile(
        values, "median", k_max=int(steps[-1]), **setting.facts
    )
    seen = dpf.sensitivity.compare(
        values, "median", epsilon=1, delta=DELTA, **setting.facts
    )
    tangent = seen.smooth_sensitivity * np.exp(seen.beta * steps)

    figure, axes = plt.subplots(figsize=(7, 4), layout="tight")
    axes.axhline(seen.global_sensitivity, color=GLOBAL)
    axes.plot(steps, profile, "o", markersize=3, color="black")
    below = tangent < 1.2 * seen.global_sensitivity
    axes.plot(steps[below], tangent[below], color=SMOOTH)
    axes.plot([0], tangent[:1], "o", color=SMOOTH)
    far = seen.ptr_distance
    axes.plot([0, far], [seen.ptr_bound] * 2, color=TESTED)
    axes.plot([far, far], [0.008, seen.ptr_bound], color=TESTED, linestyle=":")

    axes.set_yscale("log")
    axes.set_ylim(0.008, 250)
    axes.set_xlim(-1, 61)
    axes.set_yticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
    say = partial(axes.annotate, textcoords="offset points", fontsize=9)
    width = "global sensitivity 120: the width of the bounds"
    say(width, (0, 120), (0, 6), color=GLOBAL)
    say("profile A(k)", (48, profile[48]), (0, -18), color="black")
    say("local sensitivity A(0)", (0, profile[0]), (8, -4), color="black")
    say("smooth sensitivity S", (0, tangent[0]), (10, -8), color=SMOOTH)
    say("S exp(βk)", (18, tangent[18]), (8, -6), color=SMOOTH)
    say("proposed bound B", (14, seen.ptr_bound), (0, 6), color=TESTED)
    say(f"distance D = {far}", (far, 0.01), (6, 0), color=TESTED)
    axes.set_xlabel("k, rows that come or go")
    axes.set_ylabel("sensitivity of the median, years")
    return figure


def draw_errors() -> Figure:
    """Mean absolute error of a private median against the number of rows."""
    found = [errors(Setting("ages", normal, 120, "1", n), SETS) for n in SIZES]
    lines = {
        "global": ("global sensitivity, Laplace noise", GLOBAL),
        "PTR": ("propose, test, release, δ = 10⁻⁶", TESTED),
        "Laplace": ("smooth, Laplace noise, δ = 10⁻⁶", LAPLACE),
        "Lomax": ("smooth, Lomax noise", SMOOTH),
        "exponential": ("exponential mechanism (default)", CHOICE),
    }
    figure, axes = plt.subplots(figsize=(8.6, 4), layout="tight")
    for name, (label, color) in lines.items():
        line = [row[name] for row in found]
        axes.plot(SIZES, line, color=color, label=label, marker="o", markersize=3)
    sampling = 12 * np.sqrt(np.pi / 2 / np.array(SIZES)) * np.sqrt(2 / np.pi)
    label = "the median itself, by sampling"
    axes.plot(SIZES, sampling, color=RULE, linestyle="--", label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([100, 1_000, 10_000], ["100", "1,000", "10,000"])
    axes.set_yticks([0.001, 0.01, 0.1, 1, 10], ["0.001", "0.01", "0.1", "1", "10"])
    axes.minorticks_off()
    axes.set_xlabel("rows")
    axes.set_ylabel("mean absolute error, years")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)
    return figure


if __name__ == "__main__":
    pictures = {"profile": draw_profile, "errors": draw_errors}
    with unsafe_deterministic("pictures of medians"), mpl.rc_context(STYLE):
        for name, draw in pictures.items():
            picture = draw()
            picture.savefig(HERE / f"medians_{name}.svg", metadata={"Date": None})
            if sys.argv[1:]:  # a folder for a look at them
                picture.savefig(f"{sys.argv[1]}/medians_{name}.png", dpi=110)
